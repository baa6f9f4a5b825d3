"""The rank filter: for each record, which rank limit lets each of its pairs in (METHODS §5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.linkage.assignment import assigned
from reident.linkage.batches import SortedRows, is_new, merge, schema
from reident.linkage.settings import WHOLE, AssignmentSettings
from reident.linkage.strata import stratum_of_records
from reident.linkage.tally import Tally

if TYPE_CHECKING:
    from reident.linkage.batches import Sink, Source


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
    shards: Sequence[Source],
    strata: Source,
    manifest: pd.DataFrame,
    suspected: Sink,
    assigning: AssignmentSettings | None = None,
) -> pd.DataFrame:
    """Rank the scores of a metric that scoring kept; those of unicity have an order, and no rank.

    Parameters
    ----------
    shards : sequence of Source
        The pairs of every shard, at least one shard.
    suspected
        Takes every row of the shards in the order of PUF records: puf, eif, score, rank, max_pairs; all but puf are
        null for an ambiguous record. For unicity: puf, eif, order.
    assigning : AssignmentSettings, optional
        For a one-to-one assignment. Its pairs have the rank 1.

    Returns
    -------
    pandas.DataFrame
        stratum (``ALL`` first), rank (or order), n_pufids, n_pairs; ambiguous records are not counted.
    """
    strata_of, column = SortedRows(strata, ["stratum"]), "order" if "order" in schema(shards[0]).names else "rank"
    counts = Tally(["stratum", column])
    for pairs in ranked_pairs(merge(shards), assigning):
        suspected(pairs)
        _count(counts, pairs.filter(pc.is_valid(pairs["eif"])), strata_of, column)
    by_stratum = counts.table()
    names = manifest["stratum"].to_numpy(object)[by_stratum["stratum"].to_numpy()]
    whole = by_stratum.drop(columns="stratum").groupby(column, as_index=False).sum().assign(stratum=WHOLE)
    return pd.concat([whole[by_stratum.columns], by_stratum.assign(stratum=names)], ignore_index=True)


def ranked_pairs(scores: Iterable[pa.Table], assigning: AssignmentSettings | None = None) -> Iterator[pa.Table]:
    """Yield scored pairs as :func:`rank` gives them to its sink; each table has all pairs of its records."""
    if assigning is not None:
        scores = assigned(_within_or_ambiguous(_ranked(rows), assigning.max_pairs) for rows in scores)
    for rows in scores:
        yield rows.select(["puf", "eif", "order"]) if "order" in rows.column_names else _ranked(rows)


def within(pairs: pa.Table, max_pairs: int) -> pa.Array:
    """Return whether ranked pairs are within a rank limit, bool (m,); all are for a metric without ranks.

    The row of an ambiguous record is no pair.
    """
    if "max_pairs" not in pairs.column_names:
        return pc.is_valid(pairs["eif"])
    return pc.fill_null(pc.less_equal(pairs["max_pairs"], max_pairs), False)


def _within_or_ambiguous(pairs: pa.Table, max_pairs: int) -> pa.Table:
    """Return the pairs within the rank limit, and one row of nulls for each record without any."""
    puf, inside = pairs["puf"].to_numpy(), within(pairs, max_pairs).to_numpy()
    new = is_new(puf)
    number = np.cumsum(new) - 1
    ambiguous = new & (np.bincount(number, inside)[number] == 0)
    rows = pairs.select(["puf", "eif", "score"]).filter(pa.array(inside | ambiguous))
    nothing = pa.array(ambiguous[inside | ambiguous])
    for at, name in enumerate(("eif", "score"), start=1):
        empty = pa.scalar(None, rows[name].type)
        rows = rows.set_column(at, name, pc.if_else(nothing, empty, rows[name]))
    return rows


def _ranked(pairs: pa.Table) -> pa.Table:
    ambiguous = pc.is_null(pairs["eif"]).to_numpy()
    for name, values in ranks(pairs["puf"].to_numpy(), pairs["score"].to_numpy())._asdict().items():
        pairs = pairs.append_column(name, pa.array(values, mask=ambiguous))
    return pairs


def _count(counts: Tally, pairs: pa.Table, strata: SortedRows, column: str) -> None:
    """Count records and pairs by stratum and the values of a column, in which the pairs of a record are best first."""
    puf, value = pairs["puf"].to_numpy(), pairs[column].to_numpy()
    start = np.flatnonzero(is_new(puf) | is_new(value))
    n_pairs = np.diff(start, append=len(puf))
    stratum = stratum_of_records(strata.take(puf[start]))
    counts.add({"stratum": stratum, column: value[start], "n_pufids": np.ones_like(start), "n_pairs": n_pairs})
