"""Compiled search of `suda`; its invariants stand there.

A cell has two parts: records of the block that may be unique, and all others, which only count. It lies in
``ids``, and a stack of frames tells which cells are still to be searched:
begin, sizes of the two parts, next variable, first variable not to add, where free room begins, order, cost, set.
A record's sets found so far lie in pages of 32, the last page first.

Arrays are passed one by one and indexed, not as tuples or slices: those would be counted as references, with an
atomic instruction, in the innermost loops.
"""

import numpy as np

from reident.kernels.cells import WORD, below, equal_words, lowest, place, tally
from reident.kernels.compiling import jit, lean_jit

PAGE = 8
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_NEXT, _STOP, _TOP, _ORDER, _COST, _SET = 3, 4, 5, 6, 7, 8


@jit
def minimal_uniques(rows, columns, levels, first, n_block, weights, max_order, lane, level_begins):
    """All minimal sample uniques of a block of records.

    Parameters
    ----------
    rows, columns : uint8 or int32 (n, v), (v, n)
    levels : int64 (v,)
    first, n_block : int
        The block: records first … first + n_block − 1.
    weights : int64 (v,)
        What each variable adds to the cost of a set.
    max_order : int
    lane : int
        Bits in which a set is kept: 16, 32 or 64, more than v.
    level_begins : int64 (v + 1,)
        Where each variable's levels begin in ``by_level``.

    Returns
    -------
    counts : int32 (n_block, max_order + 1)
        Sets of each record by size; in column 0 all of them.
    least : int64 (n_block,)
        Cost of its best set; the largest int64 where it has none.
    by_level : int64 (levels in all, max_order + 1)
        Sets by size that hold the variable, of the records with the level.
    pages : int
        How many pages the sets took.
    """
    n, v, width = len(rows), len(levels), int(levels.max()) + 1
    ids = np.empty(n * (v + 1), np.uint32)
    for i in range(n):
        ids[i] = first + i if i < n_block else (i - n_block if i - n_block < first else i)
    frames = np.empty(((v + 1) * (min(width, n) + 2) + 1, 9), np.int64)
    frames[0, :] = 0
    frames[0, 1], frames[0, 2], frames[0, _STOP], frames[0, _TOP] = n_block, n - n_block, v, n
    counts, slots = np.empty((2, width), np.int64), np.empty((2, width), np.int64)
    table, equal = np.empty(width, np.uint64), np.empty((WORD, v), np.uint64)
    apart = np.empty((v + 1, v), np.uint64)
    words, trail, reach = (
        np.empty(v + 1, np.uint64),
        np.empty((v + 1, 4), np.int64),
        np.empty(v + 1, np.uint64),
    )
    pages, used = np.empty((max(n_block, 1024), PAGE), np.uint64), 0
    following = np.empty((len(pages), 1), np.int32)
    sets, last = np.zeros((n_block, max_order + 1), np.int32), np.full(n_block, -1, np.int32)
    least = np.full(n_block, np.iinfo(np.int64).max, np.int64)
    by_level = np.zeros((level_begins[v], max_order + 1), np.int64)
    f, p = 0 if n_block else -1, 0
    while f >= 0:
        if used == len(pages):
            pages, following = _longer(pages), _longer(following)
        f, p, used = _search(
            rows, columns, levels, first, weights, max_order, ids, frames, f, p, counts, slots,
            table, equal, reach, words, apart, trail,
            pages, following, used, lane, level_begins, sets, last, least, by_level,
        )  # fmt: skip
    return sets, least, by_level, used


@jit
def _longer(array):
    """A copy twice as long."""
    longer = np.empty((2 * len(array), array.shape[1]), array.dtype)
    longer[: len(array)] = array
    return longer


@lean_jit
def _search(
    rows, columns, levels, first, weights, max_order, ids, frames, f, p, counts, slots,
    table, equal, reach, words, apart, trail,
    pages, following, used, lane, level_begins, sets, last, least, by_level,
):  # fmt: skip
    """Searches the cells on the stack, the one on top from its record p on, while there are pages.

    Returns the new top of the stack, the next record of its cell, and the number of pages. A record for which
    the pages did not suffice is the next one again: what is noted for it is not noted twice.
    """
    while f >= 0 and used < len(pages):
        size = frames[f, 1] + frames[f, 2]
        if size == 1 and frames[f, _ORDER] > 0:
            used = _note(
                rows, ids[frames[f, 0]], first, frames[f, _ORDER], frames[f, _COST], frames[f, _SET],
                pages, following, used, lane, level_begins, sets, last, least, by_level,
            )  # fmt: skip
            f -= 1
        elif frames[f, _ORDER] == max_order or frames[f, _NEXT] == frames[f, _STOP]:
            f -= 1
        elif size > WORD:
            f = _split(columns, levels, weights, max_order, ids, frames, f, counts, slots)
        else:
            if p == 0:
                equal_words(rows, ids, frames[f, 0], size, frames[f, 1], 0, frames[f, _STOP], table, equal)
            while p < frames[f, 1] and used < len(pages):
                used = _of_record(
                    rows, ids[frames[f, 0] + p], first, p, frames, f, weights, max_order,
                    equal, reach, words, apart, trail,
                    pages, following, used, lane, level_begins, sets, last, least, by_level,
                )  # fmt: skip
                if used > len(pages):
                    return f, p, len(pages)
                p += 1
            if p == frames[f, 1]:
                f, p = f - 1, 0
    return f, p, used


