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
from scipy.special import betainc, ndtri

from reident.errors import InputError
from reident.intake import keys
from reident.linkage.pairing import spread
from reident.matching.counting import pack
from reident.matching.parts import ClosestRules
from reident.matching.prepare import FILE, ROW
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
    level : int64 (k,)
        The smallest score in units of 10⁻¹².
    second : int64 (k,)
        That of the second nearest record, which may be equal to the nearest; -1 if the file has one record.
    place : int64 (k,)
        The nearest distinct record, the first of several.
    """

    level: np.ndarray
    second: np.ndarray
    place: np.ndarray


class Difference(NamedTuple):
    """The share of synthetic records that are nearer to the confidential file, less its expectation.

    Attributes
    ----------
    n_nearer, n_tied : int
        Synthetic records that are nearer to the confidential file, and as near to both files.
    share, expected : float
        The share of those that are nearer, a tie counting half; n_X / (n_X + n_H).
    low, high : float
        The interval of share − expected.
    n_clusters : int
        Nearest records that the synthetic records have.
    """

    n_nearer: int
    n_tied: int
    share: float
    expected: float
    low: float
    high: float
    n_clusters: int


class Copies(NamedTuple):
    """People who alone have their values and whose values a synthetic record has.

    Attributes
    ----------
    n_confidential, n_holdout : int
        People of the confidential file and of the holdout with values that no other record of both files has, and that
        a synthetic record has.
    probability : float
        The probability of at least `n_confidential` of them, if each is in the confidential file with the probability
        n_X / (n_X + n_H).
    """

    n_confidential: int
    n_holdout: int
    probability: float


class Distances(NamedTuple):
    """The tables of the step; see `reident.pipeline.tables.matching` for their columns."""

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
    rules : ClosestRules
    confidential, synthetic, holdout : pyarrow.Table
        As :func:`reident.matching.prepare.prepare` gives them; a holdout without a record is none.
    **workers : Workers

    Raises
    ------
    InputError
        If a file has more distinct records than positions fit beside scores.
    """
    n, n_files = confidential.num_rows, synthetic.num_rows // confidential.num_rows
    tables = [confidential, holdout, *(synthetic.slice(at * n, n) for at in range(n_files))]
    own, held, *copies = encode(rules, tables)
    level = 1 - (1 - rules.level) / n_files  # all files together (Bonferroni)
    records, lines, percentiles = [], [], []
    for number, copy in enumerate(copies, start=1):
        scale = spread(copy.numbers[copy.place])
        near = nearest(rules, copy, own, scale, **workers)
        other = nearest(rules, copy, held, scale, **workers) if holdout.num_rows else None
        lines.append({"file": str(number), **_summary(level, copy, own, held, near, other)})
        percentiles.append(_percentiles(number, copy, near, other))
        records.append(_records(rules, confidential, number, copy, near, other))
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

    Parameters
    ----------
    rules : ClosestRules
    copy, file : Records
    scale : float64 (v,)
        The standard deviation of each numeric variable in the synthetic file.
    **workers : Workers
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


def difference(
    copy: Records, own: Records, held: Records, near: Nearest, other: Nearest, level: float
) -> Difference:
    """Return how many synthetic records are nearer to the confidential file, against the expectation."""
    n, n_own, n_held = (int(file.times.sum()) for file in (copy, own, held))
    nearer, tied = near.level < other.level, near.level == other.level
    score = nearer + tied / 2
    share, expected = float(score @ copy.times) / n, n_own / (n_own + n_held)
    cluster = np.where(near.level <= other.level, near.place, len(own.times) + other.place)
    sums = np.bincount(cluster, (score - share) * copy.times)
    k = len(np.unique(cluster))
    half = -float(ndtri((1 - level) / 2)) * math.sqrt(math.fsum(sums**2) * (k / (k - 1) if k > 1 else 1)) / n
    return Difference(
        int(copy.times[nearer].sum()),
        int(copy.times[tied].sum()),
        share,
        expected,
        share - expected - half,
        share - expected + half,
        k,
    )


