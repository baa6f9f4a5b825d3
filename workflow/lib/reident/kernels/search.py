"""The nearest EIF records of each PUF record through boxes: the search of euclidean (METHODS §4.3, §5).

PUF records that are close to one another search in one batch, so that what one record reads is in cache for the
next. The *limit* of a record is a cost that a pair must be below to matter; it falls as pairs are compared. Groups
are visited nearest first, and in each the leaves whose box costs less than the limit. In a leaf, bit maps
leave out records that differ on too many categorical variables; the others are bounded in single precision,
and those still below the limit are compared by the definition.

The result is exact, whatever the order of the visits:

- A lower bound (of a box, of a record) is never above the cost of a pair that it covers, and a pair is left out
  only if its lower bound is at least the limit. `euclidean_costs` proves its bounds.
- The limit is never below the cost that corresponds to the (keep + 1)-th best level or to the threshold. It
  comes from exact levels (`limit_of`), or from the upper bounds of ``keep + 1`` different pairs: the largest of
  them is still below the limit, so that all ties at the last rank are compared.
"""

from collections.abc import Callable
from typing import Unpack

import numpy as np

from reident.kernels import toplist
from reident.kernels.bits import trailing_zeros
from reident.kernels.boxes import WIDTH, Index, sort_by
from reident.kernels.buffers import BATCH, MAX_PENDING, Buffers, Puf, SearchFiles, empty_buffers
from reident.kernels.compiling import ZERO, inner_jit, lean_jit
from reident.kernels.euclidean_costs import MAX_SCALE, Euclidean, box_costs, leaf_costs, level_of, limit_above, limit_of
from reident.kernels.toplist import Best, Workers, bound_of, in_threads, offer, settle

MAX_DIFFERENT = 15
"""The largest number of differences that the bit maps count."""

MAX_BLOCK = 4 * BATCH
"""PUF records between two reports of progress."""

MAX_VARIABLES = 512
"""Up to this number sums of fixed costs are exact in single precision: 512 · 5 · 2^12 is below 2^24."""


def check(files: SearchFiles, v: int, scale: int, keep: int) -> None:
    """Refuse files that do not have v columns, and arguments out of the range of the search."""
    toplist.check(files.puf_codes, files.eif_codes, keep, MAX_VARIABLES)
    if files.puf_codes.shape[1] != v:
        raise ValueError(f"codes and values must have {v} columns, one for each variable.")
    if not 1 <= scale <= MAX_SCALE:
        raise ValueError(f"scale must be 1 to {MAX_SCALE}.")


@lean_jit
def enter(metric, queries, q, puf, row, i):
    """Make PUF record i record q of the queries.

    Its margin is infinite where a value that is cut off may be near one of its values.
    """
    queries.base[q] = np.float32(0)
    queries.margin[q] = metric.error + metric.shortfall
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
        elif not metric.sure_from <= value <= metric.sure_to:
            queries.margin[q] = np.float32(np.inf)


@inner_jit
def filter_leaf(leaves, leaf, queries, q, rest, cost):
    """Return the records of a leaf whose categorical differences cost less than ``rest``.

    The differences of each record are counted in binary, one word per digit for all 64 records. The count starts
    at 15 less the number allowed, so that a carry leaves the four digits exactly if there are too many.
    """
    allowed = -1
    while allowed <= MAX_DIFFERENT and (allowed + 1) * cost < rest:
        allowed += 1
    mask = leaves.present[leaf]
    if allowed < 0:
        return np.uint64(0)
    if allowed >= min(queries.n_rows[q], MAX_DIFFERENT + 1):
        return mask
    start = np.uint64(MAX_DIFFERENT - allowed)
    one, zero = np.uint64(1), np.uint64(0)
    a, b = zero - (start & one), zero - ((start >> one) & one)
    c, d = zero - ((start >> np.uint64(2)) & one), zero - ((start >> np.uint64(3)) & one)
    for k in range(queries.n_rows[q]):
        carry = leaves.rows[leaf, queries.rows[q, k]]
        a, carry = a ^ carry, a & carry
        b, carry = b ^ carry, b & carry
        c, carry = c ^ carry, c & carry
        d, carry = d ^ carry, d & carry
        mask &= ~carry
    return mask


