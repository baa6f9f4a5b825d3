"""Groups of the counts of an edition: which are tied to each other, which are suppressed together (METHODS §11.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from reident.linkage.settings import WHOLE
from reident.release.cells import Cell
from reident.release.system import System

TABLES = {"clusters": "clusters", "match": "matching", "below": "file", "file": "file"}
"""The table of a quantity, by the first word of its name; all others are counts of the attack."""


def blocks(system: System) -> np.ndarray:
    """Return the number of the block of each cell; most proofs need the relations inside one block alone."""
    return _numbers(
        [
            (cell.stratum, "") if cell.stratum != WHOLE else (WHOLE, f"{cell.metric} {cell.other}")
            for cell in system.cells
        ]
    )


class Ties:
    """Groups of cells of a system that relations tie together; constants tie nothing.

    What can vary in one `component`, int64 (cells,), says nothing about another one.
    """

    def __init__(self, system: System) -> None:
        varying = sparse.diags_array((system.low < system.high).astype(float))
        matrix = abs(system.matrix) @ varying
        matrix.eliminate_zeros()
        self._cells = slice(matrix.shape[0], None)
        self._graph = sparse.block_array([[None, matrix], [matrix.T, None]], format="csr")
        self.component = connected_components(self._graph, directed=False)[1][self._cells]

    def distances(self, at: int) -> np.ndarray:
        """Return how many relations are between a cell and each other one, twice; float64 (cells,)."""
        start = self._cells.start + at
        return dijkstra(self._graph, directed=False, indices=start, unweighted=True)[self._cells]


def levels(cells: Sequence[Cell]) -> Iterator[np.ndarray]:
    """Yield the number of the group of each cell, from small groups to one of all.

    The counts of a line: a metric, stratum and rank limit, or a convention or scenario; those of the metric in the
    stratum; of the metric; of a table; all counts.
    """
    tables = [TABLES.get(cell.quantity.partition("_")[0], "attack") for cell in cells]
    # An earlier edition has its counts in the groups of the new one, in which alone counts can be suppressed.
    metrics = [
        (table, cell.file.partition("@")[0], cell.variant, cell.metric)
        for table, cell in zip(tables, cells, strict=True)
    ]
    strata = [
        (*metric, cell.stratum, cell.other.rsplit("|", 2)[0]) for metric, cell in zip(metrics, cells, strict=True)
    ]
    lines = [(*key, cell.rank_limit) for key, cell in zip(strata, cells, strict=True)]
    for keys in (lines, strata, metrics, tables, [""] * len(cells)):
        yield _numbers(keys)


def _numbers(keys: Sequence[Any]) -> np.ndarray:
    """Return the number of each key among all keys in sorted order."""
    numbers = {key: at for at, key in enumerate(sorted(set(keys)))}
    return np.array([numbers[key] for key in keys], np.int64)
