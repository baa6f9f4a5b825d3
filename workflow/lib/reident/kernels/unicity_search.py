"""Compiled searches of `unicity`, whose docstring has the argument: all sets, and each pair's joint set (METHODS §4.1).

A cell has four parts: PUF records that may be unique, other PUF records, and the same two of the EIF.

The searches proper allocate nothing: they return when space for pairs runs out, and are called again with more.
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
from reident.kernels.compiling import ONE, ZERO, inner_jit, jit, lean_jit
from reident.kernels.unicity_pairs import insert, place

_ONE = np.uint64(1)
_EMPTY = np.uint64(0)
_CELL_PAIRS = WORD * WORD
"""Pairs that one cell of at most 64 records can add."""

ALL, FULL, JOINT = range(3)
"""The sets that are searched in small strata."""


class UnicityFiles(NamedTuple):
    """Both files in one numbering: PUF records without an exact copy, PUF records with one, then the EIF's."""

    rows: np.ndarray  # uint8 or int32 (n, v): number of the category among the shared ones, or absent
    columns: np.ndarray  # the same, (v, n)
    levels: np.ndarray  # int64 (v,): categories that both files have
    present: np.ndarray  # uint64 (n,): bit j is set where variable j is not missing
    original: np.ndarray  # uint32 (n,): position in the record's file
    parts: np.ndarray  # int64 (4,): records of each part
    variables: np.ndarray  # int64 (v,): position of the variable in the caller's files


class Task(NamedTuple):
    """Cells of one variable, to be searched by adding variables; the next one is from ``first`` to ``stop`` - 1."""

    base: np.ndarray  # uint32 (k,): record numbers of the cells
    cells: np.ndarray  # int64 (c, 5): where each begins in ``base``, and the sizes of its four parts
    variable: int
    first: int
    stop: int


class Ranking(NamedTuple):
    """The ranks of sets, and the largest set; see `unicity_pairs`."""

    weights: np.ndarray  # int64 (v,): what each variable adds to the cost of a set, or its position
    max_order: int
    shift: int  # bits of a set beside the EIF position
    listed: bool  # whether a set is a list of positions
    binomials: np.ndarray  # int64 (v + 1, max_order + 1), where it is


class Scratch(NamedTuple):
    """Working memory of the search in a cell of at most 64 records."""

    table: np.ndarray  # uint64 (values,)
    equal: np.ndarray  # uint64 (64, v): see `equal_words`
    reach: np.ndarray  # uint64 (v + 1,): records that differ from the record on a variable from j on
    words: np.ndarray  # uint64 (v + 1,): records equal to the record, by number of variables added
    trail: np.ndarray  # int64 (v + 1, 2): next variable, cost
    best: np.ndarray  # int64 (64,): cost of the best set of each partner


@jit
def _make_stack(files, task, copies):
    """Allocate a stack for the largest of the cells and for all that splits put behind it."""
    n_values, depth, largest = int(files.levels.max()) + 1, len(files.levels) - task.first + 1, 0
    for c in range(len(task.cells)):
        largest = max(largest, task.cells[c, 1:].sum())
    return empty_stack(largest * (copies * depth + 1), depth * (min(n_values, largest) + 3) + 1, 4, n_values)


@jit
def _make_scratch(v, n_values):
    """Allocate working memory, uninitialised."""
    return Scratch(
        np.empty(n_values, np.uint64),
        np.empty((WORD, v), np.uint64),
        np.empty(v + 1, np.uint64),
        np.empty(v + 1, np.uint64),
        np.empty((v + 1, 2), np.int64),
        np.empty(WORD, np.int64),
    )


@lean_jit
def _begin(stack, task, c, stop, cost):
    """Put cell c of a task at the bottom of the stack."""
    ids, frames, n = stack.ids, stack.frames, 0
    for part in range(4):
        frames[0, SIZES + part] = task.cells[c, 1 + part]
        n += task.cells[c, 1 + part]
    for i in range(n):
        ids[i] = task.base[task.cells[c, 0] + i]
    frames[0, BEGIN], frames[0, NEXT], frames[0, STOP], frames[0, TOP] = 0, task.first, stop, n
    frames[0, ORDER], frames[0, COST], frames[0, MEMBERS] = 1, cost, 0


