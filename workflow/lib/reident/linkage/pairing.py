"""The records of one stratum of both files as arrays, the form that metrics compare (METHODS §4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from reident.intake import keys
from reident.linkage import sums
from reident.linkage.settings import Variable
from reident.linkage.strata import stratum_of_records
from reident.linkage.tally import grouped


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
        """Return the records at the given positions."""
        return Records(np.ascontiguousarray(self.codes[rows]), np.ascontiguousarray(self.values[rows]))


class Scope(NamedTuple):
    """The values of all records of both files, as in :class:`Records`, in the scope of the study."""

    puf: np.ndarray
    eif: np.ndarray


class Pairing(NamedTuple):
    """The records of both files that are compared with each other: of one stratum, or of several, each by itself.

    Attributes
    ----------
    variables : tuple of Variable
    puf, eif : Records
        A stratum's records in canonical order, those of the PUF perhaps a block of them; one stratum after another.
    labels : tuple
        For each variable its categories by code, or None if it is compared by value or by bin.
    spread : float64 (v,), of several strata (n_strata, v)
        The sample standard deviation of each numeric variable in the PUF, in the scope of the
        study; NaN where undefined or not numeric.
    scope : Scope
        The records that a score may depend on besides the two of a pair: all of the stratum, or of the study with
        `binning.scope: study`, also where the pairing holds a block of them.
    starts : tuple of int64 (n_strata + 1,) or None
        Of several strata: where each starts in the PUF and in the EIF, and in the end the number of records.
    """

    variables: tuple[Variable, ...]
    puf: Records
    eif: Records
    labels: tuple[list[str] | None, ...]
    spread: np.ndarray
    scope: Scope
    starts: tuple[np.ndarray, np.ndarray] | None = None


class Comparison:
    """Both files of a study, from which pairings are taken stratum by stratum.

    Parameters
    ----------
    files : mapping of pyarrow.Table
        ``puf`` and ``eif``, both prepared or both binned.
    scope : {'stratum', 'study'}
        The records from which standard deviations are computed.
    """

    def __init__(
        self,
        variables: tuple[Variable, ...],
        files: Mapping[str, pa.Table],
        strata: Mapping[str, pa.Table],
        n_strata: int,
        scope: Literal["stratum", "study"] = "stratum",
    ) -> None:
        self.variables = variables
        self._rows = {side: grouped(stratum_of_records(table), n_strata) for side, table in strata.items()}
        self._records, self._labels = encode(variables, files)
        self.any_missing = any(table[variable.name].null_count for table in files.values() for variable in variables)
        whole = Scope(self._records["puf"].values, self._records["eif"].values)
        self._whole = (spread(whole.puf), whole) if scope == "study" else None

    def rows(self, side: str, stratum: int) -> np.ndarray:
        """Return the row numbers in the whole file of a stratum's records; a stratum is its line of the manifest."""
        return self._rows[side].members(stratum)

    def rows_of(self, side: str, strata: np.ndarray) -> np.ndarray:
        """Return the row numbers in the whole file of the records of strata, one stratum after another."""
        return self._rows[side].several(strata)[0]

    def sizes(self, side: str) -> np.ndarray:
        """Return the number of records of each stratum; int64 (n_strata,)."""
        return np.diff(self._rows[side].bounds)

    def whole(self) -> Pairing:
        """Return all records of both files, in the order of the files."""
        puf, eif = self._records["puf"], self._records["eif"]
        scope = Scope(puf.values, eif.values)
        return Pairing(self.variables, puf, eif, self._labels, spread(puf.values), scope)

    def pairing(self, stratum: int, block: slice | np.ndarray = slice(None)) -> Pairing:
        """Return a stratum's records, of the PUF those at some positions among the stratum's PUF records."""
        puf = self._records["puf"].take(self.rows("puf", stratum))
        eif = self._records["eif"].take(self.rows("eif", stratum))
        scale, scope = self._whole or (spread(puf.values), Scope(puf.values, eif.values))
        return Pairing(self.variables, puf.take(block), eif, self._labels, scale, scope)

    def pairings(self, strata: np.ndarray) -> Pairing:
        """Return the records of several strata, given by their lines of the manifest; int64 (n_strata,)."""
        (puf_rows, puf_starts), (eif_rows, eif_starts) = (self._rows[side].several(strata) for side in ("puf", "eif"))
        puf, eif = self._records["puf"].take(puf_rows), self._records["eif"].take(eif_rows)
        deviations, scope = self._whole or (spreads(puf.values, puf_starts), Scope(puf.values, eif.values))
        scale = np.broadcast_to(deviations, (len(strata), len(self.variables)))
        return Pairing(self.variables, puf, eif, self._labels, scale, scope, (puf_starts, eif_starts))


def encode(
    variables: tuple[Variable, ...], files: Mapping[str, pa.Table]
) -> tuple[dict[str, Records], tuple[list[str] | None, ...]]:
    """Return the records of both files as arrays, and for each variable its categories by code.

    The files ``puf`` and ``eif`` are both prepared or both binned. A variable that is compared by value or by bin has
    None instead of categories.
    """
    labels: list[list[str] | None] = []
    records = {side: _empty(table.num_rows, len(variables)) for side, table in files.items()}
    for at, variable in enumerate(variables):
        columns = [table[variable.name] for table in files.values()]
        kind = columns[0].type
        if pa.types.is_floating(kind):
            labels.append(None)
            for side, column in zip(records, columns, strict=True):
                records[side].values[:, at] = column.to_numpy()
        else:
            codes, names = coded(columns)
            labels.append(names)
            for side, code in zip(records, codes, strict=True):
                records[side].codes[:, at] = code
    return records, tuple(labels)


def coded(columns: Sequence[pa.ChunkedArray]) -> tuple[list[np.ndarray], list[str] | None]:
    """Return a variable of several files, text or the numbers of bins, as codes, and its categories by code.

    The codes are equal across the files, -1 where missing; bins have no categories (None).
    """
    if pa.types.is_integer(columns[0].type):
        return [column.fill_null(-1).to_numpy() for column in columns], None
    codes, names = keys.text_codes(columns)
    return codes, names.to_pylist()


def _empty(n: int, v: int) -> Records:
    return Records(np.full((n, v), -1, np.int32), np.full((n, v), np.nan))


def spread(values: np.ndarray) -> np.ndarray:
    """Return the sample standard deviation (n − 1) of each column of float64 (n, v), NaN missing (METHODS §4.3).

    It is NaN for a column with fewer than two values. Sums are correctly rounded, so the order of records does not
    matter.
    """
    return spreads(values, np.array([0, len(values)]))[0]


def spreads(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return :func:`spread` of each of several strata, float64 (n_strata, v).

    Stratum k lies from starts[k] to before starts[k + 1].
    """
    out = np.full((len(starts) - 1, values.shape[1]), np.nan)
    for at in range(values.shape[1]):
        present = ~np.isnan(values[:, at])
        if not present.any():
            continue
        bounds = np.append(0, np.cumsum(present))[starts]
        n, column = np.diff(bounds), values[present, at]
        enough = n > 1
        mean = sums.of_segments(column, bounds) / np.maximum(n, 1)
        squares = (column - np.repeat(mean, n)) ** 2
        out[enough, at] = np.sqrt(sums.of_segments(squares, bounds)[enough] / (n[enough] - 1))
    return out
