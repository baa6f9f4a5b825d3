"""The nearest EIF records of each PUF record through boxes: the search of euclidean and adhoc (METHODS §5).

PUF records that are close to one another search together, so that what one has read lies in cache for the
next. A record's *limit* is a cost that a pair must lie below to matter; it falls as pairs are found. Groups
are visited nearest first, and of each the leaves whose box costs less than the limit. In a leaf, bit maps
leave out records that differ on too many categorical variables; the others are bounded in single precision,
and those still below the limit are compared by the definition.

What makes the result exact, whatever the order of the visits:

- a bound from below (of a box, of a record) is never above the cost of a pair that it stands for, and a pair
  is left out only if such a bound is at least the limit;
- the limit is never below the cost that corresponds to the (keep + 1)-th best level or to the threshold. It
  comes from exact levels (`limit_of`), or from ``keep + 1`` bounds from above of different pairs: the
  largest of them is itself still below the limit, so that ties at the last rank are all compared.

A metric gives the five functions below for its own type (`implements`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from reident.kernels.bits import trailing_zeros
from reident.kernels.boxes import WIDTH, Index, sort_by
from reident.kernels.compiling import inner_jit, lean_jit
from reident.kernels.searchroom import PENDING, TOGETHER, Files, Puf, Queries, Room, make_room
from reident.kernels.toplist import Best, in_threads, offer, settle

FEW = 8
"""So few records of a leaf are bounded one by one."""

MOST_DIFFERENT = 15
"""The largest number of differences that the bit maps tell apart."""

LARGEST_BLOCK = 4 * TOGETHER
"""PUF records between two reports of progress."""

MOST_VARIABLES = 512
"""Up to this number sums of fixed costs are exact in single precision."""


def implements(function: Callable, kind: type) -> Callable[[Callable], Callable]:
    """Decorate what one of the following functions is for metrics of a type: compiled code chooses by type."""

    def register(implementation: Callable) -> Callable:
        def choose(metric: Any, *_: Any) -> Callable | None:
            return implementation if getattr(metric, "instance_class", None) is kind else None

        options = {"nogil": True, "error_model": "numpy", "_nrt": False, "forceinline": True}  # as inner_jit
        overload(function, jit_options=options, strict=False)(choose)
        return implementation

    return register


def load(metric: Any, desk: Any, files: Files, queries: Queries, q: int, i: int) -> None:
    """Work out on the desk what the metric needs of PUF record i, which is record q of the queries."""
    raise NotImplementedError


def box_costs(
    metric: Any, desk: Any, queries: Queries, q: int, boxes: Any, b: int, fixed: Any, varying: Any
) -> None:
    """Bound the costs of block b of boxes from below, as the sum of two parts.

    ``fixed`` is exact in multiples of 1/GRAIN, ``varying`` comes from numeric variables.
    """
    raise NotImplementedError


def leaf_costs(
    metric: Any, desk: Any, queries: Queries, q: int, leaves: Any, leaf: int, mask: Any, low: Any, high: Any
) -> Any:
    """Bound the costs of the records of ``mask`` from below and above; returns those below the limit."""
    raise NotImplementedError


def level_of(metric: Any, desk: Any, files: Files, i: int, r: int, bound: int) -> int:
    """The level of a pair by the definition, or some level from ``bound`` on if it has such a one."""
    raise NotImplementedError


def limit_of(metric: Any, bound: int) -> Any:
    """The least float32 cost from which on every level is at least ``bound``, or one above it."""
    raise NotImplementedError


@lean_jit
def _enter(queries, q, puf, row, i):
    """Make PUF record i record q of the queries."""
    queries.base[q] = np.float32(0)
    queries.n_rows[q] = 0
    nc = puf.codes.shape[1]
    for k in range(nc):
        code = puf.codes[i, k]
        queries.codes[q, k] = code
        if code < 0:
            queries.base[q] += puf.missing[k]
        elif row[k + 1] > row[k]:
            queries.rows[q, queries.n_rows[q]] = row[k] + (code & 63)
            queries.n_rows[q] += 1
    for k in range(puf.values.shape[1]):
        value = puf.values[i, k]
        queries.values[q, k] = value
        if value != value:
            queries.base[q] += puf.missing[nc + k]


@inner_jit
def _few_differences(leaves, leaf, queries, q, rest, cost):
    """The records of a leaf for which the cost of certain differences is below ``rest``.

    Each record counts its differences in binary, one word per digit for all 64 of them. The count starts so
    high that it leaves the four digits exactly if there are too many.
    """
    allowed = -1
    while allowed <= MOST_DIFFERENT and (allowed + 1) * cost < rest:
        allowed += 1
    mask = leaves.present[leaf]
    if allowed < 0:
        return np.uint64(0)
    if allowed >= min(queries.n_rows[q], MOST_DIFFERENT + 1):
        return mask
    start = np.uint64(MOST_DIFFERENT - allowed)
    one, none = np.uint64(1), np.uint64(0)
    a, b = none - (start & one), none - ((start >> one) & one)
    c, d = none - ((start >> np.uint64(2)) & one), none - ((start >> np.uint64(3)) & one)
    for k in range(queries.n_rows[q]):
        carry = leaves.rows[leaf, queries.rows[q, k]]
        a, carry = a ^ carry, a & carry
        b, carry = b ^ carry, b & carry
        c, carry = c ^ carry, c & carry
        d, carry = d ^ carry, d & carry
        mask &= ~carry
    return mask


@lean_jit
def _compare(metric, desk, files, i, q, queries, found):
    """Compare what waits by the definition."""
    keep = found.levels.shape[1] - 1
    for a in range(found.n_pending[q]):
        if found.low[q, a] >= queries.limit[q]:
            continue
        r = found.pending[q, a]
        level = level_of(metric, desk, files, i, r, found.bound[q])
        if level < found.bound[q]:
            found.n[q] = offer(found.levels[q], found.eifs[q], found.n[q], level, r)
            if found.n[q] > keep:
                found.bound[q] = found.levels[q, keep]
                queries.limit[q] = min(queries.limit[q], limit_of(metric, found.bound[q]))
    found.n_pending[q] = 0


@inner_jit
def _lower_limit(queries, q, found, high):
    """Take note that a pair costs at most ``high``."""
    last = found.ceilings.shape[1] - 1
    a = found.n_ceilings[q]
    if a > last:
        if high >= found.ceilings[q, last]:
            return
        a = last
    else:
        found.n_ceilings[q] += 1
    while a > 0 and found.ceilings[q, a - 1] > high:
        found.ceilings[q, a] = found.ceilings[q, a - 1]
        a -= 1
    found.ceilings[q, a] = high
    if found.n_ceilings[q] > last:
        above = np.nextafter(found.ceilings[q, last], np.float32(np.inf))
        queries.limit[q] = min(queries.limit[q], above)


@lean_jit
def _nearest_first(costs, n_groups, n, queries, groups, keys):
    """List the groups that are below the limit of any of the queries, in the order of how far below it."""
    m = 0
    for group in range(n_groups):
        nearest = np.float32(np.inf)
        for q in range(n):
            nearest = min(nearest, costs[q, group] - queries.limit[q])
        if nearest < 0:
            groups[m], keys[m] = group, nearest
            m += 1
    sort_by(keys, groups, m)
    return m


@lean_jit
def search(begin, end, order, index, puf, files, metric, threshold, room, best):
    """Find the pairs of the PUF records ``order[begin:end]`` and write them into ``best``.

    Parameters
    ----------
    begin, end : int
    order : int64 (n_puf,)
        The PUF records, neighbours near one another (see `route`).
    index : Index
    puf : Puf
    files : Files
    metric : NamedTuple
        Its type chooses the functions.
    threshold : int
        A pair matters if its level is below.
    room : Room
    best : Best
    """
    keep = best.eif.shape[1]
    n_groups = index.first.size - 1
    leaves, inner, first = index.leaves, index.inner, index.first
    queries, found, desk, fixed, varying, low, high, costs, near, keys, visits, seeds = room
    n_seeds = 0
    for start in range(begin, end, TOGETHER):
        n = min(TOGETHER, end - start)
        for q in range(n):
            i = order[start + q]
            _enter(queries, q, puf, leaves.row, i)
            load(metric, desk, files, queries, q, i)
            found.bound[q] = threshold
            if n_seeds > keep:  # a close record's best pairs are keep + 1 pairs of this record too
                worst = np.int64(0)
                for a in range(n_seeds):
                    worst = max(worst, level_of(metric, desk, files, i, seeds[a], threshold))
                found.bound[q] = min(threshold, worst + 1)
            queries.limit[q] = limit_of(metric, found.bound[q])
            found.n[q] = found.n_ceilings[q] = found.n_pending[q] = 0
            for b in range(len(index.groups.sets)):
                box_costs(metric, desk, queries, q, index.groups, b, fixed[q], varying[q])
                for c in range(WIDTH):
                    costs[q, b * WIDTH + c] = fixed[q, c] + varying[q, c]
        for a in range(_nearest_first(costs, n_groups, n, queries, near, keys)):
            group = near[a]
            n_leaves = first[group + 1] - first[group]
            any_visits = np.uint64(0)
            for q in range(n):
                visits[q] = np.uint64(0)
                if costs[q, group] < queries.limit[q]:
                    box_costs(metric, desk, queries, q, inner, group, fixed[q], varying[q])
                    for c in range(n_leaves):
                        if fixed[q, c] + varying[q, c] < queries.limit[q]:
                            visits[q] |= np.uint64(1) << np.uint64(c)
                    any_visits |= visits[q]
            while any_visits:
                c = trailing_zeros(any_visits)
                any_visits &= any_visits - np.uint64(1)
                leaf = first[group] + c
                for q in range(n):
                    if not (visits[q] >> np.uint64(c)) & np.uint64(1):
                        continue
                    # The differences come on top of what is missing in the PUF record and what the box costs.
                    rest = (
                        np.float64(queries.limit[q]) - np.float64(queries.base[q]) - np.float64(varying[q, c])
                    )
                    mask = _few_differences(leaves, leaf, queries, q, rest, puf.filtered)
                    if mask:
                        mask = leaf_costs(metric, desk, queries, q, leaves, leaf, mask, low, high)
                    while mask:
                        s = trailing_zeros(mask)
                        mask &= mask - np.uint64(1)
                        if low[s] >= queries.limit[q]:
                            continue
                        if found.n_pending[q] == PENDING:
                            _compare(metric, desk, files, order[start + q], q, queries, found)
                        a_pending = found.n_pending[q]
                        found.pending[q, a_pending] = leaves.eif[leaf, s]
                        found.low[q, a_pending] = low[s]
                        found.n_pending[q] += 1
                        _lower_limit(queries, q, found, high[s])
        for q in range(n):
            i = order[start + q]
            _compare(metric, desk, files, i, q, queries, found)
            settle(found.levels[q], found.eifs[q], found.n[q], best, i)
        n_seeds = found.n[n - 1]
        for a in range(n_seeds):
            seeds[a] = found.eifs[n - 1, a]


@lean_jit
def route(begin, end, index, puf, files, metric, room, leaf):
    """Write for each of the PUF records [begin, end) the leaf whose box is nearest in the nearest group."""
    queries, desk, fixed, varying = room.queries, room.desk, room.fixed[0], room.varying[0]
    n_groups = index.first.size - 1
    for i in range(begin, end):
        _enter(queries, 0, puf, index.leaves.row, i)
        load(metric, desk, files, queries, 0, i)
        least, group = np.float32(np.inf), 0
        for b in range(len(index.groups.sets)):
            box_costs(metric, desk, queries, 0, index.groups, b, fixed, varying)
            for c in range(min(WIDTH, n_groups - b * WIDTH)):
                if fixed[c] + varying[c] < least:
                    least, group = fixed[c] + varying[c], b * WIDTH + c
        box_costs(metric, desk, queries, 0, index.inner, group, fixed, varying)
        least, leaf[i] = np.float32(np.inf), index.first[group]
        for c in range(index.first[group + 1] - index.first[group]):
            if fixed[c] + varying[c] < least:
                least, leaf[i] = fixed[c] + varying[c], index.first[group] + c


def run(
    index: Index,
    puf: Puf,
    files: Files,
    metric: Any,
    make_desk: Callable[[], Any],
    threshold: int,
    best: Best,
    threads: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Search for all PUF records, those that are near one another together."""
    n, keep = best.eif.shape

    def room() -> Room:
        return make_room(index, puf, make_desk(), keep)

    leaf = np.empty(n, np.int32)

    def find_leaf(begin: int, end: int) -> None:
        route(begin, end, index, puf, files, metric, room(), leaf)

    in_threads(find_leaf, n, block=2**14, threads=threads, progress=None)
    order = np.argsort(leaf, kind="stable")

    def find_pairs(begin: int, end: int) -> None:
        search(begin, end, order, index, puf, files, metric, threshold, room(), best)

    share = -(-n // (8 * max(1, threads) * TOGETHER)) * TOGETHER
    in_threads(find_pairs, n, block=min(share, LARGEST_BLOCK), threads=threads, progress=progress)
