"""The candidates of each record, where there are too many pairs to weigh all of them (METHODS §4.6).

The list of a PUF record has its best pairs by a weight that is never below that of the pair: for numbers, the searches
know distances but no signs, and where values are missing no weight below 0. What is not listed has no more weight than
the last pair that is. Candidates are then what all pairs are otherwise (:class:`reident.kernels.evidence.Evidence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reident.kernels import adhoc, weighted
from reident.kernels.evidence import LEAST, MOST, TAKEN, Rivals
from reident.kernels.toplist import Pairs
from reident.linkage.metrics.levels import ABSENT, AGREE, DIFFER, PARTIAL, Levels, begins

if TYPE_CHECKING:
    from reident.linkage.metrics.contract import Progress

MAX_PAIRS = 10**9
"""Up to this number of pairs all of them are weighed."""

KEEP, BITS = 50, 6
"""The candidates of a PUF record: at most so many, and those whose odds are above 2 to the power of minus this."""

FINE = 1000
"""The searches know weights in units of so many of theirs, rounded up."""

MAX_CODES = 1024
"""Categories that the search tells apart; of more, some count as equal until the exact weight is added up."""


class Candidates(NamedTuple):
    """The candidates of the records of strata that lie one after another, sorted by PUF record.

    Attributes
    ----------
    puf, eif : int64 (m,)
        Positions.
    level : list of int (m,)
        For each variable, which of its levels a pair has; their number where a value is missing.
    open_records : bool (n_puf,)
        Records with more equally good pairs than a list holds, of which none is listed.
    n_eif : int
    """

    puf: np.ndarray
    eif: np.ndarray
    level: list[np.ndarray]
    open_records: np.ndarray
    n_eif: int


def candidates(
    values: tuple[np.ndarray, np.ndarray],
    starts: tuple[np.ndarray, np.ndarray],
    levels: Sequence[Levels],
    weights: np.ndarray,
    least: int,
    threads: int = 1,
    progress: Progress | None = None,
) -> Candidates:
    """Return the candidates of each record by these weights, as far as these are at least ``least``.

    Parameters
    ----------
    values : pair of int64 (n, v)
        See :func:`reident.linkage.metrics.levels.whole_values`.
    weights : int64 (n_levels,)
        Of all levels of all variables.
    """
    own = np.split(weights, begins(levels)[1:-1])
    puf, eif = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    open_records = np.zeros(len(values[0]), bool)
    for s in range(len(starts[0]) - 1):
        (a, b), (c, d) = (bounds[s : s + 2].tolist() for bounds in starts)
        if a == b or c == d:
            continue
        pairs = _search(values[0][a:b], values[1][c:d], levels, own, least, threads)
        order = np.lexsort([pairs.eif, pairs.puf])
        puf.append(pairs.puf[order] + a)
        eif.append(pairs.eif[order] + c)
        open_records[a:b] = pairs.ambiguous
        if progress is not None:
            progress(b / max(len(values[0]), 1))
    rows, columns = np.concatenate(puf), np.concatenate(eif)
    level = [levels_of_pairs(found, values[0][rows, at], values[1][columns, at]) for at, found in enumerate(levels)]
    return Candidates(rows, columns, level, open_records, len(values[1]))


def levels_of_pairs(levels: Levels, puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
    """Return the level of each pair of values."""
    names = levels.distinct
    number = np.array([names.index(name) for name in levels.names], np.min_scalar_type(len(names)))
    present = (puf != ABSENT) & (eif != ABSENT)
    level = np.full(len(puf), len(names), number.dtype)
    level[present] = number[np.searchsorted(levels.ends, eif[present] - puf[present])]
    return level


def _search(
    puf: np.ndarray, eif: np.ndarray, levels: Sequence[Levels], own: Sequence[np.ndarray], least: int, threads: int
) -> Pairs:
    """Return the best pairs of one stratum."""
    if all(found.scale is None for found in levels):
        table = np.zeros((len(levels), 4), np.int64)
        for row, found, weights in zip(table, levels, own, strict=True):
            by_name = dict(zip(found.distinct, weights.tolist(), strict=True))
            row[:3] = by_name[AGREE], by_name.get(PARTIAL, 0), by_name[DIFFER]
        near = [PARTIAL in found.names for found in levels]
        a, b = (np.where(side == ABSENT, -1, side).astype(np.int32) for side in (puf, eif))
        return weighted.nearest(a, b, table, near=near, least=least, keep=KEEP, threads=threads)
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
    return adhoc.nearest(codes[0], codes[1], p, e, rules, above=above, scale=10**12, keep=KEEP, threads=threads)


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


class Listed:
    """The candidates under given factors, as :class:`reident.kernels.evidence.Evidence` has all pairs."""

    def __init__(
        self, pairs: Candidates, levels: Sequence[Levels], factors: np.ndarray, prior_odds: float, *, competition: bool
    ) -> None:
        self._pairs, self._begins = pairs, begins(levels)
        odds = np.full(len(pairs.puf), prior_odds)
        for own, level in zip(np.split(factors, self._begins[1:-1]), pairs.level, strict=True):
            odds *= np.append(own, 1.0)[level]
        self._odds = np.minimum(odds, MOST)
        self._others = np.zeros(len(odds))
        if competition:
            self._others = _others(pairs.puf, self._odds)
            order = np.argsort(pairs.eif, kind="stable")
            self._others[order] += _others(pairs.eif[order], self._odds[order])

    def expected(self) -> tuple[np.ndarray, float]:
        """Return how many links are expected at each level, float64 (n_levels,), and in all."""
        probability = self._odds / (1 + self._others + self._odds)
        probability[probability < LEAST] = 0
        sizes = np.diff(self._begins)
        links = [
            np.bincount(level, probability, minlength=size + 1)[:size]
            for level, size in zip(self._pairs.level, sizes, strict=True)
        ]
        return np.concatenate(links), float(probability.sum())

    def best(self, weights: np.ndarray, least: int, scale: int, keep: int) -> Pairs:
        """Return the best pairs of each record, and which records have too many of them."""
        total = np.zeros(len(self._odds), np.int64)
        for own, level in zip(np.split(weights, self._begins[1:-1]), self._pairs.level, strict=True):
            total += np.append(own, 0)[level]
        total -= np.rint(np.log2(1 + self._others) * TAKEN).astype(np.int64) * (scale // TAKEN)
        rows = np.flatnonzero(total >= least)
        rows = rows[np.lexsort([self._pairs.eif[rows], -total[rows], self._pairs.puf[rows]])]
        puf, eif, total = self._pairs.puf[rows], self._pairs.eif[rows], total[rows]
        ends = np.flatnonzero(np.append((puf[1:] != puf[:-1]) | (total[1:] != total[:-1]), True)[: len(puf)])
        kept = ends[np.searchsorted(ends, np.arange(len(puf)))] - np.searchsorted(puf, puf) < keep
        ambiguous = self._pairs.open_records.copy()
        ambiguous[np.setdiff1d(puf, puf[kept])] = True
        return Pairs(puf[kept], eif[kept], total[kept], ambiguous)


def _others(record: np.ndarray, odds: np.ndarray) -> np.ndarray:
    """Return the sum over the other pairs of each pair's record; pairs of a record follow one another."""
    if not len(record):
        return np.zeros(0)
    first = np.flatnonzero(np.append(True, record[1:] != record[:-1]))
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(record))))
    largest = np.maximum.reduceat(odds, first)
    at_largest = np.flatnonzero(odds == largest[group])
    rest = odds.copy()
    rest[at_largest[np.unique(group[at_largest], return_index=True)[1]]] = 0
    rivals = Rivals(largest, np.add.reduceat(rest, first))
    return rivals.rest[group] + (rivals.largest[group] - odds)
