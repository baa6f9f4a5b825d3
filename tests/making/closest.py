"""Files for distances to the closest record, as prepared tables, and people with an answer that is known."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from reident.distances import measure as closest
from reident.matching.settings import ClosestSettings

LEVEL = 0.95
PEOPLE = [True] * 3 + [False] * 3
"""Which variables of :func:`people` are numbers."""


def rules_of(numeric: Sequence[bool]) -> ClosestSettings:
    names = tuple(f"v{at}" for at in range(len(numeric)))
    return ClosestSettings(names, frozenset(n for n, own in zip(names, numeric, strict=True) if own), (), LEVEL)


def table(numeric: Sequence[bool], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Return a prepared file of these rows; None is missing."""
    n = len(rows)
    columns = {".row": pa.array(np.arange(2, n + 2, dtype=np.int32)), ".file": pa.array(np.ones(n, np.int32))}
    for at, is_number in enumerate(numeric):
        columns[f"v{at}"] = pa.array([row[at] for row in rows], pa.float64() if is_number else pa.string())
    return pa.table(columns)


def measured(
    numeric: Sequence[bool], confidential: Any, synthetic: Any, holdout: Any, threads: int = 1
) -> closest.Distances:
    """Return the distances of rows of three files."""
    tables = [table(numeric, rows) for rows in (confidential, synthetic, holdout)]
    return closest.measure(rules_of(numeric), *tables, threads=threads)


def people(draw: np.random.Generator, n: int) -> np.ndarray:
    """Return three numbers and three categories that depend on one another; NaN is missing."""
    latent = draw.normal(size=(n, 2))
    own = latent[:, [0, 1, 0]] + 0.7 * draw.normal(size=(n, 3))
    numbers = [np.round(45 + 12 * own[:, 0]), np.round(np.exp(8 + 0.6 * own[:, 1])), own[:, 2]]
    kinds = latent[:, [1, 0, 1]] + draw.normal(size=(n, 3))
    codes = [np.digitize(kinds[:, at], np.linspace(-2, 2, size)) for at, size in enumerate((2, 5, 9))]
    return np.where(draw.random((n, 6)) < 0.02, np.nan, np.column_stack([*numbers, *codes]))


def margins(draw: np.random.Generator, file: np.ndarray) -> np.ndarray:
    """Return a synthetic file: each variable drawn by itself with replacement."""
    return np.column_stack([draw.choice(column, len(column)) for column in file.T])


def rows_of(file: np.ndarray) -> list[list[Any]]:
    """Return :func:`people` as rows of numbers and texts."""
    columns = [
        [None if np.isnan(x) else float(x) if is_number else str(int(x)) for x in column]
        for is_number, column in zip(PEOPLE, file.T, strict=True)
    ]
    return [list(row) for row in zip(*columns, strict=True)]
