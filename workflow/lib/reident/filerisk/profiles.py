"""Households, or persons with several records, that are unique by their members (METHODS §7.7).

The profile of a unit on a set of key variables is its size and the multiset of its members' values; units with the same
profile are a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import dis, wildcards
from reident.filerisk.prepare import HOUSEHOLD, weighted
from reident.filerisk.quantities import ANONYMITY, DIGITS
from reident.filerisk.settings import ProfileSettings
from reident.kernels import keysets, unit_matches
from reident.linkage.categories import key_columns, measure_each, set_name

NAN = float("nan")

MAX_PAIRS = 200_000_000
"""Pairs of profiles that are compared where members miss values; beyond, a unit that misses one matches no other."""


def assess(
    settings: ProfileSettings, file: pa.Table, *, threads: int = 1, progress: Callable[[float], None] | None = None
) -> pd.DataFrame:
    """Measure the risk of units on the whole key, for every scenario and every set of key variables.

    Returns
    -------
    pandas.DataFrame
        The columns of `filerisk/units.csv`.
    """
    unit = file[HOUSEHOLD].to_numpy()
    order, starts = members_of(unit)
    _, weights = weighted(file, settings.sampling_fraction)
    # A member stands for as many people as its unit for units.
    means = np.add.reduceat(weights[order], starts) / np.diff(starts, append=len(unit))
    fraction = settings.sampling_fraction or dis.sampling_fraction(means)
    lines = [("", settings.key), *settings.scenarios, *(("", keys) for keys in settings.sets)]
    columns = key_columns([file], dict.fromkeys(name for _, keys in lines for name in keys))

    def run(line: tuple[str, tuple[str, ...]]) -> dict[str, Any]:
        name, keys = line
        codes, levels = zip(*(columns[key] for key in keys), strict=True)
        cells = cells_of_units(keysets.number_cells(codes, levels)[0], unit[order], order, starts)
        return {
            "scenario": name,
            "keys": set_name(keys),
            "size": len(keys),
            **dict(_risk(cells, starts, len(unit), fraction)),
            **_beyond(settings, cells),
        }

    return pd.DataFrame(measure_each(run, list(dict.fromkeys(lines)), threads, progress))


def members_of(unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the records unit by unit, and where those of each begin."""
    order = np.argsort(unit, kind="stable")
    return order, np.flatnonzero(np.append(True, np.diff(unit[order]) > 0)) if len(unit) else np.empty(0, np.int64)


def matching_units(codes: np.ndarray, unit: np.ndarray, rule: wildcards.Rule) -> np.ndarray:
    """Return how many units match each unit where members miss values (METHODS §7.8).

    Two units match if they have as many members, and some order of these makes each of them match.

    Parameters
    ----------
    codes : int32 (n, v)
        -1 for missing.
    unit : int (n,)
        The unit of each record.
    rule : {'either', 'within'}
        Which of two members that match may miss a value that the other has.

    Returns
    -------
    int64 (units,)
        In the order of their numbers. A unit with a member that misses a value matches itself alone where more than
        `MAX_PAIRS` pairs would have to be compared.
    """
    order, starts = members_of(unit)
    rows, place = wildcards.distinct(codes + 1)
    lacks, lengths = (rows == 0).any(axis=1), np.diff(starts, append=len(unit))
    result, todo, n_pairs = np.ones(len(starts), np.int64), [], 0
    for size in np.unique(lengths).tolist():
        units = np.flatnonzero(lengths == size)
        members = np.sort(place[order][starts[units][:, np.newaxis] + np.arange(size)], axis=1)
        profiles, at, times = np.unique(members, axis=0, return_inverse=True, return_counts=True)
        first = np.argsort(~lacks[profiles].any(axis=1), kind="stable")
        incomplete = int(lacks[profiles].any(axis=1).sum())
        todo.append((units, np.argsort(first)[at.ravel()], profiles[first], times[first], incomplete))
        n_pairs += incomplete * len(profiles)
    for units, at, profiles, times, incomplete in todo:
        if n_pairs <= MAX_PAIRS:
            counts = unit_matches.unit_matches(rows[profiles] - 1, times, incomplete, rule == wildcards.WITHIN)
        else:
            counts = np.where(np.arange(len(times)) < incomplete, 1, times)
        result[units] = counts[at]
    return result


def cells_of_units(values: np.ndarray, unit: np.ndarray, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the cell of each unit from 0, -1 for one with a member that misses a value.

    Parameters
    ----------
    values : int (n,)
        By record, the number of its values; -1 where one is missing.
    unit : int (n,)
        The unit of the records in `order`, which begin at `starts`.
    """
    within = np.lexsort([values[order], unit])
    ordered, sizes = values[order][within], np.diff(starts, append=len(values))
    cells, n = np.full(len(starts), -1, np.int64), 0
    for size in np.unique(sizes).tolist():
        units = np.flatnonzero(sizes == size)
        members = ordered[starts[units][:, np.newaxis] + np.arange(size)]
        complete = members[:, 0] >= 0  # the smallest comes first
        found = np.unique(members[complete], axis=0, return_inverse=True)[1].ravel()
        cells[units[complete]] = n + found
        n += int(found.max(initial=-1)) + 1
    return cells


def _beyond(settings: ProfileSettings, cells: np.ndarray) -> dict[str, float]:
    """Return the cells, and the units beyond the limits of the study: NaN for a limit that it does not have."""
    sizes = np.bincount(cells[cells >= 0])
    below, risk = settings.k, settings.risk
    return {
        "n_cells": len(sizes),
        "below_k": NAN if below is None else int(sizes[sizes < below].sum()),
        "above_risk": NAN if risk is None else int(sizes[np.round(1 / sizes, DIGITS) > risk].sum()),
    }


def _risk(cells: np.ndarray, starts: np.ndarray, n_members: int, fraction: float) -> Iterator[tuple[str, float]]:
    """Yield the quantities of one set of key variables."""
    sizes = np.bincount(cells[cells >= 0])
    of_unit = np.append(sizes, 0)[cells]
    compared, unique, pairs = int((cells >= 0).sum()), int((of_unit == 1).sum()), int((of_unit == 2).sum())
    share = compared / len(cells)
    found = unique, pairs, dis.of_cells(fraction, share)
    low, high = dis.interval(*found, pairs / 2)
    yield from (("n_units", len(cells)), ("n_members", n_members), ("n_compared", compared))
    yield "smallest", float(sizes.min()) if compared else NAN
    yield from (("n_unique", unique), ("unique_share", round(unique / compared, DIGITS) if compared else NAN))
    yield "n_unique_members", int(np.diff(starts, append=n_members)[of_unit == 1].sum())
    yield "n_in_pairs", pairs
    yield from ((f"below_{k}", int(((of_unit > 0) & (of_unit < k)).sum())) for k in ANONYMITY[1:])
    yield from (
        ("dis", round(dis.general(*found), DIGITS)),
        ("dis_low", round(low, DIGITS)),
        ("dis_high", round(high, DIGITS)),
    )
