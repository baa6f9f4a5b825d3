"""Bins: numeric linking variables as quantile categories, for unicity and taxicab (METHODS §3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage.batches import column, split
from reident.linkage.parts import Cutting, Variable
from reident.linkage.strata import lines
from reident.sections.linkage import Binning

if TYPE_CHECKING:
    from reident.linkage.batches import Source

OUTSIDE = 0
"""The bin of a value that is not compared with any other."""

COLUMNS = ["scope", "variable", "file", "bin", "above", "up_to", "n_puf", "n_eif"]


class Binned(NamedTuple):
    """The binned tables and the cut points with the count of each bin."""

    puf: pa.Table
    eif: pa.Table
    cutpoints: pd.DataFrame


def cut_points(values: np.ndarray, bins: int, ranks: Literal["mean", "high"] | None = None) -> np.ndarray:
    """Return where the values that are not missing are cut into bins.

    By default at the quantiles k/bins, k = 1 … bins − 1, the empirical quantile with averaging: with n values and
    rank r = n·k/bins the value of rank ⌈r⌉, or the mean of the values of ranks r and r + 1 where r is whole. That is
    numpy's ``averaged_inverted_cdf`` with ranks in exact integers. With `ranks` the bins are the groups of these
    values by rank. Source: METHODS §3.

    Parameters
    ----------
    values : float64 (n,)
        NaN is missing.
    bins : int
    ranks : {'mean', 'high'}, optional
        The rank of equal values, of which group ⌊bins·rank/(n + 1)⌋ follows, counted from 0.

    Returns
    -------
    float64 (bins − 1,), ascending; empty if every value is missing.
    """
    cuts = cut_points_of(values, np.zeros(len(values), np.int64), 1, bins, ranks)[0]
    return np.empty(0) if np.isnan(cuts[0]) else cuts


def cut_points_of(
    values: np.ndarray,
    scope: np.ndarray,
    n_scopes: int,
    bins: int,
    ranks: Literal["mean", "high"] | None = None,
) -> np.ndarray:
    """Return :func:`cut_points` of the values of each scope.

    Parameters
    ----------
    values : float64 (n,)
        NaN is missing.
    scope : int (n,)
        The scope of each value, -1 for none.
    n_scopes : int
    bins, ranks
        As for :func:`cut_points`.

    Returns
    -------
    float64 (n_scopes, bins − 1), ascending in each row; NaN if every value of the scope is missing.
    """
    known = np.flatnonzero(~np.isnan(values) & (scope >= 0))
    ordered = np.sort(values[known])
    if n_scopes > 1:
        known = known[np.lexsort((values[known], scope[known]))]
        ordered = values[known]
    starts = np.append(0, np.cumsum(np.bincount(scope[known], minlength=n_scopes)))
    cuts, held = np.full((n_scopes, bins - 1), np.nan), np.flatnonzero(np.diff(starts))
    if ranks is not None and len(held):
        cuts[held] = _group_ends(ordered, starts, bins, ranks)[held]
        return cuts
    first, n = starts[held, np.newaxis], np.diff(starts)[held, np.newaxis]
    rank, rest = np.divmod(n * np.arange(1, bins), bins)
    low = ordered[first + np.where(rest == 0, rank - 1, rank)]
    high = ordered[first + rank]
    cuts[held] = np.where(low == high, low, low / 2 + high / 2)
    return cuts


def _group_ends(
    ordered: np.ndarray, starts: np.ndarray, bins: int, ranks: Literal["mean", "high"]
) -> np.ndarray:
    """Return for each group but the last its largest value, or that of the group before if it is empty, by scope.

    Before all values, an empty group ends just below them. The values of a scope are ascending.
    """
    n = np.diff(starts)
    scope = np.repeat(np.arange(len(n)), n)
    new = np.ones(len(ordered), bool)
    new[1:] = (ordered[1:] != ordered[:-1]) | (scope[1:] != scope[:-1])
    place = np.flatnonzero(new)
    count, scope = np.diff(np.append(place, len(ordered))), scope[place]
    last = place + count - starts[scope]
    twice_rank = 2 * last if ranks == "high" else 2 * last - count + 1
    group = bins * twice_rank // (2 * (n[scope] + 1))
    distinct = np.append(0, np.cumsum(np.bincount(scope, minlength=len(n))))
    ends = np.empty((len(n), bins - 1))
    for k in range(1, bins):
        below = np.bincount(scope[group < k], minlength=len(n))
        end = ordered[place[np.minimum(distinct[:-1] + np.maximum(below - 1, 0), len(place) - 1)]]
        ends[:, k - 1] = np.where(below > 0, end, np.nextafter(end, -np.inf))
    return ends


def bin_values(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return the bin of each value: 1 + the number of cut points strictly below it.

    Parameters
    ----------
    values : float64 (n,)
        NaN is missing.
    cuts : float64 (bins − 1,), ascending
        Empty if they are undefined.

    Returns
    -------
    int64 (n,)
        -1 where the value is missing or the cut points are undefined.
    """
    if not len(cuts):
        return np.full(len(values), -1, np.int64)
    return np.where(np.isnan(values), -1, 1 + np.searchsorted(cuts, values, side="left"))


