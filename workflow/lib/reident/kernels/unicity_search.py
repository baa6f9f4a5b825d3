"""Compiled searches of `unicity`, whose invariants stand there: all sets, and each pair's own set.

A cell has four parts: PUF records that may be unique, other PUF records, and the same two of the EIF. It lies
in ``ids``, and a stack of frames tells which cells are still to be searched:
begin, sizes of the four parts, next variable, variable to stop before, where free room begins, order, cost.
The parts of a cell are put behind it and searched last first, so that all behind the cell in hand is free.

The searches are functions that make no array: they return when room for pairs runs out, to be called again.
"""

import numpy as np

from reident.kernels.cells import WORD, below, equal_words, lowest, place, tally
from reident.kernels.compiling import jit, lean_jit

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ROOM = WORD * WORD
"""Pairs that one cell of a word can add at most."""
_NEXT, _STOP, _TOP, _ORDER, _COST = 5, 6, 7, 8, 9


@jit
def _longer(array, used):
    """A copy more than twice as long."""
    longer = np.empty(2 * len(array) + _ROOM, array.dtype)
    longer[:used] = array[:used]
    return longer


@jit
def _stack(cells, depth, width, copies):
    """Room for the largest of the cells and all that splits can put behind it: (ids, frames, counts, slots)."""
    largest = 0
    for c in range(len(cells)):
        largest = max(largest, cells[c, 1:].sum())
    frames = np.empty((depth * (min(width, largest) + 3) + 1, 10), np.int64)
    ids = np.empty(largest * (copies * depth + 1), np.uint32)
    return ids, frames, np.empty((4, width), np.int64), np.empty((4, width), np.int64)


@lean_jit
def _begin(base, cells, c, first, stop, cost, ids, frames):
    """Puts a cell of one variable at the bottom of the stack."""
    n = 0
    for part in range(4):
        frames[0, 1 + part] = cells[c, 1 + part]
        n += cells[c, 1 + part]
    for i in range(n):
        ids[i] = base[cells[c, 0] + i]
    frames[0, 0], frames[0, _NEXT], frames[0, _STOP], frames[0, _TOP] = 0, first, stop, n
    frames[0, _ORDER], frames[0, _COST] = 1, cost


@lean_jit
def _split(columns, levels, weights, max_order, again, ids, frames, f, counts, slots):
    """Puts the parts of the cell on top, by its next variable, in its place, or with ``again`` above it.

    Returns the new top, and where the parts end in ``ids``. With ``again`` the cell stays for the variables
    before its stop, and parts that nothing can be added to are kept only if they are a pair.
    """
    j, top, order = frames[f, _NEXT], frames[f, _TOP], frames[f, _ORDER] + 1
    begin, cost, column, sizes = frames[f, 0], frames[f, _COST] + weights[j], columns[j], frames[f, 1:5]
    deeper = not again or (j + 1 < len(levels) and order < max_order)
    frames[f, _NEXT] = j + 1
    f -= not again or j + 1 == frames[f, _STOP]
    tally(column, levels[j], ids, begin, sizes, counts)
    live = False
    for x in range(levels[j]):
        slots[0, x] = slots[1, x] = slots[2, x] = slots[3, x] = -1
        n = counts[0, x] + counts[1, x] + counts[2, x] + counts[3, x]
        if counts[0, x] > 0 and counts[2, x] > 0 and (deeper or n == 2):
            live = True
            for part in range(4):
                slots[part, x] = top
                top += counts[part, x]
    if not live:
        return f, top
    slots[:, slots.shape[1] - 1] = -1
    place(column, ids, begin, sizes, slots)
    for x in range(levels[j]):  # from here on the frame that was on top may be overwritten
        if slots[0, x] >= 0:
            f += 1
            frames[f, 0], frames[f, _TOP] = slots[0, x] - counts[0, x], slots[3, x]
            for part in range(4):
                frames[f, 1 + part] = counts[part, x]
            frames[f, _NEXT], frames[f, _STOP] = j + 1, len(levels)
            frames[f, _ORDER], frames[f, _COST] = order, cost
    return f, top


@jit
def every_set(rows, columns, levels, original, base, cells, cost, first, stop, weights, max_order, shift):
    """Pairs of cells of one variable, and of all sets that add variables to it, the next from ``first`` … ``stop`` − 1.

    Parameters
    ----------
    rows, columns : uint8 or int32 (n, v), (v, n)
    levels : int64 (v,)
    original : uint32 (n,)
    base : uint32 (k,)
        Record numbers of the cells.
    cells : int64 (c, 5)
        Where each begins in ``base``, and the sizes of its four parts.
    cost : int
        Weight of the cells' variable.
    first, stop, max_order, shift : int
    weights : int64 (v,)

    Returns
    -------
    puf : uint32 (m,)
        Position in the PUF; a pair can come several times.
    item : uint64 (m,)
        Position in the EIF, shifted, and below it the sum of the weights of the set.
    """
    v, width = len(levels), int(levels.max()) + 1
    ids, frames, counts, slots = _stack(cells, v - first + 1, width, 1)
    table, equal, reach = (
        np.empty(width, np.uint64),
        np.empty((WORD, v), np.uint64),
        np.empty(v + 1, np.uint64),
    )
    words, trail, best = np.empty(v + 1, np.uint64), np.empty((v + 1, 2), np.int64), np.empty(WORD, np.int64)
    puf, item, m = np.empty(2 * _ROOM, np.uint32), np.empty(2 * _ROOM, np.uint64), 0
    for c in range(len(cells)):
        _begin(base, cells, c, first, stop, cost, ids, frames)
        f = 0
        while f >= 0:
            if m + _ROOM > len(puf):
                puf, item = _longer(puf, m), _longer(item, m)
            f, m = _search_every(
                rows, columns, levels, original, weights, max_order, shift, ids, frames, f, counts, slots,
                table, equal, reach, words, trail, best, puf, item, m,
            )  # fmt: skip
    return puf[:m].copy(), item[:m].copy()


