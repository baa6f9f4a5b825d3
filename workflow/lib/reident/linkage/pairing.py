"""The records of one stratum of both files as arrays, the form that metrics compare (METHODS §4)."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.intake import keys
from reident.linkage.bins import grouped
from reident.linkage.parts import Linkage, Variable
from reident.linkage.strata import members


class Records(NamedTuple):
    """Records of one file.

    Attributes
    ----------
    codes : int32 (n, v)
        Categories, equal across the files; -1 where missing or where the variable is compared by value.
    values : float64 (n, v)
        Numbers; NaN where missing or where the variable is compared by category.
    """

    codes: np.ndarray
    values: np.ndarray

    def take(self, rows: np.ndarray | slice) -> Records:
        """The records at the given positions."""
        return Records(np.ascontiguousarray(self.codes[rows]), np.ascontiguousarray(self.values[rows]))


class Scope(NamedTuple):
    """The values of all records of both files in the scope of the study: a stratum, or the whole files.

    ``puf`` is float64 (n_puf, v), ``eif`` float64 (n_eif, v), as :attr:`Records.values`.
    """

    puf: np.ndarray
    eif: np.ndarray


class Pairing(NamedTuple):
    """The records of both files that are compared with each other.

    Attributes
    ----------
    variables : tuple of Variable
    puf, eif : Records
        A stratum's records in canonical order; of the PUF perhaps a block of them.
    labels : tuple
        For each variable its categories by code, or None if it is compared by value.
    spread : float64 (v,)
        The sample standard deviation of each numeric variable in the PUF, in the scope of the
        study; NaN where undefined or not numeric.
    scope : Scope
        What measures that depend on other records than the two of a pair are taken from.
    """

    variables: tuple[Variable, ...]
    puf: Records
    eif: Records
    labels: tuple[list[str] | None, ...]
    spread: np.ndarray
    scope: Scope


class Comparison:
    """Both files of a study, ready to hand out pairings stratum by stratum.

    Parameters
    ----------
    linkage : Linkage
    puf, eif : pyarrow.Table
        Both prepared or both binned.
    manifest : pandas.DataFrame
        The strata.
    scope : {'stratum', 'study'}
        Where standard deviations are taken.
    """

    def __init__(
        self,
        linkage: Linkage,
        puf: pa.Table,
        eif: pa.Table,
        manifest: pd.DataFrame,
        scope: Literal["stratum", "study"] = "stratum",
    ) -> None:
        self.variables = linkage.variables
        self.strata = list(manifest["stratum"])
        self._rows = {
            side: grouped(_stratum(table, manifest, linkage), len(self.strata))
            for side, table in (("puf", puf), ("eif", eif))
        }
        self.records, self.labels = _as_arrays(linkage.variables, puf, eif)
        self.any_missing = any(
            table[variable.name].null_count for table in (puf, eif) for variable in linkage.variables
        )
        whole = Scope(self.records["puf"].values, self.records["eif"].values)
        self._whole = (spread(whole.puf), whole) if scope == "study" else None

    def rows(self, side: str, stratum: str) -> np.ndarray:
        """The positions in the whole file of a stratum's records."""
        return self._rows[side][self.strata.index(stratum)]

    def pairing(self, stratum: str, start: int = 0, stop: int | None = None) -> Pairing:
        """A stratum's records, of the PUF those from `start` to before `stop`."""
        puf = self.records["puf"].take(self.rows("puf", stratum))
        eif = self.records["eif"].take(self.rows("eif", stratum))
        scale, scope = self._whole or (spread(puf.values), Scope(puf.values, eif.values))
        block = puf.take(slice(start, stop))
        return Pairing(self.variables, block, eif, self.labels, scale, scope)


def _stratum(table: pa.Table, manifest: pd.DataFrame, linkage: Linkage) -> np.ndarray:
    if "stratum" in table.column_names:
        return members(table, manifest, ["stratum"])
    return members(table, manifest, list(linkage.strata))


def _as_arrays(
    variables: tuple[Variable, ...], puf: pa.Table, eif: pa.Table
) -> tuple[dict[str, Records], tuple[list[str] | None, ...]]:
    tables = {"puf": puf, "eif": eif}
    labels: list[list[str] | None] = []
    records = {side: _empty(table.num_rows, len(variables)) for side, table in tables.items()}
    for at, variable in enumerate(variables):
        columns = [table[variable.name] for table in tables.values()]
        kind = columns[0].type
        if pa.types.is_floating(kind):
            labels.append(None)
            for own, column in zip(records.values(), columns, strict=True):
                own.values[:, at] = column.to_numpy()  # noqa: PD011 - an array of ours
        elif pa.types.is_integer(kind):
            labels.append(None)
            for own, column in zip(records.values(), columns, strict=True):
                own.codes[:, at] = column.fill_null(-1).to_numpy()
        else:
            codes, names = keys.text_codes(columns)
            labels.append(names.to_pylist())
            for own, code in zip(records.values(), codes, strict=True):
                own.codes[:, at] = code
    return records, tuple(labels)


def _empty(n: int, v: int) -> Records:
    return Records(np.full((n, v), -1, np.int32), np.full((n, v), np.nan))


def spread(values: np.ndarray) -> np.ndarray:
    """The sample standard deviation (n − 1) of each column, missing values left out (METHODS §4.3).

    Sums are correctly rounded, so that the order of records does not matter. NaN with fewer
    than two values.
    """
    out = np.full(values.shape[1], np.nan)
    for at in range(values.shape[1]):
        present = values[:, at][~np.isnan(values[:, at])]
        if len(present) > 1:
            mean = math.fsum(present) / len(present)
            out[at] = math.sqrt(math.fsum((present - mean) ** 2) / (len(present) - 1))
    return out
