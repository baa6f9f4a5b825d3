"""One-to-one assignment: each record in at most one pair, with the largest sum of weights (METHODS §4.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.spool import Spool
from reident.linkage.batches import is_new
from reident.sections.exact import SCALE

MAX_WEIGHT = 2**60
"""Weights are whole numbers below this, so that sums and differences of two are exact."""

GROUP = 2**22
"""Pairs that are assigned at a time, approximately: more where so many depend on one another."""

CLASSES = 2**16
"""Parts of pairs that depend on one another are counted by classes of so many records, to make groups of like size."""

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

    Notes
    -----
    Pairs whose two records are in no other pair need no search.
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


def assigned(
    pairs: Iterable[pa.Table], max_pairs: int, n_puf: int, folder: Path | None
) -> Iterator[pa.Table]:
    """Yield the pairs of the one-to-one assignment among those within the rank limit.

    Parameters
    ----------
    pairs : iterable of pyarrow.Table
        puf, eif, score, max_pairs: ranked pairs in the order of PUF records; no record is in two tables.
    max_pairs : int
        The rank limit.
    n_puf : int
        The number of PUF records.
    folder : pathlib.Path, optional
        Where pairs that do not fit into memory wait in files without a name; by default in memory.

    Yields
    ------
    pyarrow.Table
        puf, eif, score: at least one table, in the order of PUF records. A record without a pair within the limit,
        because too many share its best score, is crowded: its eif and score are null.
    """
    with Spool(PAIRS, folder) as candidates:
        n_eif = 0
        for table in pairs:
            batch = _within(table, max_pairs)
            n_eif = max(n_eif, 1 + (pc.max(batch["eif"]).as_py() or 0))
            candidates.append(batch)
        of_record = _choose(candidates, n_puf, n_eif, folder)
        for batch in candidates:
            crowded = pc.is_null(batch["eif"]).to_numpy(zero_copy_only=False)
            eif = pc.fill_null(batch["eif"], -2).to_numpy()
            yield pa.table(batch).filter(pa.array(crowded | (of_record[batch["puf"].to_numpy()] == eif)))


def _within(pairs: pa.Table, max_pairs: int) -> pa.RecordBatch:
    """Return the pairs within the rank limit, and one row of nulls for each record without any."""
    puf = pairs["puf"].to_numpy()
    within = pc.fill_null(pc.less_equal(pairs["max_pairs"], max_pairs), False).to_numpy()
    new = is_new(puf)
    number = np.cumsum(new) - 1
    crowded = new & (np.bincount(number, within)[number] == 0)
    kept = pa.array(within | crowded)
    columns = [pairs[name].combine_chunks().filter(kept) for name in PAIRS.names]
    nothing = pa.array(crowded).filter(kept)
    columns[1:] = [pc.if_else(nothing, pa.scalar(None, column.type), column) for column in columns[1:]]
    return pa.RecordBatch.from_arrays(columns, schema=PAIRS)


def _choose(candidates: Spool, n_puf: int, n_eif: int, folder: Path | None) -> np.ndarray:
    """Return the EIF record that is assigned to each PUF record, -1 for none; int32 (n_puf,)."""
    of_record = np.full(n_puf, -1, np.int32)
    if candidates.rows > GROUP:
        groups = _independent(candidates, n_puf, n_eif, folder)
    else:
        groups = iter([candidates.table(range(len(candidates)))])
    for table in groups:
        pairs = table.filter(pc.is_valid(table["eif"]))
        puf, eif, score = (pairs[name].to_numpy() for name in PAIRS.names)
        chosen = assign_scores(puf, eif, score)
        of_record[puf[chosen]] = eif[chosen]
    return of_record


def _independent(candidates: Spool, n_puf: int, n_eif: int, folder: Path | None) -> Iterator[pa.Table]:
    """Yield the pairs in groups: pairs that a chain of common records connects are in one group, in their order."""
    part = _parts(candidates, n_puf, n_eif)
    width = -(-n_puf // CLASSES)
    sizes = np.zeros(CLASSES, np.int64)
    for batch in candidates:
        sizes += np.bincount(part[batch["puf"].to_numpy()] // width, minlength=CLASSES)
    group_of = (np.cumsum(sizes) - sizes) // GROUP
    with Spool(PAIRS, folder) as sorted_pairs:
        numbers: list[list[int]] = [[] for _ in range(int(group_of[-1]) + 1)]
        for batch in candidates:
            group = group_of[part[batch["puf"].to_numpy()] // width]
            order = np.argsort(group, kind="stable")
            starts = np.searchsorted(group[order], np.arange(len(numbers) + 1))
            rows = batch.take(pa.array(order))
            for own, start, stop in zip(numbers, starts[:-1], starts[1:], strict=True):
                if stop > start:
                    own.append(sorted_pairs.append(rows.slice(start, stop - start)))
        del part
        for own in numbers:
            yield sorted_pairs.table(own)


def _parts(candidates: Spool, n_puf: int, n_eif: int) -> np.ndarray:
    """Return the part of each PUF record: the lowest of the records that a chain of pairs connects it with."""
    from reident.kernels import assignment as kernel  # noqa: PLC0415 - most studies need no search

    part = np.arange(n_puf + n_eif, dtype=np.int32)
    for batch in candidates:
        pairs = batch.filter(pc.is_valid(batch["eif"]))
        kernel.unite(part, pairs["puf"].to_numpy(), pairs["eif"].to_numpy() + np.int32(n_puf))
    kernel.name(part)
    return part[:n_puf].copy()