def bins_of(values: np.ndarray, scope: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return :func:`bin_values` of each value with the cut points of its scope.

    Parameters
    ----------
    values : float64 (n,)
    scope : int (n,)
        The scope of each value; a negative one counts as the first.
    cuts : float64 (n_scopes, bins − 1)
        As :func:`cut_points_of` gives them.

    Returns
    -------
    int64 (n,)
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
    part: Cutting, files: Mapping[str, pa.Table], strata: Mapping[str, pa.Table], manifest: pd.DataFrame
) -> Binned:
    """Bin the numeric linking variables of both files.

    Parameters
    ----------
    part : Cutting
    files : mapping of pyarrow.Table
        The prepared tables ``puf`` and ``eif``.
    strata : mapping of pyarrow.Table
        The stratum of each record of ``puf`` and ``eif``.
    manifest : pandas.DataFrame
        The strata.

    Returns
    -------
    Binned
        ``puf``, ``eif``: linking variables, one row for each row of the prepared table: numeric as bins
        1 … `bins` (int32; null missing; 0 for a value that is not compared with any other: outside every
        stratum, or in one where the file that cuts has no record), categorical as text.
        ``cutpoints``: one line per scope, variable, cutting file and bin: the bin holds values in
        (above, up_to]; n_puf and n_eif are its counts.
    """
    bins, cutpoints = cut(part, files, strata, manifest)
    tables = {side: pa.concat_tables(binned(part, files[side], bins[side])) for side in files}
    return Binned(tables["puf"], tables["eif"], cutpoints)


def cut(
    part: Cutting, files: Mapping[str, Source], strata: Mapping[str, pa.Table], manifest: pd.DataFrame
) -> tuple[dict[str, dict[str, pa.Array]], pd.DataFrame]:
    """Cut the numeric linking variables of both files, one by one, as :func:`bin_files` does.

    Returns
    -------
    bins : dict of dict of pyarrow.Array
        By file and variable, the bin of each record.
    cutpoints : pandas.DataFrame
    """
    stratum = {side: lines(table) for side, table in strata.items()}
    bins: dict[str, dict[str, pa.Array]] = {side: {} for side in files}
    cut_lines = []
    for variable in part.variables:
        if variable.type == "numeric":
            columns = {side: column(source, variable.name) for side, source in files.items()}
            codes, cuts = _bin_variable(variable, part.binning, columns, stratum, list(manifest["stratum"]))
            cut_lines.append(cuts)
            for side in files:
                bins[side][variable.name] = codes[side]
    return bins, _joined(cut_lines)


def binned(part: Cutting, source: Source, bins: Mapping[str, pa.Array]) -> Iterator[pa.Table]:
    """Yield the linking variables of a file in batches, with the bins of numeric ones in place of their values."""
    start = 0
    for batch in split(source, columns=[variable.name for variable in part.variables]):
        codes = {name: own.slice(start, batch.num_rows) for name, own in bins.items()}
        start += batch.num_rows
        yield pa.table({name: codes.get(name, batch[name]) for name in batch.column_names})


def _bin_variable(
    variable: Variable,
    options: Binning,
    columns: dict,
    stratum: dict[str, np.ndarray],
    strata: list[str],
) -> tuple[dict[str, pa.Array], pd.DataFrame]:
    """Return the bins of a variable's values in both files, and the lines of its cut points."""
    values = {side: column.to_numpy().astype(np.float64) for side, column in columns.items()}
    binned = {side: np.where(np.isnan(values[side]), -1, OUTSIDE) for side in values}
    whole = options.scope == "study"
    scope = {side: np.zeros(len(values[side]), np.int32) for side in values} if whole else stratum
    names = np.array(["ALL"] if whole else strata, object)
    cut_lines = []
    for cutter, sides in _cutters(options.cutpoints):
        cutting, scopes = (np.concatenate([of[side] for side in sides]) for of in (values, scope))
        held = np.bincount(scopes[scopes >= 0], minlength=len(names)) > 0
        cuts = cut_points_of(cutting, scopes, len(names), options.bins, options.ranks)
        counts = {}
        for side in sides if options.cutpoints == "each" else ("puf", "eif"):
            found = bins_of(values[side], scope[side], cuts)
            counts[side] = _counts(found, scope[side], cuts.shape)
            # Without a record in the cutting file nothing is compared: the values stay outside, they are not missing.
            inside = (scope[side] >= 0) & held[scope[side]]
            binned[side][inside] = found[inside]
        cut_lines.append(_bin_lines(names, variable.name, cutter, cuts, counts))
    arrays = {side: pa.array(code.astype(np.int32), mask=code < 0) for side, code in binned.items()}
    return arrays, pd.concat(cut_lines).sort_index(kind="stable")


def _joined(cut_lines: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the lines of all variables; a column of whole numbers is one unless it has an empty cell."""
    if not cut_lines:
        return pd.DataFrame(columns=COLUMNS)
    lines = pd.concat(cut_lines, ignore_index=True)[COLUMNS]
    whole = [name for name in ("bin", "n_puf", "n_eif") if lines[name].notna().all()]
    return lines.astype(dict.fromkeys(whole, np.int64))


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
    known, outside = ~np.isnan(cuts[:, 0]), np.full((len(cuts), 1), np.nan)
    shown = np.tile(known[:, np.newaxis], (1, cuts.shape[1] + 1))
    shown[:, 0] = True
    scope, place = np.nonzero(shown)
    number = np.where(known[scope], place + 1.0, np.nan)
    of_bins = {
        side: np.where(known[scope], counts[side][scope, place], 0)
        if side in counts
        else np.full(len(scope), np.nan)
        for side in ("puf", "eif")
    }
    if "eif" not in counts:
        of_bins["eif"][~known[scope]] = 0
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

    def of(self, group: int) -> np.ndarray:
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


def bin_labels(cuts: np.ndarray) -> list[str]:
    """Return bins in words; a bin holds what is above one cut point and up to the next."""
    if not len(cuts):
        return []
    shown = [f"{cut:,.6g}" for cut in cuts.tolist()]
    between = [f"above {low} to {high}" for low, high in pairwise(shown)]
    return [f"up to {shown[0]}", *between, f"above {shown[-1]}"]
