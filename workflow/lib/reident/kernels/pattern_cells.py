"""The records of a cell as words of codes, and its pairs by comparison pattern (METHODS §4.6).

A search that looks at the same records for thousands of sets of variables waits for memory, unless it reads them one
after the other. Each record is hence one or a few words that have the codes of all variables, and is moved when a cell
is sorted.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.compiling import jit

AGREE, DIFFER, PARTIAL = 0, 1, 2
"""The states of a variable; a missing value is the last one, after partial agreement where the variable has it."""

MISSING, PUF_ONLY, EIF_ONLY, SHARED = 0, 1, 2, 3
"""The codes of a missing value, of a category that only one file has, and the first of those that both have."""

TIMES_BITS = 32
"""The bits of a load that count equal records; those above are the position of a bit set in ``masks``."""

SMALL = 24
"""Cells with at most this number of records are sorted by insertion."""


class States(NamedTuple):
    """The variables: where a pattern is in the table of counts, and where a code is in the words of a record."""

    stride: np.ndarray  # int64 (v,): a pattern is at the sum of state times stride
    partial: np.ndarray  # int64 (v,): the state of partial agreement; 0 where a variable has none
    missing: np.ndarray  # int64 (v,): the state of a missing value; 0 where a variable has none
    word: np.ndarray  # int64 (v,): which word has the code
    shift: np.ndarray  # uint64 (v,): from which bit on
    bits: np.ndarray  # uint64 (v,): how many bits


class Records(NamedTuple):
    """The distinct records of a file, or those of a cell: a row of each array has them one after the other."""

    words: np.ndarray  # uint64 (w, n)
    loads: np.ndarray  # uint64 (n,): how many records are equal, and what they miss


@jit
def code(records, x, j, states):
    """Return the code of variable j of record x."""
    word = records.words[states.word[j], x] >> states.shift[j]
    return np.int32(word & ((np.uint64(1) << states.bits[j]) - np.uint64(1)))


@jit
def run_end(records, start, stop, j, states):
    """Return the end of the run of records with the code of the first, in a sorted range."""
    first_code, step, low = code(records, start, j, states), 1, start
    while low + step < stop and code(records, low + step, j, states) == first_code:
        low += step
        step *= 2
    high = min(low + step, stop)
    while high - low > 1:
        middle = (low + high) // 2
        if code(records, middle, j, states) == first_code:
            low = middle
        else:
            high = middle
    return high


@jit
def skip_missing(records, start, stop, j, states):
    """Return the end of the records that miss variable j, in a sorted range."""
    if start < stop and code(records, start, j, states) == MISSING:
        return run_end(records, start, stop, j, states)
    return start


@jit
def sort(records, start, stop, j, states, room):
    """Sort a range of records by their code of variable j, in place; ``room`` has space for as many."""
    n, n_words = stop - start, len(records.words)
    if n <= SMALL:
        for x in range(start + 1, stop):
            value, y = code(records, x, j, states), x
            while y > start and code(records, y - 1, j, states) > value:
                y -= 1
            if y < x:
                for w in range(n_words):
                    item = records.words[w, x]
                    for z in range(x, y, -1):
                        records.words[w, z] = records.words[w, z - 1]
                    records.words[w, y] = item
                item = records.loads[x]
                for z in range(x, y, -1):
                    records.loads[z] = records.loads[z - 1]
                records.loads[y] = item
        return
    counts = np.zeros(257, np.int64)
    keys, shift, n_bits = records.words[states.word[j]], states.shift[j], np.int64(states.bits[j])
    while n_bits > 0:  # the digits of base 256, lowest first, each pass stable
        width = min(8, n_bits)
        digit = np.uint64((1 << width) - 1)
        counts[:] = 0
        for x in range(start, stop):
            counts[np.int64((keys[x] >> shift) & digit) + 1] += 1
        for key in range(1, 256):
            counts[key] += counts[key - 1]
        for x in range(start, stop):
            key = np.int64((keys[x] >> shift) & digit)
            y = counts[key]
            counts[key] += 1
            for w in range(n_words):
                room.words[w, y] = records.words[w, x]
            room.loads[y] = records.loads[x]
        for w in range(n_words):
            records.words[w, start:stop] = room.words[w, :n]
        records.loads[start:stop] = room.loads[:n]
        shift += np.uint64(width)
        n_bits -= width


@jit
def merge(records, start, stop, at, j, states, places):
    """Bring the records of a range together that are equal on the variables from j on and miss the same ones.

    They are written from position ``at`` on, whose end is returned. The variables from j on are the last of a word;
    ``places`` has a zero for each of their codes and bit set of missing values, here and in the end.
    """
    words, shift = records.words[states.word[j]], states.shift[j]
    left = states.shift[-1] + states.bits[-1] - shift
    times_of = (np.uint64(1) << np.uint64(TIMES_BITS)) - np.uint64(1)
    end = at
    for x in range(start, stop):
        load = records.loads[x]
        key = load >> np.uint64(TIMES_BITS) << left | words[x] >> shift
        if places[key] == 0:
            words[end], records.loads[end] = words[x], load
            end += 1
            places[key] = end - at
        else:
            records.loads[at + places[key] - 1] += load & times_of
    for x in range(at, end):
        places[records.loads[x] >> np.uint64(TIMES_BITS) << left | words[x] >> shift] = 0
    return end


@jit
def offset(bits, states):
    """Return how far a pattern moves in the table where the variables of a bit set are missing, not present."""
    moved = 0
    while bits != 0:
        j = trailing_zeros(bits)
        bits &= bits - np.uint64(1)
        moved += (states.missing[j] - DIFFER) * states.stride[j]
    return moved


@jit
def compare_cell(cell, j, at, states, masks, room, counts):
    """Count the pairs of a cell by their states on the variables from j on, and by the earlier missing ones.

    ``room`` has space for a block of EIF records: int32 (2 v + 2, block).
    """
    puf, p, p_stop, eif, e, e_stop = cell
    v, width = len(states.stride), room.shape[1]
    earlier = (np.uint64(1) << np.uint64(j)) - np.uint64(1)
    times_of = (np.uint64(1) << np.uint64(TIMES_BITS)) - np.uint64(1)
    place, offsets = room[2 * v], room[2 * v + 1]
    for start in range(e, e_stop, width):
        m = min(width, e_stop - start)
        loads = eif.loads[start : start + m]
        for x in range(m):
            offsets[x] = at + offset(masks[loads[x] >> np.uint64(TIMES_BITS)] & earlier, states)
        for k in range(j, v):
            for x in range(m):
                other = code(eif, start + x, k, states)
                room[k, x] = other
                room[v + k, x] = (states.missing[k] if other == MISSING else DIFFER) * states.stride[k]
        for i in range(p, p_stop):
            absent = masks[puf.loads[i] >> np.uint64(TIMES_BITS)] & earlier
            place[:m] = offsets[:m]
            if absent != 0:
                for x in range(m):
                    place[x] += offset(absent & ~masks[loads[x] >> np.uint64(TIMES_BITS)], states)
            for k in range(j, v):
                _move(code(puf, i, k, states), k, m, states, room, place)
            times = np.int64(puf.loads[i] & times_of)
            for x in range(m):
                counts[place[x]] += times * np.int64(loads[x] & times_of)


@jit
def _move(puf_code, k, m, states, room, place):
    """Move the patterns of a record with a block of others by their states on variable k."""
    codes, moves = room[k], room[len(states.stride) + k]
    if puf_code == MISSING:
        move = np.int32(states.missing[k] * states.stride[k])
        for x in range(m):
            place[x] += move
    elif states.partial[k] == 0:
        for x in range(m):
            place[x] += np.int32(0) if codes[x] == puf_code else moves[x]
    else:
        move = np.int32(states.partial[k] * states.stride[k])
        for x in range(m):
            apart = np.int32(abs(codes[x] - puf_code))
            place[x] += np.int32(0) if apart == 0 else (move if apart == 1 else moves[x])


@jit
def _sum_masks(records, start, stop, sums, listed):
    """Add up the records of a cell by their missing variables; return the number of bit sets."""
    m = 0
    times_of = (np.uint64(1) << np.uint64(TIMES_BITS)) - np.uint64(1)
    for x in range(start, stop):
        mask = np.int64(records.loads[x] >> np.uint64(TIMES_BITS))
        if sums[mask] == 0:
            listed[m] = mask
            m += 1
        sums[mask] += np.int64(records.loads[x] & times_of)
    return m


@jit
def count_cell(cell, at, states, masks, offsets, sums, listed, counts):
    """Count the pairs of a cell of a set of variables by the variables that either record misses."""
    puf, p, p_stop, eif, e, e_stop = cell
    n_puf = _sum_masks(puf, p, p_stop, sums[0], listed[0])
    n_eif = _sum_masks(eif, e, e_stop, sums[1], listed[1])
    open_bits = np.uint64(0)
    for x in range(n_puf):
        open_bits |= masks[listed[0, x]]
    for y in range(n_eif):
        open_bits |= masks[listed[1, y]]
    n_open = popcount(open_bits)
    if n_puf * n_eif <= 4 * (n_open + 1) << n_open:
        for x in range(n_puf):
            mask, times = masks[listed[0, x]], sums[0, listed[0, x]]
            place = at + offsets[listed[0, x]]
            for y in range(n_eif):
                number = listed[1, y]
                move = offsets[number] - (0 if mask & masks[number] == 0 else offset(mask & masks[number], states))
                counts[place + move] += times * sums[1, number]
    else:
        _convolve(n_puf, n_eif, open_bits, n_open, at, states, masks, sums, listed, counts)
    for x in range(n_puf):
        sums[0, listed[0, x]] = 0
    for y in range(n_eif):
        sums[1, listed[1, y]] = 0


@jit
def _convolve(n_puf, n_eif, open_bits, n_open, at, states, masks, sums, listed, counts):
    """Count as `count_cell` does, by sums over subsets: the product of sums over subsets is that of the union."""
    size = 1 << n_open
    product, other = np.zeros(size, np.int64), np.zeros(size, np.int64)
    place = np.zeros(64, np.int64)
    bits, k = open_bits, 0
    while bits != 0:
        place[trailing_zeros(bits)] = k
        bits &= bits - np.uint64(1)
        k += 1
    for side in range(2):
        table = product if side == 0 else other
        for x in range(n_puf if side == 0 else n_eif):
            at_mask = 0
            bits = masks[listed[side, x]]
            while bits != 0:
                at_mask |= 1 << place[trailing_zeros(bits)]
                bits &= bits - np.uint64(1)
            table[at_mask] += sums[side, listed[side, x]]
        for b in range(n_open):
            for s in range(size):
                if s >> b & 1:
                    table[s] += table[s ^ (1 << b)]
    for s in range(size):
        product[s] *= other[s]
    for b in range(n_open):
        for s in range(size):
            if s >> b & 1:
                product[s] -= product[s ^ (1 << b)]
    for s in range(size):
        if product[s] != 0:
            move = 0
            bits = open_bits
            while bits != 0:
                j = trailing_zeros(bits)
                bits &= bits - np.uint64(1)
                if s >> place[j] & 1:
                    move += (states.missing[j] - DIFFER) * states.stride[j]
            counts[at + move] += product[s]
