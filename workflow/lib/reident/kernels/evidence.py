"""The evidence of all pairs of several strata: how sure each pair is, given its rivals (METHODS §4.6).

The values of a variable are whole numbers, and what a pair says of it depends on the interval of the difference alone.
For a PUF record a variable hence has a table of factors, one for each distinct value of the EIF in its stratum, and the
odds of its pairs are products of what the tables say. Equal records of a file are one row with the number of them.

Sums of odds keep the largest term apart, so that what all other pairs add up to is known without a difference of large
numbers. Rows are in the order of their values, and the pieces in which they are added up are the same for any number
of threads: no sum depends on the order of the records, their keys or the threads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from reident.kernels.compiling import lean_jit
from reident.kernels.toplist import Best, Pairs, in_threads, list_pairs, offer, settle

MISSING = np.iinfo(np.int64).min
"""The value that is missing."""

MOST = 2.0**900
"""Odds above this number count as it."""

LEAST = 2.0**-50
"""Pairs of a smaller probability add nothing to the expected links."""

TAKEN = 10**9
"""What rivals take from a weight is rounded to nine decimals, so that pairs that lose the same are ties."""

MAX_PIECES, PIECE = 16, 2.0**20
"""The pieces of rows that are added up by themselves: how many at most, and how many pairs one has at least."""


class Intervals(NamedTuple):
    """The intervals of each variable's difference, EIF less PUF, with the comparison level of each."""

    ends: np.ndarray  # int64: the last difference in each interval but the last, variable by variable
    first: np.ndarray  # int64 (v + 1,): where the ends of a variable begin
    level: np.ndarray  # int64 (ends + v,): the level of each interval; those of variable j begin at first[j] + j
    n_levels: int


class Side(NamedTuple):
    """The distinct records of a file, stratum by stratum, ascending."""

    values: np.ndarray  # int64 (v, n)
    times: np.ndarray  # float64 (n,): how many records are equal
    starts: np.ndarray  # int64 (n_strata + 1,)
    members: np.ndarray  # int64 (records,): the records of each row, one row after another
    first: np.ndarray  # int64 (n + 1,): where those of a row begin


class Compared(NamedTuple):
    """Both files, with the distinct values of the EIF in each stratum."""

    puf: Side
    eif: Side
    stratum: np.ndarray  # int64 (n_puf,)
    codes: np.ndarray  # int32 (v, n_eif): the place of each value among those of its stratum; their number if missing
    distinct: np.ndarray  # int64: the values of all strata and variables
    bounds: np.ndarray  # int64 (n_strata, 2, v): where those of a stratum and variable begin and end
    pieces: np.ndarray  # int64 (n_pieces + 1,): PUF rows


class Rivals(NamedTuple):
    """The largest odds of the pairs of each row of a file, and the sum of the others."""

    largest: np.ndarray  # float64 (n,)
    rest: np.ndarray  # float64 (n,)


