"""All nearest EIF records of each PUF record, where its nearest distance is known (METHODS §8.1).

The limit of a search through boxes is then the same from its beginning to its end (see `search`), and every record that
is not left out is compared by the definition. Weights are whole numbers, whose sums do not depend on the order in
which threads add them.
"""

import threading
from typing import NamedTuple, Unpack

import numpy as np

from reident.kernels.bits import trailing_zeros
from reident.kernels.boxes import WIDTH, Index
from reident.kernels.buffers import BATCH, Buffers, Puf, SearchFiles, empty_buffers
from reident.kernels.compiling import lean_jit
from reident.kernels.euclidean_costs import Euclidean, box_costs, leaf_costs, level_of, limit_of
from reident.kernels.search import enter, filter_leaf, order_by_leaf
from reident.kernels.toplist import Workers, in_threads

_SPACE = 2**16
"""Nearest records of a block of PUF records in memory; more where one record has more."""


class Weighing(NamedTuple):
    """The equal parts that the nearest records of each PUF record are given."""

    level: np.ndarray  # int64 (n_puf,): the level of its nearest EIF records
    amount: np.ndarray  # int64 (n_puf,)
    group: np.ndarray  # int64 (n_puf,): the row of the sums that it adds to


@lean_jit
def _list(begin, end, order, level, index, puf, files, metric, buffers, nearest, starts):
    """List the nearest records of the PUF records ``order[begin:end]`` while there is space; return where it ended."""
    queries, fixed, varying = buffers.queries, buffers.fixed[0], buffers.varying[0]
    costs, low, high = buffers.group_costs[0], buffers.low, buffers.high
    leaves, first = index.leaves, index.first
    m = 0
    for at in range(begin, end):
        i = order[at]
        starts[at - begin] = m
        enter(metric, queries, 0, puf, leaves.row, i)
        limit = limit_of(metric, level[i] + 1)
        queries.limit[0] = limit
        for b in range(len(index.groups.sets)):
            box_costs(metric, queries, 0, index.groups, b, fixed, varying)
            for c in range(WIDTH):
                costs[b * WIDTH + c] = fixed[c] + varying[c]
        for group in range(first.size - 1):
            if costs[group] >= limit:
                continue
            box_costs(metric, queries, 0, index.inner, group, fixed, varying)
            for c in range(first[group + 1] - first[group]):
                if fixed[c] + varying[c] >= limit:
                    continue
                leaf = first[group] + c
                rest = np.float64(limit) - np.float64(queries.base[0]) - np.float64(varying[c])
                mask = filter_leaf(leaves, leaf, queries, 0, rest, puf.filter_cost)
                if mask:
                    mask = leaf_costs(metric, queries, 0, leaves, leaf, mask, low, high)
                while mask:
                    s = trailing_zeros(mask)
                    mask &= mask - np.uint64(1)
                    r = leaves.eif[leaf, s]
                    if low[s] < limit and level_of(metric, buffers.squares, files, i, r) == level[i]:
                        if m == nearest.size:
                            return at
                        nearest[m] = r
                        m += 1
        starts[at - begin + 1] = m
    return end


@lean_jit
def _add(begin, end, order, starts, nearest, times, weighing, sums, shares):
    """Give the amounts of the PUF records ``order[begin:end]`` to their nearest records, in equal parts."""
    for at in range(begin, end):
        i = order[at]
        for a in range(starts[at - begin], starts[at - begin + 1]):
            for side in range(2):
                shares[i, side] += times[side, nearest[a]]
        total = shares[i, 0] + shares[i, 1]
        part = (weighing.amount[i] + total // 2) // total
        for a in range(starts[at - begin], starts[at - begin + 1]):
            sums[weighing.group[i], nearest[a]] += part


def weigh(
    index: Index,
    puf: Puf,
    files: SearchFiles,
    metric: Euclidean,
    times: np.ndarray,
    weighing: Weighing,
    sums: np.ndarray,
    **workers: Unpack[Workers],
) -> np.ndarray:
    """Add the parts of each nearest record to ``sums``, int64 (groups, n_eif).

    ``times``, int64 (2, n_eif), is how many records of either side are equal to each EIF record. Return how many
    nearest records of either side each PUF record has, int64 (n_puf, 2).
    """
    n = len(weighing.level)
    counts, lock = np.zeros((n, 2), np.int64), threading.Lock()

    def make_buffers() -> Buffers:
        return empty_buffers(index, puf, metric.numeric.size, 1)

    order = order_by_leaf(index, puf, metric, n, make_buffers, workers.get("threads", 1))

    def work(begin: int, end: int) -> None:
        buffers, nearest, starts = make_buffers(), np.empty(_SPACE, np.int32), np.zeros(BATCH + 1, np.int64)
        while begin < end:
            last = _list(begin, end, order, weighing.level, index, puf, files, metric, buffers, nearest, starts)
            if last == begin:
                nearest = np.empty(2 * len(nearest), np.int32)
            with lock:
                _add(begin, last, order, starts, nearest, times, weighing, sums, counts)
            begin = last

    in_threads(work, n, block=BATCH, **workers)
    return counts
