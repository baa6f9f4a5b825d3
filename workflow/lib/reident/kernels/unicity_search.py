"""Compiled searches of `unicity`, whose invariants stand there: all sets, and each pair's own set.

A cell has four parts: PUF records that may be unique, other PUF records, and the same two of the EIF. It lies
in ``ids``, and a stack of frames tells which cells are still to be searched:
begin, sizes of the four parts, next variable, variable to stop before, where free room begins, order, cost.
The parts of a cell are put behind it and searched last first, so that all behind the cell in hand is free.
"""

import numpy as np

from reident.kernels.cells import WORD, below, equal_words, lowest, place, tally
from reident.kernels.compiling import jit

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ROOM = WORD * WORD
"""Pairs that one cell of a word can add at most; the room is seen to before."""
_NEXT, _STOP, _TOP, _ORDER, _COST = 5, 6, 7, 8, 9


@jit
def _grown(array, used, room):
    """The array, or a copy twice as long where less than ``room`` is left."""
    if used + room <= len(array):
        return array
    longer = np.empty(2 * len(array) + room, array.dtype)
    longer[:used] = array[:used]
    return longer


@jit
def _stack(cells, depth, width, copies):
    """Room for the largest of the cells and all that a split can put behind it: (ids, frames, counts, slots)."""
    largest = 0
    for c in range(len(cells)):
        largest = max(largest, cells[c, 1:].sum())
    frames = np.empty((depth * (min(width, largest) + 3) + 1, 10), np.int64)
    ids = np.empty(largest * (copies * depth + 1), np.uint32)
    return ids, frames, np.empty((4, width), np.int64), np.empty((4, width), np.int64)


@jit
def _first_frame(base, cell, first, stop, order, cost, ids, frame):
    """Puts a cell of ``base`` at the bottom of the stack."""
    n = cell[1:].sum()
    ids[:n] = base[cell[0] : cell[0] + n]
    frame[0], frame[1:5] = 0, cell[1:]
    frame[_NEXT], frame[_STOP], frame[_TOP], frame[_ORDER], frame[_COST] = first, stop, n, order, cost


@jit
def _split(columns, levels, weights, ids, frames, f, deeper, counts, slots):
    """Replaces the cell on top by its parts on its next variable; returns the new top and the end of ids.

    Without ``deeper`` only parts of one PUF and one EIF record are kept.
    """
    frame = frames[f]
    j, top, order, cost = frame[_NEXT], frame[_TOP], frame[_ORDER], frame[_COST]
    tally(columns[j], levels[j], ids, frame[0], frame[1:5], counts)
    live = False
    for x in range(levels[j]):
        slots[0, x] = slots[1, x] = slots[2, x] = slots[3, x] = -1
        if counts[0, x] == 0 or counts[2, x] == 0:
            counts[0, x] = 0
        elif deeper or counts[0, x] + counts[1, x] + counts[2, x] + counts[3, x] == 2:
            live = True
            for part in range(4):
                slots[part, x] = top
                top += counts[part, x]
        else:
            counts[0, x] = 0
    slots[:, len(slots[0]) - 1] = -1
    f -= 1
    if not live:
        return f, top
    place(columns[j], ids, frame[0], frame[1:5], slots)
    # the frame is overwritten from here on, unless the caller has put it below for the cell's next variable
    for x in range(levels[j]):
        if counts[0, x]:
            f += 1
            begin = slots[0, x] - counts[0, x]
            frames[f, 0], frames[f, _TOP] = begin, slots[3, x]
            frames[f, 1], frames[f, 2], frames[f, 3] = counts[0, x], counts[1, x], counts[2, x]
            frames[f, 4] = counts[3, x]
            frames[f, _NEXT], frames[f, _STOP] = j + 1, len(levels)
            frames[f, _ORDER], frames[f, _COST] = order + 1, cost + weights[j]
    return f, top


