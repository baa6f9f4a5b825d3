"""Distances of synthetic records to the closest record, and to that of a holdout (METHODS §8.1).

Equal records of a file are searched for once. Distinct records are in the order of their values, which does not depend
on the order of rows: of several nearest ones, the first in this order is taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import betainc, stdtrit

from reident.errors import InputError
from reident.intake import keys
from reident.linkage.pairing import spread
from reident.matching.counting import pack
from reident.matching.parts import ClosestRules
from reident.matching.prepare import ROW
from reident.sections.exact import SCALE

if TYPE_CHECKING:
    from reident.kernels.toplist import Workers

ALPHA = 0.5
"""The score of a variable that is missing in either record."""

PERCENT = 5
"""The percentile of distances and ratios in the summary."""

MISSING = -1


class Records(NamedTuple):
    """The distinct records of a file, in the order of their values.

    Attributes
    ----------
    codes : int32 (k, v)
        Categories, -1 where missing and for numbers.
    numbers : float64 (k, v)
        Numbers, NaN where missing and for categories.
    pattern : int64 (k,)
        Equal in all files where all values are, missing ones included; ascending.
    times : int64 (k,)
        How many records of the file are equal to each.
    place : int64 (n,)
        The distinct record that each record is equal to.
    """

    codes: np.ndarray
    numbers: np.ndarray
    pattern: np.ndarray
    times: np.ndarray
    place: np.ndarray

    def occurrences(self, pattern: np.ndarray) -> np.ndarray:
        """Return how many records of the file have each of these patterns."""
        at = np.minimum(np.searchsorted(self.pattern, pattern), len(self.pattern) - 1)
        return np.where(self.pattern[at] == pattern, self.times[at], 0)


class Nearest(NamedTuple):
    """The nearest records of a file, for each distinct synthetic record.

    Attributes
    ----------
    level, second : int64 (k,)
        The smallest score in units of 10⁻¹², and that of the second nearest record, which may be equal to the nearest;
        -1 if the file has one record.
    place : int64 (k,)
        The nearest distinct record, the first of several.
    """

    level: np.ndarray
    second: np.ndarray
    place: np.ndarray


class Distances(NamedTuple):
    """The tables of the step; see `reident.pipeline.tables` for their columns."""

    records: pa.Table
    closest: pd.DataFrame
    distances: pd.DataFrame


def measure(
    rules: ClosestRules,
    confidential: pa.Table,
    synthetic: pa.Table,
    holdout: pa.Table,
    **workers: Unpack[Workers],
) -> Distances:
    """Measure the distances of all synthetic records.

    Parameters
    ----------
    confidential, synthetic, holdout : pyarrow.Table
        As :func:`reident.matching.prepare.prepare` gives them; a holdout without a record is none.

    Raises
    ------
    InputError
        If a file has more distinct records than positions fit beside scores.
    """
    n, n_files = confidential.num_rows, synthetic.num_rows // confidential.num_rows
    tables = [confidential, holdout, *(synthetic.slice(at * n, n) for at in range(n_files))]
    original, held, *copies = encode(rules, tables)
    level = 1 - (1 - rules.level) / n_files  # all files together (Bonferroni)
    records, lines, percentiles = [], [], []
    for number, copy in enumerate(copies, start=1):
        scale = spread(copy.numbers[copy.place])
        near = nearest(rules, copy, original, scale, **workers)
        near_held = nearest(rules, copy, held, scale, **workers) if holdout.num_rows else None
        line = {"file": str(number), **_described(copy, original, near, ""), "nearer": False, "copied": False}
        line |= {"n_synthetic": n, "n_confidential": n, "n_holdout": holdout.num_rows}
        if near_held is not None:
            line |= _described(copy, held, near_held, "_holdout") | _compared(
                copy, original, held, near, near_held, level
            )
        lines.append(line)
        distances = {"confidential": _distance(near.level), "second": _distance(near.second)}
        distances["holdout"] = (
            np.full(len(near.level), np.nan) if near_held is None else _distance(near_held.level)
        )
        names = {"file": str(number), "percent": np.arange(101)}
        columns = {
            kind: _percentile(copy, distances[kind], names["percent"]) for kind in ("confidential", "holdout")
        }
        percentiles.append(pd.DataFrame(names | columns))
        rows = {name.removeprefix("."): confidential[name] for name in rules.key or [ROW]}
        cells = {kind: pa.array(values[copy.place], from_pandas=True) for kind, values in distances.items()}
        records.append(pa.table({"file": np.full(n, number, np.int32), **rows, **cells}))
    return Distances(pa.concat_tables(records), pd.DataFrame(lines), pd.concat(percentiles))


def encode(rules: ClosestRules, tables: Sequence[pa.Table]) -> list[Records]:
    """Return the distinct records of each table; a table without a record has none."""
    starts = np.cumsum([0, *(table.num_rows for table in tables)])
    shape = (int(starts[-1]), len(rules.variables))
    codes, values = np.full(shape, MISSING, np.int32), np.full(shape, np.nan)
    columns, sizes = [], []
    for at, name in enumerate(rules.variables):
        if name in rules.numeric:
            values[:, at] = np.concatenate([table[name].to_numpy().astype(np.float64) for table in tables])
            distinct, ranks = np.unique(values[:, at], return_inverse=True)
            columns.append(np.where(np.isnan(values[:, at]), MISSING, ranks).astype(np.int32))
            sizes.append(len(distinct) + 1)
        else:
            parts, labels = keys.text_codes([table[name] for table in tables])
            codes[:, at] = np.concatenate(parts)
            columns.append(codes[:, at])
            sizes.append(len(labels) + 1)
    pattern = pack([column + 1 for column in columns], sizes, (shape[0],))
    return [_distinct(codes[a:b], values[a:b], pattern[a:b]) for a, b in itertools.pairwise(starts)]


def _distinct(codes: np.ndarray, values: np.ndarray, pattern: np.ndarray) -> Records:
    distinct, rows, place, times = np.unique(
        pattern, return_index=True, return_inverse=True, return_counts=True
    )
    return Records(codes[rows], values[rows], distinct, times, place)


def nearest(
    rules: ClosestRules, copy: Records, file: Records, scale: np.ndarray, **workers: Unpack[Workers]
) -> Nearest:
    """Return the nearest records of a file, for each distinct synthetic record.

    `scale` is the standard deviation of each numeric variable in the synthetic file.
    """
    from reident.kernels import euclidean  # noqa: PLC0415 - compiled code: loaded where it runs

    if len(file.pattern) > euclidean.MAX_NEAREST:
        raise InputError(
            f"distances to the closest record need at most {euclidean.MAX_NEAREST:,} distinct records in a file, "
            f"but {len(file.pattern):,} are given. Draw a sample, or leave out variables (`closest.variables`)."
        )
    levels, place = euclidean.two_nearest(
        copy.codes,
        file.codes,
        copy.numbers,
        file.numbers,
        scale,
        numeric=np.array([name in rules.numeric for name in rules.variables]),
        alpha=ALPHA,
        scale=SCALE,
        **workers,
    )
    return Nearest(levels[:, 0], np.where(file.times[place] > 1, levels[:, 0], levels[:, 1]), place)


def _described(copy: Records, file: Records, near: Nearest, end: str) -> dict[str, Any]:
    """Return distances, ratios and identical records of one file."""
    times, kind = file.occurrences(copy.pattern), end or "_confidential"
    with np.errstate(invalid="ignore"):
        ratio = np.where(near.second == 0, 1.0, near.level / near.second)
    line = {
        f"distance{kind}": _percentile(copy, _distance(near.level)),
        f"ratio{kind}": _percentile(copy, np.where(near.second < 0, np.nan, ratio)),
        f"n_identical{end}": int(copy.times[times > 0].sum()),
    }
    return line if end else line | {"n_identical_unique": int(copy.times[times == 1].sum())}


def _compared(
    copy: Records, original: Records, held: Records, near: Nearest, near_held: Nearest, level: float
) -> dict[str, Any]:
    """Return what the confidential file and the holdout differ in, and the conclusions."""
    n, n_original, n_held = (int(file.times.sum()) for file in (copy, original, held))
    nearer, tied = near.level < near_held.level, near.level == near_held.level
    share, expected = float((nearer + tied / 2) @ copy.times) / n, n_original / (n_original + n_held)
    cluster = np.where(nearer | tied, near.place, len(original.times) + near_held.place)
    k = len(np.unique(cluster))
    excess = share - expected
    half = math.inf
    if k > 1:
        sums, untied = (
            np.bincount(cluster, values * copy.times) for values in (nearer + tied / 2 - share, ~tied)
        )
        # The larger of the observed variance and that of clusters that are each nearer to X by chance; ties are not.
        variance = max(math.fsum(sums**2) * k / (k - 1), expected * (1 - expected) * float(untied @ untied))
        half = float(stdtrit(k - 1, (1 + level) / 2)) * math.sqrt(variance) / n
    low, high = max(excess - half, -expected), min(excess + half, 1 - expected)
    counts = original.occurrences(copy.pattern), held.occurrences(copy.pattern)
    alone = [int(count[counts[0] + counts[1] == 1].sum()) for count in counts]
    chance = float(betainc(alone[0], alone[1] + 1, expected)) if alone[0] else 1.0
    n_tied = int(copy.times[tied].sum())
    # Where the holdout is the larger file, a tie that counts half can add more than its expectation.
    from_ties = max(0.0, 0.5 - expected) * n_tied / n
    return {
        "n_nearer": int(copy.times[nearer].sum()), "n_tied": n_tied, "share": share, "expected": expected, "low": low,
        "high": high, "n_clusters": k, "n_alone_confidential": alone[0], "n_alone_holdout": alone[1],
        "alone_probability": chance, "nearer": low > from_ties, "copied": chance <= (1 - level) / 2,
    }  # fmt: skip


def _distance(level: np.ndarray) -> np.ndarray:
    return np.where(level < 0, np.nan, level / SCALE)


def _percentile(copy: Records, values: np.ndarray, percent: Any = PERCENT) -> Any:
    """Return a percentile over the synthetic records, or several; NaN if a value is."""
    return np.percentile(values[copy.place], percent, method="averaged_inverted_cdf")