@lean_jit
def _size(frames, f):
    """The number of records of a cell."""
    return frames[f, SIZES] + frames[f, SIZES + 1] + frames[f, SIZES + 2] + frames[f, SIZES + 3]


@jit
def all_sets(files, task, ranking):
    """Find the pairs of the cells of a task, and of all sets that add variables to theirs.

    Return the positions in the PUF, uint32 (a pair may come several times), and the items, uint64: the position in the
    EIF, shifted, plus the cost of the set.
    """
    stack, scratch = (_make_stack(files, task, 1), _make_scratch(len(files.levels), int(files.levels.max()) + 1))
    puf, item, m = np.empty(2 * _CELL_PAIRS, np.uint32), np.empty(2 * _CELL_PAIRS, np.uint64), ZERO
    for c in range(len(task.cells)):
        _begin(stack, task, c, task.stop, _add(ranking, ZERO, task.variable))
        f = ZERO
        while f >= 0:
            if m + _CELL_PAIRS > len(puf):
                puf, item = enlarge(puf), enlarge(item)
            f, m = _search_all(files, ranking, stack, scratch, f, puf, item, m)
    return puf[:m].copy(), item[:m].copy()


@lean_jit
def _search_all(files, ranking, stack, scratch, f, puf, item, m):
    """Search the cells on the stack while there is space; returns its new top and the number of pairs."""
    ids, frames, original, v = stack.ids, stack.frames, files.original, len(files.levels)
    while f >= 0 and m + _CELL_PAIRS <= len(puf):
        n, begin = _size(frames, f), frames[f, BEGIN]
        if n == 2:  # one record of each file
            puf[m] = original[ids[begin]]
            item[m] = _item(original[ids[begin + 1]], ranking, frames[f, COST])
            m += 1
            f -= 1
        elif frames[f, ORDER] >= ranking.max_order or frames[f, NEXT] >= frames[f, STOP]:
            f -= 1
        elif n > WORD or frames[f, STOP] < v:
            f = _split_all(files, ranking, stack, f)
        else:
            n_puf, first = frames[f, SIZES], frames[f, NEXT]
            equal_words(files.rows, ids, begin, n, n_puf, first, v, scratch.table, scratch.equal)
            for p in range(n_puf):
                partners = _partners(p, frames, f, ranking, scratch)
                while partners:
                    e = trailing_zeros(partners)
                    partners &= partners - _ONE
                    puf[m] = original[ids[begin + p]]
                    item[m] = _item(original[ids[begin + e]], ranking, scratch.best[e])
                    m += 1
            f -= 1
    return f, m


@lean_jit
def _split_all(files, ranking, stack, f):
    """Push the parts of the cell on top by its next variable; below them it stays for the variables after."""
    frames, v = stack.frames, len(files.levels)
    j, order = frames[f, NEXT], frames[f, ORDER] + 1
    child = (j + 1, v, order, _add(ranking, frames[f, COST], j), ZERO)
    frames[f, NEXT] = j + 1
    base = f - 1 if j + 1 == frames[f, STOP] else f
    deeper = j + 1 < v and order < ranking.max_order
    return split(stack, f, base, files.columns[j], files.levels[j], deeper, child)[0]


@lean_jit
def _item(eif, ranking, cost):
    """Return the EIF position and the set, as its cost or its place, in one word."""
    at = place(cost, ranking.binomials) if ranking.listed else cost
    return np.uint64(eif) << np.uint64(ranking.shift) | np.uint64(at)


@inner_jit
def _add(ranking, cost, j):
    """Return the cost of a set with variable j."""
    return insert(cost, ranking.weights[j]) if ranking.listed else cost + ranking.weights[j]


