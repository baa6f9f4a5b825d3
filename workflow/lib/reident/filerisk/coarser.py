"""Special uniques by coarser keys: which sample uniques stay unique without a variable's detail (METHODS §7).

Source: Elliot, Skinner and Dale 1998; Elliot and Manning 2003, Table 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reident.filerisk.dis_suda import match_probability
from reident.filerisk.uniques import cell_sizes

DROPPED, COLLAPSED = "dropped", "collapsed"
TAKEN = 0.5
"""The share of the file in a subsample that shows how uniques depend on the sampling fraction."""


class Coarser(NamedTuple):
    """The uniques of the coarser keys.

    Attributes
    ----------
    table : pandas.DataFrame
        One line per coarser key, with the columns that `reident.pipeline.tables` declares.
    special : bool (n,)
        Sample uniques that are unique without one of the variables.
    n_surviving : int64 (n,)
        The coarser keys on which each sample unique is still unique; 0 for other records.
    """

    table: pd.DataFrame
    special: np.ndarray
    n_surviving: np.ndarray


def compare(
    codes: np.ndarray,
    sizes: np.ndarray,
    names: Sequence[str],
    collapsed: Sequence[tuple[int, np.ndarray]] = (),
    *,
    wildcard: bool = False,
    reciprocal: np.ndarray | None = None,
) -> Coarser:
    """Compare the key with every key that lacks one variable, or has coarser codes of it.

    Parameters
    ----------
    collapsed : sequence of (int, array)
        For each collapse the position of its variable and the coarser code of each code.
    reciprocal : float64 (n,), optional
        As `dis_suda.population_reciprocal` gives it.

    Notes
    -----
    A record that is alone on a set is alone on every larger set: a sample unique is therefore unique on a proper
    subset of the key, and a special unique, if it is unique without one of the variables.
    """
    unique = sizes == 1
    special, n_surviving, lines = np.zeros(len(codes), bool), np.zeros(len(codes), np.int64), []
    for variable, change, levels, coarse in _keys(codes, collapsed):
        coarse_sizes = cell_sizes(coarse, wildcard=wildcard)
        surviving = unique & (coarse_sizes == 1)
        n_surviving += surviving
        special |= surviving & (change == DROPPED)
        line: dict[str, Any] = {"variable": names[variable], "change": change, "n_levels": levels}
        line |= {"n_surviving": int(surviving.sum()), "share_surviving": _share(surviving.sum(), unique.sum())}
        line |= _half_sample(sizes, coarse_sizes)
        for name, group in (("surviving", surviving), ("other", unique & ~surviving)):
            line[f"truth_{name}"] = np.nan if reciprocal is None else match_probability(reciprocal[group])
        lines.append(line)
    return Coarser(pd.DataFrame(lines), special, n_surviving)


def _keys(
    codes: np.ndarray, collapsed: Sequence[tuple[int, np.ndarray]]
) -> Iterator[tuple[int, str, int | None, np.ndarray]]:
    """Yield each coarser key: its variable, its change, the categories that are left, its codes."""
    for variable in range(codes.shape[1] if codes.shape[1] > 1 else 0):
        yield variable, DROPPED, None, np.delete(codes, variable, axis=1)
    for variable, table in collapsed:
        coarse = codes.copy()
        column = coarse[:, variable]
        column[column >= 0] = table[column[column >= 0]]
        yield variable, COLLAPSED, len(np.unique(column[column >= 0])), coarse


def _half_sample(sizes: np.ndarray, coarse_sizes: np.ndarray) -> dict[str, float]:
    """Return the expected uniques if a half of the file grew to the file (METHODS §7)."""
    inside = sizes > 0
    unique = TAKEN * (1 - TAKEN) ** (sizes[inside] - 1.0)
    surviving = TAKEN * (1 - TAKEN) ** (coarse_sizes[inside] - 1.0)
    still = sizes[inside] == 1
    expected = {"surviving": surviving, "other": unique - surviving}
    return {f"half_{name}": float(values.sum()) for name, values in expected.items()} | {
        f"still_{name}": _share(values[still].sum(), values.sum()) for name, values in expected.items()
    }


def _share(n: float, total: float) -> float:
    return float(n / total) if total > 0 else float("nan")
