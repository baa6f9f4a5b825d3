"""The same records before and after protection, variable by variable (METHODS §13)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.intake import keys
from reident.linkage.settings import Variable
from reident.utility.settings import UtilitySettings

MISSING = 0
"""The code of a missing value; categories have the codes 1, 2, … in code point order."""


class Both(NamedTuple):
    """A variable of the records that both files have, in the same order.

    Attributes
    ----------
    original, released : ndarray (n,)
        Numeric: float64, NaN where missing. Categorical: int64 codes, 0 where missing.
    labels : list of str
        The category of each code, the empty text for a missing value; empty for a numeric variable.
    """

    variable: Variable
    original: np.ndarray
    released: np.ndarray
    labels: list[str]

    @property
    def numeric(self) -> bool:
        """Whether the variable is numeric."""
        return self.variable.is_numeric

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """The values before and after protection."""
        return self.original, self.released


class Joined(NamedTuple):
    """The variables of the records of both files, and how many records each file alone has."""

    variables: list[Both]
    n_records: int
    n_original: int
    n_released: int


def join(settings: UtilitySettings, original: pa.Table, released: pa.Table) -> Joined:
    """Join the prepared records before and after protection, each in the canonical order of keys, by their key."""
    rows = keys.positions(original, settings.key, released, settings.key)
    common = np.flatnonzero(rows >= 0)
    before, after = original.take(pa.array(rows[common])), released.take(pa.array(common))
    variables = [_both(variable, before[variable.name], after[variable.name]) for variable in settings.variables]
    n = len(common)
    return Joined(variables, n, original.num_rows - n, released.num_rows - n)


def _both(variable: Variable, original: pa.ChunkedArray, released: pa.ChunkedArray) -> Both:
    if variable.is_numeric:
        before, after = (column.to_numpy().astype(np.float64) for column in (original, released))
        return Both(variable, before, after, [])
    (before, after), labels = keys.text_codes([original, released])
    return Both(variable, before + 1, after + 1, ["", *labels.to_pylist()])
