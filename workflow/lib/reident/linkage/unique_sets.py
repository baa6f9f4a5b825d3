"""The smallest sets of linking variables that make a confirmed pair unique in the EIF (METHODS §6.3)."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from reident.kernels.keysets import number_cells


class SmallestSets(NamedTuple):
    """The smallest unique sets of each pair.

    Attributes
    ----------
    size : int64 (m,)
        0 where no set of a size that is searched is unique.
    first : int64 (m,)
        The place of the first one among :attr:`sets`; -1 without one.
    n_sets : int64 (m,)
        How many sets of this size are unique.
    containing : int64 (m, v)
        How many of these contain each variable.
    sets : list of tuple
        Sets of variables by position.
    """

    size: np.ndarray
    first: np.ndarray
    n_sets: np.ndarray
    containing: np.ndarray
    sets: list[tuple[int, ...]]


def smallest_sets(
    codes: np.ndarray, stratum: np.ndarray, eif_rows: np.ndarray, agree: np.ndarray, max_size: int
) -> SmallestSets:
    """Find, for each pair, the smallest sets on which it agrees and its EIF record is alone in its stratum.

    Parameters
    ----------
    codes : int32 (n_eif, v)
        The categories of the EIF records; -1 where missing: the record is in no cell of a set with that variable.
    stratum : int (n_eif,)
        -1 for none.
    eif_rows : int (m,)
        The EIF record of each pair, in a stratum.
    agree : bool (m, v)
        The variables on which the records of each pair agree; none that either misses.
    max_size : int
        The largest size of a set that is searched.
    """
    (m, v), sets = agree.shape, list[tuple[int, ...]]()
    size, first, n_sets = np.zeros(m, np.int64), np.full(m, -1), np.zeros(m, np.int64)
    containing = np.zeros((m, v), np.int64)
    near = np.flatnonzero(np.isin(stratum, np.unique(stratum[eif_rows])) & (stratum >= 0))
    place = np.full(len(codes), -1)
    place[near] = np.arange(len(near))
    codes, group, eif_rows = codes[near], stratum[near], place[eif_rows]
    for length in range(1, min(max_size, v) + 1):
        todo = np.flatnonzero(size == 0)
        for members in combinations(range(v), length):
            pairs = todo[agree[todo][:, list(members)].all(axis=1)]
            pairs = pairs[alone(codes[:, list(members)], group)[eif_rows[pairs]]] if len(pairs) else pairs
            if not len(pairs):
                continue
            sets.append(members)
            first[pairs] = np.where(first[pairs] < 0, len(sets) - 1, first[pairs])
            size[pairs] = length
            n_sets[pairs] += 1
            containing[pairs[:, np.newaxis], list(members)] += 1
    return SmallestSets(size, first, n_sets, containing, sets)


def alone(codes: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return whether each record is alone in its cell and group, bool (n,); never where a code is missing (-1)."""
    columns = [group, *codes.T]
    cells, _ = number_cells(columns, [int(column.max(initial=0)) + 1 for column in columns])
    inside = cells >= 0
    is_alone = np.zeros(len(codes), bool)
    is_alone[inside] = np.bincount(cells[inside])[cells[inside]] == 1
    return is_alone