def side(values: np.ndarray, starts: np.ndarray) -> Side:
    """Return the distinct records of strata that lie one after another; values are int64 (n, v)."""
    stratum = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort([*values.T[::-1], stratum])
    rows, of_rows = values[order], stratum[order]
    new = np.ones(len(order), bool)
    new[1:] = (of_rows[1:] != of_rows[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)
    first = np.append(np.flatnonzero(new), len(order))
    bounds = np.searchsorted(of_rows[new], np.arange(len(starts)))
    return Side(np.ascontiguousarray(rows[new].T), np.diff(first).astype(np.float64), bounds, order, first)


def compare(puf: np.ndarray, eif: np.ndarray, starts: tuple[np.ndarray, np.ndarray]) -> Compared:
    """Return both files in the form in which pairs are compared.

    Parameters
    ----------
    puf, eif : int64 (n, v)
        Values, see :data:`MISSING`.
    starts : pair of int64 (n_strata + 1,)
        Where each stratum starts in the files.
    """
    ours, theirs = side(puf, starts[0]), side(eif, starts[1])
    v, n_strata = len(ours.values), len(ours.starts) - 1
    stratum = [np.repeat(np.arange(n_strata), np.diff(one.starts)) for one in (ours, theirs)]
    codes, distinct = np.empty(theirs.values.shape, np.int32), []
    bounds, total = np.empty((n_strata, 2, v), np.int64), 0
    for j, column in enumerate(theirs.values):
        order = np.lexsort([column, stratum[1]])
        value, of = column[order], stratum[1][order]
        new = value != MISSING
        new[1:] &= (of[1:] != of[:-1]) | (value[1:] != value[:-1])
        number = np.bincount(of[new], minlength=n_strata)
        before = np.cumsum(number) - number
        codes[j, order] = np.where(value == MISSING, number[of], np.cumsum(new) - 1 - before[of])
        bounds[:, 0, j], bounds[:, 1, j] = total + before, total + before + number
        distinct.append(value[new])
        total += int(new.sum())
    values = np.concatenate(distinct) if distinct else np.empty(0, np.int64)
    pairs = np.cumsum(np.diff(theirs.starts)[stratum[0]].astype(np.float64))
    n_pieces = int(min(MAX_PIECES, max(1, (pairs[-1] if len(pairs) else 0) // PIECE)))
    inner = np.searchsorted(pairs, pairs[-1] * np.arange(1, n_pieces) / n_pieces) if n_pieces > 1 else []
    pieces = np.unique(np.array([0, *inner, len(pairs)], np.int64))
    return Compared(ours, theirs, stratum[0], codes, values, bounds, pieces)


@lean_jit
def _after(values, begin, end, bound):
    """Return the first place of ascending values, from begin on and before end, above a bound; else the end."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] > bound:
            end = middle
        else:
            begin = middle + 1
    return begin


@lean_jit
def _fill(files, intervals, factors, j, s, x, table):
    """Write the weight of each EIF value of stratum s for variable j of a PUF record with the value x."""
    base, end = files.bounds[s, 0, j], files.bounds[s, 1, j]
    at, interval = base, intervals.first[j] + j
    for k in range(intervals.first[j], intervals.first[j + 1]):
        stop = _after(files.distinct, at, end, x + intervals.ends[k])
        factor = factors[intervals.level[interval]]
        for place in range(at, stop):
            table[place - base] = factor
        at, interval = stop, interval + 1
    factor = factors[intervals.level[interval]]
    for place in range(at, end):
        table[place - base] = factor
    table[end - base] = 1.0


@lean_jit
def _row_odds(files, intervals, factors, prior_odds, i, scratch, odds):
    """Write the odds of all pairs of PUF row i; ``scratch`` has a table for each variable, and of which value it is."""
    tables, held = scratch
    s = files.stratum[i]
    begin, end = files.eif.starts[s], files.eif.starts[s + 1]
    n = end - begin
    for c in range(n):
        odds[c] = prior_odds
    for j in range(len(tables)):
        x = files.puf.values[j, i]
        if x == MISSING:
            continue
        if held[j, 0] != s or held[j, 1] != x:
            _fill(files, intervals, factors, j, s, x, tables[j])
            held[j, 0], held[j, 1] = s, x
        table, codes = tables[j], files.codes[j]
        for c in range(n):
            odds[c] *= table[codes[begin + c]]
    for c in range(n):
        odds[c] = min(odds[c], MOST)
    return begin, n


@lean_jit
def _add_up(files, intervals, factors, prior_odds, first, last, scratch, odds, rows, columns):
    """Add up the odds of the pairs of some PUF rows by row, and by EIF row from that of the first stratum on."""
    base = files.eif.starts[files.stratum[first]]
    for i in range(first, last):
        begin, n = _row_odds(files, intervals, factors, prior_odds, i, scratch, odds)
        largest, rest, times = 0.0, 0.0, files.puf.times[i]
        for c in range(n):
            o, more = odds[c], files.eif.times[begin + c] - 1
            rest += min(largest, o) + more * o
            largest = max(largest, o)
        rows.largest[i], rows.rest[i] = largest, rest
        for c in range(n):
            o, at = odds[c], begin + c - base
            columns.rest[at] += min(columns.largest[at], o) + (times - 1) * o
            columns.largest[at] = max(columns.largest[at], o)


@lean_jit
def _others(rivals, at, o):
    """Return the sum of the odds of the other pairs of a row."""
    return rivals.rest[at] + (rivals.largest[at] - o)


@lean_jit
def _interval(intervals, j, difference):
    """Return the level of a difference."""
    first, end = intervals.first[j], intervals.first[j + 1]
    while first < end:
        middle = (first + end) // 2
        if difference > intervals.ends[middle]:
            first = middle + 1
        else:
            end = middle
    return intervals.level[first + j]


@lean_jit
def _expect(files, intervals, factors, prior_odds, first, last, scratch, odds, rows, columns, competition, links):
    """Add the probabilities of the pairs of some PUF rows to the links by level, and to the last number of all."""
    for i in range(first, last):
        begin, n = _row_odds(files, intervals, factors, prior_odds, i, scratch, odds)
        s, times = files.stratum[i], files.puf.times[i]
        for c in range(n):
            o, r = odds[c], begin + c
            total = 1 + o
            if competition:
                total += _others(rows, i, o) + _others(columns, r, o)
            if o < LEAST * total:
                continue
            amount = o / total * times * files.eif.times[r]
            links[-1] += amount
            for j in range(len(files.codes)):
                x, place = files.puf.values[j, i], files.bounds[s, 0, j] + files.codes[j, r]
                if x != MISSING and place < files.bounds[s, 1, j]:
                    links[_interval(intervals, j, files.distinct[place] - x)] += amount


class Evidence:
    """The pairs of several strata under given factors.

    Parameters
    ----------
    factors : float64 (n_levels,)
        What each level multiplies the odds by.
    prior_odds : float
        The odds of a pair of which nothing is known.
    competition : bool
        Whether the pairs of a record rule each other out.
    """

    def __init__(
        self,
        files: Compared,
        intervals: Intervals,
        factors: np.ndarray,
        prior_odds: float,
        *,
        competition: bool,
        threads: int = 1,
    ) -> None:
        self._arguments = files, intervals, np.ascontiguousarray(factors), float(prior_odds)
        self._files, self._threads, self._competition = files, threads, competition
        self._rows = _no_rivals(len(files.stratum))
        self._columns = _no_rivals(files.eif.values.shape[1])
        if competition:
            self._add_up()

    def _scratch(self) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Return tables that hold no value yet, and room for the odds of a row."""
        files = self._files
        widest = int((files.bounds[:, 1] - files.bounds[:, 0]).max(initial=0)) + 1
        held = np.full((len(files.codes), 2), -1, np.int64)
        return (np.empty((len(files.codes), widest)), held), np.empty(int(np.diff(files.eif.starts).max(initial=0)))

    def _in_pieces(self, work: Callable[[int, int, int], None], progress: Any = None) -> None:
        """Call ``work(piece, first, last)`` for the PUF rows of each piece."""
        pieces = self._files.pieces.tolist()
        in_threads(
            lambda at, _: work(at, pieces[at], pieces[at + 1]),
            len(pieces) - 1,
            block=1,
            threads=self._threads,
            progress=progress,
        )

    def _add_up(self) -> None:
        starts, stratum = self._files.eif.starts, self._files.stratum
        parts: dict[int, tuple[int, Rivals]] = {}

        def work(piece: int, first: int, last: int) -> None:
            begin, end = int(starts[stratum[first]]), int(starts[stratum[last - 1] + 1])
            parts[piece] = begin, _no_rivals(end - begin)
            _add_up(*self._arguments, first, last, *self._scratch(), self._rows, parts[piece][1])

        self._in_pieces(work)
        for _, (begin, part) in sorted(parts.items()):
            largest, rest = (array[begin : begin + len(part.rest)] for array in self._columns)
            rest += part.rest + np.minimum(largest, part.largest)
            np.maximum(largest, part.largest, out=largest)

    def expected(self) -> tuple[np.ndarray, float]:
        """Return how many links are expected at each level, float64 (n_levels,), and in all."""
        n_levels = self._arguments[1].n_levels
        parts = np.zeros((max(len(self._files.pieces) - 1, 1), n_levels + 1))

        def work(piece: int, first: int, last: int) -> None:
            rivals = self._rows, self._columns, self._competition
            _expect(*self._arguments, first, last, *self._scratch(), *rivals, parts[piece])

        self._in_pieces(work)
        sums = np.add.reduce(parts, axis=0)
        return sums[:-1], float(sums[-1])

    def best(self, weights: np.ndarray, least: int, scale: int, keep: int, progress: Any = None) -> Pairs:
        """Return the best pairs of each record by weight of evidence, see :func:`reident.kernels.toplist.list_pairs`.

        Parameters
        ----------
        weights : int64 (n_levels,)
            The binary logarithms of the factors, at the scale.
        least : int
            A pair is listed if its weight, less what its rivals take from it, is at least this.
        """
        files = self._files
        n_puf, n_eif = (len(one.members) for one in (files.puf, files.eif))
        keep = max(min(keep, n_eif), 1)
        best = Best(np.empty((n_puf, keep), np.int32), np.empty((n_puf, keep), np.int64), np.zeros(n_puf, np.int32))
        arguments = np.ascontiguousarray(weights, np.int64), least, scale

        def work(_: int, first: int, last: int) -> None:
            lists = np.empty(keep + 1, np.int64), np.empty(keep + 1, np.int32)
            rivals = self._rows, self._columns, self._competition
            _list_best(*self._arguments, first, last, *self._scratch(), *rivals, *arguments, *lists, best)

        self._in_pieces(work, progress)
        pairs = list_pairs(best)
        return pairs._replace(level=-pairs.level)


def _no_rivals(n: int) -> Rivals:
    return Rivals(np.zeros(n), np.zeros(n))


@lean_jit
def _weight(files, intervals, weights, s, i, r):
    """Return the sum of the weights of a pair."""
    total = 0
    for j in range(len(files.codes)):
        x, place = files.puf.values[j, i], files.bounds[s, 0, j] + files.codes[j, r]
        if x != MISSING and place < files.bounds[s, 1, j]:
            total += weights[_interval(intervals, j, files.distinct[place] - x)]
    return total


@lean_jit
def _list_best(
    files, intervals, factors, prior_odds, first, last, scratch, odds, rows, columns, competition, weights, least,
    scale, levels, eifs, best,
):  # fmt: skip
    """Write the best pairs of the records of some PUF rows; a level is the negative weight."""
    at_least = prior_odds * 2.0 ** (least / scale) * (1 - 1e-9)
    for i in range(first, last):
        begin, n = _row_odds(files, intervals, factors, prior_odds, i, scratch, odds)
        s, count, bound = files.stratum[i], 0, 1 - least
        for c in range(n):
            o, r = odds[c], begin + c
            if o < at_least:
                continue
            level = -_weight(files, intervals, weights, s, i, r)
            if competition:
                taken = np.log2(1 + _others(rows, i, o) + _others(columns, r, o))
                level += round(taken * TAKEN) * (scale // TAKEN)
            for a in range(files.eif.first[r], files.eif.first[r + 1]):
                if level < bound:
                    count = offer(levels, eifs, count, level, files.eif.members[a])
                    if count == levels.size:
                        bound = min(bound, levels[count - 1])
        for a in range(files.puf.first[i], files.puf.first[i + 1]):
            settle(levels, eifs, count, best, files.puf.members[a])


@lean_jit
def _within(puf, eif, puf_starts, eif_starts, bound):
    """Count the pairs inside strata whose difference, EIF less PUF, is at most the bound; values ascend in strata."""
    total = 0
    for s in range(puf_starts.size - 1):
        r, end = eif_starts[s], eif_starts[s + 1]
        for i in range(puf_starts[s], puf_starts[s + 1]):
            while r < end and eif[r] - puf[i] <= bound:
                r += 1
            total += r - eif_starts[s]
    return total


class Differences:
    """The differences of all pairs inside strata on one variable, counted without a list of them."""

    def __init__(self, puf: np.ndarray, eif: np.ndarray, starts: tuple[np.ndarray, np.ndarray]) -> None:
        sorted_sides = [_ascending(values, bounds) for values, bounds in zip((puf, eif), starts, strict=True)]
        (self._puf, a), (self._eif, b) = sorted_sides
        self._starts = a, b
        self.n_pairs = int(np.diff(a) @ np.diff(b))

    def at_most(self, bound: int) -> int:
        """Count the pairs whose difference, EIF less PUF, is at most the bound."""
        return int(_within(self._puf, self._eif, *self._starts, bound))

    def apart(self, share: int, of: int, least: int = 0) -> int:
        """Return the smallest distance within which a share of the pairs is, ``share / of``, if it is above `least`."""
        if not self.n_pairs:
            return least
        rank = -(-self.n_pairs * share // of)
        spread = [int(values.max()) - int(other.min()) for values, other in (
            (self._puf, self._eif), (self._eif, self._puf)
        )]  # fmt: skip
        low, high = least, max(*spread, least)
        while low < high:
            middle = (low + high) // 2
            if self.at_most(middle) - self.at_most(-middle - 1) >= rank:
                high = middle
            else:
                low = middle + 1
        return low


def _ascending(values: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of each stratum that are not missing, ascending, and where each stratum starts."""
    stratum = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    kept = values != MISSING
    values, stratum = values[kept], stratum[kept]
    order = np.lexsort([values, stratum])
    return values[order], np.searchsorted(stratum[order], np.arange(len(starts)))
