"""Feasible intervals and suppressions by trying every whole-number point and every pattern, in plain numpy."""

from itertools import combinations, product

import numpy as np


def points(intervals, relations):
    """All points of the box of the intervals, by cell in sorted order, that satisfy the relations."""
    cells = sorted(intervals)
    grid = np.array(list(product(*(range(intervals[c][0], intervals[c][1] + 1) for c in cells))))
    good = np.ones(len(grid), bool)
    for row in relations:
        sums = sum(factor * grid[:, cells.index(cell)] for cell, factor in row.terms.items())
        good &= (sums >= row.low - 1e-9) & (sums <= row.high + 1e-9)
    return grid[good]


def widest(intervals, relations):
    """The smallest and the largest value of each cell."""
    found = points(intervals, relations)
    return {cell: (int(found[:, at].min()), int(found[:, at].max())) for at, cell in enumerate(sorted(intervals))}


def suppressed(intervals, pattern, largest):
    return {cell: (0, largest) if cell in pattern else ends for cell, ends in intervals.items()}


def protects(intervals, relations, pattern, required, largest):
    found = widest(suppressed(intervals, pattern, largest), relations)
    return all(found[cell][1] - found[cell][0] >= width for cell, width in required.items())


def attainable(intervals, relations, asked, free, largest):
    """The required widths: what is asked for, at most the width with everything suppressed."""
    found = widest(suppressed(intervals, set(free), largest), relations)
    return {cell: min(width, found[cell][1] - found[cell][0]) for cell, width in asked.items()}


def least_weight(intervals, relations, required, weights, largest):
    """The weight of the cheapest pattern that protects, of all patterns."""
    cells = sorted(weights)
    patterns = (set(some) for size in range(len(cells) + 1) for some in combinations(cells, size))
    return min(
        sum(weights[cell] for cell in pattern)
        for pattern in patterns
        if protects(intervals, relations, pattern, required, largest)
    )
