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


def assigned(candidates: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the pairs of the one-to-one assignment among candidates.

    Parameters
    ----------
    candidates : iterable of pyarrow.Table
        puf, eif, score. An ambiguous record is one row whose eif and score are null, and stays.
    """
    tables = list(candidates)
    pairs = pa.concat_tables(tables)
    valid = pairs.filter(pc.is_valid(pairs["eif"]))
    chosen = assign_scores(*(valid[name].to_numpy() for name in ("puf", "eif", "score")))
    kept = np.zeros(len(valid), bool)
    kept[chosen] = True
    start = 0
    for table in tables:
        keep = pc.is_null(table["eif"]).to_numpy()
        end = start + int(np.count_nonzero(~keep))
        keep[~keep] = kept[start:end]
        start = end
        yield table.filter(pa.array(keep))
