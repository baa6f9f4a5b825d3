"""What the searches for the sets of one size read and fill in, and the bits that tell who is unique (METHODS §7)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import WORD
from reident.kernels.cells import MEMBERS, NEXT, ORDER, SIZES, STOP, TOP, split
from reident.kernels.compiling import inner_jit, jit, lean_jit

MAX_SIZE, MAX_VARIABLES = 8, 256
"""Positions of the variables of a set, of eight bits each, share one word."""


class File(NamedTuple):
    """A file whose variables are in ascending order of information, without values that only one record has."""

    rows: (
        np.ndarray
    )  # uint8 or int32 (n, v): number of the value within its variable; the most levels if missing
    columns: np.ndarray  # the same, (v, n)
    levels: np.ndarray  # int64 (v,)
    begins: np.ndarray  # int64 (v + 1,): where each variable's values begin in `Tally.by_level`
    positions: np.ndarray  # uint64 (v,): position of each variable in the caller's file


class Uniques(NamedTuple):
    """Who is unique on the sets of one size, in bits: a row for each set, which has a bit per cell or per record.

    A set's row is its place in the order of sets by their highest variable, then by the next one, and so on. In
    `suda_pairs` the sets are prefixes, and what begins is the matrix of the first cell.
    """

    begins: np.ndarray  # int64 (sets,): first word of the row; its complement where bits are records
    words: np.ndarray  # uint64 (words,)


class Order(NamedTuple):
    """The order of the records in which a variable's cells are contiguous: what is near in it is near in memory."""

    ids: np.ndarray  # uint32 (n,): those of the block, then all others
    places: np.ndarray  # int32 (n,): place of a record within the block


class Job(NamedTuple):
    """The sets to be searched: those of one size whose last variable is from ``low`` to ``high`` - 1."""

    size: int
    final: bool  # whether no larger size follows
    low: int
    high: int
    n: int  # records of the block
    ranks: np.ndarray  # int64 (v + 1, size + 1): binomial coefficients
    known: Uniques  # of one variable less
    found: Uniques  # of this size, to be filled in unless ``final``
    order: np.ndarray  # int8 (n,): size of each record's smallest set so far, or 0


class Tally(NamedTuple):
    """What a thread counts."""

    counts: np.ndarray  # int32 (n,): minimal sets of each record of the block
    least: np.ndarray  # uint64 (n,): the first one, as the positions of its variables, eight bits each
    by_level: (
        np.ndarray
    )  # int64 (levels in all,): minimal sets that hold the variable, of the records with the value


@jit
def layout(levels, n, size, low, high, ranks):
    """Lay out the rows of all sets of a size whose last variable is from ``low`` to ``high`` - 1.

    Returns
    -------
    begins : int64 (sets,)
        As in `Uniques`.
    words : int64 (v,)
        Words of all rows, by last variable.
    """
    v, words, at = len(levels), np.zeros(len(levels), np.int64), 0
    begins = np.zeros(ranks[v, size], np.int64)
    members = np.arange(size + 1)
    members[size] = v + 1
    for row in range(len(begins)):
        if low <= members[0] < high:
            cells = 1
            for i in range(size):
                cells = min(cells * levels[members[i]], n + 1)
            begins[row] = at if cells <= n else ~at
            needed = (min(cells, n) + WORD - 1) // WORD
            words[members[0]] += needed
            at += needed
        i = 0
        while members[i] + 1 == members[i + 1]:
            members[i] = i
            i += 1
        members[i] += 1
    return begins, words


@lean_jit
def push_all(records, job, stack, variable):
    """Put the cell of all records at the bottom of the stack."""
    ids, frames, n = stack.ids, stack.frames, len(records.ids)
    for i in range(n):
        ids[i] = records.ids[i]
    frames[0, :] = 0
    frames[0, SIZES], frames[0, SIZES + 1] = job.n, n - job.n
    frames[0, NEXT], frames[0, STOP], frames[0, TOP] = variable, variable + 1, n


@inner_jit
def split_by_next(file, job, stack, f, first, stop):
    """Push the parts of the cell on top by its next variable; below them it stays for the variable after.

    In the final size a cell that the variable does not split is left out: without it, records would be unique on the
    same sets.
    """
    frames = stack.frames
    j, order = frames[f, NEXT], frames[f, ORDER] + 1
    size = frames[f, SIZES] + frames[f, SIZES + 1]
    frames[f, NEXT] = j + 1
    base = f - 1 if j + 1 >= frames[f, STOP] else f
    next_first, next_stop = (first, stop) if order == 1 else (job.low + job.size - 1 - order, j)
    child = (next_first, next_stop, order, 0, frames[f, MEMBERS] << 8 | j)
    top = split(stack, f, base, file.columns[j], file.levels[j], True, child)[0]
    whole = top == base + 1 and frames[top, SIZES] + frames[top, SIZES + 1] == size
    return base if job.final and whole else top
