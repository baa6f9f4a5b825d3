"""The search for the pairs that agree on each set of variables, for comparison patterns (METHODS §4.6)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit
from reident.kernels.pattern_cells import (
    DIFFER,
    Records,
    States,
    code,
    compare_cell,
    count_cell,
    merge,
    offset,
    run_end,
    skip_missing,
    sort,
)

BLOCK = 256
"""Records of the EIF that are compared at a time."""

PLACES = 2**20
"""The largest number of keys by which records are merged: a table of them must stay near the processor."""

SET, CELLS = 0, 1
"""Kinds of nodes, as in `errorset`."""


class PreparedPatterns(NamedTuple):
    """Two files whose pairs are counted."""

    states: States
    puf: Records
    eif: Records
    masks: np.ndarray  # uint64 (m,): the bit sets of the variables that records miss


def search(
    task: int,
    shared: int,
    rows: tuple[int, int],
    files: PreparedPatterns,
    slots: np.ndarray,
    limits: np.ndarray,
    tables: np.ndarray,
) -> None:
    """Count the pairs of a range of PUF records, for the sets whose first variables are the bits of a task.

    The sets have those of the first ``shared`` variables that are bits of ``task``, and no other one of them. ``slots``
    has the table of each depth of the search, -1 for none; the last one is for cells of all variables. ``limits`` are
    the nanoseconds for a record, a pair and a state, and the size from which a range is merged. ``tables``, int64 (t,
    patterns), are added to.
    """
    v, (first, end), n_eif = len(files.states.stride), rows, len(files.eif.loads)
    merged, n_keys = _merged_from(files.states, len(files.masks))
    room = 0 if merged == v else n_keys
    both = _copy(files.puf, first, end, room), _copy(files.eif, 0, n_eif, room)
    layout = files.states, files.masks, merged
    places = np.zeros(n_keys, np.int32)
    _search(task, shared, both, (end - first, n_eif), layout, places, slots, limits, tables)


def _merged_from(states: States, n_masks: int) -> tuple[int, int]:
    """Return the variable from which on equal records are merged, and the number of keys; all variables for none."""
    v = len(states.word)
    left = int(states.shift[-1] + states.bits[-1]) - states.shift.astype(np.int64)
    for j in range(1, v):
        if states.word[j] == states.word[-1] and left[j] < 32 and n_masks << int(left[j]) <= PLACES:
            return j, n_masks << int(left[j])
    return v, 0


def _copy(records: Records, first: int, end: int, room: int) -> Records:
    """Return some records, to be sorted, and room for others."""
    words = np.empty((len(records.words), end - first + room), np.uint64)
    loads = np.empty(end - first + room, np.uint64)
    words[:, : end - first], loads[: end - first] = records.words[:, first:end], records.loads[first:end]
    return Records(words, loads)


@jit
def _few_pairs(n_puf, n_eif, n_variables, limits):
    """Return whether comparing the pairs of a cell is faster than the search through its sets of variables."""
    sets_ns = (n_puf + n_eif) * limits[0] * 2.0**n_variables
    return n_puf * n_eif * (limits[1] + limits[2] * n_variables) <= sets_ns


@jit
def _search(task, shared, both, sizes, layout, places, slots, limits, tables):
    """Count as `search` does.

    A node on top of another sorts only its own ranges. The nodes of a variable's cells are on top of the node that
    leaves the variable out, and need the order by that variable. Merged records follow those of the file: no two nodes
    that are still to come have merged.
    """
    puf, eif = both
    states, masks, merged = layout
    v, (n_puf, n_eif) = len(states.stride), sizes
    most = max(n_puf, n_eif)
    sorting = Records(np.empty((len(puf.words), most), np.uint64), np.empty(most, np.uint64))
    sums, offsets = np.zeros((2, len(masks)), np.int64), np.empty(len(masks), np.int64)
    for x in range(len(masks)):
        offsets[x] = offset(masks[x], states)
    listed = np.empty((2, len(masks)), np.int32)
    comparing = np.empty((2 * v + 2, BLOCK), np.int32)
    nodes = np.empty((5 * v + 5, 8), np.int64)
    nodes[0] = SET, 0, n_puf, 0, n_eif, 0, 0, 0
    n = 1
    while n > 0:
        n -= 1
        kind, p, p_stop, e, e_stop, j, at, apart = nodes[n]
        if kind == CELLS:
            state = 0 if apart == 0 else states.partial[j] * states.stride[j]
            while p < p_stop and e < e_stop:
                p_code, e_code = code(puf, p, j, states) + apart, code(eif, e, j, states)
                if p_code < e_code:
                    p = run_end(puf, p, p_stop, j, states)
                elif p_code > e_code:
                    e = run_end(eif, e, e_stop, j, states)
                else:
                    p_next, e_next = run_end(puf, p, p_stop, j, states), run_end(eif, e, e_stop, j, states)
                    nodes[n] = CELLS, p_next, p_stop, e_next, e_stop, j, at, apart
                    nodes[n + 1] = SET, p, p_next, e, e_next, j + 1, at + state, 0
                    n += 2
                    break
            continue
        if j == v:
            cell = puf, p, p_stop, eif, e, e_stop
            count_cell(cell, at, states, masks, offsets, sums, listed, tables[slots[v]])
            continue
        compared = j >= shared and slots[j] >= 0 and _few_pairs(p_stop - p, e_stop - e, v - j, limits)
        if j == merged and not compared:
            if p_stop - p >= limits[3]:
                p, p_stop = n_puf, merge(puf, p, p_stop, n_puf, j, states, places)
            if e_stop - e >= limits[3]:
                e, e_stop = n_eif, merge(eif, e, e_stop, n_eif, j, states, places)
            compared = j >= shared and slots[j] >= 0 and _few_pairs(p_stop - p, e_stop - e, v - j, limits)
        if compared:
            compare_cell((puf, p, p_stop, eif, e, e_stop), j, at, states, masks, comparing, tables[slots[j]])
            continue
        if j >= shared or task >> j & 1 == 0:
            nodes[n] = SET, p, p_stop, e, e_stop, j + 1, at + DIFFER * states.stride[j], 0
            n += 1
        if j >= shared or task >> j & 1 == 1:
            sort(puf, p, p_stop, j, states, sorting)
            sort(eif, e, e_stop, j, states, sorting)
            p, e = skip_missing(puf, p, p_stop, j, states), skip_missing(eif, e, e_stop, j, states)
            nodes[n] = CELLS, p, p_stop, e, e_stop, j, at, 0
            n += 1
            if states.partial[j] != 0:
                nodes[n] = CELLS, p, p_stop, e, e_stop, j, at, 1
                nodes[n + 1] = CELLS, p, p_stop, e, e_stop, j, at, -1
                n += 2
