"""The evidence of pairs of records, and how sure each pair is, given its rivals (METHODS §4.6).

The values of a variable are whole numbers, and what a pair says of it depends on the level of the difference, and on
the value of the PUF record where its frequency counts. The pairs are all those of several strata, or listed candidates.
Equal records of a file are one row with the number of them.

Sums of odds keep the largest term apart, so that what all other pairs add up to is known without a difference of large
numbers. Rows are in the order of their values, and the pieces in which they are added up are the same for any number
of threads: no sum depends on the order of the records, their keys or the threads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from reident.kernels.compared import PIECE, Compared, Intervals
from reident.kernels.compiling import lean_jit
from reident.kernels.pair_odds import EVERY, MOST, Listed, Model, eif_row, pair_level, row_odds, written_level
from reident.kernels.toplist import Pairs, bound_of, empty_best, in_threads, list_pairs, offer, settle

ANY = -(2**62)
"""A weight that every pair has at least."""

LEAST = 2.0**-50
"""Pairs of a smaller probability add nothing to the expected links."""

TAKEN = 10**9
"""What rivals take from a weight, and what frequency adds, is rounded to nine decimals, so that equal ones are ties."""

LARGEST = MOST * (1 - 1e-6)
"""Odds below it are exact, whatever is rounded."""

MAX_KEPT = 2 * 10**7
"""Up to this number of pairs, the odds of all are kept in memory from one pass to the next: 160 MB."""


class Rivals(NamedTuple):
    """The largest odds of the pairs of each row of a file, and the sum of the others."""

    largest: np.ndarray  # float64 (n,)
    rest: np.ndarray  # float64 (n,)

    @property
    def totals(self) -> np.ndarray:
        """The sum of all odds of each row."""
        return self.largest + self.rest


@lean_jit
def _add_up(files, listed, intervals, model, first, last, scratch, odds, kept, before, rows, columns):
    """Add up the odds of the pairs of some PUF rows by row, and by EIF row from that of the first stratum on.

    They are written to ``kept``, if that has room.
    """
    base = files.eif.starts[files.stratum[first]]
    for i in range(first, last):
        own = kept[before[i] - before[first] : before[i + 1] - before[first]]
        of_row, begin, _ = row_odds(
            files, listed, intervals, model, i, scratch, kept[:0], own if own.size else odds, True
        )
        largest, rest, times, n = 0.0, 0.0, files.puf.times[i], of_row.size
        for c in range(n):
            o, more = of_row[c], files.eif.times[eif_row(listed, begin + c)] - 1
            rest += min(largest, o) + more * o
            largest = max(largest, o)
        rows.largest[i], rows.rest[i] = largest, rest
        for c in range(n):
            o, at = of_row[c], eif_row(listed, begin + c) - base
            columns.rest[at] += min(columns.largest[at], o) + (times - 1) * o
            columns.largest[at] = max(columns.largest[at], o)


@lean_jit
def _others(rivals, at, o):
    """Return the sum of the odds of the other pairs of a row."""
    return rivals.rest[at] + (rivals.largest[at] - o)


@lean_jit
def _expect(
    files, listed, intervals, model, first, last, scratch, odds, kept, before, rows, columns, competition, by_level,
    links,
):  # fmt: skip
    """Add the probabilities of the pairs of some PUF rows to the links by level, and to the last number of all."""
    for i in range(first, last):
        own = kept[before[i] - before[first] : before[i + 1] - before[first]]
        of_row, begin, n_present = row_odds(files, listed, intervals, model, i, scratch, own, odds, by_level)
        times, number, n = files.puf.times[i], links[-1, 0], of_row.size
        for c in range(n):
            o, r = of_row[c], eif_row(listed, begin + c)
            total = 1 + o
            if competition:
                total += _others(rows, i, o) + _others(columns, r, o)
            odds[c] = 0.0 if o < LEAST * total else o / total * times * files.eif.times[r]
            number += odds[c]
        links[-1, 0] = number
        done, present = 0, scratch[4]
        while by_level and done < n_present:
            done += _add_by_level(files, listed, scratch[1], present[done:n_present], begin, n, odds, links)


@lean_jit
def _add_by_level(files, listed, levels, variables, begin, n, amounts, links):
    """Add the amounts of the pairs of a PUF row to their levels of the first variables; return of how many.

    A sum waits for the one before it in its variable, so that two or four variables take little longer than one.
    """
    a = variables[0]
    if listed.first.size:
        for c in range(n):
            links[a, listed.level[begin + c, a]] += amounts[c]
        return 1
    of_a = levels[a]
    if variables.size < 2:
        for c in range(n):
            links[a, of_a[files.codes[a, begin + c]]] += amounts[c]
        return 1
    b = variables[1]
    of_b = levels[b]
    if variables.size < 4:
        for c in range(n):
            amount, r = amounts[c], begin + c
            links[a, of_a[files.codes[a, r]]] += amount
            links[b, of_b[files.codes[b, r]]] += amount
        return 2
    d, e = variables[2], variables[3]
    of_d, of_e = levels[d], levels[e]
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
        # The pairs before each PUF row whose odds are kept.
        self._before = np.append(0, np.cumsum(np.diff(files.eif.starts)[files.stratum]))
        if not competition or listed.first.size or self._before[-1] > MAX_KEPT:
            self._before[:] = 0
        self._odds = np.empty(int(self._before[-1]))
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

    def _kept(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the room for the odds of the pairs of some PUF rows, and how many pairs are before each row."""
        begin, end = self._before[[first, last]].tolist()
        return self._odds[begin:end], self._before

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
            where = first, last, *self._scratch(), *self._kept(first, last)
            _add_up(*self._arguments, *where, self.rows, parts[piece][1])

        self._in_pieces(work)
        for _, (begin, part) in sorted(parts.items()):
            largest, rest = (array[begin : begin + len(part.rest)] for array in self._columns)
            rest += part.rest + np.minimum(largest, part.largest)
            np.maximum(largest, part.largest, out=largest)

    def expected(self, *, by_level: bool = True) -> tuple[np.ndarray, float]:
        """Return how many links are expected at each level, float64 (n_levels,), and in all; 0 at each if not asked."""
        v, width = self._present.shape
        parts = np.zeros((max(len(self._files.pieces) - 1, 1), v + 1, width))

        def work(piece: int, first: int, last: int) -> None:
            rivals = self.rows, self._columns, self._competition
            where = first, last, *self._scratch(), *self._kept(first, last)
            _expect(*self._arguments, *where, *rivals, by_level, parts[piece])

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
            where = first, last, *self._scratch(), *self._kept(first, last)
            _list_best(*self._arguments, *where, *rivals, *arguments, *lists, best)

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
    return min(model.prior_odds * 2.0 ** ((1 - bound) / scale) * (1 - 1e-6), LARGEST)


