"""Bins: numeric linking variables as quantile categories, for unicity and taxicab (METHODS §3)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage.parts import Cutting, Variable
from reident.linkage.strata import lines
from reident.sections.linkage import Binning

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
    ordered = np.sort(values[~np.isnan(values)])
    n = len(ordered)
    if n == 0:
        return np.empty(0)
    if ranks is not None:
        return _group_ends(ordered, bins, ranks)
    rank, rest = np.divmod(n * np.arange(1, bins), bins)
    low = ordered[np.where(rest == 0, rank - 1, rank)]
    high = ordered[rank]
    return np.where(low == high, low, low / 2 + high / 2)


def _group_ends(ordered: np.ndarray, bins: int, ranks: Literal["mean", "high"]) -> np.ndarray:
    """Return for each group but the last its largest value, or that of the group before if it is empty.

    Before all values, an empty group ends just below them.
    """
    distinct, count = np.unique(ordered, return_counts=True)
    last = np.cumsum(count)
    twice_rank = 2 * last if ranks == "high" else 2 * last - count + 1
    group = bins * twice_rank // (2 * (len(ordered) + 1))
    end = np.searchsorted(group, np.arange(1, bins)) - 1
    return np.where(end < 0, np.nextafter(distinct[0], -np.inf), distinct[end])


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
    stratum = {side: lines(table) for side, table in strata.items()}
    binned: dict[str, dict[str, pa.ChunkedArray | pa.Array]] = {side: {} for side in files}
    cut_lines = []
    for variable in part.variables:
        columns = {side: table[variable.name] for side, table in files.items()}
        if variable.type == "numeric":
            columns, cuts = _bin_variable(variable, part.binning, columns, stratum, list(manifest["stratum"]))
            cut_lines += cuts
        for side in files:
            binned[side][variable.name] = columns[side]
    return Binned(pa.table(binned["puf"]), pa.table(binned["eif"]), pd.DataFrame(cut_lines, columns=COLUMNS))


def _bin_variable(
    variable: Variable,
    options: Binning,
    columns: dict,
    stratum: dict[str, np.ndarray],
    strata: list[str],
) -> tuple[dict[str, pa.Array], list[tuple]]:
    values = {side: column.to_numpy().astype(np.float64) for side, column in columns.items()}
    binned = {side: np.where(np.isnan(values[side]), -1, OUTSIDE) for side in values}
    if options.scope == "study":
        scopes = [("ALL", {side: np.arange(len(values[side])) for side in values})]
    else:
        groups = {side: grouped(stratum[side], len(strata)) for side in values}
        scopes = [(name, {side: groups[side][at] for side in values}) for at, name in enumerate(strata)]
    cut_lines = []
    for scope, rows in scopes:
        scoped = {side: values[side][rows[side]] for side in values}
        for cutter, cut_sides in _cutters(options.cutpoints):
            cutting = np.concatenate([scoped[side] for side in cut_sides])
            cuts = cut_points(cutting, options.bins, options.ranks)
            targets = cut_sides if options.cutpoints == "each" else ("puf", "eif")
            # Without a record in the cutting file nothing is compared: the values stay outside, they are not missing.
            for side in targets if len(cutting) else ():
                binned[side][rows[side]] = bin_values(scoped[side], cuts)
            counted = {side: binned[side][rows[side]] for side in targets}
            cut_lines += _bin_lines(scope, variable.name, cutter, cuts, options.bins, counted)
    arrays = {side: pa.array(code.astype(np.int32), mask=code < 0) for side, code in binned.items()}
    return arrays, cut_lines


def _cutters(cutpoints: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the files that cut, each with the sides whose values it uses."""
    if cutpoints == "pooled":
        return [("pooled", ("puf", "eif"))]
    return [(side, (side,)) for side in ("puf", "eif") if cutpoints in (side, "each")]


def _bin_lines(
    scope: str, variable: str, cutter: str, cuts: np.ndarray, bins: int, counted: dict[str, np.ndarray]
) -> list[tuple]:
    """Return one line per bin; without cut points a single line whose counts are 0."""
    if not len(cuts):
        return [(scope, variable, cutter, None, None, None, 0 if "puf" in counted else None, 0)]
    edges = [None, *cuts.tolist(), None]
    return [
        (
            scope, variable, cutter, number, edges[number - 1], edges[number],
            *(int((counted[side] == number).sum()) if side in counted else None for side in ("puf", "eif")),
        )
        for number in range(1, bins + 1)
    ]  # fmt: skip


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
