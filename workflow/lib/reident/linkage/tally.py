"""Groups of records, and sums of whole numbers by combinations of numbers, which grow with the combinations alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from reident.linkage import batches

MAX_CODE = 2**62
"""Combinations have codes below this."""


class Tally:
    """Sums by combination, added up batch by batch.

    The columns `by` of a combination are whole numbers from 0 to below 2³¹. All other columns are added up.
    """

    def __init__(self, by: Sequence[str]) -> None:
        self._by = list(by)
        self._tables: list[pd.DataFrame] = []
        self._lines = self._summed = 0

    def add(self, columns: dict[str, np.ndarray]) -> None:
        """Add lines: the columns of their combination, and whole numbers."""
        table = self._sum(columns)
        self._tables.append(table)
        self._lines += len(table)
        # So rarely that each line is summed again a few times at most.
        if self._lines > batches.ROWS + 2 * self._summed:
            self._gather()

    def table(self) -> pd.DataFrame:
        """Return one line for each combination, in their order; int64."""
        self._gather()
        return self._tables[0].sort_values(self._by, ignore_index=True)

    def _gather(self) -> None:
        if len(self._tables) == 1:
            return
        lines = pd.concat(self._tables)
        self._tables = [self._sum({name: lines[name].to_numpy() for name in lines.columns})]
        self._lines = self._summed = len(self._tables[0])

    def _sum(self, columns: dict[str, np.ndarray]) -> pd.DataFrame:
        first, case = cases(*(columns[name] for name in self._by))
        return pd.DataFrame(
            {
                name: values[first].astype(np.int64)
                if name in self._by
                else np.bincount(case, values, len(first)).astype(np.int64)
                for name, values in columns.items()
            }
        )


def cases(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a position of each combination of numbers, and the combination of each position.

    Parameters
    ----------
    *columns : int (n,)
        Numbers from 0 to below 2³¹.

    Returns
    -------
    first : int64 (m,)
        The first position of each combination.
    case : int64 (n,)
        The number of the combination of each position, in the order in which they come first.
    """
    case, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size > MAX_CODE // width:
            case, numbers = pd.factorize(case)
            size = max(len(numbers), 1)
        case = case * width + column
        size *= width
    case, numbers = pd.factorize(case)
    first = np.empty(len(numbers), np.int64)
    first[case[::-1]] = np.arange(len(case) - 1, -1, -1)
    return first, case


class Groups(NamedTuple):
    """The members of each group.

    Attributes
    ----------
    order : int64 (n,)
        The positions of the members, group by group, ascending within a group.
    bounds : int64 (n_groups + 1,)
        Where each group begins in `order`.
    """

    order: np.ndarray
    bounds: np.ndarray

    def members(self, group: int) -> np.ndarray:
        """Return the positions of the members of a group, ascending."""
        return self.order[self.bounds[group] : self.bounds[group + 1]]

    def several(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the members of groups, one group after another, and where each begins."""
        sizes = self.bounds[groups + 1] - self.bounds[groups]
        starts = np.append(0, np.cumsum(sizes))
        places = np.arange(starts[-1]) + np.repeat(self.bounds[groups] - starts[:-1], sizes)
        return self.order[places], starts


def grouped(group: np.ndarray, n_groups: int) -> Groups:
    """Return the members of each group; negative groups are left out."""
    order = np.argsort(group, kind="stable")
    return Groups(order, np.searchsorted(group[order], np.arange(n_groups + 1)))
