"""The evidence of pairs of units: own values, and the assignment of members with most of it (METHODS §4.7).

Members are weighed as records are (:mod:`reident.kernels.evidence`), in whole numbers, so that sums are exact. Units
are in the order of their values: no sum depends on the order of the files or of the keys.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.compared import MISSING, Compared, Intervals
from reident.kernels.compiling import lean_jit
from reident.kernels.evidence import _taken
from reident.kernels.pair_odds import MOST, Model, factors_of, fill
from reident.kernels.toplist import Pairs, bound_of, empty_best, in_threads, list_pairs, offer, settle
from reident.kernels.unit_assignment import assign

BLOCK = 16
"""PUF units that a thread takes at a time."""


class UnitRows(NamedTuple):
    """The units of a file, stratum by stratum in the order of their values, by rows of the compared files."""

    unit: np.ndarray  # int64 (n,): the position of each unit in the pairing
    starts: np.ndarray  # int64 (n_strata + 1,)
    first: np.ndarray  # int64 (n + 1,): where the members of a unit begin
    row: np.ndarray  # int64 (members,): the row of each member


class Weights(NamedTuple):
    """The weight of each level, and whether variables are those of members."""

    weights: np.ndarray  # int64 (v, levels + 1), 0 for missing
    of_members: np.ndarray  # bool (v,)
    scale: int


class _Work(NamedTuple):
    """Work space for the assignment of members, as :func:`reident.kernels.unit_assignment.assign` takes it."""

    costs: np.ndarray
    rest: np.ndarray
    row_price: np.ndarray
    column_price: np.ndarray
    row_of: np.ndarray
    via: np.ndarray
    least: np.ndarray
    used: np.ndarray


def unit_rows(start: np.ndarray, strata: np.ndarray, members: np.ndarray, first: np.ndarray) -> UnitRows:
    """Return the units of a file by the rows of its members.

    Parameters
    ----------
    start : int64 (n + 1,)
        The members of unit u are the records start[u] to start[u + 1] − 1.
    strata : int64 (n_strata + 1,)
        Where the units of each stratum begin.
    members, first : see :class:`reident.kernels.compared.Side`
    """
    of_record = np.empty(len(members), np.int64)
    of_record[members] = np.repeat(np.arange(len(first) - 1), np.diff(first))
    sizes, n = np.diff(start), len(start) - 1
    width = int(sizes.max(initial=0))
    padded = np.full((n, width), -1, np.int64)
    within = np.arange(start[-1]) - np.repeat(start[:-1], sizes)
    padded[np.repeat(np.arange(n), sizes), within] = of_record
    padded.sort(axis=1)
    stratum = np.repeat(np.arange(len(strata) - 1), np.diff(strata))
    order = np.lexsort([*padded.T[::-1], sizes, stratum])
    rows = padded[order]
    return UnitRows(order, strata, np.append(0, np.cumsum(sizes[order])), rows[rows >= 0])


@lean_jit
def _tables(files, intervals, model, weights, j, s, x, own, factors, levels, table):
    """Write the weight of each EIF value of stratum s for variable j and the PUF value x."""
    factors_of(files, intervals, model, j, s, x, own)
    fill(files, intervals, own, j, s, x, factors, levels)
    n = files.bounds[s, 1, j] - files.bounds[s, 0, j]
    for place in range(n):
        level = levels[place]
        table[place] = weights.weights[j, level]
        if model.shares.size:
            table[place] += _taken(own[level] / model.factors[j, level], weights.scale)
    table[n] = 0


@lean_jit
def _weigh(files, intervals, model, weights, s, puf, i, eif, scratch, work, out):
    """Write the weights of the pairs of PUF unit i with the EIF units of stratum s."""
    own, factors, levels, tables, held, of_rows, of_unit = scratch
    base, end = files.eif.starts[s], files.eif.starts[s + 1]
    a = puf.first[i + 1] - puf.first[i]
    of_rows[:a, : end - base] = 0
    of_unit[: end - base] = 0
    for m in range(a):
        row = puf.row[puf.first[i] + m]
        for j in range(len(files.codes)):
            x = files.puf.values[j, row]
            if x == MISSING or (m > 0 and not weights.of_members[j]):
                continue
            if held[j, 0] != s or held[j, 1] != x:
                _tables(files, intervals, model, weights, j, s, x, own, factors, levels, tables[j])
                held[j, 0], held[j, 1] = s, x
            target = of_rows[m] if weights.of_members[j] else of_unit
            table, codes = tables[j], files.codes[j]
            for c in range(base, end):
                target[c - base] += table[codes[c]]
    for r in range(eif.starts[s], eif.starts[s + 1]):
        begin, b = eif.first[r], eif.first[r + 1] - eif.first[r]
        total = of_unit[eif.row[begin] - base]
        for m in range(a):
            for k in range(b):
                cost = -of_rows[m, eif.row[begin + k] - base]
                if a <= b:
                    work.costs[m, k] = cost
                else:
                    work.costs[k, m] = cost
        out[r - eif.starts[s]] = total - np.int64(assign(min(a, b), max(a, b), np.inf, work))


class UnitEvidence:
    """The pairs of units of several strata under given weights.

    Parameters
    ----------
    files : Compared
        Their members.
    weights : int64 (n_levels,)
        The weight of each level of each variable, one variable after another, at the scale.
    of_members : bool (v,)
        Whether a variable is one of members.
    shares : float64 (n_levels,), optional
        Those of the levels among all pairs of members, where the frequency of a value counts.
    """

    def __init__(
        self,
        files: Compared,
        intervals: Intervals,
        puf: UnitRows,
        eif: UnitRows,
        weights: np.ndarray,
        scale: int,
        of_members: np.ndarray,
        *,
        shares: np.ndarray | None = None,
        threads: int = 1,
    ) -> None:
        present = np.arange(intervals.n_levels.max(initial=0) + 1) < intervals.n_levels[:, None]
        padded = np.zeros(present.shape, np.int64)
        padded[present] = weights
        by_frequency = np.empty((0, 0))
        if shares is not None:
            by_frequency = np.ones(present.shape)
            by_frequency[present] = shares
        self._arguments = files, intervals, Model(np.exp2(padded / scale), by_frequency, 1.0)
        self._weights = Weights(padded, np.asarray(of_members, np.bool_), scale)
        self._puf, self._eif, self._threads, self._scale = puf, eif, threads, scale

    @property
    def n_strata(self) -> int:
        """The number of strata."""
        return len(self._puf.starts) - 1

    def stratum(self, s: int) -> np.ndarray:
        """Return the weights of all pairs of units of a stratum, in the order of the values; int64 (n_puf, n_eif)."""
        files, puf, eif = self._arguments[0], self._puf, self._eif
        first, last = puf.starts[s], puf.starts[s + 1]
        out = np.empty((last - first, eif.starts[s + 1] - eif.starts[s]), np.int64)
        widest = int((files.bounds[s, 1] - files.bounds[s, 0]).max(initial=0)) + 1
        n_rows = int(files.eif.starts[s + 1] - files.eif.starts[s])
        longest = [int(np.diff(one.first[one.starts[s] : one.starts[s + 1] + 1]).max(initial=1)) for one in (puf, eif)]
        v, width = self._weights.weights.shape

        def work(begin: int, end: int, _: int = 0) -> None:
            scratch = (
                np.empty(width), np.empty(widest), np.empty(widest, np.uint16), np.empty((v, widest), np.int64),
                np.full((v, 2), -1, np.int64), np.empty((longest[0], n_rows), np.int64), np.empty(n_rows, np.int64),
            )  # fmt: skip
            n = max(longest) + 1
            rest, row_price, column_price, least = np.empty((4, n))
            row_of, via = np.empty((2, n), np.int64)
            space = _Work(np.empty((n, n)), rest, row_price, column_price, row_of, via, least, np.empty(n, np.bool_))
            _weigh_block(
                *self._arguments, self._weights, s, puf, first + begin, first + end, eif, scratch, space, out[begin:]
            )

        in_threads(work, len(out), block=BLOCK, threads=self._threads)
        return out

    def best(self, prior_odds: float, least: int, keep: int, n_puf: int, *, competition: bool) -> Pairs:
        """Return the best pairs of each PUF unit, see :meth:`reident.kernels.evidence.Evidence.best`."""
        keep = max(min(keep, int(np.diff(self._eif.starts).max(initial=1))), 1)
        best = empty_best(n_puf, keep)
        for s in range(self.n_strata):
            weights = self.stratum(s)
            if not weights.size:
                continue
            odds = odds_of(weights, self._scale, prior_odds)
            rows, columns = rivals(odds) if competition else (np.zeros((2, n)) for n in odds.shape)
            units = (one.unit[one.starts[s] : one.starts[s + 1]] for one in (self._puf, self._eif))
            lists = np.empty(keep + 1, np.int64), np.empty(keep + 1, np.int32)
            _list_best(weights, odds, rows, columns, competition, least, self._scale, *units, *lists, best)
        pairs = list_pairs(best)
        return pairs._replace(level=-pairs.level, next_level=-pairs.next_level)


@lean_jit
def _weigh_block(files, intervals, model, weights, s, puf, begin, end, eif, scratch, work, out):
    """Write the weights of the pairs of some PUF units."""
    for i in range(begin, end):
        _weigh(files, intervals, model, weights, s, puf, i, eif, scratch, work, out[i - begin])


def odds_of(weights: np.ndarray, scale: int, prior_odds: float) -> np.ndarray:
    """Return the odds of pairs by their weights; float64, of the same shape."""
    return np.minimum(np.exp2(weights / scale) * prior_odds, MOST)


@lean_jit
def _add_up(odds, rows, columns):
    for i in range(odds.shape[0]):
        for r in range(odds.shape[1]):
            o = odds[i, r]
            rows[1, i] += min(rows[0, i], o)
            rows[0, i] = max(rows[0, i], o)
            columns[1, r] += min(columns[0, r], o)
            columns[0, r] = max(columns[0, r], o)


def rivals(odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest odds of each row and of each column, and the sum of the others; float64 (2, n) each."""
    rows, columns = (np.zeros((2, n)) for n in odds.shape)
    _add_up(odds, rows, columns)
    return rows, columns


