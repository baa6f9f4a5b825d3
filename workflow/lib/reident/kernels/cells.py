"""What the searches for sample uniques share: numbering, exact copies, splitting a cell, words of 64 records.

A *cell* of a set of variables is all records with the same values on the set; a record that misses a variable
of the set is in no cell of it. A cell is a run of record numbers in up to four *parts* one after another (who
may be unique and who only counts, per file); splitting keeps the parts apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from reident.kernels.compiling import lean_jit

WORD = 64
"""Records of a cell that fits one machine word: from here on a set of records is one integer."""


def _lowest(_typing, _word):
    def codegen(_context, builder, _signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


lowest: Any = intrinsic(_lowest)
"""In compiled code, ``lowest(word)``: the position of the lowest bit set of a uint64 that is not zero."""


@lean_jit
def below(n):
    """A word with the n lowest bits set, n from 0 to 64."""
    return ~np.uint64(0) if n >= 64 else (np.uint64(1) << np.uint64(n)) - np.uint64(1)


@lean_jit
def tally(column, levels, ids, begin, sizes, counts):
    """Counts a cell's records by part and value."""
    at = begin
    for part in range(len(sizes)):
        for x in range(levels):
            counts[part, x] = 0
        for i in range(at, at + sizes[part]):
            counts[part, column[ids[i]]] += 1
        at += sizes[part]


@lean_jit
def place(column, ids, begin, sizes, slots):
    """Copies a cell's records to where ``slots`` tells for their part and value; below 0, nowhere."""
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
def equal_words(rows, ids, begin, n, wanted, first, stop, table, equal):
    """For the first ``wanted`` records of a cell of at most 64: who equals it on variable j, as a word.

    A record equals nobody, itself neither, where its value is the last number of ``table`` (absent).
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


def recode(column: np.ndarray, taking_part: np.ndarray, absent: int) -> np.ndarray:
    """Numbers the codes that take part 0, 1, …; all others, and missing, become ``absent``.

    Parameters
    ----------
    column : int array (n,)
        Codes; negative is missing.
    taking_part : bool (k,)
        By code; codes of k and above do not take part.
    absent : int
    """
    table = np.full(len(taking_part) + 1, absent, np.uint8 if absent < 256 else np.int32)
    table[:-1][taking_part] = np.arange(taking_part.sum())  # the last entry serves -1 and codes beyond
    return table[np.minimum(np.maximum(column, -1), len(taking_part))]


def frequencies(column: np.ndarray) -> np.ndarray:
    """How often each code 0, 1, … occurs; missing values are not counted."""
    return np.bincount(column[column >= 0])


def entropy(counts: np.ndarray) -> float:
    """Shannon entropy in nats of a frequency table; 0 for an empty one."""
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(shares * np.log(shares)).sum())


def without_copies(rows: np.ndarray) -> tuple[np.ndarray, int]:
    """Sorts rows and keeps two of equal ones, since further copies change nothing for anybody.

    Returns
    -------
    kept : int64 (m,)
        Positions of rows: first those with no exact copy, then two of each of the others;
        both parts in the order of the rows' values.
    n_single : int
        How many have no exact copy.
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