def copies_of(copy: Records, own: Records, held: Records) -> Copies:
    """Return the people who alone have values that a synthetic record has, of both files."""
    counts = own.occurrences(copy.pattern), held.occurrences(copy.pattern)
    alone = counts[0] + counts[1] == 1
    n_own, n_held = (int(count[alone].sum()) for count in counts)
    expected = own.times.sum() / (own.times.sum() + held.times.sum())
    tail = float(betainc(n_own, n_held + 1, expected)) if n_own else 1.0
    return Copies(n_own, n_held, tail)


def _summary(
    level: float, copy: Records, own: Records, held: Records, near: Nearest, other: Nearest | None
) -> dict[str, object]:
    """Return the line of one synthetic file; what needs a holdout is empty without one."""
    counts = own.occurrences(copy.pattern)
    line: dict[str, object] = {
        "n_synthetic": int(copy.times.sum()),
        "n_confidential": int(own.times.sum()),
        "n_holdout": int(held.times.sum()),
        "distance_confidential": _percentile(copy, _distance(near.level)),
        "distance_holdout": math.nan,
        "ratio_confidential": _percentile(copy, _ratio(near)),
        "ratio_holdout": math.nan,
        "n_identical": int(copy.times[counts > 0].sum()),
        "n_identical_unique": int(copy.times[counts == 1].sum()),
        "n_identical_holdout": pd.NA,
    }
    empty = dict.fromkeys((*Difference._fields, *ALONE), pd.NA) | {"nearer": False, "copied": False}
    if other is None:
        return line | empty
    line["distance_holdout"] = _percentile(copy, _distance(other.level))
    line["ratio_holdout"] = _percentile(copy, _ratio(other))
    line["n_identical_holdout"] = int(copy.times[held.occurrences(copy.pattern) > 0].sum())
    excess = difference(copy, own, held, near, other, level)
    alone = copies_of(copy, own, held)
    # Where the holdout is the larger file, a tie that counts half can add more than its expectation.
    from_ties = max(0.0, 0.5 - excess.expected) * excess.n_tied / copy.times.sum()
    conclusions = excess.low > from_ties, alone.probability <= (1 - level) / 2
    return (
        line | excess._asdict() | dict(zip((*ALONE, "nearer", "copied"), (*alone, *conclusions), strict=True))
    )


ALONE = ("n_alone_confidential", "n_alone_holdout", "alone_probability")
"""The columns of :class:`Copies`."""


def _distance(level: np.ndarray) -> np.ndarray:
    return np.where(level < 0, np.nan, level / SCALE)


def _ratio(near: Nearest) -> np.ndarray:
    """Return nearest / second nearest: 1 where both are 0, NaN without a second one."""
    with np.errstate(invalid="ignore"):
        ratio = near.level / near.second
    return np.where(near.second < 0, np.nan, np.where(near.second == 0, 1.0, ratio))


def _percentile(copy: Records, values: np.ndarray, percent: Any = PERCENT) -> Any:
    """Return a percentile over the synthetic records, or several; NaN if a value is."""
    return np.percentile(values[copy.place], percent, method="averaged_inverted_cdf")


def _percentiles(number: int, copy: Records, near: Nearest, other: Nearest | None) -> pd.DataFrame:
    """Return the distribution of both distances, from the smallest to the largest."""
    percents = np.arange(101)
    columns = {
        name: _percentile(copy, _distance(found.level), percents) if found else math.nan
        for name, found in (("confidential", near), ("holdout", other))
    }
    return pd.DataFrame({"file": str(number), "percent": percents, **columns})


def _records(
    rules: ClosestRules,
    confidential: pa.Table,
    number: int,
    copy: Records,
    near: Nearest,
    other: Nearest | None,
) -> pa.Table:
    """Return the distances of each record of one synthetic file, in the order of the confidential file."""
    chosen = confidential.select(list(rules.key) or [ROW])
    table = pa.table({name.removeprefix("."): chosen[name] for name in chosen.column_names})
    held = _distance(other.level)[copy.place] if other else np.full(len(copy.place), np.nan)
    columns = {
        "confidential": _distance(near.level)[copy.place],
        "second": _distance(near.second)[copy.place],
        "holdout": held,
    }
    table = table.add_column(0, FILE.removeprefix("."), pa.array(np.full(len(copy.place), number, np.int32)))
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values, from_pandas=True))
    return table