@lean_jit
def _partners(p, frames, f, ranking, scratch):
    """Return the EIF records of a cell that are alone with PUF record p on some set; ``best`` has its cost."""
    equal, reach, words, trail, best = (scratch.equal, scratch.reach, scratch.words, scratch.trail, scratch.best)
    max_order, v = ranking.max_order, len(ranking.weights)
    single, n_puf, order = _ONE << np.uint64(p), frames[f, SIZES] + frames[f, SIZES + 1], frames[f, ORDER]
    puf_word, candidates = low_bits(n_puf), low_bits(n_puf + frames[f, SIZES + 2]) & ~low_bits(n_puf)
    reach[v] = _EMPTY
    for j in range(v - 1, frames[f, NEXT] - 1, -1):
        reach[j] = reach[j + 1] | (~equal[p, j] if equal[p, j] else _EMPTY)
    partners, worst, d = _EMPTY, 0, 0
    words[0] = low_bits(n_puf + frames[f, SIZES + 2] + frames[f, SIZES + 3])
    trail[0, 0], trail[0, 1] = frames[f, NEXT], frames[f, COST]
    while d >= 0:
        j = trail[d, 0]
        if j == v:
            d -= 1
            continue
        trail[d, 0] = j + 1
        word, cost = words[d] & equal[p, j], _add(ranking, trail[d, 1], j)
        if word & candidates & ~partners == _EMPTY and (word & candidates == _EMPTY or worst <= cost):
            continue  # no candidate is left, or all of them have better sets
        inseparable = word & ~reach[j + 1]
        if inseparable & puf_word != single:
            continue  # p will not be alone in the PUF
        inseparable &= ~puf_word
        if inseparable & (inseparable - _ONE) or inseparable & ~candidates:
            continue  # no EIF record will be alone
        others = word & ~puf_word
        only = inseparable or (_EMPTY if others & (others - _ONE) else others)
        if only & partners and best[trailing_zeros(only)] <= cost:
            continue
        if word == single | only:
            best[trailing_zeros(only)] = cost
            partners |= only
            worst = max(worst, cost)
        elif order + d + 1 < max_order:
            d += 1
            words[d], trail[d, 0], trail[d, 1] = word, j + 1, cost
    return partners


@jit
def joint_sets(files, task, complete):
    """Find the pairs that are sample uniques on the variables present in both records; return positions, uint32.

    The records of a possible pair agree on each variable before ``task.first``, or one of them misses it. With
    ``complete`` only records that miss no variable make pairs.
    """
    # A split leaves up to three times the cell: the records with a value, and two branches with all records.
    stack, scratch = (
        _make_stack(files, task, 1 if complete else 3),
        _make_scratch(len(files.levels), int(files.levels.max()) + 1),
    )
    puf, eif, m = np.empty(2 * _CELL_PAIRS, np.uint32), np.empty(2 * _CELL_PAIRS, np.uint32), ZERO
    for c in range(len(task.cells)):
        _begin(stack, task, c, len(files.levels), ZERO)
        f = ZERO
        while f >= 0:
            if m + _CELL_PAIRS > len(puf):
                puf, eif = enlarge(puf), enlarge(eif)
            f, m = _search_joint(files, complete, stack, scratch, f, puf, eif, m)
    return puf[:m].copy(), eif[:m].copy()


@lean_jit
def _search_joint(files, complete, stack, scratch, f, puf, eif, m):
    """Search the cells on the stack while there is space; returns its new top and the number of pairs."""
    ids, frames, v = stack.ids, stack.frames, len(files.levels)
    while f >= 0 and m + _CELL_PAIRS <= len(puf):
        n, j = _size(frames, f), frames[f, NEXT]
        if n <= WORD:
            begin, n_puf = frames[f, BEGIN], frames[f, SIZES]
            equal_words(files.rows, ids, begin, n, n_puf, j, v, scratch.table, scratch.equal)
            m = _joint_pairs(files, complete, ids, frames, f, scratch.equal, puf, eif, m)
            f -= 1
        elif j == v:  # no variable is left to separate more than 64 records
            f -= 1
        else:
            f = _split_joint(files, complete, stack, f)
    return f, m


