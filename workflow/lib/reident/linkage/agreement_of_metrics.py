"""Agreement of metrics: the pairs that at least k metrics suspect, and how sure it makes an intruder (METHODS §6.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage import batches, rates, surest
from reident.linkage.claims import of_pairs
from reident.linkage.ranking import within
from reident.linkage.settings import AGREEMENT, ClaimSettings, MetricComparisonSettings, RatingSettings
from reident.sections.linkage import MAX_CANDIDATES

if TYPE_CHECKING:
    from reident.linkage.batches import Source

_NONE = pa.table({name: np.empty(0, np.int32) for name in ("puf", "eif", "score")})
"""No pair."""

OF_ONE_METRIC = ["n_ambiguous", "passing_rate", "tolerance"]
"""The columns of the rates that only a metric has, beside its name."""


class Comparison(NamedTuple):
    """The tables of the agreement of the metrics, of its claims, and of the surest claims of all of them."""

    agreement_rates: pd.DataFrame
    agreement_claims: pd.DataFrame
    surest: pd.DataFrame
    curve: pd.DataFrame


def compare(
    settings: MetricComparisonSettings,
    iuf: Source,
    strata: Mapping[str, Source],
    manifest: pd.DataFrame,
    pairs: Mapping[str, Source],
    suspected: Mapping[str, Source],
    claims: Mapping[str, pd.DataFrame],
    clusters: Source | None = None,
) -> Comparison:
    """Compare the suspected pairs of the metrics of a study.

    Parameters
    ----------
    pairs : mapping of Source
        By metric, the suspected pairs by row number, as confirmation leaves them.
    suspected : mapping of Source
        By metric, all pairs that scoring kept, as :func:`reident.linkage.ranking.rank` leaves them.
    claims : mapping of pandas.DataFrame
        By metric, what :func:`reident.linkage.surest.order` returns.

    Returns
    -------
    Comparison
        With the columns that `columns.csv` declares; with one metric no line has its agreement.
    """
    several = len(pairs) > 1
    agreeing = count(pairs) if several else _NONE
    named = agreeing
    if several and settings.rating.max_pairs != MAX_CANDIDATES:
        named = count({metric: _within(source) for metric, source in suspected.items()})
    ordered = surest.order(ClaimSettings(False, settings.rating.rates), [of_pairs(named)], iuf)
    every = {**claims, AGREEMENT: ordered} if several else claims
    lines = rate(settings.rating, iuf, strata, manifest, agreeing, clusters)
    return Comparison(lines, ordered, surest.summarize(every, settings.right), surest.curves(every))


def _within(source: Source) -> pa.Table:
    """Return the pairs of a metric within the limit of claims, which does not depend on the rank limit of a study."""
    pairs = (rows.filter(within(rows, MAX_CANDIDATES)).select(["puf", "eif"]) for rows in batches.split(source))
    table = pa.concat_tables(pairs)
    return table.append_column("confirmed", pa.array(np.zeros(len(table), bool)))


def count(pairs: Mapping[str, Source]) -> pa.Table:
    """Count by how many metrics each pair is suspected.

    Parameters
    ----------
    pairs : mapping of Source
        By metric, the suspected pairs by row number, as confirmation leaves them.

    Returns
    -------
    pyarrow.Table
        puf, eif, score (the number of metrics), confirmed; by PUF record, most metrics first, then by EIF record.
    """
    tables = []
    for batch in batches.merge(list(pairs.values()), columns=["puf", "eif", "confirmed"]):
        puf, eif, confirmed = (column.to_numpy() for column in batch.columns)
        pair = np.lexsort((eif, puf))
        start = np.flatnonzero(batches.is_new(puf[pair]) | batches.is_new(eif[pair]))
        number, first = np.diff(start, append=len(pair)), pair[start]
        best = np.lexsort((eif[first], -number, puf[first]))
        columns = {
            "puf": puf[first],
            "eif": eif[first],
            "score": number.astype(np.int16),
            "confirmed": confirmed[first],
        }
        tables.append(pa.table({name: values[best] for name, values in columns.items()}))
    return pa.concat_tables(tables)


def of_at_least(pairs: pa.Table, number: int) -> pa.Table:
    """Return the pairs of :func:`count` that at least so many metrics suspect."""
    return pairs.filter(pa.array(pairs["score"].to_numpy() >= number))


def rate(
    settings: RatingSettings,
    iuf: Source,
    strata: Mapping[str, Source],
    manifest: pd.DataFrame,
    pairs: pa.Table,
    clusters: Source | None = None,
) -> pd.DataFrame:
    """Compute the rates of the pairs that at least 1, 2, … of the metrics suspect.

    Parameters
    ----------
    settings : RatingSettings
        That of the rates.
    pairs : pyarrow.Table
        Those of :func:`count`.

    Returns
    -------
    pandas.DataFrame
        The columns of `agreement/rates.csv`; no line for a study of one metric.
    """
    numbers = range(1, len(settings.metrics) + 1) if len(settings.metrics) > 1 else range(0)
    tables = {str(number): of_at_least(pairs, number) for number in numbers}
    limits = dict.fromkeys(tables, pd.DataFrame())
    by_number = replace(settings, metrics=tuple(tables), tolerances=dict.fromkeys(tables, (0, 0)))
    lines = rates.rate(by_number, {}, iuf, strata, manifest, tables, limits, clusters) if tables else pd.DataFrame()
    if not len(lines):
        return lines
    return lines.assign(metrics=lines["metric"].astype(np.int64)).drop(columns=["metric", *OF_ONE_METRIC])
