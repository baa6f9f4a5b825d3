"""How many points of a group lie in a box: the count c of matching-based risk (METHODS §8).

A record asks for the points of its own group whose coordinates all lie in its half-open
intervals of ranks. One coordinate: two binary searches in the points sorted by group and rank.
Several: a k-d tree in each group, whose nodes know the box of their points, so that a node wholly
inside an asked box is counted, and one wholly outside is passed over, without looking at a point.
Everything is an integer; nothing is rounded, and memory grows with points and askers alone.
"""

from __future__ import annotations

import numpy as np

from reident.kernels.compiling import jit

LEAF = 32
"""Nodes of at most so many points are searched point by point."""


def count(
    groups: np.ndarray, ranks: np.ndarray, asked: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Count, for each asker, the points of its group inside its box.

    Parameters
    ----------
    groups : int64 (n,)
        The group of each point; negative: the point is in no group.
    ranks : int32 (n, q)
        The coordinates of each point, 0 and above.
    asked : int64 (m,)
        The group of each asker; negative, or a group without points: its count is 0.
    low, high : int32 (m, q)
        An asker's box: ``low <= rank < high`` in every coordinate.

    Returns
    -------
    int64 (m,)
    """
    q = ranks.shape[1]
    size = int(max(groups.max(initial=-1), asked.max(initial=-1))) + 1
    if size == 0:
        return np.zeros(len(asked), np.int64)
    inside = groups >= 0
    if not inside.all():
        groups, ranks = groups[inside], ranks[inside]
    if q == 0:
        return np.append(np.bincount(groups, minlength=size), 0)[asked]
    if q == 1:
        return _count_sorted(groups, ranks[:, 0], asked, low[:, 0], high[:, 0])
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(size + 1))
    points = np.ascontiguousarray(ranks[order])
    tree = _grow(points, starts)
    out = np.zeros(len(asked), np.int64)
    # Askers of one group with boxes close together follow each other: they visit the same nodes.
    turn = np.lexsort((low[:, 1], low[:, 0], asked))
    _count_boxes(points, *tree, turn, asked, np.ascontiguousarray(low), np.ascontiguousarray(high), out)
    return out


def _count_sorted(
    groups: np.ndarray, ranks: np.ndarray, asked: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """One coordinate: points between two places in the order of (group, rank)."""
    top = int(max(ranks.max(initial=0), high.max(initial=0))) + 1
    keys = np.sort(groups * top + ranks)
    start, stop = (np.searchsorted(keys, asked * top + np.minimum(bound, top)) for bound in (low, high))
    return np.where(asked >= 0, np.maximum(stop - start, 0), 0)


@jit
def _grow(points, starts):
    """Orders the points of each group as a k-d tree, in place.

    Returns the roots by group (-1: no point), and per node: first point, end, left child (-1: a leaf;
    the right child is the next node after it), and the box of its points.
    """
    n, q = points.shape
    most = 2 * n + 1
    first, end, left = np.empty(most, np.int64), np.empty(most, np.int64), np.full(most, -1, np.int64)
    floor, ceiling = np.empty((most, q), np.int32), np.empty((most, q), np.int32)
    roots = np.full(len(starts) - 1, -1, np.int64)
    made = 0
    for group in range(len(roots)):
        if starts[group] == starts[group + 1]:
            continue
        roots[group] = made
        first[made], end[made] = starts[group], starts[group + 1]
        made += 1
        node = roots[group]
        while node < made:  # nodes are split in the order in which they are made
            a, b = first[node], end[node]
            widest = _enclose(points, a, b, floor[node], ceiling[node])
            if b - a > LEAF and floor[node, widest] < ceiling[node, widest]:
                middle = _split(points, a, b, widest, ceiling[node, widest])
                left[node] = made
                first[made], end[made] = a, middle
                first[made + 1], end[made + 1] = middle, b
                made += 2
            node += 1
    return roots, first[:made], end[:made], left[:made], floor[:made], ceiling[:made]


@jit
def _enclose(points, a, b, floor, ceiling):
    """Writes the box of the points from a to b; returns its widest side."""
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
def _split(points, a, b, k, top):
    """Parts the points from a to b at the median of coordinate k; neither part is empty, ties stay together."""
    pivot = np.partition(points[a:b, k].copy(), (b - a) // 2)[(b - a) // 2]
    if pivot == top:
        pivot -= 1  # the largest value is on the right; a smaller one exists, since the side has a width
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
def _count_boxes(points, roots, first, end, left, floor, ceiling, turn, asked, low, high, out):
    q = points.shape[1]
    stack = np.empty(4096, np.int64)
    for place in range(len(turn)):
        i = turn[place]
        if asked[i] < 0 or asked[i] >= len(roots) or roots[asked[i]] < 0:
            continue
        total = 0
        stack[0] = roots[asked[i]]
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
