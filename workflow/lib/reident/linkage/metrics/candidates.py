"""The candidates of each record, where there are too many pairs to weigh all of them (METHODS §4.6).

The list of a PUF record has its best pairs by a weight that is never below that of the pair: for numbers, the searches
know distances but no signs, and where values are missing no weight below 0. What is not listed has no more weight than
the last pair that is; frequencies of single values aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reident.kernels import adhoc, weighted
from reident.kernels.compared import Compared
from reident.kernels.evidence import EVERY, Listed, listing
from reident.kernels.toplist import Pairs
from reident.linkage.metrics.levels import ABSENT, AGREE, DIFFER, PARTIAL, Levels, begins, intervals_of

if TYPE_CHECKING:
    from reident.linkage.metrics.contract import Progress

MAX_PAIRS = 10**9
"""Up to this number of pairs all of them are weighed."""

KEEP, BITS = 50, 6
"""The candidates of a PUF record: at most so many, and those whose odds are above 2 to the power of minus this."""

SAMPLED = 10**9
"""The pairs that are weighed at most to bound what candidates leave out."""

FINE = 1000
"""The searches know weights in units of so many of theirs, rounded up."""

MAX_CODES = 1024
"""Categories that the search tells apart; of more, some count as equal until the exact weight is added up."""


class Candidates(NamedTuple):
    """The candidates of the PUF rows, and which rows have more equally good ones than a list holds: none is listed."""

    listed: Listed = EVERY
    open_rows: np.ndarray | None = None  # bool (n_puf,)


def candidates(
    files: Compared,
    levels: Sequence[Levels],
    weights: np.ndarray,
    least: int,
    keep: int = KEEP,
    threads: int = 1,
    progress: Progress | None = None,
) -> Candidates:
    """Return the candidates of each PUF row by these weights.

    Parameters
    ----------
    files : Compared
        Of values as :func:`reident.linkage.metrics.levels.whole_values` makes them.
    weights : int64 (n_levels,)
        Of all levels of all variables.
    least : int
        The least weight of a candidate.
    keep : int
        The length of a list.
    """
    own = np.split(weights, begins(levels)[1:-1])
    puf, eif, n_puf = [np.empty(0, np.int64)], [np.empty(0, np.int64)], len(files.stratum)
    open_rows = np.zeros(n_puf, bool)
    for (a, b), (c, d) in zip(*(pairwise(one.starts.tolist()) for one in (files.puf, files.eif)), strict=True):
        if a == b or c == d:
            continue
        rows = files.puf.values[:, a:b].T, files.eif.values[:, c:d].T
        pairs = _search(*rows, levels, own, least, keep, threads)
        order = np.lexsort([pairs.eif, pairs.puf])
        puf.append(pairs.puf[order] + a)
        eif.append(pairs.eif[order] + c)
        open_rows[a:b] = pairs.ambiguous
        if progress is not None:
            progress(b / n_puf)
    listed = np.concatenate(puf), np.concatenate(eif)
    return Candidates(listing(files, intervals_of(levels), *listed, threads), open_rows)


def _search(
    puf: np.ndarray,
    eif: np.ndarray,
    levels: Sequence[Levels],
    own: Sequence[np.ndarray],
    least: int,
    keep: int,
    threads: int,
) -> Pairs:
    """Return the best pairs of one stratum."""
    if all(found.scale is None for found in levels):
        table = np.zeros((len(levels), 4), np.int64)
        for row, found, weights in zip(table, levels, own, strict=True):
            by_name = dict(zip(found.distinct, weights.tolist(), strict=True))
            row[:3] = by_name[AGREE], by_name.get(PARTIAL, 0), by_name[DIFFER]
        near = [PARTIAL in found.names for found in levels]
        a, b = (np.where(side == ABSENT, -1, side).astype(np.int32) for side in (puf, eif))
        return weighted.nearest(a, b, table, near=near, least=least, keep=keep, threads=threads)
    rules: list[adhoc.Rule] = []
    base = 0
    codes = np.full(puf.shape, -1, np.int32), np.full(eif.shape, -1, np.int32)
    for at, (found, weights) in enumerate(zip(levels, own, strict=True)):
        fine = -(-weights // FINE)
        complete = not ((puf[:, at] == ABSENT).any() or (eif[:, at] == ABSENT).any())
        lowest = int(fine.min()) if complete else 0
        base += lowest
        by_name = dict(zip(found.distinct, np.maximum(fine - lowest, 0).tolist(), strict=True))
        if found.scale is not None:
            rules.append(_bands(found, by_name))
            continue
        columns = [np.where(side[:, at] == ABSENT, -1, side[:, at] % MAX_CODES) for side in (puf, eif)]
        for side, column in zip(codes, columns, strict=True):
            side[:, at] = column
        width = int(max(column.max(initial=0) for column in columns)) + 1
        rules.append(_table(width, by_name))
    p, e = (np.where(side == ABSENT, np.nan, side.astype(np.float64)) for side in (puf, eif))
    above = max(-(-least // FINE) - base, 0) - 1
    return adhoc.nearest(codes[0], codes[1], p, e, rules, above=above, scale=10**12, keep=keep, threads=threads)


def _bands(levels: Levels, scores: dict[str, int]) -> adhoc.Rule:
    """Return the scores by distance, of either sign."""
    middle = levels.names.index(AGREE)
    both = [max(scores[levels.names[middle - k]], scores[levels.names[middle + k]]) for k in range(1, middle + 1)]
    within = np.array([0, *levels.ends[middle + 1 :]], np.float64)
    return adhoc.Bands(within, np.zeros(len(within)), np.array([scores[AGREE], *both[:-1]], np.int64), both[-1])


def _table(width: int, scores: dict[str, int]) -> adhoc.Rule:
    """Return the scores by pair of codes, which are remainders where there are very many categories."""
    table = np.full((width, width), scores[DIFFER], np.int64)
    at = np.arange(width)
    if PARTIAL in scores:
        gap, whole = np.abs(at[:, None] - at), width < MAX_CODES
        table[(gap == 1) | (gap == MAX_CODES - 1)] = max(scores[PARTIAL], scores[PARTIAL if whole else DIFFER])
    table[at, at] = scores[AGREE]
    return adhoc.Table(table)
