"""People whom exact values of one variable, or of two, name without any metric (METHODS §1.1).

A pair is claimed if no other record of either file has these values in its stratum.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from reident.linkage.intervals import interval
from reident.plausibility.files import bits
from reident.plausibility.hashing import mixed
from reident.plausibility.records import Records, Sides

_MISSING = np.uint64(0)


def people(records: Records) -> pd.DataFrame:
    """Return for each variable, and for each two, the people found: those claimed and those whose claim is a true link.

    The table has the columns that `pipeline/columns.csv` declares for ``description/exact.csv``, most people first.
    """
    inside = {side: stratum >= 0 for side, stratum in records.strata.items()}
    base = {side: mixed(stratum.astype(np.int64).astype(np.uint64)) for side, stratum in records.strata.items()}
    columns = {
        name: _columns(values.numbers or values.codes, at)
        for at, (name, values) in enumerate(records.every_value.items())
    }
    lines, n_puf = [], len(inside["puf"])
    n_linked = len(np.unique(records.every_link["puf"]))
    for names in (*((name,) for name in columns), *combinations(columns, 2)):
        hashed = {side: _joined(base[side], inside[side], [columns[name][side] for name in names]) for side in base}
        claimed = np.intersect1d(_single(hashed["puf"]), _single(hashed["eif"]), assume_unique=True)
        puf, eif = (hashed[side][records.every_link[side]] for side in ("puf", "eif"))
        equal = puf[(puf == eif) & (puf != _MISSING)]
        place = np.searchsorted(claimed, equal).clip(max=max(len(claimed) - 1, 0))
        found = int((claimed[place] == equal).sum()) if len(claimed) else 0
        ends = interval(found, len(claimed))
        lines.append(("+".join(names), len(names), n_puf, n_linked, len(claimed), found, ends.low, ends.high))
    table = pd.DataFrame(
        lines, columns=["variables", "n_variables", "n_puf", "n_linked", "n_suspected", "n_confirmed", "low", "high"]
    ).astype({"low": float, "high": float})
    order = np.lexsort((np.arange(len(table)), -table["n_confirmed"].to_numpy()))
    return table.iloc[order].reset_index(drop=True)


def _columns(sides: Sides, at: int) -> dict[str, np.ndarray]:
    """Return a hash of each value of a variable by side, 0 where it is missing."""
    offset = mixed(np.array([at + 1], np.uint64))
    result = {}
    for side, column in sides.items():
        missing = np.isnan(column) if column.dtype.kind == "f" else column < 0
        result[side] = np.where(missing, _MISSING, mixed(bits(column) + offset) | np.uint64(1))
    return result


def _joined(base: np.ndarray, inside: np.ndarray, columns: list[np.ndarray]) -> np.ndarray:
    """Return a hash of the stratum and some values of each record, 0 where one is missing or there is no stratum."""
    complete, total = inside.copy(), base
    for column in columns:
        complete &= column != _MISSING
        total = total + column
    return np.where(complete, mixed(total) | np.uint64(1), _MISSING)


def _single(hashed: np.ndarray) -> np.ndarray:
    """Return the hashes that one record has, ascending."""
    ordered = np.sort(hashed)
    first = np.searchsorted(ordered, np.uint64(1))
    ordered = ordered[first:]
    if not len(ordered):
        return ordered
    change = ordered[1:] != ordered[:-1]
    return ordered[np.r_[True, change] & np.r_[change, True]]