@jit
def every_set(rows, columns, levels, original, base, cells, cost, first, stop, weights, max_order, shift):
    """Pairs of the cells of one variable and of those that adding variables leads to, ``first`` … ``stop`` − 1 first.

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
    table, equal, best = np.empty(width, np.uint64), np.empty((WORD, v), np.uint64), np.empty(WORD, np.int64)
    trail = (np.empty(v + 1, np.uint64), np.empty(v + 1, np.int64), np.empty(v + 1, np.int64))
    reach = np.empty(v + 1, np.uint64)
    puf, item, m = np.empty(1024, np.uint32), np.empty(1024, np.uint64), 0
    for c in range(len(cells)):
        f = 0
        _first_frame(base, cells[c], first, stop, 1, cost, ids, frames[0])
        while f >= 0:
            puf, item = _grown(puf, m, _ROOM), _grown(item, m, _ROOM)
            frame = frames[f]
            n = frame[1:5].sum()
            if n == 2:  # one of each file
                puf[m] = original[ids[frame[0]]]
                item[m] = np.uint64(original[ids[frame[0] + 1]]) << np.uint64(shift) | np.uint64(frame[_COST])
                m += 1
                f -= 1
            elif frame[_ORDER] >= max_order or frame[_NEXT] >= frame[_STOP]:
                f -= 1
            elif n <= WORD and frame[_STOP] == v:
                equal_words(rows, ids, frame[0], n, frame[1], frame[_NEXT], table, equal)
                m = _in_a_word(
                    ids, frame, original, weights, max_order, shift, equal, reach, trail, best, puf, item, m
                )
                f -= 1
            else:
                j = frame[_NEXT]
                if j + 1 < frame[_STOP]:  # below its parts, the same cell again for its next variable
                    frames[f + 1] = frame
                    frame[_NEXT] = j + 1
                    f += 1
                deeper = j + 1 < v and frame[_ORDER] + 1 < max_order
                f, _ = _split(columns, levels, weights, ids, frames, f, deeper, counts, slots)
    return puf[:m].copy(), item[:m].copy()


@jit
def _in_a_word(ids, frame, original, weights, max_order, shift, equal, reach, trail, best, puf, item, m):
    """Pairs of a cell of at most 64 records, each with its best set; returns the new number of pairs."""
    n_puf = frame[1] + frame[2]
    of_puf = below(n_puf)
    everybody = below(n_puf + frame[3] + frame[4])
    partners = below(n_puf + frame[3]) & ~of_puf
    for p in range(frame[1]):
        found = _partners(
            p, frame, everybody, of_puf, partners, weights, max_order, equal[p], reach, trail, best
        )
        while found:
            e = lowest(found)
            found &= found - _ONE
            puf[m] = original[ids[frame[0] + p]]
            item[m] = np.uint64(original[ids[frame[0] + e]]) << np.uint64(shift) | np.uint64(best[e])
            m += 1
    return m


@jit
def _partners(p, frame, everybody, of_puf, partners, weights, max_order, equal, reach, trail, best):
    """The EIF records of a word that are alone with PUF record p on some set; ``best`` tells at which cost."""
    words, at, spent = trail
    v, mine = len(weights), _ONE << np.uint64(p)
    reach[v] = _NONE  # whom some variable from j on sets apart from p
    for j in range(v - 1, frame[_NEXT] - 1, -1):
        reach[j] = reach[j + 1] | (~equal[j] if equal[j] else _NONE)
    found, worst, d = _NONE, 0, 0
    words[0], at[0], spent[0] = everybody, frame[_NEXT], frame[_COST]
    while d >= 0:
        j = at[d]
        if j == v:
            d -= 1
            continue
        at[d] = j + 1
        word = words[d] & equal[j]
        cost = spent[d] + weights[j]
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
        elif frame[_ORDER] + d + 1 < max_order:
            d += 1
            words[d], at[d], spent[d] = word, j + 1, cost
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
    puf, eif, m = np.empty(1024, np.uint32), np.empty(1024, np.uint32), 0
    for c in range(len(cells)):
        f = 0
        _first_frame(base, cells[c], first, v, 1, 0, ids, frames[0])
        while f >= 0:
            puf, eif = _grown(puf, m, _ROOM), _grown(eif, m, _ROOM)
            frame = frames[f]
            if frame[1:5].sum() <= WORD:
                equal_words(rows, ids, frame[0], frame[1:5].sum(), frame[1], frame[_NEXT], table, equal)
                m = _own_in_a_word(ids, frame, present, original, whole, equal, puf, eif, m)
                f -= 1
            elif frame[_NEXT] == v:  # nothing left to set so many apart
                f -= 1
            else:
                begin, c0, c1, c2, c3 = frame[:5]
                j = frame[_NEXT]
                f, top = _split(columns, levels, weights, ids, frames, f, True, counts, slots)
                if not whole:
                    f = _missing_branches(present, ids, (begin, c0, c1, c2, c3), j, top, frames, f)
    return puf[:m].copy(), eif[:m].copy()


@jit
def _missing_branches(present, ids, cell, j, top, frames, f):
    """Adds to the stack copies of a cell for the pairs that miss variable j: in the PUF; only in the EIF.

    Records that can be of no pair of the branch stay in it, to be counted. Returns the new top of the stack.
    """
    begin, c0, c1, c2, c3 = cell
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
            ids[top + n_puf : top + n] = ids[begin + n_puf : begin + n]
        f += 1
        frames[f, 0], frames[f, _NEXT], frames[f, _TOP] = top, j + 1, top + n
        frames[f, 1], frames[f, 2] = stay, n_puf - stay
        frames[f, 3], frames[f, 4] = partners, n - n_puf - partners
        top += n
    return f


@jit
def _misses(present, record, j):
    return (present[record] >> np.uint64(j)) & _ONE == _NONE


@jit
def _gaps(present, ids, begin, n, j):
    """How many of a run of records miss variable j."""
    gaps = 0
    for i in range(begin, begin + n):
        gaps += _misses(present, ids[i], j)
    return gaps


@jit
def _demote(present, ids, begin, n, others, j, gap, top):
    """Copies a run of records: of the first n those that miss j (or have it) before the rest, then the others."""
    for rest in range(2):
        for i in range(begin, begin + n):
            if (_misses(present, ids[i], j) == gap) != (rest == 1):
                ids[top] = ids[i]
                top += 1
    ids[top : top + others] = ids[begin + n : begin + n + others]


@jit
def _own_in_a_word(ids, frame, present, original, whole, equal, puf, eif, m):
    """Pairs of a cell of at most 64 records, each on its own set; returns the new number of pairs."""
    n_puf = frame[1] + frame[2]
    everybody = below(n_puf + frame[3] + frame[4])
    for p in range(frame[1]):
        for e in range(n_puf, n_puf + frame[3]):
            both = present[ids[frame[0] + p]] & present[ids[frame[0] + e]]
            mine = (_ONE << np.uint64(p)) | (_ONE << np.uint64(e))
            word = everybody
            for j in range(frame[_NEXT], equal.shape[1]):
                if (both >> np.uint64(j)) & _ONE:
                    word &= equal[p, j]
                elif whole:
                    word = _NONE
                if word & mine != mine:
                    break
            if word == mine:
                puf[m], eif[m] = original[ids[frame[0] + p]], original[ids[frame[0] + e]]
                m += 1
    return m
