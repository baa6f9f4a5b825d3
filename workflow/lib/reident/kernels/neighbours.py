"""The nearest values of a column: how far the g-th is, and how many are nearer than another (METHODS §4.5).

Distances are differences of doubles as they are computed, which never decrease with the exact difference. The search
in sorted values is therefore exact for them.
"""

import numpy as np

from reident.kernels.compiling import jit, lean_jit


@lean_jit
def farthest_of(values, n, y, g):
    """Return the distance of y to the g-th nearest of the first n values, which ascend; infinite if n is at most g."""
    if n <= g:
        return np.inf
    place = np.searchsorted(values[:n], y)
    first, last = min(max(place - g, 0), n - g), min(place, n - g)
    while first < last:  # the first of the g nearest, halving where it may be
        middle = (first + last) // 2
        if y - values[middle] > values[middle + g] - y:
            first = middle + 1
        else:
            last = middle
    return max(abs(y - values[first]), abs(values[first + g - 1] - y))


@lean_jit
def span(values, n, y, limit, slack, closed):
    """Return the range of the first n values, which ascend, within the limit of y: the first such and the end.

    A distance d counts as d·(1 + 2·slack) + slack·|y|. It must be below the limit or, if ``closed``, at most equal.
    """
    wide, extra = 1.0 + 2.0 * slack, slack * abs(y)
    if extra > limit or (extra == limit and not closed):
        return 0, 0
    a, b = 0, n
    while a < b:
        middle = (a + b) // 2
        reach = (y - values[middle]) * wide + extra
        if values[middle] >= y or reach < limit or (closed and reach == limit):
            b = middle
        else:
            a = middle + 1
    first, b = a, n
    while a < b:
        middle = (a + b) // 2
        reach = (values[middle] - y) * wide + extra
        if values[middle] <= y or reach < limit or (closed and reach == limit):
            a = middle + 1
        else:
            b = middle
    return first, a


@jit
def _farthest(values, puf_values, g, distance):
    for at in range(puf_values.size):
        distance[at] = farthest_of(values, values.size, puf_values[at], g)


def farthest(puf_values: np.ndarray, eif_values: np.ndarray, g: int) -> np.ndarray:
    """Return each value's distance to the g-th nearest of a column, float64 (m,).

    The column, float64 (n,), ascends without missing values; each of its values counts, equal ones too. The distance is
    infinite if it has at most g values. g is at least 1.
    """
    distance = np.empty(len(puf_values))
    _farthest(eif_values, puf_values, g, distance)
    return distance
