"""Confirmation: a suspected pair is confirmed if it is a true link (METHODS §6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.linkage import sums
from reident.linkage.batches import merge
from reident.linkage.parts import Confirming
from reident.linkage.ranking import WHOLE
from reident.linkage.strata import lines

if TYPE_CHECKING:
    from reident.linkage.batches import Sink, Source
    from reident.linkage.metrics.contract import Metric

LIMITS = [
    "stratum", "max_pairs", "n_suspected", "n_confirmed", "n_ambiguous", "n_pairs", "n_confirmed_pairs",
    "expected_correct",
]  # fmt: skip


class Links:
    """The true links, by row number."""

    def __init__(self, iuf: pa.Table) -> None:
        self._links = _numbers(iuf)  # ascending, as the links are sorted

    def hold(self, pairs: pa.Table) -> np.ndarray:
        """Return whether each pair is a true link; bool (m,)."""
        if not len(self._links):
            return np.zeros(pairs.num_rows, bool)
        number = _numbers(pairs)
        place = np.searchsorted(self._links, number)
        return self._links[np.minimum(place, len(self._links) - 1)] == number


def _numbers(pairs: pa.Table) -> np.ndarray:
    """Return one number for each pair; pairs are in the order of their numbers."""
    return pairs["puf"].to_numpy().astype(np.int64) << 32 | pairs["eif"].to_numpy()


def expected_correct(totals: np.ndarray) -> float:
    """Return how many claims are right, on average, if an intruder names one candidate of each (METHODS §6).

    Parameters
    ----------
    totals : int64 or float64 (c + 1,)
        At position k, the true links among the candidates of all records that have k candidates; 0 at position 0.

    Returns
    -------
    float
        Σ totals[k] / k. It depends on the totals alone, never on the order of the records.
    """
    candidates = np.flatnonzero(totals)
    return math.fsum(totals[candidates] / candidates)


def confirm(
    part: Confirming,
    metric: Metric,
    suspected: Source,
    files: Mapping[str, pa.Table],
    iuf: pa.Table,
    strata: pa.Table,
    manifest: pd.DataFrame,
    confirmed: Sink,
    positions: Sink,
) -> pd.DataFrame:
    """Check the suspected pairs of a metric against the true links.

    Parameters
    ----------
    part : Confirming
    metric : Metric
    suspected : pyarrow.Table or pyarrow.parquet.ParquetFile
        Every pair that scoring kept and every crowded record, as :func:`reident.linkage.ranking.rank` leaves them.
    files : mapping of pyarrow.Table
        The key columns of the prepared tables ``puf`` and ``eif``.
    iuf : pyarrow.Table
        The prepared links.
    strata : pyarrow.Table
        The stratum of each PUF record.
    manifest : pandas.DataFrame
        The strata.
    confirmed
        Takes the pairs within the rank limit: PUF key, EIF key, stratum, score, rank (unicity: order), confirmed.
    positions
        Takes the same pairs by row number: puf, eif, score (unicity: order), confirmed.

    Returns
    -------
    pandas.DataFrame
        :data:`LIMITS`: counts at every rank limit from 1 to `keep`, those of the whole study (``ALL``) first; no
        line for unicity, which has no rank limit.
    """
    keys = {side: files[side].select(list(part.keys[side])).combine_chunks() for side in ("puf", "eif")}
    stratum, names = lines(strata), pa.array(manifest["stratum"].astype(object), pa.string())
    links, limits = Links(iuf), _Limits(len(manifest), part.keep)
    for rows in merge([suspected]):
        crowded = pc.is_null(rows["eif"])
        pairs = rows.filter(pc.invert(crowded))
        pairs = pairs.append_column("confirmed", pa.array(links.hold(pairs)))
        if metric.ranked:
            limits.count(pairs, stratum)
            limits.count_crowded(rows.filter(crowded), stratum)
            pairs = pairs.filter(pc.less_equal(pairs["max_pairs"], part.max_pairs))
        level = ["score"] if metric.ranked else ["order"]
        positions(pairs.select(["puf", "eif", *level, "confirmed"]))
        confirmed(_keyed(pairs, keys, names.take(pa.array(stratum[pairs["puf"].to_numpy()]))))
    return limits.table(list(manifest["stratum"])) if metric.ranked else pd.DataFrame(columns=LIMITS)


def export(confirmed: pa.Table) -> pd.DataFrame:
    """Return the suspected pairs as :func:`confirm` leaves them, as a table to write as CSV."""
    return confirmed.to_pandas()


def _keyed(pairs: pa.Table, keys: dict[str, pa.Table], stratum: pa.Array) -> pa.Table:
    """Replace row numbers by keys."""
    columns: dict[str, pa.ChunkedArray | pa.Array] = {}
    for side, table in keys.items():
        records = table.take(pairs[side])
        columns |= {name: records[name] for name in records.column_names}
    columns["stratum"] = stratum
    for name in ("score", "order", "rank", "confirmed"):
        if name in pairs.column_names:
            columns[name] = pairs[name].cast(pa.int64()) if name in ("order", "rank") else pairs[name]
    return pa.table(columns)


class _Limits:
    """Counts for every rank limit from 1 to `keep`, by stratum.

    Each count is kept by stratum and by the smallest limit that lets a record, or a pair, in.
    """

    def __init__(self, n_strata: int, keep: int) -> None:
        self.keep = keep
        self.suspected, self.confirmed, self.pairs, self.confirmed_pairs = (
            np.zeros((n_strata, keep + 1), np.int64) for _ in range(4)
        )
        self.crowded = np.zeros(n_strata, np.int64)
        self.claims: list[pd.DataFrame] = []

    def count(self, pairs: pa.Table, stratum: np.ndarray) -> None:
        """Count the pairs of complete records, best first."""
        puf, max_pairs, link = (pairs[name].to_numpy() for name in ("puf", "max_pairs", "confirmed"))
        linked = np.flatnonzero(link)
        best = np.unique(puf, return_index=True)[1]
        best_linked = linked[np.unique(puf[linked], return_index=True)[1]]
        for counts, rows in (
            (self.suspected, best),
            (self.confirmed, best_linked),
            (self.pairs, slice(None)),
            (self.confirmed_pairs, linked),
        ):
            cell = stratum[puf[rows]] * np.int64(self.keep + 1) + max_pairs[rows]
            counts[:] += np.bincount(cell, minlength=counts.size).reshape(counts.shape)
        self.claims.append(_sum_claims([_claims(puf, max_pairs, link, stratum)]))

    def count_crowded(self, records: pa.Table, stratum: np.ndarray) -> None:
        """Count records for which scoring kept no pair."""
        self.crowded += np.bincount(stratum[records["puf"].to_numpy()], minlength=len(self.crowded))

    def table(self, strata: list[str]) -> pd.DataFrame:
        """Return the counts as :data:`LIMITS`."""
        claims = _sum_claims(self.claims)
        whole = claims.assign(stratum=0).groupby(["stratum", "max_pairs", "candidates"], as_index=False).sum()
        expected = np.vstack([self._expected(whole, 1), self._expected(claims, len(strata))])
        suspected, confirmed, pairs, confirmed_pairs = (
            np.cumsum(np.vstack([counts.sum(axis=0), counts])[:, 1:], axis=1)
            for counts in (self.suspected, self.confirmed, self.pairs, self.confirmed_pairs)
        )
        candidates = self.suspected.sum(axis=1) + self.crowded
        counts = {
            "n_suspected": suspected,
            "n_confirmed": confirmed,
            "n_ambiguous": np.append(candidates.sum(), candidates)[:, np.newaxis] - suspected,
            "n_pairs": pairs,
            "n_confirmed_pairs": confirmed_pairs,
        }
        return pd.DataFrame(
            {
                "stratum": np.repeat(np.array([WHOLE, *strata], object), self.keep),
                "max_pairs": np.tile(np.arange(1, self.keep + 1), 1 + len(strata)),
                **{name: values.reshape(-1) for name, values in counts.items()},
                "expected_correct": expected.reshape(-1),
            },
            columns=LIMITS,
        )

    def _expected(self, claims: pd.DataFrame, n_strata: int) -> np.ndarray:
        """Return the expected correct claims of each stratum at every limit; float64 (n_strata, keep)."""
        limit, stratum, candidates, links = (
            claims[name].to_numpy(np.int64) for name in ("max_pairs", "stratum", "candidates", "links")
        )
        order = np.argsort(limit, kind="stable")
        starts = np.searchsorted(limit[order], np.arange(1, self.keep + 2))
        totals = np.zeros((n_strata, self.keep + 1), np.int64)
        expected = np.zeros((n_strata, self.keep + 1))
        for at in range(1, self.keep + 1):
            expected[:, at] = expected[:, at - 1]
            changes = order[starts[at - 1] : starts[at]]
            totals[stratum[changes], candidates[changes]] += links[changes]
            changed = np.unique(stratum[changes])
            # As `expected_correct`, whose sum is rounded once, whatever the order.
            expected[changed, at] = sums.of_rows(totals[changed, 1 : at + 1] / np.arange(1, at + 1))
        return expected[:, 1:]


def _claims(puf: np.ndarray, max_pairs: np.ndarray, link: np.ndarray, stratum: np.ndarray) -> pd.DataFrame:
    """Return how the claims change with the rank limit: each rank of a record replaces its candidates by more.

    A line adds `links` true links, at the limit `max_pairs`, to those of the records that have so many `candidates`.
    """
    last = np.flatnonzero(
        np.append((puf[1:] != puf[:-1]) | (max_pairs[1:] != max_pairs[:-1]), True)[: len(puf)]
    )
    record, candidates, total = puf[last], max_pairs[last].astype(np.int64), np.cumsum(link)[last]
    new = np.append(True, record[1:] != record[:-1])[: len(record)]
    before = np.append(0, total)[: len(total)]
    links = total - np.maximum.accumulate(np.where(new, before, 0))
    lines = pd.DataFrame(
        {"stratum": stratum[record], "max_pairs": candidates, "candidates": candidates, "links": links}
    )
    replaced = lines.assign(
        candidates=lines["candidates"].shift(fill_value=0), links=-lines["links"].shift(fill_value=0)
    )
    return pd.concat([lines, replaced[~new]])


def _sum_claims(claims: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the sum of the lines that are about the same stratum, limit and number of candidates."""
    table = pd.concat(claims)
    return table[table["links"] != 0].groupby(["stratum", "max_pairs", "candidates"], as_index=False).sum()
