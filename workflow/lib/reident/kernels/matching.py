"""The number of points of a group in a box: the count c of matching-based risk (METHODS §8).

A query asks for the points of its group whose coordinates are all in its half-open intervals of ranks. With one
coordinate these are two binary searches in the points sorted by group and rank. With several, each group has
a k-d tree whose nodes know the box of their points: a node inside the query's box is counted, and a node outside
is skipped, without looking at a point. All numbers are integers, so that nothing is rounded; memory grows with the
number of points and queries only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit

MAX_LEAF = 32
"""Up to this number the points of a node are compared one by one."""

_MAX_DEPTH = 4096


class Tree(NamedTuple):
    """A k-d tree for each group; nodes in the order in which they are made."""

    points: np.ndarray  # int32 (n, q), grouped by leaf
    roots: np.ndarray  # int64 (groups,); -1 for a group without points
    first: np.ndarray  # int64 (nodes,): the node's first point
    end: np.ndarray  # int64 (nodes,)
    left: np.ndarray  # int64 (nodes,): left child, the right one is the next node; -1 for a leaf
    floor: np.ndarray  # int32 (nodes, q): the smallest coordinates of the node's points
    ceiling: np.ndarray  # int32 (nodes, q): the largest


def count(
    groups: np.ndarray, ranks: np.ndarray, query_groups: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Count, for each query, the points of its group inside its box: int64 (m,).

    Parameters
    ----------
    groups : int64 (n,)
        The group of each point; negative: the point is in no group.
    ranks : int32 (n, q)
        The coordinates of each point, 0 and above; without coordinates all points of the group are counted.
    query_groups : int64 (m,)
        The group of each query; the count is 0 if it is negative or the group has no points.
    low, high : int32 (m, q)
        The box of each query: ``low <= rank < high`` in every coordinate.
    """
    q = ranks.shape[1]
    size = int(max(groups.max(initial=-1), query_groups.max(initial=-1))) + 1
    if size == 0:
        return np.zeros(len(query_groups), np.int64)
    inside = groups >= 0
    if not inside.all():
        groups, ranks = groups[inside], ranks[inside]
    if q == 0:
        return np.append(np.bincount(groups, minlength=size), 0)[np.maximum(query_groups, -1)]
    if q == 1:
        return _count_sorted(groups, ranks[:, 0], query_groups, low[:, 0], high[:, 0])
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(size + 1))
    tree = _grow(np.ascontiguousarray(ranks[order]), starts)
    out = np.zeros(len(query_groups), np.int64)
    # Queries of one group with boxes close together follow one another, since they visit the same nodes.
    sequence = np.lexsort((low[:, 1], low[:, 0], query_groups))
    _count_boxes(tree, sequence, query_groups, np.ascontiguousarray(low), np.ascontiguousarray(high), out)
    return out


def _count_sorted(
    groups: np.ndarray, ranks: np.ndarray, query_groups: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Count with one coordinate: the points between two positions in the order of (group, rank)."""
    top = int(max(ranks.max(initial=0), high.max(initial=0))) + 1
    keys = np.sort(groups * top + ranks)
    start, stop = (np.searchsorted(keys, query_groups * top + np.minimum(bound, top)) for bound in (low, high))
    return np.where(query_groups >= 0, np.maximum(stop - start, 0), 0)


@jit
def _grow(points, starts):
    """Order the points of each group as a k-d tree, in place; group g has points starts[g] to starts[g + 1] - 1."""
    n, q = points.shape
    n_max = 2 * n + 1
    first, end, left = np.empty(n_max, np.int64), np.empty(n_max, np.int64), np.full(n_max, -1, np.int64)
    floor, ceiling = np.empty((n_max, q), np.int32), np.empty((n_max, q), np.int32)
    roots = np.full(len(starts) - 1, -1, np.int64)
    n_nodes = 0
    for group in range(len(roots)):
        if starts[group] == starts[group + 1]:
            continue
        roots[group] = n_nodes
        first[n_nodes], end[n_nodes] = starts[group], starts[group + 1]
        n_nodes += 1
        node = roots[group]
        while node < n_nodes:  # nodes are split in the order in which they are made
            a, b = first[node], end[node]
            widest = _enclose(points, a, b, floor[node], ceiling[node])
            if b - a > MAX_LEAF and floor[node, widest] < ceiling[node, widest]:
                middle = _partition(points, a, b, widest, ceiling[node, widest])
                left[node] = n_nodes
                first[n_nodes], end[n_nodes] = a, middle
                first[n_nodes + 1], end[n_nodes + 1] = middle, b
                n_nodes += 2
            node += 1
    return Tree(points, roots, first[:n_nodes], end[:n_nodes], left[:n_nodes], floor[:n_nodes], ceiling[:n_nodes])


@jit
def _enclose(points, a, b, floor, ceiling):
    """Write the box of points a to b - 1; return its widest side."""
    widest = 0
    for k in range(points.shape[1]):
        least = most = points[a, k]
        for i in range(a + 1, b):
            x = points[i, k]
            least, most = min(least, x), max(most, x)
        floor[k], ceiling[k] = least, most
        if most - least > ceiling[widest] - floor[widest]:
            widest = k
    return widest


@jit
def _partition(points, a, b, k, top):
    """Partition points a to b - 1 at the median of coordinate k; neither part is empty, ties stay together."""
    pivot = np.partition(points[a:b, k].copy(), (b - a) // 2)[(b - a) // 2]
    if pivot == top:
        pivot -= 1  # the right part takes the largest value; a smaller one exists, since the side has a width
    i, j = a, b - 1
    while i <= j:
        if points[i, k] <= pivot:
            i += 1
        else:
            for z in range(points.shape[1]):
                points[i, z], points[j, z] = points[j, z], points[i, z]
            j -= 1
    return i


@jit
def _count_boxes(tree, sequence, query_groups, low, high, out):
    """Write the counts of the queries, searched in a sequence that finds their nodes in cache."""
    points, roots, first, end, left, floor, ceiling = tree
    q = points.shape[1]
    stack = np.empty(_MAX_DEPTH, np.int64)
    for turn in range(len(sequence)):
        i = sequence[turn]
        if query_groups[i] < 0 or query_groups[i] >= len(roots) or roots[query_groups[i]] < 0:
            continue
        total = 0
        stack[0] = roots[query_groups[i]]
        depth = 1
        while depth:
            depth -= 1
            node = stack[depth]
            apart, within = False, True
            for k in range(q):
                if floor[node, k] >= high[i, k] or ceiling[node, k] < low[i, k]:
                    apart = True
                    break
                if floor[node, k] < low[i, k] or ceiling[node, k] >= high[i, k]:
                    within = False
            if apart:
                continue
            if within:
                total += end[node] - first[node]
            elif left[node] >= 0:
                stack[depth], stack[depth + 1] = left[node], left[node] + 1
                depth += 2
            else:
                for at in range(first[node], end[node]):
                    fits = True
                    for k in range(q):
                        if points[at, k] < low[i, k] or points[at, k] >= high[i, k]:
                            fits = False
                            break
                    total += fits
        out[i] = total
