"""One-to-one assignment of sparse pairs by shortest augmenting paths (METHODS §4.6).

The algorithm is that of Jonker and Volgenant (1987) for sparse costs: rows are added one at a time, each by the
shortest path of exchanges that ends at a column nobody has. Costs are whole numbers, so that sums and comparisons are
exact. A search touches only what it can reach. Of the columns at the same distance the last one found is searched from
first, and those that are found together are taken in ascending order. Equal pairs thus give equal choices, and rows and
columns that no path connects do not influence one another.
"""

import heapq
from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit

FAR = 2**62
"""The distance of a column that has not been reached."""


class State(NamedTuple):
    """The assignment so far, and the search in hand. Behind the columns of the pairs each row has one of its own."""

    price: np.ndarray  # int64 (width,)
    row_of: np.ndarray  # int32 (width,); -1 for a column that nobody has
    column_of: np.ndarray  # int32 (n,); -1 for a row that has not been added yet
    distance: np.ndarray  # int64 (width,)
    via: np.ndarray  # int32 (width,): the row from which a column was reached
    settled: np.ndarray  # bool (width,): whether it needs no further look
    touched: np.ndarray  # int32 (width,)
    todo: np.ndarray  # int32 (width,)
    done: np.ndarray  # int32 (width,)


@jit
def assign(first, column, weight, n_columns):
    """Choose pairs so that each row and column is in at most one, with the largest sum of weights.

    The pairs of a row begin at ``first``, int64 (n + 1,), whose end is their number, with their columns ascending,
    int32 (m,). Weights, int64 (m,), are above 0 and below 2⁶⁰; a row may also stay alone, at 0. Return the position of
    each row's pair, int64 (n,); -1 for a row that stays alone.
    """
    n = first.size - 1
    width = n_columns + n
    state = State(
        np.zeros(width, np.int64),
        np.full(width, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(width, FAR, np.int64),
        np.empty(width, np.int32),
        np.zeros(width, np.bool_),
        np.empty(width, np.int32),
        np.empty(width, np.int32),
        np.empty(width, np.int32),
    )
    for row in range(n):
        _add(np.int32(row), first, column, weight, n_columns, state)
    chosen = np.full(n, -1, np.int64)
    for row in range(n):
        for at in range(first[row], first[row + 1]):
            if column[at] == state.column_of[row]:
                chosen[row] = at
    return chosen


@jit
def _add(row, first, column, weight, n_columns, state):
    """Add a row to the assignment, by the shortest path from it to a column that nobody has."""
    waiting = [(np.int64(0), np.int32(0)) for _ in range(0)]  # a heap of distances and columns
    n_touched = _look(row, -FAR, np.int64(0), first, column, weight, n_columns, state, waiting, 0, 0)[1]
    n_done, n_todo, least, end = 0, 0, np.int64(0), np.int32(-1)
    while end < 0:
        if n_todo == 0:
            least, n_todo, end = _next(state, waiting)
            continue
        n_todo -= 1
        column_done = state.todo[n_todo]
        state.done[n_done] = column_done
        n_done += 1
        owner = state.row_of[column_done]
        # Every column of the owner is as far as this one, but for the difference of their costs.
        at_no_cost = least - _cost(owner, column_done, first, column, weight) + state.price[column_done]
        n_todo, n_touched, end = _look(
            owner, least, at_no_cost, first, column, weight, n_columns, state, waiting, n_todo, n_touched
        )
    for x in range(n_done):
        state.price[state.done[x]] += state.distance[state.done[x]] - least
    for x in range(n_touched):
        state.distance[state.touched[x]] = FAR
        state.settled[state.touched[x]] = False
    while True:  # each row on the path gives its column to the one before it
        owner = state.via[end]
        state.row_of[end] = owner
        state.column_of[owner], end = end, state.column_of[owner]
        if owner == row:
            return


@jit
def _cost(row, target, first, column, weight):
    """Return the cost of a column for a row that has it: the weight that it brings, with a minus."""
    for at in range(first[row], first[row + 1]):
        if column[at] == target:
            return -weight[at]
    return np.int64(0)  # the column of its own


@jit
def _look(row, least, at_no_cost, first, column, weight, n_columns, state, waiting, n_todo, n_touched):
    """Reach the columns of a row: those at the least distance are to be searched from at once, the others wait.

    Return ``n_todo``, ``n_touched`` and a column that nobody has, at the least distance; -1 for none.
    """
    for at in range(first[row], first[row + 1] + 1):
        unmatched = at == first[row + 1]
        reached = np.int32(n_columns + row) if unmatched else column[at]
        if state.settled[reached]:
            continue
        distance = at_no_cost - state.price[reached] - (0 if unmatched else weight[at])
        if distance >= state.distance[reached]:
            continue
        if state.distance[reached] == FAR:
            state.touched[n_touched] = reached
            n_touched += 1
        state.distance[reached] = distance
        state.via[reached] = row
        if distance != least:
            heapq.heappush(waiting, (distance, reached))
            continue
        if state.row_of[reached] < 0:
            return n_todo, n_touched, reached
        n_todo = _await(reached, n_todo, state)
    return n_todo, n_touched, np.int32(-1)


@jit
def _await(reached, n_todo, state):
    """Put a column that somebody has on the list of those to be searched from; return the length of the list."""
    state.todo[n_todo] = reached
    state.settled[reached] = True
    return n_todo + 1


@jit
def _next(state, waiting):
    """Take all columns at the next distance.

    Return the distance, how many columns are to be searched from, and the first of them that nobody has; -1 for none.
    """
    least, n_todo = np.int64(FAR), 0
    while waiting and (n_todo == 0 or waiting[0][0] == least):
        distance, reached = heapq.heappop(waiting)
        if state.settled[reached] or distance != state.distance[reached]:
            continue  # it has been reached by a shorter way
        least = distance
        if state.row_of[reached] < 0:
            return least, n_todo, reached
        n_todo = _await(reached, n_todo, state)
    return least, n_todo, np.int32(-1)
