"""One-to-one assignment: each record in at most one pair, with the largest sum of weights (METHODS §4.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.linkage.batches import is_new
from reident.sections.exact import SCALE

MAX_WEIGHT = 2**60
"""Weights are whole numbers below this, so that sums and differences of two are exact."""

PAIRS = pa.schema([("puf", pa.int32()), ("eif", pa.int32()), ("score", pa.float64())])


def assign(puf: np.ndarray, eif: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Choose pairs so that each record is in at most one, with the largest sum of weights.

    Parameters
    ----------
    puf, eif : int (m,)
        The records of each pair, sorted by puf and then eif; no pair twice.
    weight : int64 (m,)
        A pair with a weight of 0 or less is not chosen.

    Returns
    -------
    int64
        The positions of the chosen pairs, ascending. Among several best choices it is that of
        :func:`reident.kernels.assignment.assign` on pairs in this order, so that equal pairs give equal choices.

    Raises
    ------
    ValueError
        If a weight is so large that sums are not exact.
    """
    useful = np.flatnonzero(weight > 0)
    if not len(useful):
        return useful
    if int(weight[useful].max()) >= MAX_WEIGHT:
        raise ValueError("weights are too large to be added up exactly.")
    row, column = (np.unique(records[useful], return_inverse=True)[1] for records in (puf, eif))
    alone = (np.bincount(row)[row] == 1) & (np.bincount(column)[column] == 1)
    rest = useful[~alone]
    if not len(rest):
        return useful
    from reident.kernels import assignment as kernel  # noqa: PLC0415 - most studies need no search

    first = np.append(np.flatnonzero(is_new(puf[rest])), len(rest))
    columns, column = np.unique(eif[rest], return_inverse=True)
    chosen = kernel.assign(first, column.astype(np.int32), weight[rest], len(columns))
    return np.sort(np.append(useful[alone], rest[chosen[chosen >= 0]]))


def assign_scores(puf: np.ndarray, eif: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Do the same with pairs in any order and scores; the positions are in the order of PUF records."""
    order = np.lexsort((eif, puf))
    return order[assign(puf[order], eif[order], np.rint(score[order] * SCALE).astype(np.int64))]


def assigned(pairs: Iterable[pa.Table], max_pairs: int) -> Iterator[pa.Table]:
    """Yield the pairs of the one-to-one assignment among those within the rank limit.

    The ranked pairs are in the order of PUF records, and no record is in two tables.

    Yields
    ------
    pyarrow.Table
        puf, eif, score: at least one table, in the order of PUF records. A record without a pair within the limit,
        because too many share its best score, is ambiguous: its eif and score are null.
    """
    candidates = [_within(table, max_pairs) for table in pairs]
    valid = pa.Table.from_batches(candidates, PAIRS)
    valid = valid.filter(pc.is_valid(valid["eif"]))
    chosen = assign_scores(*(valid[name].to_numpy() for name in PAIRS.names))
    kept = np.zeros(len(valid), bool)
    kept[chosen] = True
    start = 0
    for batch in candidates:
        keep = batch["eif"].is_null().to_numpy(zero_copy_only=False)
        end = start + int(np.count_nonzero(~keep))
        keep[~keep] = kept[start:end]
        start = end
        yield pa.table(batch).filter(pa.array(keep))


def _within(pairs: pa.Table, max_pairs: int) -> pa.RecordBatch:
    """Return the pairs within the rank limit, and one row of nulls for each record without any."""
    puf = pairs["puf"].to_numpy()
    within = pc.fill_null(pc.less_equal(pairs["max_pairs"], max_pairs), False).to_numpy()
    new = is_new(puf)
    number = np.cumsum(new) - 1
    ambiguous = new & (np.bincount(number, within)[number] == 0)
    kept = pa.array(within | ambiguous)
    columns = [pairs[name].combine_chunks().filter(kept) for name in PAIRS.names]
    nothing = pa.array(ambiguous).filter(kept)
    columns[1:] = [pc.if_else(nothing, pa.scalar(None, column.type), column) for column in columns[1:]]
    return pa.RecordBatch.from_arrays(columns, schema=PAIRS)
