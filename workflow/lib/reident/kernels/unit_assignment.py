"""The least-cost assignment of the members of two units (METHODS §4.7).

The algorithm is that of Kuhn and Munkres with shortest augmenting paths: rows are added one at a time, and the cost of
those that are assigned, with the least costs of the others, bounds the whole from below.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import lean_jit
from reident.kernels.unit_costs import Rules, member_costs


class Scratch(NamedTuple):
    """Work space for units of up to ``size`` members; arrays of potentials have a place 0 that no member has."""

    costs: np.ndarray  # float64 (size, size)
    rest: np.ndarray  # float64 (size + 1,): the least costs of this row and of those after it
    row_price: np.ndarray  # float64 (size + 1,)
    column_price: np.ndarray  # float64 (size + 1,)
    row_of: np.ndarray  # int64 (size + 1,): the row of each column, 0 for none
    via: np.ndarray  # int64 (size + 1,): the column before this one on the path
    least: np.ndarray  # float64 (size + 1,)
    used: np.ndarray  # bool (size + 1,)
    parts: np.ndarray  # float64 (v,): the costs of single variables


def empty_scratch(size: int, unit_rules: Rules, member_rules: Rules) -> Scratch:
    """Allocate work space for units of up to ``size`` members."""
    n = size + 1
    return Scratch(
        np.empty((size, size)),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n, np.bool_),
        np.empty(len(unit_rules.kind) + len(member_rules.kind)),
    )


@lean_jit
def assign(n, m, stop, scratch):
    """Return the least cost of assigning n rows to m ≥ n columns; infinity if it is known to be at least ``stop``."""
    costs, rest = scratch.costs, scratch.rest
    rest[n] = 0.0
    for i in range(n - 1, -1, -1):
        lowest = costs[i, 0]
        for k in range(1, m):
            lowest = min(lowest, costs[i, k])
        rest[i] = rest[i + 1] + lowest
    if rest[0] >= stop:
        return np.inf
    if n == 1:
        return rest[0]
    if n == m:
        columns = 0.0
        for k in range(m):
            lowest = costs[0, k]
            for i in range(1, n):
                lowest = min(lowest, costs[i, k])
            columns += lowest
        if columns >= stop:
            return np.inf
    row_price, column_price, row_of, via, least, used = (
        scratch.row_price, scratch.column_price, scratch.row_of, scratch.via, scratch.least, scratch.used,
    )  # fmt: skip
    row_price[: n + 1] = 0.0
    column_price[: m + 1] = 0.0
    row_of[: m + 1] = 0
    for i in range(1, n + 1):
        row_of[0] = i
        least[: m + 1] = np.inf
        used[: m + 1] = False
        column = 0
        while True:
            used[column] = True
            row, delta, following = row_of[column], np.inf, 0
            for k in range(1, m + 1):
                if not used[k]:
                    reduced = costs[row - 1, k - 1] - row_price[row] - column_price[k]
                    if reduced < least[k]:
                        least[k], via[k] = reduced, column
                    if least[k] < delta:
                        delta, following = least[k], k
            for k in range(m + 1):
                if used[k]:
                    row_price[row_of[k]] += delta
                    column_price[k] -= delta
                else:
                    least[k] -= delta
            column = following
            if row_of[column] == 0:
                break
        while column != 0:
            row_of[column] = row_of[via[column]]
            column = via[column]
        if -column_price[0] + rest[i] >= stop:
            return np.inf
    total = 0.0
    for k in range(1, m + 1):
        if row_of[k] > 0:
            total += costs[row_of[k] - 1, k - 1]
    return total


@lean_jit
def _largest(rules):
    """Return the largest cost of a variable."""
    largest = 0.0
    for cost in rules.largest:
        largest = max(largest, cost)
    return largest


@lean_jit
def name_members(rules, puf, eif, pairs, links, scratch, named):
    """Tell for each linked member of a pair whether every least-cost assignment gives it its own record.

    ``pairs``, int64 (m, 2), are units, ``links``, int64 (k, 3), the position of a pair and the two members; ``named``,
    bool (k,), is the result.
    """
    for at in range(len(links)):
        pair, x, y = links[at]
        i, r = pairs[pair]
        a, b = puf.start[i + 1] - puf.start[i], eif.start[r + 1] - eif.start[r]
        n, m = min(a, b), max(a, b)
        member_costs(
            rules, puf.stratum[i], puf, eif, puf.start[i], a, eif.start[r], b, np.inf, scratch.costs, scratch.parts
        )
        best = assign(n, m, np.inf, scratch)
        row, column = (x, y) if a <= b else (y, x)
        scratch.costs[row, column] = 1.0 + 2.0 * (n + 1) * rules.largest.size * _largest(rules)
        named[at] = assign(n, m, np.inf, scratch) > best * (1 + 1e-12) + 1e-12