@lean_jit
def _list_best(
    files, listed, intervals, model, first, last, scratch, odds, kept, before, rows, columns, competition, weights,
    least, scale, levels, eifs, best,
):  # fmt: skip
    """Write the best pairs of the records of some PUF rows; a level is the negative weight."""
    level_table, own = scratch[1], scratch[2]
    for i in range(first, last):
        known = kept[before[i] - before[first] : before[i + 1] - before[first]]
        of_row, begin, _ = row_odds(files, listed, intervals, model, i, scratch, known, odds, True)
        count, bound = 0, 1 - least
        at_least = _least_odds(model, bound, scale)
        for c in range(of_row.size):
            o, r = of_row[c], eif_row(listed, begin + c)
            if o < at_least:
                continue
            total = 1 + _others(rows, i, o) + _others(columns, r, o) if competition else 1.0
            if o < min(at_least * total, LARGEST):
                continue
            level = 0
            for j in range(len(own)):
                at = written_level(files, listed, intervals, level_table, i, begin + c, j)
                level -= weights[j, at]
                if model.shares.size and at < intervals.n_levels[j]:
                    level -= _taken(own[j, at] / model.factors[j, at], scale)
            if competition:
                level += _taken(total, scale)
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
            level[at, j] = pair_level(files, listed, intervals, puf[at], eif[at], j)


def listing(files: Compared, intervals: Intervals, puf: np.ndarray, eif: np.ndarray, threads: int = 1) -> Listed:
    """Return pairs of rows as candidates; int64 (m,), sorted by PUF row."""
    level = np.empty((len(puf), len(files.codes)), np.uint16)

    def work(first: int, end: int) -> None:
        _write_levels(files, EVERY, intervals, first, end, puf, eif, level)

    in_threads(work, len(puf), block=int(PIECE), threads=threads)
    return Listed(np.searchsorted(puf, np.arange(len(files.stratum) + 1)), eif.astype(np.int32), level)
