"""Records that are alone with a value in their cell, in both of two files (METHODS §6.10)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import lean_jit
from reident.kernels.toplist import in_threads

MIN_RECORDS = 100_000
"""The records of a file from which on a second thread is worth its start."""


class Grouped(NamedTuple):
    """The records of a file, grouped by cell; those in no cell are left out."""

    starts: np.ndarray  # int64 (n_cells + 1,): where the records of a cell begin in `rows`
    rows: np.ndarray  # int32 (n,): ascending inside a cell


def group(cells: np.ndarray, n_cells: int) -> Grouped:
    """Group records by their cells; int64 (n,), -1 for none."""
    starts = np.cumsum(np.bincount(cells + 1, minlength=n_cells + 1))
    starts -= starts[0]
    rows = np.empty(starts[-1], np.int32)
    _place(cells, starts[:-1].copy(), rows)
    return Grouped(starts, rows)


@lean_jit
def _place(cells, place, rows):
    """Write the records of each cell where the next one of it is to be."""
    for row in range(cells.size):
        cell = cells[row]
        if cell >= 0:
            rows[place[cell]] = row
            place[cell] += 1


@lean_jit
def _count(side, codes, cell, numbers, latest, marks):
    """Count the records of a cell by value; the numbers of a value are valid where its mark is that of the cell."""
    for at in range(side.starts[cell], side.starts[cell + 1]):
        row = side.rows[at]
        code = codes[row]
        if code < 0:
            continue
        if marks[code] != cell:
            marks[code], numbers[code] = cell, 0
        numbers[code] += 1
        latest[code] = row


@lean_jit
def _pair(ours, theirs, codes, first, last, scratch, partner):
    """Write the EIF record of each PUF record of some cells that is in a pair."""
    (numbers, latest, marks), (of_eif, latest_eif, marks_eif) = scratch
    for cell in range(first, last):
        if theirs.starts[cell] == theirs.starts[cell + 1]:
            continue
        _count(ours, codes[0], cell, numbers, latest, marks)
        _count(theirs, codes[1], cell, of_eif, latest_eif, marks_eif)
        for at in range(ours.starts[cell], ours.starts[cell + 1]):
            code = codes[0][ours.rows[at]]
            if code >= 0 and numbers[code] == 1 and marks_eif[code] == cell and of_eif[code] == 1:
                partner[latest[code]] = latest_eif[code]


def single_pairs(
    ours: Grouped, theirs: Grouped, codes: tuple[np.ndarray, np.ndarray], threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of records that have a value alone, each in its file and cell.

    Parameters
    ----------
    ours, theirs : Grouped
        The PUF and the EIF, by the same cells.
    codes : pair of int32 (n,)
        The values of both files, -1 where missing.
    threads : int
        The result does not depend on it.

    Returns
    -------
    puf, eif : int32 (m,)
        Rows, sorted by PUF row.
    """
    n_cells, width = len(ours.starts) - 1, 1 + max(int(side.max(initial=-1)) for side in codes)
    partner = np.full(len(codes[0]), -1, np.int32)

    def work(first: int, last: int) -> None:
        scratch = tuple(
            (np.empty(width, np.int32), np.empty(width, np.int32), np.full(width, -1, np.int64)) for _ in range(2)
        )
        _pair(ours, theirs, codes, first, last, scratch, partner)

    threads = threads if len(ours.rows) >= MIN_RECORDS else 1
    in_threads(work, n_cells, block=max(-(-n_cells // threads), 1), threads=threads)
    puf = np.flatnonzero(partner >= 0)
    return puf.astype(np.int32), partner[puf]
