"""The records of both files in the form in which pairs are compared by differences (METHODS §4.6).

Equal records of a file are one row with the number of them. Rows are in the order of their values, so that nothing
depends on the order of the records or their keys.
"""

from typing import NamedTuple

import numpy as np

MISSING = np.iinfo(np.int64).min
"""The value that is missing."""

MAX_PIECES, PIECE = 16, 2.0**20
"""The pieces of rows that are added up by themselves: how many at most, and how many pairs one has at least."""


class Intervals(NamedTuple):
    """The intervals of each variable's difference, EIF less PUF, with the comparison level of each."""

    ends: np.ndarray  # int64: the last difference in each interval but the last, variable by variable
    first: np.ndarray  # int64 (v + 1,): where the ends of a variable begin
    level: np.ndarray  # int64 (ends + v,): the level of each interval; those of variable j begin at first[j] + j
    n_levels: np.ndarray  # int64 (v,): the levels of a variable are numbered from 0; this number is that of missing


class Side(NamedTuple):
    """The distinct records of a file, stratum by stratum, ascending."""

    values: np.ndarray  # int64 (v, n)
    times: np.ndarray  # float64 (n,): how many records are equal
    starts: np.ndarray  # int64 (n_strata + 1,)
    members: np.ndarray  # int64 (records,): the records of each row, one row after another
    first: np.ndarray  # int64 (n + 1,): where those of a row begin


class Compared(NamedTuple):
    """Both files, with the distinct values of the EIF in each stratum."""

    puf: Side
    eif: Side
    stratum: np.ndarray  # int64 (n_puf,)
    codes: np.ndarray  # int32 (v, n_eif): the place of each value among those of its stratum; their number if missing
    distinct: np.ndarray  # int64: the values of all strata and variables
    up_to: np.ndarray  # int64: the EIF records of the stratum that have at most the value
    bounds: np.ndarray  # int64 (n_strata, 2, v): where those of a stratum and variable begin and end
    pieces: np.ndarray  # int64 (n_pieces + 1,): PUF rows


def side(values: np.ndarray, starts: np.ndarray) -> Side:
    """Return the distinct records of strata that lie one after another; values are int64 (n, v)."""
    stratum = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort([*values.T[::-1], stratum])
    rows, of_rows = values[order], stratum[order]
    new = np.ones(len(order), bool)
    new[1:] = (of_rows[1:] != of_rows[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)
    first = np.append(np.flatnonzero(new), len(order))
    bounds = np.searchsorted(of_rows[new], np.arange(len(starts)))
    return Side(np.ascontiguousarray(rows[new].T), np.diff(first).astype(np.float64), bounds, order, first)


def compare(puf: np.ndarray, eif: np.ndarray, starts: tuple[np.ndarray, np.ndarray]) -> Compared:
    """Return both files in the form in which pairs are compared.

    Parameters
    ----------
    puf, eif : int64 (n, v)
        Values, see :data:`MISSING`.
    starts : pair of int64 (n_strata + 1,)
        Where each stratum starts in the files.
    """
    ours, theirs = side(puf, starts[0]), side(eif, starts[1])
    v, n_strata = len(ours.values), len(ours.starts) - 1
    stratum = [np.repeat(np.arange(n_strata), np.diff(one.starts)) for one in (ours, theirs)]
    codes, distinct, up_to = np.empty(theirs.values.shape, np.int32), [], []
    bounds, total = np.empty((n_strata, 2, v), np.int64), 0
    for j, column in enumerate(theirs.values):
        order = np.lexsort([column, stratum[1]])
        value, of = column[order], stratum[1][order]
        new = value != MISSING
        new[1:] &= (of[1:] != of[:-1]) | (value[1:] != value[:-1])
        number = np.bincount(of[new], minlength=n_strata)
        before = np.cumsum(number) - number
        codes[j, order] = np.where(value == MISSING, number[of], np.cumsum(new) - 1 - before[of])
        bounds[:, 0, j], bounds[:, 1, j] = total + before, total + before + number
        distinct.append(value[new])
        present = np.where(value == MISSING, 0, theirs.times[order]).astype(np.int64)
        records = np.append(0, np.cumsum(present))
        last = np.append(np.flatnonzero(new), len(new))[1:]
        up_to.append(records[last] - records[theirs.starts[of[new]]])
        total += int(new.sum())
    values, counts = (np.concatenate(one) if one else np.empty(0, np.int64) for one in (distinct, up_to))
    pieces = _pieces(np.diff(theirs.starts)[stratum[0]])
    return Compared(ours, theirs, stratum[0], codes, values, counts, bounds, pieces)


def _pieces(sizes: np.ndarray) -> np.ndarray:
    """Return where pieces of rows with these numbers of pairs begin, and the last ends."""
    pairs = np.cumsum(sizes.astype(np.float64))
    n_pieces = int(min(MAX_PIECES, max(1, (pairs[-1] if len(pairs) else 0) // PIECE)))
    inner = np.searchsorted(pairs, pairs[-1] * np.arange(1, n_pieces) / n_pieces) if n_pieces > 1 else []
    return np.unique(np.array([0, *inner, len(pairs)], np.int64))


def of_rows(files: Compared, rows: np.ndarray) -> Compared:
    """Return some rows of the PUF, ascending, each as a record of its own, and all of the EIF."""
    stratum = files.stratum[rows]
    starts = np.searchsorted(stratum, np.arange(len(files.puf.starts)))
    values, n = np.ascontiguousarray(files.puf.values[:, rows]), len(rows)
    ours = Side(values, np.ones(n), starts, np.arange(n), np.arange(n + 1))
    return files._replace(puf=ours, stratum=stratum, pieces=_pieces(np.diff(files.eif.starts)[stratum]))
