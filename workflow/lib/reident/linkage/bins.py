"""Bins: numeric linking variables as quantile categories, for unicity, taxicab and Fellegi–Sunter (METHODS §3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.grouping import N_MEMBERS
from reident.linkage.batches import SortedRows, is_of_members, schema, size, split, values_of
from reident.linkage.quantiles import ascending, cut_points_of
from reident.linkage.settings import WHOLE, BinningSettings
from reident.linkage.strata import stratum_of_records
from reident.sections.days import day_text
from reident.sections.linkage import Binning

if TYPE_CHECKING:
    from reident.linkage.batches import Source

OUTSIDE = 0
"""The bin of a value that is not compared with any other."""


class Binned(NamedTuple):
    """The binned tables ``puf`` and ``eif``, and the cut points with the count of each bin."""

    files: dict[str, pa.Table]
    cutpoints: pd.DataFrame


def cut_points(values: np.ndarray, bins: int, ranks: Literal["mean", "high"] | None = None) -> np.ndarray:
    """Return the points at which the values that are not missing are cut into bins.

    By default at the quantiles k/bins, k = 1 … bins − 1, the empirical quantile with averaging: with n values and
    rank r = n·k/bins the value of rank ⌈r⌉, or the mean of the values of ranks r and r + 1 where r is whole. That is
    numpy's ``averaged_inverted_cdf`` with ranks in exact integers. With `ranks` the bins are the groups of these
    values by rank. Source: METHODS §3.

    Parameters
    ----------
    values : float64 (n,)
        NaN is missing.
    ranks : {'mean', 'high'}, optional
        The rank of equal values, of which group ⌊bins·rank/(n + 1)⌋ follows, counted from 0.

    Returns
    -------
    float64 (bins − 1,), ascending; empty if every value is missing.
    """
    sorted_values = ascending([(values, np.zeros(len(values), np.int64))], np.array([len(values)]))
    cuts = cut_points_of(sorted_values, bins, ranks)[0]
    return np.empty(0) if np.isnan(cuts[0]) else cuts


def bin_values(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return the bin of each value, 1 + the number of cut points strictly below it; int64 (n,).

    It is -1 where the value is missing (NaN), and for all values if the cut points are undefined (empty).
    """
    if not len(cuts):
        return np.full(len(values), -1, np.int64)
    return np.where(np.isnan(values), -1, 1 + np.searchsorted(cuts, values, side="left"))


