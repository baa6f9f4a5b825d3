"""Cells of records: the splitting and counting that unicity and SUDA share (METHODS §4.1, §7).

A *cell* of a set of variables holds all records with the same values on the set; a record with a missing value
on the set is in no cell of it. A cell is a run of record numbers in *parts*, one after another: for each file,
first the records that may be unique, then the records that only count. Unicity compares two files and has four
parts, SUDA has one file and two parts. Splitting a cell keeps the parts apart.

The cells still to be searched lie on a stack, each described by a *frame*. The parts of a cell are copied behind
it and searched last first, so that everything behind the cell on top is free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit, lean_jit

BEGIN, NEXT, STOP, TOP, ORDER, COST, MEMBERS, SIZES = range(8)
"""Columns of a frame: where the cell begins in ``ids``; the next variable to add and the one to stop before;
where free space begins in ``ids``; number of variables in the set, its cost and its bit set; from `SIZES` on, the
number of records in each part."""


class Stack(NamedTuple):
    """The cells still to be searched."""

    ids: np.ndarray  # uint32: record numbers
    frames: np.ndarray  # int64 (frames, SIZES + parts)
    counts: np.ndarray  # int64 (parts, values): records of the cell that is split, by part and value
    slots: np.ndarray  # int64 (parts, values): where they go in ``ids``


@jit
def empty_stack(n_ids, n_frames, n_parts, n_values):
    """Allocate a stack, uninitialised."""
    return Stack(
        np.empty(n_ids, np.uint32),
        np.empty((n_frames, SIZES + n_parts), np.int64),
        np.empty((n_parts, n_values), np.int64),
        np.empty((n_parts, n_values), np.int64),
    )


@jit
def enlarge(array):
    """Copy an array into one with twice as many rows."""
    larger = np.empty((2 * len(array),) + array.shape[1:], array.dtype)  # noqa: RUF005 - numba has no unpacking
    for at in np.ndindex(array.shape):  # for a slice, numba compiles its messages on shapes too, which takes seconds
        larger[at] = array[at]
    return larger


@lean_jit
def _count(column, n_values, ids, begin, sizes, counts):
    """Count the records of a cell by part and value."""
    at = begin
    for part in range(len(sizes)):
        for x in range(n_values):
            counts[part, x] = 0
        for i in range(at, at + sizes[part]):
            counts[part, column[ids[i]]] += 1
        at += sizes[part]


@lean_jit
def _copy(column, ids, begin, sizes, slots):
    """Copy the records of a cell to the slot of their part and value; a negative slot drops them."""
    at = begin
    for part in range(len(sizes)):
        for i in range(at, at + sizes[part]):
            x = column[ids[i]]
            slot = slots[part, x]
            if slot >= 0:
                ids[slot] = ids[i]
                slots[part, x] = slot + 1
        at += sizes[part]


@lean_jit
def split(stack, f, base, column, n_values, deeper, child):
    """Push the cells into which a variable splits the cell of frame f, above frame ``base`` (f or f - 1).

    A cell is pushed if each file has a record in it that may be unique and either variables can be added to it
    (``deeper``) or it has a single record of each file. The largest number of the stack's tables is a missing value of
    the column, uint8 or int32 (n,). ``child`` has the next variable, the variable to stop before, order, cost and
    members of the new frames. Return the new top of the stack, and where free space begins in ``ids``.
    """
    ids, frames, counts, slots = stack
    begin, free, sizes = frames[f, BEGIN], frames[f, TOP], frames[f, SIZES:]
    n_parts, live = len(sizes), False
    _count(column, n_values, ids, begin, sizes, counts)
    for x in range(n_values):
        n, possible = 0, True
        for part in range(n_parts):
            slots[part, x] = -1
            n += counts[part, x]
            possible &= counts[part, x] > 0 or part % 2 == 1
        if possible and (deeper or n == n_parts // 2):
            live = True
            for part in range(n_parts):
                slots[part, x] = free
                free += counts[part, x]
    if not live:
        return base, free
    slots[:, slots.shape[1] - 1] = -1
    _copy(column, ids, begin, sizes, slots)
    top = base
    for x in range(n_values):  # from here on frame f may be overwritten
        if slots[0, x] >= 0:
            top += 1
            frames[top, BEGIN], frames[top, TOP] = slots[0, x] - counts[0, x], slots[n_parts - 1, x]
            frames[top, NEXT], frames[top, STOP], frames[top, ORDER] = child[0], child[1], child[2]
            frames[top, COST], frames[top, MEMBERS] = child[3], child[4]
            for part in range(n_parts):
                frames[top, SIZES + part] = counts[part, x]
    return top, free


@lean_jit
def equal_words(rows, ids, begin, n, wanted, first, stop, table, equal):
    """Write, for the first ``wanted`` of the n records of a cell, which records equal them on each variable.

    ``equal[i, j]`` is a word with a bit for each record of the cell, for variables ``first`` to ``stop`` - 1.
    It is 0 where record i misses the variable, that is where its value is the last index of ``table``.
    """
    absent = len(table) - 1
    for j in range(first, stop):
        for i in range(n):
            table[rows[ids[begin + i], j]] = 0
        for i in range(n):
            table[rows[ids[begin + i], j]] |= np.uint64(1) << np.uint64(i)
        table[absent] = 0
        for i in range(wanted):
            equal[i, j] = table[rows[ids[begin + i], j]]


def drop_copies(rows: np.ndarray) -> tuple[np.ndarray, int]:
    """Sort rows and keep at most two of equal ones, since further copies change no record's uniqueness.

    Return the positions of rows, first those without an exact copy, then two of each of the others, both in the order
    of the rows' values; and how many rows have no exact copy.
    """
    n, v = rows.shape
    if n == 0 or v == 0:
        return np.arange(min(n, 2)), int(n == 1)
    order = np.lexsort(rows.T[::-1])
    begins = np.ones(n, bool)
    begins[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    starts = np.flatnonzero(begins)
    sizes = np.diff(np.append(starts, n))
    single, several = starts[sizes == 1], starts[sizes > 1]
    return order[np.concatenate([single, several, several + 1])], len(single)