@lean_jit
def _compare(metric, squares, files, i, q, queries, candidates):
    """Compare the pending pairs of query q by the definition."""
    keep = candidates.levels.shape[1] - 1
    for a in range(candidates.n_pending[q]):
        if candidates.low[q, a] >= queries.limit[q]:
            continue
        r = candidates.pending[q, a]
        level = level_of(metric, squares, files, i, r)
        if level < candidates.bound[q]:
            candidates.n[q] = offer(candidates.levels[q], candidates.eifs[q], candidates.n[q], level, r)
            if candidates.n[q] > keep:
                candidates.bound[q] = min(candidates.bound[q], bound_of(candidates.levels[q], 0))
                queries.limit[q] = min(queries.limit[q], limit_of(metric, candidates.bound[q]))
    candidates.n_pending[q] = 0


@inner_jit
def _lower_limit(metric, queries, q, candidates, high):
    """Record that a pair costs at most ``high``; lower the limit if ``keep + 1`` pairs are known to be below it.

    Pairs at the level of the last of these count too, so that the limit is beyond this level.
    """
    last = candidates.ceilings.shape[1] - 1
    a = candidates.n_ceilings[q]
    if a > last:
        if high >= candidates.ceilings[q, last]:
            return
        a = last
    else:
        candidates.n_ceilings[q] += 1
    while a > 0 and candidates.ceilings[q, a - 1] > high:
        candidates.ceilings[q, a] = candidates.ceilings[q, a - 1]
        a -= 1
    candidates.ceilings[q, a] = high
    if candidates.n_ceilings[q] > last:
        above = np.nextafter(candidates.ceilings[q, last], np.float32(np.inf))
        if above < queries.limit[q]:
            queries.limit[q] = min(queries.limit[q], max(above, limit_above(metric, above)))


@lean_jit
def _sort_groups(costs, n_groups, n, queries, groups, keys):
    """List the groups that cost less than the limit of any of n queries, the farthest below it first."""
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


@inner_jit
def _start(metric, files, index, puf, buffers, i, q, threshold, n_seeds):
    """Make PUF record i record q of the batch: its bound, its limit and the costs of the groups.

    The seeds are the EIF records of the best pairs of a similar record. If there are keep + 1 of them, the worst of
    their levels bounds the levels that matter.
    """
    queries, candidates, seeds = buffers.queries, buffers.candidates, buffers.seeds
    enter(metric, queries, q, puf, index.leaves.row, i)
    candidates.bound[q] = threshold
    if n_seeds == len(seeds):
        worst = np.int64(0)
        for a in range(n_seeds):
            worst = max(worst, level_of(metric, buffers.squares, files, i, seeds[a]))
        candidates.bound[q] = min(threshold, worst + 1)
    queries.limit[q] = limit_of(metric, candidates.bound[q])
    candidates.n[q] = candidates.n_ceilings[q] = candidates.n_pending[q] = 0
    fixed, varying = buffers.fixed[q], buffers.varying[q]
    for b in range(len(index.groups.sets)):
        box_costs(metric, queries, q, index.groups, b, fixed, varying)
        for c in range(WIDTH):
            buffers.group_costs[q, b * WIDTH + c] = fixed[c] + varying[c]


@inner_jit
def _scan_leaf(metric, files, leaves, leaf, filter_cost, buffers, i, q, varying):
    """Bound the records of a leaf, whose box costs ``varying`` on numeric variables, and queue those that matter."""
    queries, candidates, low, high = buffers.queries, buffers.candidates, buffers.low, buffers.high
    # Differences come on top of what is missing in the PUF record and of what the box costs.
    rest = np.float64(queries.limit[q]) - np.float64(queries.base[q]) - np.float64(varying)
    mask = filter_leaf(leaves, leaf, queries, q, rest, filter_cost)
    if mask:
        mask = leaf_costs(metric, queries, q, leaves, leaf, mask, low, high)
    while mask:
        s = trailing_zeros(mask)
        mask &= mask - np.uint64(1)
        if low[s] >= queries.limit[q]:
            continue
        if candidates.n_pending[q] == MAX_PENDING:
            _compare(metric, buffers.squares, files, i, q, queries, candidates)
        a = candidates.n_pending[q]
        candidates.pending[q, a] = leaves.eif[leaf, s]
        candidates.low[q, a] = low[s]
        candidates.n_pending[q] += 1
        _lower_limit(metric, queries, q, candidates, high[s])


