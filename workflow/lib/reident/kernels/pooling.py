"""The candidates with the largest match probability over several files (METHODS §8).

A query is a group and a box in each of m files. Record j is a candidate of a file if its point in that file is in the
group and the box; its score is the sum of the weights of these files. A query visits the points of its group in the
order of one coordinate, inside its interval, so that memory grows with points and queries and not with candidates.

Scores are sums of doubles in the order of the files. Candidates of the same files, or of files with the same weights,
have the same score by definition, whatever the rounding. Where other candidates come so close to the largest score
that rounding could decide, the query is marked, and the caller decides it exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit

BITS = 62
"""Files in one word of a pattern."""

_CLOSE = 1 - 1e-9
"""From this share of the largest score on, rounding could decide. It is at most 1,000 · 2⁻⁵² of a score."""


class Queries(NamedTuple):
    """Groups and boxes, as :func:`reident.kernels.matching.count` has them, and the weights of the files."""

    groups: np.ndarray  # int64 (U,); negative: no candidate
    low: np.ndarray  # int32 (U, q)
    high: np.ndarray  # int32 (U, q)
    divisors: np.ndarray  # float64 (U, m): the weight of a file is 1 divided by its divisor, above 0


class Best(NamedTuple):
    """The candidates with the largest score."""

    n_best: np.ndarray  # int64 (U,): how many there are; 0 without a candidate
    pattern: np.ndarray  # int64 (U, words): the files of one of them: file f is bit f % 62 of word f // 62
    is_close: np.ndarray  # bool (U,): whether rounding could decide
    is_own: np.ndarray  # bool (N,): whether a target's own record is among them
    order: np.ndarray  # int64 (m, n): the records of each file, the candidates of a query together
    start: np.ndarray  # int64 (m, U): where the candidates of each query begin in this order
    stop: np.ndarray  # int64 (m, U): where they end, among records of the group outside the box


def pool(groups: np.ndarray, ranks: np.ndarray, queries: Queries, first: np.ndarray, rows: np.ndarray) -> Best:
    """Find the candidates of each query with the largest score.

    Parameters
    ----------
    groups : int64 (m, n)
        The group of each point by file; negative: in no group.
    ranks : int32 (m, n, q)
        The coordinates, 0 and above.
    queries : Queries
    first : int64 (U + 1,)
        The targets of query u are first[u] to first[u + 1] − 1.
    rows : int64 (N,)
        The own record of each target.
    """
    m, n_queries = len(groups), len(queries.groups)
    segments = [_segments(groups, ranks, queries, axis) for axis in range(max(ranks.shape[2], 1))]
    order, start, stop = min(segments, key=lambda segment: int((segment[2] - segment[1]).sum()))
    best = Best(
        np.zeros(n_queries, np.int64),
        np.zeros((n_queries, -(-m // BITS)), np.int64),
        np.zeros(n_queries, bool),
        np.zeros(len(rows), bool),
        order,
        start,
        stop,
    )
    sorted_ranks = np.take_along_axis(ranks, order[:, :, None], axis=1)
    low, high = np.ascontiguousarray(queries.low), np.ascontiguousarray(queries.high)
    _pool(order, sorted_ranks, start, stop, low, high, queries.divisors, first, rows, *best[:4])
    return best


def _segments(
    groups: np.ndarray, ranks: np.ndarray, queries: Queries, axis: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each file's points by group and one coordinate, and where each query begins and ends in them."""
    m, n = groups.shape
    if ranks.shape[2]:
        of_points, low, high = ranks[:, :, axis], queries.low[:, axis], queries.high[:, axis]
    else:
        of_points, low, high = np.zeros((m, n), np.int32), np.zeros(1, np.int32), np.ones(1, np.int32)
    top = int(max(of_points.max(initial=0), high.max(initial=0))) + 1
    order = np.empty((m, n), np.int64)
    start, stop = (np.zeros((m, len(queries.groups)), np.int64) for _ in range(2))
    for file in range(m):
        keys = groups[file] * top + of_points[file]
        order[file] = np.argsort(keys, kind="stable")
        keys = keys[order[file]]
        start[file] = np.searchsorted(keys, queries.groups * top + low)
        stop[file] = np.searchsorted(keys, queries.groups * top + high)
    stop = np.where(queries.groups >= 0, np.maximum(stop, start), start)
    return order, start, stop


@jit
def _pool(order, ranks, start, stop, low, high, divisors, first, rows, count, pattern, is_close, is_own):
    """Write the best candidates of each query, whose scores are summed in arrays over all records."""
    m, n = order.shape
    q, words = ranks.shape[2], pattern.shape[1]
    query_of, score = np.full(n, -1, np.int64), np.empty(n)
    files, candidates = np.empty((n, words), np.int64), np.empty(n, np.int64)
    difference = np.zeros(m, np.int64)
    for u in range(len(count)):
        n_candidates, top, best = 0, 0.0, -1
        for f in range(m):
            for at in range(start[f, u], stop[f, u]):
                inside = True
                for k in range(q):
                    inside &= low[u, k] <= ranks[f, at, k] < high[u, k]
                if not inside:
                    continue
                j = order[f, at]
                if query_of[j] != u:
                    query_of[j], score[j], files[j] = u, 0.0, 0
                    candidates[n_candidates] = j
                    n_candidates += 1
                score[j] += 1 / divisors[u, f]
                files[j, f // BITS] |= 1 << (f % BITS)
                if score[j] > top:
                    top, best = score[j], j
        if best < 0:
            continue
        pattern[u] = files[best]
        for t in range(n_candidates):
            j = candidates[t]
            if score[j] < top * _CLOSE:
                continue
            if _same(files[j], files[best], divisors[u], difference):
                count[u] += 1
            else:
                is_close[u] = True
        for i in range(first[u], first[u + 1]):
            j = rows[i]
            if query_of[j] == u and score[j] >= top * _CLOSE:
                is_own[i] = _same(files[j], files[best], divisors[u], difference)


@jit
def _same(a, b, divisors, difference):
    """Tell whether two sets of files have the same weights, each as often; `difference` is work space."""
    equal = True
    for word in range(len(a)):
        equal &= a[word] == b[word]
    if equal:
        return True
    difference[:] = 0
    for f in range(len(divisors)):
        step = ((a[f // BITS] >> (f % BITS)) & 1) - ((b[f // BITS] >> (f % BITS)) & 1)
        if step:
            alike = 0
            while divisors[alike] != divisors[f]:
                alike += 1
            difference[alike] += step
    return not difference.any()
