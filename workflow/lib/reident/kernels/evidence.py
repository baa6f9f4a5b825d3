"""The evidence of pairs of records, and how sure each pair is, given its rivals (METHODS §4.6).

The values of a variable are whole numbers, and what a pair says of it depends on the level of the difference, and on
the value of the PUF record where its frequency counts. The pairs are all those of several strata, or listed candidates.
Of all pairs, a PUF record has a table of factors for each variable, one for each distinct value of the EIF in its
stratum, and beside it a table of their levels; the odds of its pairs are products of what the tables say. Equal records
of a file are one row with the number of them.

Sums of odds keep the largest term apart, so that what all other pairs add up to is known without a difference of large
numbers. Rows are in the order of their values, and the pieces in which they are added up are the same for any number
of threads: no sum depends on the order of the records, their keys or the threads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from reident.kernels.compared import MISSING, PIECE, Compared, Intervals
from reident.kernels.compiling import lean_jit
from reident.kernels.toplist import Pairs, bound_of, empty_best, in_threads, list_pairs, offer, settle

MOST = 2.0**900
"""Odds above this number count as it."""

ANY = -(2**62)
"""A weight that every pair has at least."""

LEAST = 2.0**-50
"""Pairs of a smaller probability add nothing to the expected links."""

TAKEN = 10**9
"""What rivals take from a weight, and what frequency adds, is rounded to nine decimals, so that equal ones are ties."""

SMOOTH = 2.0
"""So many EIF records, with the levels of all pairs, are added to those of a stratum before levels are counted."""


class Listed(NamedTuple):
    """Candidates, PUF row by PUF row; none of all arrays where all pairs are compared."""

    first: np.ndarray  # int64 (n_puf + 1,): where those of a PUF row begin
    row: np.ndarray  # int32 (m,): EIF rows
    level: np.ndarray  # uint16 (m, v)


class Model(NamedTuple):
    """What each level multiplies the odds of a pair by, and the odds of a pair of which nothing is known."""

    factors: np.ndarray  # float64 (v, levels + 1), 1 for missing
    shares: np.ndarray  # float64 (v, levels + 1): those among all pairs, where the frequency of a value counts
    prior_odds: float


class Rivals(NamedTuple):
    """The largest odds of the pairs of each row of a file, and the sum of the others."""

    largest: np.ndarray  # float64 (n,)
    rest: np.ndarray  # float64 (n,)

    @property
    def totals(self) -> np.ndarray:
        """The sum of all odds of each row."""
        return self.largest + self.rest


EVERY = Listed(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 0), np.uint16))
"""All pairs."""


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
def _stop(files, intervals, j, s, x, k, place):
    """Return the first EIF value of stratum s, from a place on, that is beyond the k-th end of variable j from x."""
    end = files.bounds[s, 1, j]
    if k == intervals.first[j + 1]:
        return end
    return _after(files.distinct, place, end, x + intervals.ends[k])


@lean_jit
def _factors_of(files, intervals, model, j, s, x, own):
    """Write what each level of variable j multiplies the odds of a PUF record with the value x by."""
    for level in range(own.size):
        own[level] = model.factors[j, level]
    if not model.shares.size:
        return
    base, end = files.bounds[s, 0, j], files.bounds[s, 1, j]
    n, before = (files.up_to[end - 1] if end > base else 0), 0
    for level in range(intervals.n_levels[j]):
        own[level] = SMOOTH * model.shares[j, level]
    place = base
    for k in range(intervals.first[j], intervals.first[j + 1] + 1):
        place = _stop(files, intervals, j, s, x, k, place)
        records = files.up_to[place - 1] if place > base else 0
        own[intervals.level[k + j]] += records - before
        before = records
    for level in range(intervals.n_levels[j]):
        own[level] = model.factors[j, level] * model.shares[j, level] * (n + SMOOTH) / own[level]


@lean_jit
def _fill(files, intervals, own, j, s, x, table, levels):
    """Write the factor and the level of each EIF value of stratum s for variable j of a PUF record with the value x."""
    base = files.bounds[s, 0, j]
    at = base
    for k in range(intervals.first[j], intervals.first[j + 1] + 1):
        stop = _stop(files, intervals, j, s, x, k, at)
        for place in range(at, stop):
            table[place - base] = own[intervals.level[k + j]]
            levels[place - base] = intervals.level[k + j]
        at = stop
    table[at - base] = 1.0
    levels[at - base] = intervals.n_levels[j]


@lean_jit
def _row(listed, at):
    """Return the EIF row of a pair."""
    return listed.row[at] if listed.first.size else at


@lean_jit
def _level(files, listed, intervals, i, at, j):
    """Return the level of variable j of a pair."""
    if listed.first.size:
        return np.int64(listed.level[at, j])
    x, place = files.puf.values[j, i], files.bounds[files.stratum[i], 0, j] + files.codes[j, at]
    if x == MISSING or place >= files.bounds[files.stratum[i], 1, j]:
        return intervals.n_levels[j]
    difference, first, end = files.distinct[place] - x, intervals.first[j], intervals.first[j + 1]
    while first < end:
        middle = (first + end) // 2
        if difference > intervals.ends[middle]:
            first = middle + 1
        else:
            end = middle
    return intervals.level[first + j]


@lean_jit
def _level_of(files, listed, intervals, levels, i, at, j):
    """Return the same from the tables of levels that `_row_odds` has written for PUF row i."""
    if listed.first.size:
        return np.int64(listed.level[at, j])
    if files.puf.values[j, i] == MISSING:
        return intervals.n_levels[j]
    return np.int64(levels[j, files.codes[j, at]])


@lean_jit
def _row_odds(files, listed, intervals, model, i, scratch, odds):
    """Write the odds of the pairs of PUF row i; ``scratch`` has what each variable multiplies, and for which value."""
    tables, levels, own, held, _ = scratch
    s = files.stratum[i]
    begin, end = files.eif.starts[s], files.eif.starts[s + 1]
    if listed.first.size:
        begin, end = listed.first[i], listed.first[i + 1]
    n = end - begin
    for c in range(n):
        odds[c] = model.prior_odds
    for j in range(len(own)):
        x = files.puf.values[j, i]
        if x == MISSING:
            continue
        if held[j, 0] != s or held[j, 1] != x:
            _factors_of(files, intervals, model, j, s, x, own[j])
            if not listed.first.size:
                _fill(files, intervals, own[j], j, s, x, tables[j], levels[j])
            held[j, 0], held[j, 1] = s, x
        if listed.first.size:
            for c in range(n):
                odds[c] *= own[j, listed.level[begin + c, j]]
        else:
            table, codes = tables[j], files.codes[j]
            for c in range(n):
                odds[c] *= table[codes[begin + c]]
    for c in range(n):
        odds[c] = min(odds[c], MOST)
    return begin, n


@lean_jit
def _add_up(files, listed, intervals, model, first, last, scratch, odds, rows, columns):
    """Add up the odds of the pairs of some PUF rows by row, and by EIF row from that of the first stratum on."""
    base = files.eif.starts[files.stratum[first]]
    for i in range(first, last):
        begin, n = _row_odds(files, listed, intervals, model, i, scratch, odds)
        largest, rest, times = 0.0, 0.0, files.puf.times[i]
        for c in range(n):
            o, more = odds[c], files.eif.times[_row(listed, begin + c)] - 1
            rest += min(largest, o) + more * o
            largest = max(largest, o)
        rows.largest[i], rows.rest[i] = largest, rest
        for c in range(n):
            o, at = odds[c], _row(listed, begin + c) - base
            columns.rest[at] += min(columns.largest[at], o) + (times - 1) * o
            columns.largest[at] = max(columns.largest[at], o)


@lean_jit
def _others(rivals, at, o):
    """Return the sum of the odds of the other pairs of a row."""
    return rivals.rest[at] + (rivals.largest[at] - o)


@lean_jit
def _expect(files, listed, intervals, model, first, last, scratch, odds, rows, columns, competition, links):
    """Add the probabilities of the pairs of some PUF rows to the links by level, and to the last number of all."""
    present = scratch[4]
    for i in range(first, last):
        begin, n = _row_odds(files, listed, intervals, model, i, scratch, odds)
        times, number = files.puf.times[i], links[-1, 0]
        for c in range(n):
            o, r = odds[c], _row(listed, begin + c)
            total = 1 + o
            if competition:
                total += _others(rows, i, o) + _others(columns, r, o)
            odds[c] = 0.0 if o < LEAST * total else o / total * times * files.eif.times[r]
            number += odds[c]
        links[-1, 0] = number
        n_present, done = 0, 0
        for j in range(len(files.codes)):
            if files.puf.values[j, i] != MISSING:
                present[n_present] = j
                n_present += 1
        while done < n_present:
            done += _add_by_level(files, listed, scratch[1], present[done:n_present], begin, n, odds, links)


@lean_jit
def _add_by_level(files, listed, levels, variables, begin, n, amounts, links):
    """Add the amounts of the pairs of a PUF row to their levels of the first variables; return of how many.

    A sum waits for the one before it in its variable, so that four variables take little longer than one.
    """
    a = variables[0]
    if listed.first.size:
        for c in range(n):
            links[a, listed.level[begin + c, a]] += amounts[c]
        return 1
    if variables.size < 4:
        for c in range(n):
            links[a, levels[a, files.codes[a, begin + c]]] += amounts[c]
        return 1
    b, d, e = variables[1], variables[2], variables[3]
    of_a, of_b, of_d, of_e = levels[a], levels[b], levels[d], levels[e]
    for c in range(n):
        amount, r = amounts[c], begin + c
        links[a, of_a[files.codes[a, r]]] += amount
        links[b, of_b[files.codes[b, r]]] += amount
        links[d, of_d[files.codes[d, r]]] += amount
        links[e, of_e[files.codes[e, r]]] += amount
    return 4


class Evidence:
    """The pairs of several strata under given factors.

    Parameters
    ----------
    factors : float64 (n_levels,)
        What each level of each variable multiplies the odds by, one variable after another.
    prior_odds : float
        The odds of a pair of which nothing is known.
    competition : bool
        Whether the pairs of a record rule each other out.
    shares : float64 (n_levels,), optional
        Those of the levels among all pairs, where the frequency of the value of a PUF record counts.
    listed : Listed
        The pairs, if not all.
    """

    def __init__(
        self,
        files: Compared,
        intervals: Intervals,
        factors: np.ndarray,
        prior_odds: float,
        *,
        competition: bool,
        shares: np.ndarray | None = None,
        listed: Listed = EVERY,
        threads: int = 1,
    ) -> None:
        self._present = np.arange(intervals.n_levels.max(initial=0) + 1) < intervals.n_levels[:, None]
        by_frequency = np.empty((0, 0)) if shares is None else self._padded(shares, 1.0)
        self._model = Model(self._padded(factors, 1.0), by_frequency, float(prior_odds))
        self._arguments = files, listed, intervals, self._model
        self._files, self._threads, self._competition = files, threads, competition
        self.rows = _no_rivals(len(files.stratum))
        self._columns = _no_rivals(files.eif.values.shape[1])
        if competition:
            self._add_up()

    def _padded(self, values: np.ndarray, missing: Any) -> np.ndarray:
        """Return numbers of the levels of all variables as a table, (v, levels + 1)."""
        table = np.full(self._present.shape, missing)
        table[self._present] = values
        return table

    def _scratch(self) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Return tables that hold no value yet, and room for the odds of a row."""
        files, listed = self._files, self._arguments[1]
        sizes, widths = np.diff(files.eif.starts), files.bounds[:, 1] - files.bounds[:, 0]
        if listed.first.size:
            sizes, widths = np.diff(listed.first), widths[:0]
        v = len(files.codes)
        held = np.full((v, 2), -1, np.int64)
        shape = v, int(widths.max(initial=0)) + 1
        levels, present = np.empty(shape, np.uint16), np.empty(v, np.int64)
        tables = np.empty(shape), levels, np.empty(self._present.shape), held, present
        return tables, np.empty(int(sizes.max(initial=0)))

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
            _add_up(*self._arguments, first, last, *self._scratch(), self.rows, parts[piece][1])

        self._in_pieces(work)
        for _, (begin, part) in sorted(parts.items()):
            largest, rest = (array[begin : begin + len(part.rest)] for array in self._columns)
            rest += part.rest + np.minimum(largest, part.largest)
            np.maximum(largest, part.largest, out=largest)

    def expected(self) -> tuple[np.ndarray, float]:
        """Return how many links are expected at each level, float64 (n_levels,), and in all."""
        v, width = self._present.shape
        parts = np.zeros((max(len(self._files.pieces) - 1, 1), v + 1, width))

        def work(piece: int, first: int, last: int) -> None:
            rivals = self.rows, self._columns, self._competition
            _expect(*self._arguments, first, last, *self._scratch(), *rivals, parts[piece])

        self._in_pieces(work)
        sums = np.add.reduce(parts, axis=0)
        return sums[:-1][self._present], float(sums[-1, 0])

    def best(self, weights: np.ndarray, least: int, scale: int, keep: int, progress: Any = None) -> Pairs:
        """Return the best pairs of each record by weight of evidence, see :func:`reident.kernels.toplist.list_pairs`.

        Parameters
        ----------
        weights : int64 (n_levels,)
            The binary logarithms of the factors, at the scale.
        least : int
            A pair is listed if its weight, less what its rivals take from it, is at least this; with `ANY`, each is.
        """
        files = self._files
        n_puf, n_eif = (len(one.members) for one in (files.puf, files.eif))
        keep = max(min(keep, n_eif), 1)
        best = empty_best(n_puf, keep)
        arguments = self._padded(np.asarray(weights, np.int64), 0), least, scale

        def work(_: int, first: int, last: int) -> None:
            lists = np.empty(keep + 1, np.int64), np.empty(keep + 1, np.int32)
            rivals = self.rows, self._columns, self._competition
            _list_best(*self._arguments, first, last, *self._scratch(), *rivals, *arguments, *lists, best)

        self._in_pieces(work, progress)
        pairs = list_pairs(best)
        return pairs._replace(level=-pairs.level, next_level=-pairs.next_level)


