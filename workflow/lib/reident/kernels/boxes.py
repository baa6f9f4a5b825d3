"""EIF records in boxes, which euclidean bounds before it looks at records (METHODS §4.3).

The order of the records serves adhoc too (see `adhoc_index`).

The records are brought into an order in which neighbours are similar, and cut into leaves of at most 64
records and groups of at most 64 leaves. Each leaf and each group has a box: the set of codes of each categorical
variable and the interval of values of each numeric one. No record of a box costs less against a PUF
record than the box does: the search relies on this invariant.

Costs are sums over the variables. Their fixed part (a different code, a missing value) is in multiples of 2^-12 in
single precision, in which sums of them are exact: equal costs compare as equal.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import WORD
from reident.kernels.compiling import lean_jit

WIDTH = WORD
"""Records in a leaf and leaves in a group: one bit each."""

GRAIN = 2**12
"""Fixed costs are multiples of 1/GRAIN, rounded down."""

MAX_ROWS = 1024
"""Words of the bit maps of a leaf."""

_MAX_SORT = 16 * WIDTH
"""Up to this size a part is sorted and cut at a multiple of WIDTH, so that leaves are full."""

_SAMPLE = 257
"""Keys from which the median of a larger part is estimated."""

_MAX_DEPTH = 400
"""Parts that wait: one side of a cut has at most 7/8 of its part, so that the depth stays below log n / log(8/7)."""


class Boxes(NamedTuple):
    """Boxes of up to 64 neighbours side by side in a block."""

    sets: np.ndarray  # uint64 (blocks, categorical, 64): bit c % 64 for each code c in the box
    low: np.ndarray  # float32 (blocks, numeric, 64): smallest value; infinite where no record has one
    high: np.ndarray  # float32 (blocks, numeric, 64): largest value; infinite where no record has one
    outside: np.ndarray  # float32 (blocks, v, 64): cost of a value outside the box, the most a variable costs


class Leaves(NamedTuple):
    """Leaves of up to 64 records, in the order of the boxes."""

    eif: np.ndarray  # int32 (leaves, 64): position of the record in the EIF
    present: np.ndarray  # uint64 (leaves,): which of the 64 positions have a record
    codes: np.ndarray  # int32 (leaves, categorical, 64); -1 for missing
    values: np.ndarray  # float32 (leaves, numeric, 64); NaN for missing
    rows: np.ndarray  # uint64 (leaves, rows): bit maps of the records that do not have a code
    row: np.ndarray  # int64 (categorical + 1,): where the rows of a variable begin, by code % 64


class Index(NamedTuple):
    """The EIF in boxes."""

    leaves: Leaves
    groups: Boxes  # of the groups of leaves
    inner: Boxes  # of the leaves, one block per group
    first: np.ndarray  # int64 (groups + 1,): the first leaf of each group


class Costs(NamedTuple):
    """The costs of a variable, categorical variables first, in float32 multiples of 1/GRAIN."""

    different: np.ndarray  # (v,): the least that two different codes cost, the most that two values cost
    missing: np.ndarray  # (v,)


@lean_jit
def sort_by(keys, items, n):
    """Sort the first n keys in place, and the items with them (Shell's method)."""
    gap = n // 2
    while gap > 0:
        for a in range(gap, n):
            key, item, b = keys[a], items[a], a
            while b >= gap and keys[b - gap] > key:
                keys[b], items[b] = keys[b - gap], items[b - gap]
                b -= gap
            keys[b], items[b] = key, item
        gap //= 2


@lean_jit
def _draw(state, size):
    """Return the next state of a linear congruential generator, and a number below ``size``."""
    state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return state, np.int64(state >> np.uint64(33)) % size


@lean_jit
def _spreads(codes, coordinates, costs, part, state, spreads):
    """Estimate how much each variable costs between records of a part, from a sample of pairs."""
    nc, nn = len(codes), len(coordinates)
    for k in range(nc + nn):
        spreads[k] = 0.0
    for _ in range(WIDTH):
        state, a = _draw(state, part.size)
        state, b = _draw(state, part.size)
        i, r = part[a], part[b]
        for k in range(nc):
            if codes[k, i] < 0 or codes[k, r] < 0:
                spreads[k] += costs.missing[k]
            elif codes[k, i] != codes[k, r]:
                spreads[k] += costs.different[k]
        for k in range(nn):
            apart = coordinates[k, i] - coordinates[k, r]
            if apart != apart:
                spreads[nc + k] += costs.missing[nc + k]
            else:
                spreads[nc + k] += costs.different[nc + k] * min(apart * apart, 1.0)
    return state


@lean_jit
def _keys(codes, coordinates, k, part, keys):
    """Write the sort keys of a part on a variable, missing values last; return whether two keys differ."""
    nc = len(codes)
    differ = False
    for a in range(part.size):
        key = np.float32(np.inf)
        if k < nc:
            if codes[k, part[a]] >= 0:
                key = np.float32(codes[k, part[a]])
        elif coordinates[k - nc, part[a]] == coordinates[k - nc, part[a]]:
            key = coordinates[k - nc, part[a]]
        keys[a] = key
        differ |= key != keys[0]
    return differ


@lean_jit
def _cut_large(part, keys, spare, sample, state):
    """Order a part by keys below, at and above the median of a sample; return where to cut.

    The cut is between different keys unless that leaves a side with less than an eighth.
    """
    size = part.size
    for a in range(_SAMPLE):
        state, b = _draw(state, size)
        sample[a] = keys[b]
    sort_by(sample, sample, _SAMPLE)
    median = sample[_SAMPLE // 2]
    below = at = 0
    for a in range(size):
        below += keys[a] < median
        at += keys[a] == median
    x, y, z = 0, below, below + at
    for a in range(size):
        if keys[a] < median:
            spare[x] = part[a]
            x += 1
        elif keys[a] == median:
            spare[y] = part[a]
            y += 1
        else:
            spare[z] = part[a]
            z += 1
    for a in range(size):
        part[a] = spare[a]
    left, right = below, below + at
    cut = left if abs(2 * left - size) < abs(2 * right - size) else right
    return (size // 2 if 8 * min(cut, size - cut) < size else cut), state


@lean_jit
def _arrange(codes, coordinates, costs, order, leaf, first, buffers):
    """Write the order, leaves and groups of `arrange`; return the number of leaves and groups."""
    spare, keys, sample, spreads, starts, ends, opens = buffers
    n, v = codes.shape[1], len(codes) + len(coordinates)
    n_leaves, n_groups, state = 0, 0, np.uint64(1)
    starts[0], ends[0], opens[0], depth = 0, n, True, 1 if n else 0
    while depth > 0:
        depth -= 1
        start, end, size = starts[depth], ends[depth], ends[depth] - starts[depth]
        if opens[depth] and size <= WIDTH * WIDTH:  # the largest part that is one group
            first[n_groups] = n_leaves
            n_groups += 1
            opens[depth] = False
        if size <= WIDTH:
            if n_leaves - first[n_groups - 1] == WIDTH:
                first[n_groups] = n_leaves
                n_groups += 1
            leaf[n_leaves] = start
            n_leaves += 1
            continue
        part = order[start:end]
        state = _spreads(codes, coordinates, costs, part, state, spreads)
        cut = WIDTH * ((size // 2 + WIDTH - 1) // WIDTH)
        for _ in range(v):
            k = np.int64(0)
            for j in range(1, v):
                k = j if spreads[j] > spreads[k] else k
            spreads[k] = -1.0
            if not _keys(codes, coordinates, k, part, keys):
                continue
            if size <= _MAX_SORT:
                sort_by(keys, part, size)
            else:
                cut, state = _cut_large(part, keys, spare, sample, state)
            break
        opens[depth + 1] = opens[depth]
        starts[depth], ends[depth] = start + cut, end
        starts[depth + 1], ends[depth + 1] = start, start + cut
        depth += 2
    leaf[n_leaves], first[n_groups] = n, n_leaves
    return n_leaves, n_groups


def arrange(codes: np.ndarray, coordinates: np.ndarray, costs: Costs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bring records into an order in which neighbours are similar.

    Parts are halved on the variable that costs most between their records. ``coordinates`` are on a scale on which a
    distance d costs about min(d², 1) times ``costs.different``. Return the order, int32 (n,), where each leaf begins in
    it, int64 (leaves + 1,), and the first leaf of each group, int64 (groups + 1,).
    """
    n, v = codes.shape[1], len(codes) + len(coordinates)
    order = np.arange(n, dtype=np.int32)
    leaf, first = np.zeros(n // 32 + 2, np.int64), np.zeros(n // 32 + 2, np.int64)
    buffers = (
        np.empty(n, np.int32),
        np.empty(n, np.float32),
        np.empty(_SAMPLE, np.float32),
        np.empty(v),
        np.empty(_MAX_DEPTH, np.int64),
        np.empty(_MAX_DEPTH, np.int64),
        np.empty(_MAX_DEPTH, np.bool_),
    )
    n_leaves, n_groups = _arrange(codes, coordinates, costs, order, leaf, first, buffers)
    return order, leaf[: n_leaves + 1], first[: n_groups + 1]


@lean_jit
def _fill_rows(codes, rows):
    """Write the bit maps of a variable in a leaf: which records do not have each code."""
    present = np.uint64(0)
    for row in range(rows.size):
        rows[row] = np.uint64(0)
    for s in range(WIDTH):
        if codes[s] >= 0:
            bit = np.uint64(1) << np.uint64(s)
            present |= bit
            rows[codes[s] & 63] |= bit
    for row in range(rows.size):
        rows[row] = present & ~rows[row]


@lean_jit
def _fill(codes, values, order, leaf, first, costs, leaves, inner):
    """Write the leaves and their boxes."""
    nc, nn = len(codes), len(values)
    for group in range(first.size - 1):
        for at in range(first[group], first[group + 1]):
            c = at - first[group]
            n = leaf[at + 1] - leaf[at]
            for s in range(n):
                leaves.eif[at, s] = order[leaf[at] + s]
                leaves.present[at] |= np.uint64(1) << np.uint64(s)
            for k in range(nc):
                for s in range(n):
                    code = codes[k, leaves.eif[at, s]]
                    leaves.codes[at, k, s] = code
                    if code >= 0:
                        inner.sets[group, k, c] |= np.uint64(1) << np.uint64(code & 63)
                    else:
                        inner.outside[group, k, c] = min(costs.different[k], costs.missing[k])
                begin, end = leaves.row[k], leaves.row[k + 1]
                if end > begin:
                    rows = leaves.rows[at, begin:end]
                    _fill_rows(leaves.codes[at, k], rows)
            for k in range(nn):
                for s in range(n):
                    value = values[k, leaves.eif[at, s]]
                    leaves.values[at, k, s] = value
                    if value == value:
                        inner.low[group, k, c] = min(inner.low[group, k, c], value)
                        inner.high[group, k, c] = max(inner.high[group, k, c], value)
                    else:
                        least = min(costs.different[nc + k], costs.missing[nc + k])
                        inner.outside[group, nc + k, c] = least


@lean_jit
def _unite(inner, first, groups):
    """Write the boxes of the groups from those of their leaves."""
    for group in range(first.size - 1):
        b, g = group // WIDTH, group % WIDTH
        for c in range(first[group + 1] - first[group]):
            for k in range(inner.sets.shape[1]):
                groups.sets[b, k, g] |= inner.sets[group, k, c]
            for k in range(inner.outside.shape[1]):
                groups.outside[b, k, g] = min(groups.outside[b, k, g], inner.outside[group, k, c])
            for k in range(inner.low.shape[1]):
                groups.low[b, k, g] = min(groups.low[b, k, g], inner.low[group, k, c])
                groups.high[b, k, g] = max(groups.high[b, k, g], inner.high[group, k, c])


def _empty_boxes(n: int, nc: int, nn: int, different: np.ndarray) -> Boxes:
    """Return blocks of boxes without a record."""
    outside = np.empty((n, nc + nn, WIDTH), np.float32)
    outside[:] = different[:, None]
    low, high = (np.full((n, nn, WIDTH), limit, np.float32) for limit in (np.inf, -np.inf))
    return Boxes(np.zeros((n, nc, WIDTH), np.uint64), low, high, outside)


def _row_begins(codes: np.ndarray, n_codes: np.ndarray) -> np.ndarray:
    """Return where the bit maps of each variable begin; the most selective variables have them, within `MAX_ROWS`."""
    sizes = np.zeros(len(codes), np.int64)
    agree = [float(np.square(np.bincount(row[row >= 0]) / max(row.size, 1)).sum()) for row in codes]
    for k in sorted(range(len(codes)), key=lambda k: agree[k]):
        if sizes.sum() + min(n_codes[k], WIDTH) <= MAX_ROWS:
            sizes[k] = min(n_codes[k], WIDTH)
    return np.concatenate([[0], np.cumsum(sizes)])


def build(codes: np.ndarray, n_codes: np.ndarray, values: np.ndarray, coordinates: np.ndarray, costs: Costs) -> Index:
    """Cut the EIF into leaves and groups and enclose them in boxes.

    ``codes``, int32 (categorical, n), are -1 for missing and few enough for a table (see `coding.compact`); ``n_codes``
    is above them. ``values``, float32 (numeric, n), are what boxes enclose, NaN for missing; for ``coordinates`` see
    `arrange`.
    """
    order, leaf, first = arrange(codes, coordinates, costs)
    n, nc, nn = leaf.size - 1, len(codes), len(values)
    row = _row_begins(codes, n_codes)
    leaves = Leaves(
        np.full((n, WIDTH), -1, np.int32),
        np.zeros(n, np.uint64),
        np.full((n, nc, WIDTH), -1, np.int32),
        np.full((n, nn, WIDTH), np.nan, np.float32),
        np.zeros((n, int(row[-1])), np.uint64),
        row,
    )
    n_groups = first.size - 1
    inner = _empty_boxes(n_groups, nc, nn, costs.different)
    groups = _empty_boxes(-(-n_groups // WIDTH), nc, nn, costs.different)
    _fill(codes, values, order, leaf, first, costs, leaves, inner)
    _unite(inner, first, groups)
    for boxes in (inner, groups):
        boxes.high[boxes.low == np.inf] = np.inf
    return Index(leaves, groups, inner, first)
