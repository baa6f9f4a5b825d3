"""The cells of a set of key variables in a file and its population (METHODS §7.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.filerisk import individual, wildcards
from reident.filerisk.prepare import HOUSEHOLD, weighted
from reident.filerisk.settings import PLACE, ScenarioSettings
from reident.kernels import keysets
from reident.linkage import sums
from reident.linkage.categories import codes_of, key_columns


class Target(NamedTuple):
    """A sensitive variable: the codes of the records, -1 for missing, and the records with a value, by its code.

    Where values are compared by their order, `by_place` has the same of their places, otherwise None.
    """

    codes: np.ndarray
    order: np.ndarray
    by_place: Target | None = None


class KeySetFiles(NamedTuple):
    """The file and its population, by column.

    Attributes
    ----------
    n : int
        Records of the file.
    columns : dict
        By key variable its codes in the file and then in the population, int32, -1 for missing, and a number above.
    has_population, wildcard : bool
    fraction : float
        f.
    weights : float64 (n,)
    by_weight : int64 (n,)
        The records from the smallest weight to the largest: sums in this order do not depend on that of the records.
    households : int (n,) or None
    targets : dict of Target
        By name.
    """

    n: int
    columns: dict[str, tuple[np.ndarray, int]]
    has_population: bool
    wildcard: bool
    fraction: float
    weights: np.ndarray
    by_weight: np.ndarray
    households: np.ndarray | None
    targets: dict[str, Target]


class Cells(NamedTuple):
    """The cells of a set of key variables that have a record of the file.

    Where a missing value matches every value there are none, and each record stands for itself.

    Attributes
    ----------
    numbers : int32 (n,)
        By record of the file, its cell; -1 in none.
    sizes : int64 (cells,)
        f, the records of the file that match those of the cell.
    people : float64 (cells,)
        The sum of their weights.
    population : int64 (cells,) or None
        F, the people of the population that match them; None without a population.
    members, complete : int64 (cells,)
        Records that are counted with the cell, and those of them that have a value of every variable.
    n_pairs : float
        How many independent pairs there are, for the interval of DIS.
    """

    numbers: np.ndarray
    sizes: np.ndarray
    people: np.ndarray
    population: np.ndarray | None
    members: np.ndarray
    complete: np.ndarray
    n_pairs: float

    def unique(self) -> np.ndarray:
        """Return the records of the file that match no other one."""
        result: np.ndarray = np.append(self.sizes == 1, False)[self.numbers]
        return result


def files_of(settings: ScenarioSettings, file: pa.Table, population: pa.Table, names: Iterable[str]) -> KeySetFiles:
    """Return the columns of the file and its population that the sets consist of, given all their key variables."""
    fraction, weights = weighted(file, settings.sampling_fraction)
    return KeySetFiles(
        file.num_rows,
        key_columns([file, population], names),
        population.num_rows > 0,
        settings.wildcard,
        fraction,
        weights,
        np.argsort(weights, kind="stable"),
        file[HOUSEHOLD].to_numpy() if settings.household else None,
        {name: _target(file, name, PLACE + name if name in settings.ordered else None) for name in settings.sensitive},
    )


def _target(file: pa.Table, column: str, places: str | None = None) -> Target:
    codes = codes_of(file[column])
    order = np.argsort(codes, kind="stable").astype(np.int32)
    return Target(codes, order[codes[order] >= 0], _target(file, places) if places else None)


def cells_of(files: KeySetFiles, keys: Sequence[str]) -> Cells:
    """Return the cells of a set of at least one key variable."""
    codes, levels = zip(*(files.columns[name] for name in keys), strict=True)
    if files.wildcard and any((column < 0).any() for column in codes):
        return _overlapping(files, np.stack(codes, axis=1))
    numbers, n_cells = keysets.number_cells(codes, levels)
    cells, people = numbers[: files.n], numbers[files.n :]
    ordered = cells[files.by_weight]
    inside = ordered >= 0
    sizes = np.bincount(cells[cells >= 0], minlength=n_cells)
    sums = np.bincount(ordered[inside], files.weights[files.by_weight][inside], n_cells)
    occupied = np.flatnonzero(sizes)
    place = np.full(n_cells + 1, -1, np.int32)
    place[occupied] = np.arange(len(occupied), dtype=np.int32)
    population = np.bincount(people[people >= 0], minlength=n_cells)[occupied] if files.has_population else None
    members = sizes[occupied]
    n_pairs = float((members == 2).sum())
    return Cells(np.take(place, cells), members, sums[occupied], population, members, members, n_pairs)


def _overlapping(files: KeySetFiles, codes: np.ndarray) -> Cells:
    """Return the matches of each record where a missing value matches every value."""
    records, people = codes[: files.n], codes[files.n :]
    sizes, sums = individual.matches(records, files.weights, wildcard=True)
    population = wildcards.matches(records, people) if files.has_population else None
    complete = np.asarray((records >= 0).all(axis=1))
    n_pairs = wildcards.independent_pairs(records, complete & (sizes == 2))
    numbers, ones = np.arange(files.n, dtype=np.int32), np.ones(files.n, np.int64)
    return Cells(numbers, sizes, sums, population, ones, complete.astype(np.int64), n_pairs)


def shared(members: np.ndarray, sizes: np.ndarray) -> float:
    """Return Σ members / size, whatever the order; a size of 0 adds nothing."""
    totals = np.bincount(sizes, members)
    totals[:1] = 0
    return sums.of_shares(totals)
