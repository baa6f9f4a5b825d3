"""The pairs of a cell by what their records miss, for comparison patterns (METHODS §4.6)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.compiling import jit
from reident.kernels.rows import MISSING

AGREE, DIFFER = 0, 1
"""The first two states of a variable; partial agreement and missing values follow where it has them."""


class Distinct(NamedTuple):
    """The distinct records of a file."""

    numbers: np.ndarray  # int32 (n, v), as in `rows`
    times: np.ndarray  # int64 (n,): records that are equal
    absent: np.ndarray  # uint64 (n,): bit set of the variables that are missing
    mask: np.ndarray  # int32 (n,): position of the bit set in ``masks``


class States(NamedTuple):
    """The states of the variables, and where a pattern is in the table of counts."""

    stride: np.ndarray  # int64 (v,): a pattern is at the sum of state times stride
    partial: np.ndarray  # int64 (v,): the state of partial agreement; 0 where a variable has none
    missing: np.ndarray  # int64 (v,): the state of a missing value; 0 where a variable has none
    base: np.ndarray  # int64 (v + 1,): the first number of a category of each variable


@jit
def _offset(bits, states):
    """Return how far a pattern moves in the table where the variables of a bit set are missing, not present."""
    offset = 0
    while bits != 0:
        j = trailing_zeros(bits)
        bits &= bits - np.uint64(1)
        offset += (states.missing[j] - DIFFER) * states.stride[j]
    return offset


@jit
def count_pair(i, r, j, at, puf, eif, states, counts):
    """Count one pair for every set of the variables from j on that it agrees on, fully or partly."""
    v = len(states.stride)
    at += _offset(puf.absent[i] | eif.absent[r], states)
    moves = np.empty(v, np.int64)
    m = 0
    for k in range(j, v):
        a, b = puf.numbers[i, k], eif.numbers[r, k]
        at += DIFFER * states.stride[k]
        if min(a, b) == MISSING:
            continue
        if a == b:
            moves[m] = (AGREE - DIFFER) * states.stride[k]
            m += 1
        elif states.partial[k] != 0 and abs(a - b) == 1:
            moves[m] = (states.partial[k] - DIFFER) * states.stride[k]
            m += 1
    times = puf.times[i] * eif.times[r]
    counts[at] += times
    for code in range(1, 1 << m):  # a Gray code: one move more or less at a time
        gray = code ^ (code >> 1)
        bit = trailing_zeros(np.uint64(code))
        at += moves[bit] if gray >> bit & 1 else -moves[bit]
        counts[at] += times


@jit
def _sum_masks(ids, side, sums, listed):
    """Add up the records of a cell by what they miss; return how many bit sets there are."""
    m = 0
    for x in range(len(ids)):
        mask = side.mask[ids[x]]
        if sums[mask] == 0:
            listed[m] = mask
            m += 1
        sums[mask] += side.times[ids[x]]
    return m


@jit
def count_cell(ps, es, at, puf, eif, states, masks, sums, listed, counts):
    """Count the pairs of a cell of a set of variables by the variables that either record misses."""
    n_puf, n_eif = _sum_masks(ps, puf, sums[0], listed[0]), _sum_masks(es, eif, sums[1], listed[1])
    open_bits = np.uint64(0)
    for x in range(n_puf):
        open_bits |= masks[listed[0, x]]
    for y in range(n_eif):
        open_bits |= masks[listed[1, y]]
    n_open = popcount(open_bits)
    if n_puf * n_eif <= 4 * (n_open + 1) << n_open:
        for x in range(n_puf):
            mask, times = masks[listed[0, x]], sums[0, listed[0, x]]
            for y in range(n_eif):
                both = mask | masks[listed[1, y]]
                counts[at + _offset(both, states)] += times * sums[1, listed[1, y]]
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
            offset = 0
            bits = open_bits
            while bits != 0:
                j = trailing_zeros(bits)
                bits &= bits - np.uint64(1)
                if s >> place[j] & 1:
                    offset += (states.missing[j] - DIFFER) * states.stride[j]
            counts[at + offset] += product[s]
