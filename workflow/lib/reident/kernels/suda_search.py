"""Compiled search of `suda` for minimal sample uniques, whose docstring has the argument (METHODS §7).

A cell has two parts: records of the block that may be unique, and all others, which only count. The sets of a
record lie in pages of 512 bits, linked from the last page to the first.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import WORD, low_bits, trailing_zeros
from reident.kernels.cells import (
    BEGIN,
    COST,
    MEMBERS,
    NEXT,
    ORDER,
    SIZES,
    STOP,
    TOP,
    empty_stack,
    enlarge,
    equal_words,
    split,
)
from reident.kernels.compiling import ONE, ZERO, jit, lean_jit

PAGE = 8
"""Words in a page."""

_ONE = np.uint64(1)
_EMPTY = np.uint64(0)
_MIN_PAGES = 1024


class Block(NamedTuple):
    """A file, and the block of its records to be searched: ``first`` to ``first + n - 1``."""

    rows: np.ndarray  # uint8 or int32 (n_records, v)
    columns: np.ndarray  # uint8 or int32 (v, n_records)
    levels: np.ndarray  # int64 (v,): number of values of each variable
    level_begins: np.ndarray  # int64 (v + 1,): where each variable's values begin in `Notes.by_level`
    weights: np.ndarray  # int64 (v,): what each variable adds to the cost of a set
    first: int
    n: int
    max_order: int
    lane: int  # bits in which a set is kept: 16, 32 or 64, more than v


class Scratch(NamedTuple):
    """Working memory of the search in a cell of at most 64 records."""

    table: np.ndarray  # uint64 (values,)
    equal: np.ndarray  # uint64 (64, v): see `equal_words`
    reach: np.ndarray  # uint64 (v + 1,): records that differ from the record on a variable before j
    words: np.ndarray  # uint64 (v + 1,): records equal to the record, by number of variables added
    apart: np.ndarray  # uint64 (v + 1, v): see `_all_needed`
    trail: np.ndarray  # int64 (v + 1, 4): next variable, variable to stop before, cost, members


class Notes(NamedTuple):
    """The minimal sets of the block's records."""

    pages: np.ndarray  # uint64 (pages, PAGE)
    previous: np.ndarray  # int32 (pages,): the record's page before, or -1
    last: np.ndarray  # int32 (n,): each record's last page, or -1
    counts: np.ndarray  # int32 (n, max_order + 1): sets of each record by size; in column 0 all of them
    least: np.ndarray  # int64 (n,): cost of the record's best set; the largest int64 where it has none
    by_level: np.ndarray  # int64 (levels, max_order + 1): sets by size with the variable, by value


@jit
def minimal_uniques(block):
    """Find all minimal sample uniques of a block of records.

    Return ``counts``, ``least`` and ``by_level`` as in `Notes`, and how many pages the sets took.
    """
    n, v, width = len(block.rows), len(block.levels), int(block.levels.max()) + 1
    stack = empty_stack(n * (v + 1), (v + 1) * (min(width, n) + 2) + 1, 2, width)
    _begin(block, stack)
    scratch = Scratch(
        np.empty(width, np.uint64),
        np.empty((WORD, v), np.uint64),
        np.empty(v + 1, np.uint64),
        np.empty(v + 1, np.uint64),
        np.empty((v + 1, v), np.uint64),
        np.empty((v + 1, 4), np.int64),
    )
    n_pages = max(block.n, _MIN_PAGES)
    notes = Notes(
        np.empty((n_pages, PAGE), np.uint64),
        np.empty(n_pages, np.int32),
        np.full(block.n, -1, np.int32),
        np.zeros((block.n, block.max_order + 1), np.int32),
        np.full(block.n, np.iinfo(np.int64).max, np.int64),
        np.zeros((block.level_begins[v], block.max_order + 1), np.int64),
    )
    f, p, used = ZERO if block.n else -ONE, ZERO, ZERO
    while f >= 0:
        if used == len(notes.pages):
            pages, previous = enlarge(notes.pages), enlarge(notes.previous)
            notes = Notes(pages, previous, notes.last, notes.counts, notes.least, notes.by_level)
        f, p, used = _search(block, stack, scratch, notes, f, p, used)
    return notes.counts, notes.least, notes.by_level, used


@lean_jit
def _begin(block, stack):
    """Put the cell of all records at the bottom of the stack, those of the block first."""
    ids, frames, n = stack.ids, stack.frames, len(block.rows)
    for i in range(n):
        before = i - block.n
        ids[i] = block.first + i if i < block.n else (before if before < block.first else i)
    frames[0, :] = 0
    frames[0, SIZES], frames[0, SIZES + 1] = block.n, n - block.n
    frames[0, STOP], frames[0, TOP] = len(block.levels), n


@lean_jit
def _search(block, stack, scratch, notes, f, p, used):
    """Search the cells on the stack, the one on top from its record p on, while there are pages.

    Returns the new top of the stack, the next record of its cell, and the number of pages. Where the pages do not
    suffice for a record, that record is the next one again; the sets noted for it are not noted twice.
    """
    ids, frames = stack.ids, stack.frames
    while f >= 0 and used < len(notes.pages):
        size = frames[f, SIZES] + frames[f, SIZES + 1]
        if size == 1 and frames[f, ORDER] > 0:
            order, cost, members = frames[f, ORDER], frames[f, COST], frames[f, MEMBERS]
            used = _note(block, notes, used, ids[frames[f, BEGIN]], order, cost, members)
            f -= 1
        elif frames[f, ORDER] == block.max_order or frames[f, NEXT] == frames[f, STOP]:
            f -= 1
        elif size > WORD:
            f = _split(block, stack, f)
        else:
            begin, n_candidates = frames[f, BEGIN], frames[f, SIZES]
            if p == 0:
                stop = frames[f, STOP]
                equal_words(block.rows, ids, begin, size, n_candidates, ZERO, stop, scratch.table, scratch.equal)
            while p < n_candidates and used < len(notes.pages):
                used = _search_record(block, scratch, notes, used, ids[begin + p], p, frames, f)
                if used > len(notes.pages):
                    return f, p, len(notes.pages)
                p += 1
            if p == n_candidates:
                f, p = f - 1, ZERO
    return f, p, used