@lean_jit
def search(begin, end, order, index, puf, files, metric, threshold, buffers, best):
    """Find the pairs of the PUF records ``order[begin:end]`` and write them into ``best``, batch by batch."""
    n_groups = index.first.size - 1
    leaves, inner, first = index.leaves, index.inner, index.first
    queries, candidates, squares, fixed, varying, _, _, costs, groups, keys, visits, seeds = buffers
    n_seeds = ZERO
    for start in range(begin, end, BATCH):
        n = min(BATCH, end - start)
        for q in range(n):
            _start(metric, files, index, puf, buffers, order[start + q], q, threshold, n_seeds)
        for a in range(_sort_groups(costs, n_groups, n, queries, groups, keys)):
            group = groups[a]
            n_leaves = first[group + 1] - first[group]
            any_visits = np.uint64(0)
            for q in range(n):
                visits[q] = np.uint64(0)
                if costs[q, group] < queries.limit[q]:
                    box_costs(metric, queries, q, inner, group, fixed[q], varying[q])
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
                    _scan_leaf(
                        metric, files, leaves, leaf, puf.filter_cost, buffers, order[start + q], q, varying[q, c]
                    )
        for q in range(n):
            i = order[start + q]
            _compare(metric, squares, files, i, q, queries, candidates)
            settle(candidates.levels[q], candidates.eifs[q], candidates.n[q], best, i)
        n_seeds = min(candidates.n[n - 1], seeds.size)
        for a in range(n_seeds):
            seeds[a] = candidates.eifs[n - 1, a]


@lean_jit
def route(begin, end, index, puf, metric, buffers, leaf):
    """Write, for each of the PUF records begin to end - 1, the nearest leaf of the nearest group."""
    queries, fixed, varying = buffers.queries, buffers.fixed[0], buffers.varying[0]
    n_groups = index.first.size - 1
    for i in range(begin, end):
        enter(metric, queries, ZERO, puf, index.leaves.row, i)
        least, group = np.float32(np.inf), ZERO
        for b in range(len(index.groups.sets)):
            box_costs(metric, queries, ZERO, index.groups, b, fixed, varying)
            for c in range(min(WIDTH, n_groups - b * WIDTH)):
                if fixed[c] + varying[c] < least:
                    least, group = fixed[c] + varying[c], b * WIDTH + c
        box_costs(metric, queries, ZERO, index.inner, group, fixed, varying)
        least, leaf[i] = np.float32(np.inf), index.first[group]
        for c in range(index.first[group + 1] - index.first[group]):
            if fixed[c] + varying[c] < least:
                least, leaf[i] = fixed[c] + varying[c], index.first[group] + c


def order_by_leaf(
    index: Index, puf: Puf, metric: Euclidean, n: int, make_buffers: Callable[[], Buffers], threads: int
) -> np.ndarray:
    """Return the PUF records in an order in which similar ones follow one another; int64 (n,)."""
    leaf = np.empty(n, np.int32)

    def find_leaf(begin: int, end: int) -> None:
        route(begin, end, index, puf, metric, make_buffers(), leaf)

    in_threads(find_leaf, n, block=2**14, threads=threads)
    return np.argsort(leaf, kind="stable")


def run(
    index: Index,
    puf: Puf,
    files: SearchFiles,
    metric: Euclidean,
    threshold: int,
    best: Best,
    **workers: Unpack[Workers],
) -> None:
    """Write the best pairs of all PUF records with a level below ``threshold`` into ``best``."""
    n, keep = best.eif.shape

    def make_buffers() -> Buffers:
        return empty_buffers(index, puf, metric.numeric.size, keep)

    threads = workers.get("threads", 1)
    order = order_by_leaf(index, puf, metric, n, make_buffers, threads)

    def find_pairs(begin: int, end: int) -> None:
        search(begin, end, order, index, puf, files, metric, threshold, make_buffers(), best)

    share = -(-n // (8 * max(1, threads) * BATCH)) * BATCH
    in_threads(find_pairs, n, block=min(share, MAX_BLOCK), **workers)
