"""The pairs that the search of `unicity` finds, each kept once with its first smallest set (METHODS §4.1).

The *cost* of a set is order·2^v − (bits of the set, the first variable highest): a lower cost is a smaller order, or
the same order and a tuple of positions that comes first. Where this does not fit into a word together with an EIF
position, the cost is order·2^54 + the ascending positions, six bits each from the highest one down, and a pair keeps
the place of the set among all sets, ranked by order and positions. Pairs are grouped by PUF record, as items (EIF
position, cost) in one word, ascending: the first item of an EIF position has its best set.
"""

from math import comb

import numpy as np

from reident.kernels.compiling import inner_jit, jit

MAX_LISTED = 9
"""Variables of a set that is a list of positions, of six bits each."""

_BITS, _LIST = 6, 6 * MAX_LISTED


def weights(positions: np.ndarray, v: int) -> np.ndarray:
    """Return the contribution of each variable to a set's cost, int64, by its position among the v variables."""
    return (1 << v) - (1 << (v - 1 - np.asarray(positions, dtype=np.int64)))


def decode(cost: np.ndarray, v: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order, int8, and the variables, uint64, of the sets of all v variables that have these costs."""
    order = (cost + ((1 << v) - 1)) >> v
    backwards = (order << v) - cost
    variables = np.zeros(len(cost), np.uint64)
    for j in range(v):
        variables |= (backwards >> (v - 1 - j) & 1).astype(np.uint64) << np.uint64(j)
    return order.astype(np.int8), variables


@inner_jit
def insert(cost, position):
    """Return the cost of a set that is a list of positions with another variable."""
    order, places = cost >> _LIST, cost & ((1 << _LIST) - 1)
    shift = _LIST - _BITS
    while shift >= _LIST - _BITS * order and (places >> shift) & ((1 << _BITS) - 1) < position:
        shift -= _BITS
    after = places & ((1 << (shift + _BITS)) - 1)
    return (order + 1) << _LIST | (places - after) | position << shift | after >> _BITS


@inner_jit
def place(cost, binomials):
    """Return the place of a set, given as a list of positions, among all sets by order and positions."""
    order, v = cost >> _LIST, len(binomials) - 1
    at = binomials[v, order] - 1
    for i in range(order):
        position = cost >> (_LIST - _BITS * (i + 1)) & ((1 << _BITS) - 1)
        at -= binomials[v - 1 - position, order - i]
    for smaller in range(1, order):
        at += binomials[v, smaller]
    return at


def binomials(v: int, most: int) -> np.ndarray:
    """Return C(a, b), int64 (v + 1, most + 1)."""
    return np.array([[comb(a, b) for b in range(most + 1)] for a in range(v + 1)], np.int64)


def n_sets(v: int, most: int) -> int:
    """Return the number of sets of at most ``most`` of v variables."""
    return sum(comb(v, order) for order in range(1, most + 1))


def decode_lists(cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order, int8, and the variables, uint64, of sets that are lists of positions."""
    order, variables = cost >> _LIST, np.zeros(len(cost), np.uint64)
    for i in range(MAX_LISTED):
        position = (cost >> (_LIST - _BITS * (i + 1)) & ((1 << _BITS) - 1)).astype(np.uint64)
        variables |= np.where(order > i, np.uint64(1) << position, np.uint64(0))
    return order.astype(np.int8), variables


def decode_places(at: np.ndarray, v: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order, int8, and the variables, uint64, of the sets of v variables with these places."""
    table = binomials(v, most)
    ends = np.cumsum(table[v, 1:])
    order = np.searchsorted(ends, at, side="right") + 1
    remainder = ends[order - 1] - 1 - at  # as in `place`: the sum of C(v - 1 - position, order - i)
    variables = np.zeros(len(at), np.uint64)
    for i in range(most):
        for size in range(i + 1, most + 1):
            rows = np.flatnonzero(order == size)
            column = table[:v, size - i]
            after = np.searchsorted(column, remainder[rows], side="right") - 1  # variables after the position
            remainder[rows] -= column[after]
            variables[rows] |= np.uint64(1) << (v - 1 - after).astype(np.uint64)
    return order.astype(np.int8), variables


@jit
def merge(start, items, new_puf, new_items, shift):
    """Add pairs in any order, which may repeat, to those already kept; keep each with its lowest cost.

    The items of PUF record p are ``items[start[p]:start[p + 1]]``, uint64, ascending, one for each EIF position. The
    new ones are uint32 and uint64 (k,); ``shift`` is the number of bits of the cost.
    """
    n = len(start) - 1
    ends = np.zeros(n + 1, np.int64)
    for i in range(len(new_puf)):
        ends[new_puf[i] + 1] += 1
    for p in range(n):
        ends[p + 1] += ends[p]
    ordered = np.empty(len(new_items), np.uint64)
    for i in range(len(new_puf)):
        ordered[ends[new_puf[i]]] = new_items[i]
        ends[new_puf[i]] += 1
    merged_start, merged = np.empty(n + 1, np.int64), np.empty(len(items) + len(new_items), np.uint64)
    merged_start[0] = m = b = 0
    for p in range(n):
        a, b_end = start[p], ends[p]
        _sort(ordered, b, b_end)
        while a < start[p + 1] or b < b_end:
            if b == b_end or (a < start[p + 1] and items[a] <= ordered[b]):
                item = items[a]
                a += 1
            else:
                item = ordered[b]
                b += 1
            if m == merged_start[p] or item >> np.uint64(shift) != merged[m - 1] >> np.uint64(shift):
                merged[m] = item
                m += 1
        merged_start[p + 1] = m
    return merged_start, merged[:m]


@jit
def _sort(items, begin, end):
    """Sort a short run in place (Shell's method), which costs less than a call of the library's sort per record."""
    gap = 1
    while gap < (end - begin) // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            item, at = items[i], i
            while at >= begin + gap and items[at - gap] > item:
                items[at] = items[at - gap]
                at -= gap
            items[at] = item
        gap //= 3


@jit
def unfold(start, items, shift, v, positions):
    """Return the kept pairs as (puf, eif, order, variables), sorted by puf, order, eif.

    ``positions``, int64 (v,), are the v variables' positions in the caller's files.
    """
    m = len(items)
    puf, eif = np.empty(m, np.int64), np.empty(m, np.int64)
    order, variables = np.empty(m, np.int8), np.empty(m, np.uint64)
    low = (np.uint64(1) << np.uint64(v)) - np.uint64(1)
    cost_mask = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    slots = np.empty(v + 2, np.int64)
    for p in range(len(start) - 1):
        slots[:] = 0
        for i in range(start[p], start[p + 1]):
            slots[((items[i] & cost_mask) + low >> np.uint64(v)) + np.uint64(1)] += 1
        slots[0] = start[p]
        for k in range(v + 1):
            slots[k + 1] += slots[k]
        for i in range(start[p], start[p + 1]):
            cost = items[i] & cost_mask
            k = np.int64((cost + low) >> np.uint64(v))
            backwards = (np.uint64(k) << np.uint64(v)) - cost
            word = np.uint64(0)
            for j in range(v):
                if (backwards >> np.uint64(v - 1 - j)) & np.uint64(1):
                    word |= np.uint64(1) << np.uint64(positions[j])
            at = slots[k]
            slots[k] += 1
            puf[at], eif[at], order[at], variables[at] = p, np.int64(items[i] >> np.uint64(shift)), k, word
    return puf, eif, order, variables


def unfold_places(
    start: np.ndarray, items: np.ndarray, shift: int, most: int, positions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the kept pairs as `unfold` does, where items have the places of sets."""
    puf = np.repeat(np.arange(len(start) - 1), np.diff(start))
    eif = (items >> np.uint64(shift)).astype(np.int64)
    at = (items & np.uint64((1 << shift) - 1)).astype(np.int64)
    order, sets = decode_places(at, len(positions), most)
    variables = np.zeros(len(items), np.uint64)
    for j, position in enumerate(positions):
        variables |= (sets >> np.uint64(j) & np.uint64(1)) << np.uint64(position)
    rank = np.lexsort((eif, order, puf))
    return puf[rank], eif[rank], order[rank], variables[rank]