@lean_jit
def _search_every(
    rows, columns, levels, original, weights, max_order, shift, ids, frames, f, counts, slots,
    table, equal, reach, words, trail, best, puf, item, m,
):  # fmt: skip
    """Searches the cells on the stack while there is room; returns its new top and the number of pairs."""
    v = len(levels)
    while f >= 0 and m + _ROOM <= len(puf):
        n = frames[f, 1] + frames[f, 2] + frames[f, 3] + frames[f, 4]
        if n == 2:  # one of each file
            puf[m] = original[ids[frames[f, 0]]]
            item[m] = _item(original[ids[frames[f, 0] + 1]], shift, frames[f, _COST])
            m += 1
            f -= 1
        elif frames[f, _ORDER] >= max_order or frames[f, _NEXT] >= frames[f, _STOP]:
            f -= 1
        elif n > WORD or frames[f, _STOP] < v:
            f, _ = _split(columns, levels, weights, max_order, True, ids, frames, f, counts, slots)
        else:
            equal_words(rows, ids, frames[f, 0], n, frames[f, 1], frames[f, _NEXT], v, table, equal)
            for p in range(frames[f, 1]):
                found = _partners(p, frames, f, weights, max_order, equal, reach, words, trail, best)
                while found:
                    e = lowest(found)
                    found &= found - _ONE
                    puf[m] = original[ids[frames[f, 0] + p]]
                    item[m] = _item(original[ids[frames[f, 0] + e]], shift, best[e])
                    m += 1
            f -= 1
    return f, m


@lean_jit
def _item(eif, shift, cost):
    return np.uint64(eif) << np.uint64(shift) | np.uint64(cost)


@lean_jit
def _partners(p, frames, f, weights, max_order, equal, reach, words, trail, best):
    """The EIF records of a word that are alone with PUF record p on some set; ``best`` tells at which cost."""
    v, mine, n_puf, order = len(weights), _ONE << np.uint64(p), frames[f, 1] + frames[f, 2], frames[f, _ORDER]
    of_puf, partners = below(n_puf), below(n_puf + frames[f, 3]) & ~below(n_puf)
    reach[v] = _NONE  # whom some variable from j on sets apart from p
    for j in range(v - 1, frames[f, _NEXT] - 1, -1):
        reach[j] = reach[j + 1] | (~equal[p, j] if equal[p, j] else _NONE)
    found, worst, d = _NONE, 0, 0
    words[0] = below(n_puf + frames[f, 3] + frames[f, 4])
    trail[0, 0], trail[0, 1] = frames[f, _NEXT], frames[f, _COST]
    while d >= 0:
        j = trail[d, 0]
        if j == v:
            d -= 1
            continue
        trail[d, 0] = j + 1
        word, cost = words[d] & equal[p, j], trail[d, 1] + weights[j]
        if word & partners & ~found == _NONE and (word & partners == _NONE or worst <= cost):
            continue  # nobody, or all have better sets
        stuck = word & ~reach[j + 1]
        if stuck & of_puf != mine:
            continue  # p will not be alone in the PUF
        stuck &= ~of_puf
        if stuck & (stuck - _ONE) or stuck & ~partners:
            continue  # nor can anybody be in the EIF
        others = word & ~of_puf
        only = stuck or (_NONE if others & (others - _ONE) else others)
        if only & found and best[lowest(only)] <= cost:
            continue
        if word == mine | only:
            best[lowest(only)] = cost
            found |= only
            worst = max(worst, cost)
        elif order + d + 1 < max_order:
            d += 1
            words[d], trail[d, 0], trail[d, 1] = word, j + 1, cost
    return found


