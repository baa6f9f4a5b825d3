"""Matches of the records of a fragment in the file they are removed from, for the special form of DIS (METHODS §7).

The values by which a record is matched are those of the file, or its original values where the file is perturbed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reident.filerisk import wildcards
from reident.filerisk.uniques import cell_numbers


class Matches(NamedTuple):
    """The records that may be removed, and their matches in the file.

    Attributes
    ----------
    sizes : int64 (b,)
        Records of the file that match each of them.
    includes_own : bool (b,)
        Whether its own record is one of these; always, unless the file is perturbed.
    removable : int64 (b,)
        How many of these may be removed.
    remaining : callable
        ``remaining(at, back)`` gives, for records at these positions that are removed, of which those ``back`` are
        copied back, how many records of the file still match each of them, int64.
    """

    sizes: np.ndarray
    includes_own: np.ndarray
    removable: np.ndarray
    remaining: Callable[[np.ndarray, np.ndarray], np.ndarray]

    @property
    def counts(self) -> tuple[int, int, int]:
        """U, P, W: the numbers of outcomes for one removed record, see `dis.general`."""
        single, others = self.sizes == 1, self.sizes - self.includes_own
        return (
            int((single & self.includes_own).sum()),
            int((others == 1).sum()),
            int((single & ~self.includes_own).sum()),
        )


def by_cell(codes: np.ndarray, original: np.ndarray | None = None) -> Matches:
    """Match records that are equal on every variable; those that miss a known value cannot be removed.

    By default each record is matched by its values in the file, with `original` by these codes, int32 (n, v).
    """
    numbers = cell_numbers(codes if original is None else np.concatenate([codes, original]))
    cells, original_cells = numbers[: len(codes)], numbers[-len(codes) :]
    order = np.argsort(cells, kind="stable") if original is None else np.lexsort((original_cells, cells))
    return by_number(cells[order], original_cells[order])  # the same draws whatever the order of records


def by_number(cells: np.ndarray, original: np.ndarray) -> Matches:
    """Match records by the numbers of their cells; a negative one is a record that misses a value."""
    counts = np.bincount(cells[cells >= 0], minlength=int(original.max(initial=0)) + 1)
    pool = np.flatnonzero(original >= 0)
    cells, original = cells[pool], original[pool]
    removable = np.bincount(cells[cells >= 0], minlength=len(counts))

    def remaining_matches(at: np.ndarray, back: np.ndarray) -> np.ndarray:
        removed_cells = cells[at[~back]]
        removed_cells = removed_cells[removed_cells >= 0]
        np.subtract.at(counts, removed_cells, 1)
        n_matches = counts[original[at]]
        np.add.at(counts, removed_cells, 1)
        return n_matches

    return Matches(counts[original], cells == original, removable[original], remaining_matches)


def by_wildcard(codes: np.ndarray, original: np.ndarray | None = None) -> Matches:
    """Match records that are equal where both have a value; those that miss a known value cannot be removed."""
    searched = codes if original is None else original
    order = np.lexsort(np.concatenate([searched, codes], axis=1).T[::-1])
    pool = order[(searched[order] >= 0).all(axis=1)]
    released, searched = codes[pool], searched[pool]
    sizes = wildcards.matches(searched, codes)

    def remaining_matches(at: np.ndarray, back: np.ndarray) -> np.ndarray:
        return sizes[at] - wildcards.matches(searched[at], released[at[~back]])

    includes_own = ((released == searched) | (released < 0)).all(axis=1)
    return Matches(sizes, includes_own, wildcards.matches(searched, released), remaining_matches)