@lean_jit
def _split(columns, levels, weights, max_order, ids, frames, f, counts, slots):
    """Replaces the cell on top by its parts on its next variable and, below them, itself for the one after."""
    j, top, order = frames[f, _NEXT], frames[f, _TOP], frames[f, _ORDER] + 1
    begin, cost, members = frames[f, 0], frames[f, _COST] + weights[j], frames[f, _SET] | 1 << j
    deeper = j > 0 and order < max_order
    column, sizes = columns[j], frames[f, 1:3]
    frames[f, _NEXT] = j + 1
    f -= j + 1 == frames[f, _STOP]
    tally(column, levels[j], ids, begin, sizes, counts)
    live = False
    for x in range(levels[j]):
        slots[0, x] = slots[1, x] = -1
        if counts[0, x] > 0 and (deeper or counts[0, x] + counts[1, x] == 1):
            live = True
            slots[0, x], slots[1, x] = top, top + counts[0, x]
            top += counts[0, x] + counts[1, x]
    if not live:
        return f
    slots[:, slots.shape[1] - 1] = -1
    place(column, ids, begin, sizes, slots)
    for x in range(levels[j]):
        if slots[0, x] >= 0:
            f += 1
            frames[f, 0], frames[f, 1], frames[f, 2] = slots[0, x] - counts[0, x], counts[0, x], counts[1, x]
            frames[f, _NEXT], frames[f, _STOP], frames[f, _TOP] = 0, j, slots[1, x]
            frames[f, _ORDER], frames[f, _COST], frames[f, _SET] = order, cost, members
    return f


@lean_jit
def _of_record(
    rows, r, first, p, frames, f, weights, max_order, equal, reach, words, apart, trail,
    pages, following, used, lane, level_begins, sets, last, least, by_level,
):  # fmt: skip
    """Notes the minimal sets of one record of a cell of at most 64; returns the new number of pages.

    Where there are too few of them it ends early, and returns one more than there are.
    """
    mine, order = _ONE << np.uint64(p), frames[f, _ORDER]
    stop = frames[f, _STOP]
    reach[0] = _NONE  # whom some variable before j sets apart from p
    for j in range(stop):
        reach[j + 1] = reach[j] | (~equal[p, j] if equal[p, j] else _NONE)
    d = 0
    words[0] = below(frames[f, 1] + frames[f, 2])
    trail[0, 0], trail[0, 1], trail[0, 2], trail[0, 3] = 0, stop, frames[f, _COST], frames[f, _SET]
    while d >= 0:
        j = trail[d, 0]
        if j == trail[d, 1]:
            d -= 1
            continue
        trail[d, 0] = j + 1
        word = words[d] & equal[p, j]
        if word == _NONE or (not _all_needed(words, apart, equal, p, j, d) and words[d] != mine):
            continue  # p misses j, or could do without some variable; somebody alone in the file is unique on each
        cost, members = trail[d, 2] + weights[j], trail[d, 3] | 1 << j
        if word == mine:
            used = _note(
                rows, r, first, order + d + 1, cost, members,
                pages, following, used, lane, level_begins, sets, last, least, by_level,
            )  # fmt: skip
            if used > len(pages):
                return used
        elif order + d + 1 < max_order and word & ~reach[j] == mine:
            d += 1
            words[d] = word
            trail[d, 0], trail[d, 1], trail[d, 2], trail[d, 3] = 0, j, cost, members
    return used


@lean_jit
def _all_needed(words, apart, equal, p, j, d):
    """Whether each of d variables still sets somebody apart from p that neither the others nor j do, and j does.

    ``words[d]`` are the records equal to p on the d variables, ``apart[d]`` those that differ on one only, by
    variable; the row after is filled in for the d variables and j.
    """
    if words[d] & ~equal[p, j] == np.uint64(0):
        return False
    for i in range(d):
        apart[d + 1, i] = apart[d, i] & equal[p, j]
        if apart[d + 1, i] == np.uint64(0):
            return False
    apart[d + 1, d] = words[d] & ~equal[p, j]
    return True


@lean_jit
def _pattern(lane, value):
    """A word with the value in each of its lanes of 16, 32 or 64 bits."""
    if lane == 64:
        return value
    value |= value << np.uint64(32)
    return value | value << np.uint64(16) if lane == 16 else value


@lean_jit
def _note(
    rows, r, first, order, cost, members,
    pages, following, used, lane, level_begins, sets, last, least, by_level,
):  # fmt: skip
    """Notes a set on which record r is unique, unless it holds one that is noted; returns the new number of pages.

    Where it needs a page that is not there it notes nothing, and returns one more than there are.
    """
    at = np.int64(r) - first
    low, high = (
        _pattern(lane, (_ONE << np.uint64(lane - 1)) - _ONE),
        _pattern(lane, _ONE << np.uint64(lane - 1)),
    )
    outside = ~_pattern(lane, np.uint64(members))
    page = last[at]
    while page >= 0:
        # a lane is nonzero iff its highest bit is set in `full`
        none = _NONE
        for i in range(PAGE):
            word = pages[page, i] & outside
            none |= ~(word | ((word & low) + low)) & high
        if none:
            return used
        page = following[page, 0]
    lanes = PAGE * 64 // lane
    fill = sets[at, 0] % lanes
    if fill == 0:
        if used == len(pages):
            return used + 1
        for i in range(PAGE):
            pages[used, i] = ~_NONE
        following[used, 0], last[at] = last[at], used
        used += 1
    shift = np.uint64(fill % (64 // lane) * lane)
    pages[last[at], fill * lane // 64] ^= (~np.uint64(members) & (~_NONE >> np.uint64(64 - lane))) << shift
    sets[at, 0] += 1
    sets[at, order] += 1
    least[at] = min(least[at], cost)
    rest = np.uint64(members)
    while rest:
        j = lowest(rest)
        rest &= rest - _ONE
        by_level[level_begins[j] + rows[r, j], order] += 1
    return used
