"""Compiled search of `suda_by_size` for the minimal sample uniques of one size (METHODS §7).

The docstring of `suda_by_size` has the argument.

A cell has two parts: records of the block that may be unique, and all others, which only count. A set is searched
from its most informative variable down to its least informative one, the *last* one, which is not split by but counted.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import LANES, WORD, low_bits, matching_words, trailing_zeros
from reident.kernels.cells import (
    BEGIN,
    MEMBERS,
    NEXT,
    ORDER,
    SIZES,
    STOP,
    empty_stack,
    equal_words,
)
from reident.kernels.compiling import inner_jit, jit, lean_jit
from reident.kernels.suda_rows import MAX_SIZE, push_all, split_by_next

_ONE, _EMPTY = np.uint64(1), np.uint64(0)
_RECORD = 1 << 32
"""What a record adds to the counter of a value, beside its place in the cell."""


class Scratch(NamedTuple):
    """Working memory of a search."""

    counters: np.ndarray  # int64 (v, values): 0
    table: np.ndarray  # uint64 (values,)
    equal: np.ndarray  # uint64 (64, v + lanes): see `equal_words`
    reach: (
        np.ndarray
    )  # uint64 (v + 1,): records that differ from the record on a variable from ``low`` to j - 1
    words: np.ndarray  # uint64 (size + 1,): records equal to the record, by number of variables added
    apart: np.ndarray  # uint64 (size + 1, size): of these, by variable, those that would be equal without it
    trail: np.ndarray  # int64 (size + 1, 2): next variable, variable to stop before
    members: np.ndarray  # int64 (size,): variables of the set, descending
    bases: np.ndarray  # int64 (size + 1,): see `_prepare`
    cells: np.ndarray  # int64 (size + 1,): see `_locate`
    spans: np.ndarray  # int64 (size,): cells of the members after each


@jit
def search(file, records, job, tally, variable, first, stop):
    """Count the minimal sets of a job that begin with a variable and go on with one from ``first`` to ``stop`` - 1."""
    n, v = file.rows.shape
    width = int(file.levels.max()) + 1
    stack = empty_stack(n * (job.size + 1), (job.size + 1) * (min(width, n) + 2) + 1, 2, width)
    scratch = Scratch(
        np.zeros((v, width), np.int64),
        np.empty(width, np.uint64),
        np.zeros((WORD, v + LANES), np.uint64),
        np.empty(v + 1, np.uint64),
        np.empty(job.size + 1, np.uint64),
        np.empty((job.size + 1, job.size), np.uint64),
        np.empty((job.size + 1, 2), np.int64),
        np.empty(job.size, np.int64),
        np.empty(job.size + 1, np.int64),
        np.empty(job.size + 1, np.int64),
        np.empty(job.size, np.int64),
    )
    _search(file, records, job, tally, stack, scratch, variable, first, stop)


@lean_jit
def _search(file, records, job, tally, stack, scratch, variable, first, stop):
    """Search all cells, from that of all records down."""
    ids, frames = stack.ids, stack.frames
    push_all(records, job, stack, variable)
    f = 0
    while f >= 0:
        order, size = frames[f, ORDER], frames[f, SIZES] + frames[f, SIZES + 1]
        if frames[f, NEXT] >= frames[f, STOP] or (job.final and size == 1):
            f -= 1
        elif order == job.size - 1:
            _count_last(file, records, job, tally, scratch, ids, frames, f)
            f -= 1
        elif order > 0 and size <= WORD:
            _search_words(file, records, job, tally, scratch, ids, frames, f)
            f -= 1
        else:
            f = split_by_next(file, job, stack, f, first, stop)


@inner_jit
def _count_last(file, records, job, tally, scratch, ids, frames, f):
    """Count the records of a cell by each possible last variable; a value of one record makes it unique.

    Counters take the place of the record along, so that it is known without a second look at the records. They
    are read by value or, where these are many, by record.
    """
    rows, counters = file.rows, scratch.counters
    begin, candidates = frames[f, BEGIN], frames[f, SIZES]
    n, low, high = candidates + frames[f, SIZES + 1], frames[f, NEXT], min(frames[f, STOP], job.high)
    for i in range(n):
        r = ids[begin + i]
        for e in range(low, high):
            counters[e, rows[r, e]] += _RECORD + i
    ready = False
    if low < high and file.begins[high] - file.begins[low] <= n * (high - low):
        for e in range(low, high):
            for x in range(file.levels[e]):
                counter = counters[e, x]
                counters[e, x] = 0
                if counter >> 32 == 1 and counter - _RECORD < candidates:
                    ready = ready or _prepare(job, scratch, frames[f, MEMBERS], job.size - 1)
                    r = ids[begin + counter - _RECORD]
                    _note_one(file, records, job, tally, scratch, r, e, n == 1)
            counters[e, counters.shape[1] - 1] = 0
        return
    for i in range(candidates):
        r = ids[begin + i]
        for e in range(low, high):
            if counters[e, rows[r, e]] >> 32 == 1 and rows[r, e] < file.levels[e]:
                ready = ready or _prepare(job, scratch, frames[f, MEMBERS], job.size - 1)
                _note_one(file, records, job, tally, scratch, r, e, n == 1)
    for i in range(n):
        for e in range(low, high):
            counters[e, rows[ids[begin + i], e]] = 0


@inner_jit
def _prepare(job, scratch, packed, n_packed):
    """Write the members of a set of all variables but the last one, and where its rows are; returns True.

    The first ``n_packed`` members come from a word, the others are there. ``bases[i]`` plus the last variable is the
    row of the set without member i, the last base that of the whole set.
    """
    members, bases, ranks, m = scratch.members, scratch.bases, job.ranks, job.size - 1
    for i in range(n_packed):
        members[n_packed - 1 - i] = packed >> 8 * i & 255
    after = 0
    for i in range(m - 1, -1, -1):
        bases[i] = after
        after += ranks[members[i], m + 1 - i]
    bases[m] = after
    before = 0
    for i in range(m):
        bases[i] += before
        before += ranks[members[i], m - i]
    return True


@inner_jit
def _locate(file, job, scratch, r):
    """Write in which cell record r is, of the members without each, and of all members; returns True."""
    members, cells, spans, m = scratch.members, scratch.cells, scratch.spans, job.size - 1
    after, span = 0, 1
    for i in range(m - 1, -1, -1):
        cells[i], spans[i] = after, span
        after += file.rows[r, members[i]] * span
        span *= file.levels[members[i]]
    cells[m], before = after, 0
    for i in range(m):
        cells[i] += before * spans[i]
        before = before * file.levels[members[i]] + file.rows[r, members[i]]
    return True


@inner_jit
def _bit(file, records, begins, scratch, r, i, last):
    """Return the bit of record r in the row of the members without i, or of all of them, and the last variable."""
    at = begins[scratch.bases[i] + last]
    if at < 0:
        return ~at * WORD + records.places[r]
    return at * WORD + scratch.cells[i] * file.levels[last] + file.rows[r, last]


@inner_jit
def _unique_without(file, records, job, scratch, r, i, last):
    """Whether record r is unique on a set without its member i."""
    bit = _bit(file, records, job.known.begins, scratch, r, i, last)
    return (job.known.words[bit >> 6] >> np.uint64(bit & 63)) & _ONE != _EMPTY


@inner_jit
def _keep(file, records, job, scratch, r, last):
    """Note for the next size that record r is unique on a set."""
    bit = _bit(file, records, job.found.begins, scratch, r, job.size - 1, last)
    job.found.words[bit >> 6] |= _ONE << np.uint64(bit & 63)


@inner_jit
def _note_one(file, records, job, tally, scratch, r, last, before):
    """Note that record r is unique on a set; ``before`` tells that it is so without the last variable."""
    minimal = not before
    _locate(file, job, scratch, r)
    if minimal and job.size > 2:
        for i in range(job.size - 1):
            if _unique_without(file, records, job, scratch, r, i, last):
                minimal = False
                break
    if minimal:
        _add_to_least(file, records, job, tally, scratch, r, last)
        tally.counts[records.places[r]] += 1
        tally.by_level[file.begins[last] + file.rows[r, last]] += 1
        for i in range(job.size - 1):
            j = scratch.members[i]
            tally.by_level[file.begins[j] + file.rows[r, j]] += 1
    if not job.final:
        _keep(file, records, job, scratch, r, last)


@inner_jit
def _add_to_least(file, records, job, tally, scratch, r, last):
    """Compare a minimal set with the first one of record r, unless it has a smaller one."""
    if 0 < job.order[records.places[r]] < job.size:
        return
    key = _EMPTY
    for i in range(job.size):
        place, position = 0, file.positions[last if i == job.size - 1 else scratch.members[i]]
        for other in range(job.size):
            place += file.positions[last if other == job.size - 1 else scratch.members[other]] < position
        key |= position << np.uint64(8 * (MAX_SIZE - 1 - place))
    tally.least[records.places[r]] = min(tally.least[records.places[r]], key)


@inner_jit
def _search_words(file, records, job, tally, scratch, ids, frames, f):
    """Search a cell of at most 64 records, whose sets are words, record by record."""
    begin, candidates, order = frames[f, BEGIN], frames[f, SIZES], frames[f, ORDER]
    n, stop, packed = candidates + frames[f, SIZES + 1], frames[f, STOP], frames[f, MEMBERS]
    equal_words(file.rows, ids, begin, n, candidates, job.low, stop, scratch.table, scratch.equal)
    scratch.words[0] = low_bits(n)
    for p in range(candidates):
        scratch.trail[0, 0], scratch.trail[0, 1] = frames[f, NEXT], stop
        _search_record(file, records, job, tally, scratch, ids[begin + p], p, packed, order)


@inner_jit
def _search_record(file, records, job, tally, scratch, r, p, packed, n_packed):
    """Count the minimal sets of record p of a cell, of whose sets a word has the ``n_packed`` first members.

    Sets are left out on which it is not unique even with all variables to come; in the final size also those on which
    it is unique already, or on which a variable of the set is superfluous.
    """
    equal, reach, words, apart, trail = (
        scratch.equal,
        scratch.reach,
        scratch.words,
        scratch.apart,
        scratch.trail,
    )
    single, final, d = _ONE << np.uint64(p), job.final, 0
    reach[job.low] = _EMPTY
    for j in range(job.low, trail[0, 1]):
        reach[j + 1] = reach[j] | (~equal[p, j] if equal[p, j] else _EMPTY)
    while d >= 0:
        j = trail[d, 0]
        if j >= trail[d, 1]:
            d -= 1
            continue
        trail[d, 0] = j + 1
        same = equal[p, j]
        word = words[d] & same
        if word & ~reach[j] != single or (final and word == single):
            continue
        needed = words[d] & ~same != _EMPTY
        apart[d + 1, d] = words[d] & ~same
        for i in range(d):
            apart[d + 1, i] = apart[d, i] & same
            needed &= apart[d + 1, i] != _EMPTY
        if final and not needed:
            continue
        scratch.members[n_packed + d] = j
        d += 1
        words[d], order = word, n_packed + d
        if order < job.size - 1:
            trail[d, 0], trail[d, 1] = job.low + job.size - 1 - order, j
            continue
        low, high = job.low, min(job.high, j)
        for first in range(low, high, LANES):
            lanes = matching_words(equal, p, first, word, single)
            if first + LANES > high:
                lanes &= low_bits(high - first)
            if lanes:
                _note_lanes(
                    file,
                    records,
                    job,
                    tally,
                    scratch,
                    r,
                    p,
                    first,
                    lanes,
                    packed,
                    n_packed,
                    d,
                    word == single,
                )
        d -= 1


@inner_jit
def _note_lanes(file, records, job, tally, scratch, r, p, first, lanes, packed, n_packed, d, before):
    """Note the sets on which record r is unique, with a last variable for each bit of ``lanes``.

    A record outside the cell differs on one of the members that the word has: only without these, `Uniques` has to
    be asked; without another one, the records that would be equal are at hand.
    """
    equal, apart, n, ready = scratch.equal, scratch.apart, 0, False
    while lanes:
        last = first + trailing_zeros(lanes)
        lanes &= lanes - _ONE
        minimal = not before
        for i in range(d):
            minimal &= apart[d, i] & equal[p, last] != _EMPTY
        if not ready and (minimal or not job.final):
            ready = _prepare(job, scratch, packed, n_packed) and _locate(file, job, scratch, r)
        if minimal and job.size > 2:
            for i in range(n_packed):
                if _unique_without(file, records, job, scratch, r, i, last):
                    minimal = False
                    break
        if minimal:
            n += 1
            tally.by_level[file.begins[last] + file.rows[r, last]] += 1
            _add_to_least(file, records, job, tally, scratch, r, last)
        if not job.final:
            _keep(file, records, job, scratch, r, last)
    if n:
        tally.counts[records.places[r]] += n
        for i in range(job.size - 1):
            j = scratch.members[i]
            tally.by_level[file.begins[j] + file.rows[r, j]] += n