@lean_jit
def _split_joint(files, complete, stack, f):
    """Replace the cell on top by its parts on its next variable and, unless ``complete``, the missing branches."""
    frames, v = stack.frames, len(files.levels)
    j, begin, order, cost = frames[f, NEXT], frames[f, BEGIN], frames[f, ORDER] + 1, frames[f, COST]
    c0, c1, c2, c3 = frames[f, SIZES], frames[f, SIZES + 1], frames[f, SIZES + 2], frames[f, SIZES + 3]
    top, free = split(stack, f, f - 1, files.columns[j], files.levels[j], True, (j + 1, v, order, cost, ZERO))
    if not complete:
        top = _push_missing(files.present, stack, begin, (c0, c1, c2, c3), j, v, order, free, top)
    return top


@lean_jit
def _push_missing(present, stack, begin, sizes, j, v, order, free, f):
    """Push copies of a cell for the pairs that miss variable j: in the PUF record; only in the EIF record.

    Records that are in no pair of a branch stay in it to be counted. Returns the new top of the stack.
    """
    ids, frames = stack.ids, stack.frames
    c0, c1, c2, c3 = sizes
    n_puf, n = c0 + c1, c0 + c1 + c2 + c3
    puf_gaps = _count_missing(present, ids, begin, c0, j)
    eif_gaps = _count_missing(present, ids, begin + n_puf, c2, j)
    for in_eif in range(2):
        candidates, partners = (c0 - puf_gaps, eif_gaps) if in_eif else (puf_gaps, c2)
        if candidates == 0 or partners == 0:
            continue
        _demote(present, ids, begin, c0, c1, j, not in_eif, free)
        if in_eif:
            _demote(present, ids, begin + n_puf, c2, c3, j, True, free + n_puf)
        else:
            for i in range(n_puf, n):
                ids[free + i] = ids[begin + i]
        f += 1
        frames[f, BEGIN], frames[f, NEXT], frames[f, STOP], frames[f, TOP] = free, j + 1, v, free + n
        frames[f, ORDER], frames[f, COST], frames[f, MEMBERS] = order, 0, 0
        frames[f, SIZES], frames[f, SIZES + 1] = candidates, n_puf - candidates
        frames[f, SIZES + 2], frames[f, SIZES + 3] = partners, n - n_puf - partners
        free += n
    return f


@lean_jit
def _misses(present, record, j):
    """Whether a record misses variable j."""
    return (present[record] >> np.uint64(j)) & _ONE == _EMPTY


@lean_jit
def _count_missing(present, ids, begin, n, j):
    """Count the records of a run that miss variable j."""
    gaps = 0
    for i in range(begin, begin + n):
        gaps += _misses(present, ids[i], j)
    return gaps


@lean_jit
def _demote(present, ids, begin, n, n_others, j, missing, free):
    """Copy a run of n records, those that miss j (or have it) before the rest, and the others behind them."""
    for rest in range(2):
        for i in range(begin, begin + n):
            if (_misses(present, ids[i], j) == missing) != (rest == 1):
                ids[free] = ids[i]
                free += 1
    for i in range(n_others):
        ids[free + i] = ids[begin + n + i]


@lean_jit
def _joint_pairs(files, complete, ids, frames, f, equal, puf, eif, m):
    """Write the pairs of a cell of at most 64 records, each on its joint set; returns the new number of pairs."""
    begin, n_puf = frames[f, BEGIN], frames[f, SIZES] + frames[f, SIZES + 1]
    all_records = low_bits(_size(frames, f))
    for p in range(frames[f, SIZES]):
        for e in range(n_puf, n_puf + frames[f, SIZES + 2]):
            present = files.present[ids[begin + p]] & files.present[ids[begin + e]]
            pair = (_ONE << np.uint64(p)) | (_ONE << np.uint64(e))
            word = all_records
            for j in range(frames[f, NEXT], equal.shape[1]):
                if (present >> np.uint64(j)) & _ONE:
                    word &= equal[p, j]
                elif complete:
                    word = _EMPTY
                if word & pair != pair:
                    break
            if word == pair:
                puf[m], eif[m] = files.original[ids[begin + p]], files.original[ids[begin + e]]
                m += 1
    return m