@jit
def own_set(rows, columns, levels, present, original, base, cells, first, whole):
    """Pairs that are sample uniques on the variables present in both records.

    Parameters
    ----------
    rows, columns, levels, original, base, cells
        As in `every_set`; a cell's possible pairs agree on each variable before ``first``, or miss it.
    present : uint64 (n,)
        Bit j: variable j is not missing.
    first : int
    whole : bool
        Only records that miss no variable make pairs.

    Returns
    -------
    puf, eif : uint32 (m,)
        Positions in the files; a pair comes once.
    """
    v, width = len(levels), int(levels.max()) + 1
    # a split leaves at most three times the cell: those with a value, and all of it in two branches
    ids, frames, counts, slots = _stack(cells, v - first + 1, width, 1 if whole else 3)
    table, equal, weights = np.empty(width, np.uint64), np.empty((WORD, v), np.uint64), np.zeros(v, np.int64)
    puf, eif, m = np.empty(2 * _ROOM, np.uint32), np.empty(2 * _ROOM, np.uint32), 0
    for c in range(len(cells)):
        _begin(base, cells, c, first, v, 0, ids, frames)
        f = 0
        while f >= 0:
            if m + _ROOM > len(puf):
                puf, eif = _longer(puf, m), _longer(eif, m)
            f, m = _search_own(
                rows, columns, levels, present, original, weights, whole, ids, frames, f, counts, slots,
                table, equal, puf, eif, m,
            )  # fmt: skip
    return puf[:m].copy(), eif[:m].copy()


@lean_jit
def _search_own(
    rows, columns, levels, present, original, weights, whole, ids, frames, f, counts, slots,
    table, equal, puf, eif, m,
):  # fmt: skip
    """Searches the cells on the stack while there is room; returns its new top and the number of pairs."""
    v = len(levels)
    while f >= 0 and m + _ROOM <= len(puf):
        begin, c0, c1, c2, c3 = frames[f, 0], frames[f, 1], frames[f, 2], frames[f, 3], frames[f, 4]
        n, j = c0 + c1 + c2 + c3, frames[f, _NEXT]
        if n <= WORD:
            equal_words(rows, ids, begin, n, c0, j, v, table, equal)
            m = _own_in_a_word(ids, frames, f, present, original, whole, equal, puf, eif, m)
            f -= 1
        elif j == v:  # nothing left to set so many apart
            f -= 1
        else:
            f, top = _split(columns, levels, weights, v, False, ids, frames, f, counts, slots)
            if not whole:
                f = _missing_branches(present, ids, begin, c0, c1, c2, c3, j, top, frames, f)
    return f, m


@lean_jit
def _missing_branches(present, ids, begin, c0, c1, c2, c3, j, top, frames, f):
    """Adds to the stack copies of a cell for the pairs that miss variable j: in the PUF; only in the EIF.

    Records that can be of no pair of the branch stay in it, to be counted. Returns the new top of the stack.
    """
    n_puf, n = c0 + c1, c0 + c1 + c2 + c3
    puf_gaps = _gaps(present, ids, begin, c0, j)
    eif_gaps = _gaps(present, ids, begin + n_puf, c2, j)
    for of_eif in range(2):
        stay, partners = (c0 - puf_gaps, eif_gaps) if of_eif else (puf_gaps, c2)
        if stay == 0 or partners == 0:
            continue
        _demote(present, ids, begin, c0, c1, j, not of_eif, top)
        if of_eif:
            _demote(present, ids, begin + n_puf, c2, c3, j, True, top + n_puf)
        else:
            for i in range(n_puf, n):
                ids[top + i] = ids[begin + i]
        f += 1
        frames[f, 0], frames[f, _NEXT], frames[f, _TOP] = top, j + 1, top + n
        frames[f, 1], frames[f, 2] = stay, n_puf - stay
        frames[f, 3], frames[f, 4] = partners, n - n_puf - partners
        top += n
    return f


@lean_jit
def _misses(present, record, j):
    return (present[record] >> np.uint64(j)) & _ONE == _NONE


@lean_jit
def _gaps(present, ids, begin, n, j):
    """How many of a run of records miss variable j."""
    gaps = 0
    for i in range(begin, begin + n):
        gaps += _misses(present, ids[i], j)
    return gaps


@lean_jit
def _demote(present, ids, begin, n, others, j, gap, top):
    """Copies a run of records: of the first n those that miss j (or have it) before the rest, then the others."""
    for rest in range(2):
        for i in range(begin, begin + n):
            if (_misses(present, ids[i], j) == gap) != (rest == 1):
                ids[top] = ids[i]
                top += 1
    for i in range(others):
        ids[top + i] = ids[begin + n + i]


@lean_jit
def _own_in_a_word(ids, frames, f, present, original, whole, equal, puf, eif, m):
    """Pairs of a cell of at most 64 records, each on its own set; returns the new number of pairs."""
    n_puf = frames[f, 1] + frames[f, 2]
    everybody = below(n_puf + frames[f, 3] + frames[f, 4])
    for p in range(frames[f, 1]):
        for e in range(n_puf, n_puf + frames[f, 3]):
            both = present[ids[frames[f, 0] + p]] & present[ids[frames[f, 0] + e]]
            mine = (_ONE << np.uint64(p)) | (_ONE << np.uint64(e))
            word = everybody
            for j in range(frames[f, _NEXT], equal.shape[1]):
                if (both >> np.uint64(j)) & _ONE:
                    word &= equal[p, j]
                elif whole:
                    word = _NONE
                if word & mine != mine:
                    break
            if word == mine:
                puf[m], eif[m] = original[ids[frames[f, 0] + p]], original[ids[frames[f, 0] + e]]
                m += 1
    return m
