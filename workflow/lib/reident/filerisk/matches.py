"""How the records of a fragment match the file they are removed from, for the special form of DIS (METHODS §7).

The values by which a record is matched are those of the file, or its original values where the file is perturbed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reident.filerisk import wildcards
from reident.filerisk.uniques import cell_numbers


class Matches(NamedTuple):
    """The records that may be removed, and what they match in the file.

    Attributes
    ----------
    sizes : int64 (b,)
        Records of the file that match each of them.
    own : bool (b,)
        Whether its own record is one of these; always, unless the file is perturbed.
    removable : int64 (b,)
        How many of these may be removed.
    left : callable
        ``left(at, back)`` gives, for records at these positions that are removed, of which those ``back`` are copied
        back, how many records of the file still match each of them, int64.
    """

    sizes: np.ndarray
    own: np.ndarray
    removable: np.ndarray
    left: Callable[[np.ndarray, np.ndarray], np.ndarray]

    @property
    def counts(self) -> tuple[int, int, int]:
        """U, P, W: what one removed record can be, see `dis.general`."""
        alone, others = self.sizes == 1, self.sizes - self.own
        return int((alone & self.own).sum()), int((others == 1).sum()), int((alone & ~self.own).sum())


def by_cell(codes: np.ndarray, known: np.ndarray | None = None) -> Matches:
    """Match records that are equal on every variable; those that miss a known value cannot be removed.

    Parameters
    ----------
    codes : int32 (n, v)
        Category codes of the file, -1 for missing.
    known : int32 (n, v), optional
        The values by which each record is matched; by default those of the file.
    """
    numbers = cell_numbers(codes if known is None else np.concatenate([codes, known]))
    cells, mine = numbers[: len(codes)], numbers[-len(codes) :]
    order = np.argsort(cells, kind="stable") if known is None else np.lexsort((mine, cells))
    return by_number(cells[order], mine[order])  # the same draws whatever the order of records


def by_number(cells: np.ndarray, known: np.ndarray) -> Matches:
    """Match records by the numbers of their cells; a negative one is a record that misses a value."""
    counts = np.bincount(cells[cells >= 0], minlength=int(known.max(initial=0)) + 1)
    pool = np.flatnonzero(known >= 0)
    cells, known = cells[pool], known[pool]
    removable = np.bincount(cells[cells >= 0], minlength=len(counts))

    def left(at: np.ndarray, back: np.ndarray) -> np.ndarray:
        gone = cells[at[~back]]
        gone = gone[gone >= 0]
        np.subtract.at(counts, gone, 1)
        still = counts[known[at]]
        np.add.at(counts, gone, 1)
        return still

    return Matches(counts[known], cells == known, removable[known], left)


def by_wildcard(codes: np.ndarray, known: np.ndarray | None = None) -> Matches:
    """Match records that are equal where both have a value; those that miss a known value cannot be removed."""
    mine = codes if known is None else known
    order = np.lexsort(np.concatenate([mine, codes], axis=1).T[::-1])
    pool = order[(mine[order] >= 0).all(axis=1)]
    released, mine = codes[pool], mine[pool]
    sizes = wildcards.matches(mine, codes)

    def left(at: np.ndarray, back: np.ndarray) -> np.ndarray:
        return sizes[at] - wildcards.matches(mine[at], released[at[~back]])

    own = ((released == mine) | (released < 0)).all(axis=1)
    return Matches(sizes, own, wildcards.matches(mine, released), left)