@jit
def strata_pairs(first, end, codes, starts, ranking, kind, out):
    """Find the pairs of the strata first to end - 1, of at most 64 records each, whose cell is the whole stratum.

    ``codes`` has the categories of both files, int32 (v, n), -1 for missing, in the order of the variables of the
    search. Return ``out``, larger if need be, and the number m of pairs in it: int64 (m, 3), the PUF position, the EIF
    position, and the cost of the set (of `ALL`) or its bits.
    """
    v, m = len(codes[0]), ZERO
    scratch = _make_scratch(v, ONE)
    present = np.empty(WORD, np.uint64)
    frames = np.zeros((1, SIZES + 4), np.int64)
    for s in range(first, end):
        while m + _CELL_PAIRS > len(out):
            out = enlarge(out)
        m = _pairs_of_stratum(s, codes, starts, ranking, kind, scratch, present, frames, out, m)
    return out, m


@lean_jit
def _pairs_of_stratum(s, codes, starts, ranking, kind, scratch, present, frames, out, m):
    """Write the pairs of a stratum; return the new number of pairs."""
    p_begin, e_begin = starts.puf[s], starts.eif[s]
    n_puf, n_eif = starts.puf[s + 1] - p_begin, starts.eif[s + 1] - e_begin
    _equal_in_stratum(codes, p_begin, n_puf, e_begin, n_eif, scratch.equal, present)
    frames[0, SIZES], frames[0, SIZES + 2] = n_puf, n_eif
    for p in range(n_puf):
        if kind == ALL:
            partners = _partners(p, frames, ZERO, ranking, scratch)
        else:
            partners = _joint_partners(p, n_puf, n_eif, kind == FULL, scratch, present)
        while partners:
            e = trailing_zeros(partners)
            partners &= partners - _ONE
            out[m, 0], out[m, 1] = p_begin + p, e_begin + e - n_puf
            out[m, 2] = scratch.best[e]
            m += 1
    return m


@lean_jit
def _equal_in_stratum(codes, p_begin, n_puf, e_begin, n_eif, equal, present):
    """Write which records equal each PUF record, as `equal_words`, and the variables that each record has."""
    for i in range(n_puf + n_eif):
        present[i] = _EMPTY
    for j in range(len(codes[0])):
        puf, eif, bit = codes[0][j], codes[1][j], _ONE << np.uint64(j)
        for i in range(n_eif):
            if eif[e_begin + i] >= 0:
                present[n_puf + i] |= bit
        for p in range(n_puf):
            code, word = puf[p_begin + p], _EMPTY
            if code >= 0:
                present[p] |= bit
                for i in range(n_puf):
                    word |= np.uint64(puf[p_begin + i] == code) << np.uint64(i)
                for i in range(n_eif):
                    word |= np.uint64(eif[e_begin + i] == code) << np.uint64(n_puf + i)
            equal[p, j] = word


@lean_jit
def _joint_partners(p, n_puf, n_eif, complete, scratch, present):
    """Return the EIF records that are alone with PUF record p on the variables that both have; ``best`` has these."""
    partners, single, v = _EMPTY, _ONE << np.uint64(p), scratch.equal.shape[1]
    for e in range(n_puf, n_puf + n_eif):
        both = present[p] & present[e]
        if both == _EMPTY or (complete and both != low_bits(v)):
            continue
        pair = single | _ONE << np.uint64(e)
        word = low_bits(n_puf + n_eif)
        for j in range(v):
            if (both >> np.uint64(j)) & _ONE:
                word &= scratch.equal[p, j]
        if word == pair:
            scratch.best[e] = np.int64(both)
            partners |= _ONE << np.uint64(e)
    return partners