def _no_rivals(n: int) -> Rivals:
    return Rivals(np.zeros(n), np.zeros(n))


@lean_jit
def _taken(factor, scale):
    """Return the binary logarithm of a factor, to nine decimals, at a scale."""
    return round(np.log2(factor) * TAKEN) * (scale // TAKEN)


@lean_jit
def _least_odds(model, bound, scale):
    """Return odds below which a pair has no level below a bound, whatever is rounded."""
    return min(model.prior_odds * 2.0 ** ((1 - bound) / scale), MOST) * (1 - 1e-6)


@lean_jit
def _list_best(
    files, listed, intervals, model, first, last, scratch, odds, rows, columns, competition, weights, least, scale,
    levels, eifs, best,
):  # fmt: skip
    """Write the best pairs of the records of some PUF rows; a level is the negative weight."""
    level_table, own = scratch[1], scratch[2]
    for i in range(first, last):
        begin, n = _row_odds(files, listed, intervals, model, i, scratch, odds)
        count, bound = 0, 1 - least
        at_least = _least_odds(model, bound, scale)
        for c in range(n):
            o, r = odds[c], _row(listed, begin + c)
            if o < at_least:
                continue
            level = 0
            for j in range(len(own)):
                at = _level_of(files, listed, intervals, level_table, i, begin + c, j)
                level -= weights[j, at]
                if model.shares.size and at < intervals.n_levels[j]:
                    level -= _taken(own[j, at] / model.factors[j, at], scale)
            if competition:
                level += _taken(1 + _others(rows, i, o) + _others(columns, r, o), scale)
            for a in range(files.eif.first[r], files.eif.first[r + 1]):
                if level < bound:
                    count = offer(levels, eifs, count, level, files.eif.members[a])
                    if count >= levels.size:
                        bound = min(bound, bound_of(levels, ANY))
                        at_least = _least_odds(model, bound, scale)
        for a in range(files.puf.first[i], files.puf.first[i + 1]):
            settle(levels, eifs, count, best, files.puf.members[a])


@lean_jit
def _write_levels(files, listed, intervals, first, end, puf, eif, level):
    """Write the levels of some pairs of rows; ``listed`` has none."""
    for at in range(first, end):
        for j in range(level.shape[1]):
            level[at, j] = _level(files, listed, intervals, puf[at], eif[at], j)


def listing(files: Compared, intervals: Intervals, puf: np.ndarray, eif: np.ndarray, threads: int = 1) -> Listed:
    """Return pairs of rows as candidates; int64 (m,), sorted by PUF row."""
    level = np.empty((len(puf), len(files.codes)), np.uint16)

    def work(first: int, end: int) -> None:
        _write_levels(files, EVERY, intervals, first, end, puf, eif, level)

    in_threads(work, len(puf), block=int(PIECE), threads=threads)
    return Listed(np.searchsorted(puf, np.arange(len(files.stratum) + 1)), eif.astype(np.int32), level)
