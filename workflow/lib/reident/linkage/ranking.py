"""The rank filter: for each record, which rank limit lets each of its pairs in (METHODS §5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.linkage.assignment import assigned
from reident.linkage.batches import SortedRows, is_new, merge
from reident.linkage.parts import Assigning
from reident.linkage.strata import lines
from reident.linkage.tally import Tally

if TYPE_CHECKING:
    from reident.linkage.batches import Sink, Source
    from reident.linkage.metrics.contract import Metric

WHOLE = "ALL"
"""The stratum of lines about the whole study."""


class Ranks(NamedTuple):
    """The ranks of pairs that are sorted by record, best score first.

    Attributes
    ----------
    rank : int32 (m,)
        1 for the record's best distinct score, 2 for the next, …
    max_pairs : int32 (m,)
        The smallest rank limit with which the pair is suspected: the number of the record's pairs of this rank or
        a better one.
    """

    rank: np.ndarray
    max_pairs: np.ndarray


def ranks(record: np.ndarray, score: np.ndarray) -> Ranks:
    """Rank the pairs of each record by distinct score.

    The pairs of a record follow one another, best first; either end of the scale may be the best.
    """
    m = len(score)
    if not m:
        return Ranks(np.empty(0, np.int32), np.empty(0, np.int32))
    new_record = is_new(record)
    new_rank = new_record | is_new(score)
    start_of_record = np.flatnonzero(new_record)[np.cumsum(new_record) - 1]
    group = np.cumsum(new_rank) - 1
    end_of_group = np.append(np.flatnonzero(new_rank)[1:], m)
    rank, max_pairs = group - group[start_of_record] + 1, end_of_group[group] - start_of_record
    return Ranks(rank.astype(np.int32), max_pairs.astype(np.int32))


def rank(
    metric: Metric,
    shards: Sequence[Source],
    strata: Source,
    manifest: pd.DataFrame,
    suspected: Sink,
    assigning: Assigning | None = None,
) -> pd.DataFrame:
    """Rank the scores of a metric that scoring kept.

    Parameters
    ----------
    shards : sequence of Source
        The pairs of every shard, at least one shard.
    suspected
        Takes every row of the shards in the order of PUF records: puf, eif, score, rank, max_pairs; all but puf are
        null for an ambiguous record. For unicity: puf, eif, order.
    assigning : Assigning, optional
        For a one-to-one assignment. Its pairs have the rank 1.

    Returns
    -------
    pandas.DataFrame
        stratum (``ALL`` first), rank (or order), n_pufids, n_pairs; ambiguous records are not counted.
    """
    strata_of, level = SortedRows(strata, ["stratum"]), "rank" if metric.ranked else "order"
    counts = Tally(["stratum", level])
    kept = merge(shards)
    if assigning is not None:
        kept = assigned(map(_ranked, kept), assigning.max_pairs)
    for rows in kept:
        pairs = _ranked(rows) if metric.ranked else rows.select(["puf", "eif", "order"])
        suspected(pairs)
        _count(counts, pairs.filter(pc.is_valid(pairs["eif"])), strata_of, level)
    by_stratum = counts.table()
    names = manifest["stratum"].to_numpy(object)[by_stratum["stratum"].to_numpy()]
    whole = by_stratum.drop(columns="stratum").groupby(level, as_index=False).sum().assign(stratum=WHOLE)
    return pd.concat([whole[by_stratum.columns], by_stratum.assign(stratum=names)], ignore_index=True)


def _ranked(pairs: pa.Table) -> pa.Table:
    ambiguous = pc.is_null(pairs["eif"]).to_numpy()
    for name, values in ranks(pairs["puf"].to_numpy(), pairs["score"].to_numpy())._asdict().items():
        pairs = pairs.append_column(name, pa.array(values, mask=ambiguous))
    return pairs


def _count(counts: Tally, pairs: pa.Table, strata: SortedRows, level: str) -> None:
    """Count records and pairs by stratum and level; the pairs of a record follow one another, best level first."""
    puf, value = pairs["puf"].to_numpy(), pairs[level].to_numpy()
    start = np.flatnonzero(is_new(puf) | is_new(value))
    n_pairs = np.diff(start, append=len(puf))
    stratum = lines(strata.take(puf[start]))
    counts.add({"stratum": stratum, level: value[start], "n_pufids": np.ones_like(start), "n_pairs": n_pairs})