@lean_jit
def _split(block, stack, f):
    """Push the parts of the cell on top by its next variable; below them it stays for the variable after."""
    frames = stack.frames
    j, order = frames[f, NEXT], frames[f, ORDER] + 1
    child = (ZERO, j, order, frames[f, COST] + block.weights[j], frames[f, MEMBERS] | 1 << j)
    frames[f, NEXT] = j + 1
    base = f - 1 if j + 1 == frames[f, STOP] else f
    deeper = j > 0 and order < block.max_order
    return split(stack, f, base, block.columns[j], block.levels[j], deeper, child)[0]


@lean_jit
def _search_record(block, scratch, notes, used, r, p, frames, f):
    """Note the minimal sets of record p of a cell of at most 64 records; returns the new number of pages.

    Where there are too few pages it ends early, and returns one more than there are.
    """
    equal, reach, words, trail = scratch.equal, scratch.reach, scratch.words, scratch.trail
    single, order, stop = _ONE << np.uint64(p), frames[f, ORDER], frames[f, STOP]
    reach[0] = _EMPTY
    for j in range(stop):
        reach[j + 1] = reach[j] | (~equal[p, j] if equal[p, j] else _EMPTY)
    d = ZERO
    words[0] = low_bits(frames[f, SIZES] + frames[f, SIZES + 1])
    trail[0, 0], trail[0, 1], trail[0, 2], trail[0, 3] = 0, stop, frames[f, COST], frames[f, MEMBERS]
    while d >= 0:
        j = trail[d, 0]
        if j == trail[d, 1]:
            d -= 1
            continue
        trail[d, 0] = j + 1
        word = words[d] & equal[p, j]
        # Skip variables that p misses, and sets with a variable that p could do without; a record that is alone
        # in the file is unique on each variable.
        if word == _EMPTY or (not _all_needed(scratch, p, j, d) and words[d] != single):
            continue
        cost, members = trail[d, 2] + block.weights[j], trail[d, 3] | 1 << j
        if word == single:
            used = _note(block, notes, used, r, order + d + 1, cost, members)
            if used > len(notes.pages):
                return used
        elif order + d + 1 < block.max_order and word & ~reach[j] == single:
            d += 1
            words[d] = word
            trail[d, 0], trail[d, 1], trail[d, 2], trail[d, 3] = 0, j, cost, members
    return used


@lean_jit
def _all_needed(scratch, p, j, d):
    """Whether each of d variables, and j, separates record p from a record that the others do not.

    ``words[d]`` are the records equal to p on the d variables, ``apart[d]`` those that differ from p on exactly
    one of them, by variable; row d + 1 of ``apart`` is filled in for the d variables and j.
    """
    equal, words, apart = scratch.equal, scratch.words, scratch.apart
    if words[d] & ~equal[p, j] == _EMPTY:
        return False
    for i in range(d):
        apart[d + 1, i] = apart[d, i] & equal[p, j]
        if apart[d + 1, i] == _EMPTY:
            return False
    apart[d + 1, d] = words[d] & ~equal[p, j]
    return True


@lean_jit
def _repeat(lane, value):
    """Return a word with the value in each of its lanes of 16, 32 or 64 bits."""
    if lane == 64:
        return value
    value |= value << np.uint64(32)
    return value | value << np.uint64(16) if lane == 16 else value


@lean_jit
def _note(block, notes, used, r, order, cost, members):
    """Note a set on which record r is unique, unless it holds a noted one; returns the new number of pages.

    Where it needs a page and all are used, it notes nothing and returns one more than there are.
    """
    pages, lane, at = notes.pages, block.lane, np.int64(r) - block.first
    low = _repeat(lane, (_ONE << np.uint64(lane - 1)) - _ONE)
    high = _repeat(lane, _ONE << np.uint64(lane - 1))
    outside = ~_repeat(lane, np.uint64(members))
    page = notes.last[at]
    while page >= 0:
        subsets = _EMPTY
        for i in range(PAGE):
            word = pages[page, i] & outside
            subsets |= ~(word | ((word & low) + low)) & high  # the highest bit of each lane that is 0
        if subsets:
            return used
        page = notes.previous[page]
    fill = notes.counts[at, 0] % (PAGE * WORD // lane)
    if fill == 0:
        if used == len(pages):
            return used + 1
        for i in range(PAGE):
            pages[used, i] = ~_EMPTY
        notes.previous[used], notes.last[at] = notes.last[at], used
        used += 1
    shift = np.uint64(fill % (WORD // lane) * lane)
    empty_lane = ~_EMPTY >> np.uint64(WORD - lane)
    pages[notes.last[at], fill * lane // WORD] ^= (~np.uint64(members) & empty_lane) << shift
    notes.counts[at, 0] += 1
    notes.counts[at, order] += 1
    notes.least[at] = min(notes.least[at], cost)
    rest = np.uint64(members)
    while rest:
        j = trailing_zeros(rest)
        rest &= rest - _ONE
        notes.by_level[block.level_begins[j] + block.rows[r, j], order] += 1
    return used