def bins_of(values: np.ndarray, scope: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return :func:`bin_values` of each value with the cut points of its scope; int64 (n,).

    The cut points are those of :func:`cut_points_of`, float64 (n_scopes, bins − 1); a negative scope counts as the
    first.
    """
    if len(cuts) == 1:
        return bin_values(values, cuts[0] if not np.isnan(cuts[0, 0]) else np.empty(0))
    steps = int(cuts.shape[1]).bit_length()
    padded = np.full((len(cuts), 2**steps - 1), np.inf)
    padded[:, : cuts.shape[1]] = cuts
    scope, below = np.maximum(scope, 0), np.zeros(len(values), np.int64)
    for step in (2 ** np.arange(steps))[::-1].tolist():  # by halves, in all scopes at once
        below += step * (padded[scope, below + step - 1] < values)
    return np.where(np.isnan(values) | np.isnan(cuts[scope, 0]), -1, 1 + below)


def bin_files(
    settings: BinningSettings, files: Mapping[str, pa.Table], strata: Mapping[str, pa.Table], manifest: pd.DataFrame
) -> Binned:
    """Bin the numeric linking variables of both prepared files.

    Returns
    -------
    Binned
        ``files``: linking variables, one row for each row of the prepared table: numeric as bins
        1 … `bins` (int32; null missing; 0 for a value that is not compared with any other: outside every
        stratum, or in one where the file that cuts has no record), categorical as text.
        ``cutpoints``: one line per scope, variable, cutting file and bin: the bin holds values in
        (above, up_to]; n_puf and n_eif are its counts.
    """
    bins = cut(settings, files, strata, manifest)
    tables = {side: pa.concat_tables(bins.binned(side, files[side], strata[side])) for side in files}
    return Binned(tables, bins.cutpoints())


class _Cut(NamedTuple):
    """The cut points of a variable."""

    cutter: str  # the files whose values cut
    cuts: np.ndarray  # float64 (n_scopes, bins − 1)
    occupied: np.ndarray  # bool (n_scopes,): whether these files have a record in the scope
    counts: dict[str, np.ndarray]  # by file that is cut, the records binned so far; int64 (n_scopes, bins)


class Bins:
    """The bins of the numeric linking variables, by scope.

    By variable, `cuts` has the cut points of each file that cuts.
    """

    def __init__(self, settings: BinningSettings, scopes: Sequence[str], cuts: Mapping[str, list[_Cut]]) -> None:
        self._settings, self._scopes, self._cuts = settings, scopes, cuts

    def binned(self, side: str, source: Source, strata: Source) -> Iterator[pa.Table]:
        """Yield the linking variables of a file in batches, with bins in place of numbers, and count the bins."""
        names = [variable.name for variable in self._settings.variables]
        names += [N_MEMBERS] if N_MEMBERS in schema(source).names else []
        for batch, scope in _with_scope(self._settings.binning, source, strata, names):
            bins = {name: self._bin(side, batch[name], scope, cuts) for name, cuts in self._cuts.items()}
            yield pa.table({name: bins.get(name, batch[name]) for name in names})

    def _bin(self, side: str, column: pa.ChunkedArray, scope: np.ndarray, cuts: list[_Cut]) -> pa.Array:
        """Return the bins of some values, int32, and count them; those of members as lists."""
        if is_of_members(column):
            sizes = pc.list_value_length(column).to_numpy()
            bins = self._bin(side, values_of(column), np.repeat(scope, sizes), cuts)
            return pa.ListArray.from_arrays(pa.array(np.append(0, np.cumsum(sizes)).astype(np.int32)), bins)
        values = _numbers(column)
        bins = np.where(np.isnan(values), -1, OUTSIDE)
        for cut in cuts:
            if side in cut.counts:
                codes = bins_of(values, scope, cut.cuts)
                cut.counts[side][:] += _counts(codes, scope, cut.cuts.shape)
                # Without a record in the cutting file nothing is compared: the values stay outside, not missing.
                inside = (scope >= 0) & cut.occupied[scope]
                bins[inside] = codes[inside]
        return pa.array(bins.astype(np.int32), mask=bins < 0)

    def cutpoints(self) -> pd.DataFrame:
        """Return the columns of `binned/cutpoints.csv`, with the counts of the records binned so far."""
        names = np.array(self._scopes, object)
        lines = [
            pd.concat([_bin_lines(names, variable, cut.cutter, cut.cuts, cut.counts) for cut in cuts]).sort_index(
                kind="stable"
            )
            for variable, cuts in self._cuts.items()
        ]
        return pd.concat(lines, ignore_index=True) if lines else pd.DataFrame()


def cut(
    settings: BinningSettings, files: Mapping[str, Source], strata: Mapping[str, Source], manifest: pd.DataFrame
) -> Bins:
    """Cut the numeric linking variables of both files, one by one, as :func:`bin_files` does."""
    options = settings.binning
    scopes = [WHOLE] if options.scope == "study" else list(manifest["stratum"])
    cuts: dict[str, list[_Cut]] = {variable.name: [] for variable in settings.variables if variable.is_numeric}
    of_kind: dict[bool, dict[str, np.ndarray]] = {}
    for name, variable_cuts in cuts.items():
        of_members = pa.types.is_list(schema(files["puf"]).field(name).type)
        if of_members not in of_kind:
            of_kind[of_members] = {
                side: _sizes(options, files[side], strata[side], len(scopes), name) for side in files
            }
        for cutter, sides in _cutters(options.cutpoints):
            records = np.sum([of_kind[of_members][side] for side in sides], axis=0)
            values = (
                (_numbers(values_of(batch[name])), _scope_of_values(batch[name], scope))
                for side in sides
                for batch, scope in _with_scope(options, files[side], strata[side], [name])
            )
            points = cut_points_of(ascending(values, records), options.bins, options.ranks)
            cut_sides = sides if options.cutpoints == "each" else files
            counts = {side: np.zeros((len(scopes), options.bins), np.int64) for side in cut_sides}
            variable_cuts.append(_Cut(cutter, points, records > 0, counts))
    return Bins(settings, scopes, cuts)


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Return the values of a numeric variable, NaN where they are missing; float64 (n,)."""
    return column.to_numpy().astype(np.float64)


def _with_scope(
    options: Binning, source: Source, strata: Source, names: Sequence[str]
) -> Iterator[tuple[pa.Table, np.ndarray]]:
    """Yield some columns of a file in batches, with the scope of each record, -1 for none; int32 (n,)."""
    strata_of, start = SortedRows(strata, ["stratum"]), 0
    for batch in split(source, columns=names):
        stop = start + batch.num_rows
        if options.scope == "study":
            yield batch, np.zeros(batch.num_rows, np.int32)
        else:
            yield batch, stratum_of_records(strata_of.take(np.arange(start, stop)))
        start = stop


def _scope_of_values(column: pa.ChunkedArray, scope: np.ndarray) -> np.ndarray:
    """Return the scope of each value of a column, of records or of the members of units."""
    return np.repeat(scope, pc.list_value_length(column).to_numpy()) if is_of_members(column) else scope


def _sizes(options: Binning, source: Source, strata: Source, n_scopes: int, name: str) -> np.ndarray:
    """Return the number of values of a variable in each scope; int64 (n_scopes,)."""
    if pa.types.is_list(schema(source).field(name).type):
        sizes = np.zeros(n_scopes, np.int64)
        for batch, scope in _with_scope(options, source, strata, [name]):
            of_values = _scope_of_values(batch[name], scope)
            sizes += np.bincount(of_values[of_values >= 0], minlength=n_scopes)
        return sizes
    if options.scope == "study":
        return np.array([size(source)])
    sizes = np.zeros(n_scopes, np.int64)
    for batch in split(strata, columns=["stratum"]):
        stratum = stratum_of_records(batch)
        sizes += np.bincount(stratum[stratum >= 0], minlength=n_scopes)
    return sizes


def _cutters(cutpoints: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the files that cut, each with the sides whose values it uses."""
    if cutpoints == "pooled":
        return [("pooled", ("puf", "eif"))]
    return [(side, (side,)) for side in ("puf", "eif") if cutpoints in (side, "each")]


def _counts(bins: np.ndarray, scope: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the number of values in each bin of each scope, for cut points of this shape; int64 (n_scopes, bins)."""
    n_scopes, n_bins = shape[0], shape[1] + 1
    inside = (scope >= 0) & (bins > 0)
    cell = scope[inside].astype(np.int64) * n_bins + bins[inside] - 1
    return np.bincount(cell, minlength=n_scopes * n_bins).reshape(n_scopes, n_bins)


def _bin_lines(
    scopes: np.ndarray, variable: str, cutter: str, cuts: np.ndarray, counts: dict[str, np.ndarray]
) -> pd.DataFrame:
    """Return one line per scope and bin, by the place of the scope; without cut points a single one, with counts 0."""
    is_cut, outside = ~np.isnan(cuts[:, 0]), np.full((len(cuts), 1), np.nan)
    has_line = np.tile(is_cut[:, np.newaxis], (1, cuts.shape[1] + 1))
    has_line[:, 0] = True
    scope, place = np.nonzero(has_line)
    number = np.where(is_cut[scope], place + 1.0, np.nan)
    of_bins = {
        side: np.where(is_cut[scope], counts[side][scope, place], 0) if side in counts else np.full(len(scope), np.nan)
        for side in ("puf", "eif")
    }
    if "eif" not in counts:
        of_bins["eif"][~is_cut[scope]] = 0
    return pd.DataFrame(
        {
            "scope": scopes[scope],
            "variable": variable,
            "file": cutter,
            "bin": number,
            "above": np.concatenate([outside, cuts], axis=1)[scope, place],
            "up_to": np.concatenate([cuts, outside], axis=1)[scope, place],
            "n_puf": of_bins["puf"],
            "n_eif": of_bins["eif"],
        },
        index=scope,
    )


def bin_labels(cuts: np.ndarray, *, dates: bool = False) -> list[str]:
    """Return bins in words; a bin holds the values, or the days, above one cut point and up to the next."""
    if not len(cuts):
        return []
    texts = [day_text(cut) if dates else f"{cut:,.6g}" for cut in cuts.tolist()]
    between = [f"above {low} to {high}" for low, high in pairwise(texts)]
    return [f"up to {texts[0]}", *between, f"above {texts[-1]}"]


def bin_ends(label: str) -> tuple[str, str]:
    """Return the cut points that a label of :func:`bin_labels` names, the lower first; empty where a bin is open."""
    if label.startswith("above "):
        low, _, high = label.removeprefix("above ").partition(" to ")
        return low, high
    return "", label.removeprefix("up to ") if label.startswith("up to ") else ""