@lean_jit
def _expect(odds, rows, columns, competition):
    total = 0.0
    for i in range(odds.shape[0]):
        of_row = 0.0
        for r in range(odds.shape[1]):
            o = odds[i, r]
            whole = 1 + o
            if competition:
                whole += rows[1, i] + (rows[0, i] - o) + columns[1, r] + (columns[0, r] - o)
            of_row += o / whole
        total += of_row
    return total


def expected(odds: np.ndarray, *, competition: bool) -> float:
    """Return how many links are expected among the pairs of a stratum."""
    rows, columns = rivals(odds) if competition else (np.zeros((2, n)) for n in odds.shape)
    return float(_expect(odds, rows, columns, competition))


@lean_jit
def _list_best(weights, odds, rows, columns, competition, least, scale, puf, eif, levels, eifs, best):
    """Write the best pairs of the units of a stratum; a level is the negative weight."""
    for i in range(weights.shape[0]):
        count, bound = 0, 1 - least
        for r in range(weights.shape[1]):
            o, level = odds[i, r], -weights[i, r]
            if competition:
                level += _taken(1 + rows[1, i] + (rows[0, i] - o) + columns[1, r] + (columns[0, r] - o), scale)
            if level < bound:
                count = offer(levels, eifs, count, level, eif[r])
                if count >= levels.size:
                    bound = min(bound, bound_of(levels, -(2**62)))
        settle(levels, eifs, count, best, puf[i])
