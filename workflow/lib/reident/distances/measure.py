"""Distances of synthetic records to the closest record, and to that of a holdout (METHODS §8.1).

Equal records of a file are searched for once, in the confidential file and in the holdout apart. Where several
different records are nearest, a second search lists all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import betainc

from reident.distances import premise
from reident.errors import InputError
from reident.intake import keys
from reident.linkage.pairing import spread
from reident.matching import relabelling
from reident.matching.counting import pack
from reident.matching.prepare import ROW
from reident.matching.settings import ClosestSettings
from reident.sections.exact import SCALE

if TYPE_CHECKING:
    from reident.kernels.toplist import Workers

ALPHA = 0.5
"""The score of a variable that is missing in either record."""

PERCENT = 5
"""The percentile of distances and ratios in the summary."""

TAILS = (1, 5, 100)
"""Shares of the synthetic records, those with the smallest distances, in per cent."""

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
    tied : bool (k,)
        Whether several distinct records are nearest.
    """

    level: np.ndarray
    second: np.ndarray
    place: np.ndarray
    tied: np.ndarray


class Distances(NamedTuple):
    """The tables of the step; see `reident.pipeline.tables` for their columns."""

    records: pa.Table
    closest: pd.DataFrame
    premise: pd.DataFrame
    nearness: pd.DataFrame
    distances: pd.DataFrame


def measure(
    settings: ClosestSettings,
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
    original, holdout_records, *copies = encode(settings, tables)
    both = united(original, holdout_records)
    compared = pd.DataFrame()
    if holdout.num_rows:
        compared = premise.compare(settings, around(settings, both, (original, holdout_records), **workers))
    comparable = bool(holdout.num_rows) and not compared["differs"].any()
    records, lines, shares, percentiles = [], [], [], []
    for number, copy in enumerate(copies, start=1):
        scale = spread(copy.numbers[copy.place])
        near = nearest(settings, copy, original, scale, **workers)
        near_holdout = nearest(settings, copy, holdout_records, scale, **workers) if holdout.num_rows else None
        line = {"file": str(number), **_described(copy, original, near, ""), "nearer": False, "copied": False}
        line |= {"n_synthetic": n, "n_confidential": n, "n_holdout": holdout.num_rows, "comparable": comparable}
        if near_holdout is not None:
            weights = weigh(settings, copy, (original, holdout_records, both), (near, near_holdout), scale, **workers)
            nearness = _nearness(copy, weights, settings.level, n_files, number)
            shares.append(nearness.assign(file=str(number)))
            line |= _described(copy, holdout_records, near_holdout, "_holdout")
            line |= _copied(copy, original, holdout_records, (1 - settings.level) / n_files)
            line |= {
                "share": nearness["share"].iloc[-1],
                "expected": nearness["expected"].iloc[-1],
                "nearer": nearness["nearer"].any(),
            }
        lines.append(line)
        distances = {"confidential": _distance(near.level), "second": _distance(near.second)}
        distances["holdout"] = (
            np.full(len(near.level), np.nan) if near_holdout is None else _distance(near_holdout.level)
        )
        names = {"file": str(number), "percent": np.arange(101)}
        columns = {kind: _percentile(copy, distances[kind], names["percent"]) for kind in ("confidential", "holdout")}
        percentiles.append(pd.DataFrame(names | columns))
        rows = {name.removeprefix("."): confidential[name] for name in settings.key or [ROW]}
        cells = {kind: pa.array(values[copy.place], from_pandas=True) for kind, values in distances.items()}
        records.append(pa.table({"file": np.full(n, number, np.int32), **rows, **cells}))
    nearness = pd.concat(shares) if shares else pd.DataFrame()
    return Distances(pa.concat_tables(records), pd.DataFrame(lines), compared, nearness, pd.concat(percentiles))


def encode(settings: ClosestSettings, tables: Sequence[pa.Table]) -> list[Records]:
    """Return the distinct records of each table; a table without a record has none."""
    starts = np.cumsum([0, *(table.num_rows for table in tables)])
    shape = (int(starts[-1]), len(settings.variables))
    codes, values = np.full(shape, MISSING, np.int32), np.full(shape, np.nan)
    columns, sizes = [], []
    for at, name in enumerate(settings.variables):
        if name in settings.numeric:
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
    distinct, rows, place, times = np.unique(pattern, return_index=True, return_inverse=True, return_counts=True)
    return Records(codes[rows], values[rows], distinct, times, place)


def united(original: Records, holdout_records: Records) -> Records:
    """Return the distinct records of both files together, as one file."""
    pattern, rows = np.unique(np.concatenate([original.pattern, holdout_records.pattern]), return_index=True)
    codes, numbers = (
        np.concatenate(pair)[rows]
        for pair in ((original.codes, holdout_records.codes), (original.numbers, holdout_records.numbers))
    )
    return Records(codes, numbers, pattern, original.occurrences(pattern), rows)


def _compared(settings: ClosestSettings, copy: Records, file: Records, scale: np.ndarray) -> dict[str, Any]:
    """Return the arguments of both searches: two files and the definition of the distance."""
    numeric = np.array([name in settings.numeric for name in settings.variables])
    files = {"puf_codes": copy.codes, "eif_codes": file.codes, "puf_values": copy.numbers, "eif_values": file.numbers}
    return files | {"spread": scale, "numeric": numeric, "alpha": ALPHA, "scale": SCALE}


def around(
    settings: ClosestSettings, both: Records, files: tuple[Records, Records], **workers: Unpack[Workers]
) -> premise.Files:
    """Return the distinct records of two files together, with the nearest of them to each, in their own deviations."""
    from reident.kernels import euclidean  # noqa: PLC0415 - compiled code: loaded where it runs

    times = np.stack([file.occurrences(both.pattern) for file in files])
    scale = spread(np.repeat(both.numbers, times.sum(axis=0), axis=0))
    rules: dict[str, Any] = {"norm": "rms", "threshold": SCALE + 1, "keep": premise.MAX_NEIGHBOURS}
    pairs = euclidean.nearest(**_compared(settings, both, both, scale), **rules, **workers)
    return premise.Files(both.codes, both.numbers, times, np.stack([pairs.puf, pairs.eif]))


def nearest(
    settings: ClosestSettings, copy: Records, file: Records, scale: np.ndarray, **workers: Unpack[Workers]
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
    levels, place = euclidean.two_nearest(**_compared(settings, copy, file, scale), **workers)
    tied = levels[:, 0] == levels[:, 1]
    return Nearest(levels[:, 0], np.where(file.times[place] > 1, levels[:, 0], levels[:, 1]), place, tied)


class Weights(NamedTuple):
    """The weights that the synthetic records give to their nearest records of both files, each a whole in equal parts.

    Attributes
    ----------
    least : int64 (k,)
        The distance of each distinct synthetic record to its nearest records.
    cuts : int64 (3,)
        The distance up to which a synthetic record is in each of :data:`TAILS`, all that have it included.
    counts : int64 (k, 2)
        How many nearest records it has, confidential ones and of the holdout.
    sums : int64 (3, r)
        What each distinct record of both files is given by the synthetic records of each of :data:`TAILS`.
    times : int64 (2, r)
        How many records of both files are equal to it.
    one : int
        A whole.
    """

    least: np.ndarray
    cuts: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    times: np.ndarray
    one: int


def weigh(
    settings: ClosestSettings,
    copy: Records,
    files: tuple[Records, Records, Records],
    near: tuple[Nearest, Nearest],
    scale: np.ndarray,
    **workers: Unpack[Workers],
) -> Weights:
    """Let each synthetic record give a whole to all its nearest records; `files` are both files and their union."""
    from reident.kernels import euclidean, ties  # noqa: PLC0415 - compiled code: loaded where it runs

    *sides, both = files
    times = np.stack([file.occurrences(both.pattern) for file in sides])
    least = np.minimum(near[0].level, near[1].level)
    order = np.argsort(least, kind="stable")
    ends = np.searchsorted(np.cumsum(copy.times[order]), [-(-copy.times.sum() * q // 100) for q in TAILS])
    cuts = least[order[ends]]
    group = np.searchsorted(cuts, least)
    one = 1 << 62 - int(copy.times.sum()).bit_length()
    counts, sums = np.zeros((len(least), 2), np.int64), np.zeros((len(TAILS), len(both.times)), np.int64)
    side = (near[1].level < near[0].level).astype(np.int64)
    several = (near[0].level == near[1].level) | np.where(side, near[1].tied, near[0].tied)
    for at, (file, found) in enumerate(zip(sides, near, strict=True)):
        rows = np.flatnonzero(~several & (side == at))
        place = np.searchsorted(both.pattern, file.pattern[found.place[rows]])
        counts[rows] = times[:, place].T
        given = copy.times[rows] * one
        np.add.at(sums, (group[rows], place), (given + counts[rows, at] // 2) // counts[rows, at])
    if len(rows := np.flatnonzero(several)):
        part = Records(copy.codes[rows], copy.numbers[rows], copy.pattern[rows], copy.times[rows], rows)
        counts[rows] = euclidean.weigh_nearest(
            **_compared(settings, part, both, scale), **workers,
            times=times, weighing=ties.Weighing(least[rows], part.times * one, group[rows]), sums=sums,
        )  # fmt: skip
    return Weights(least, cuts, counts, np.cumsum(sums, axis=0), times, one)


def _nearness(copy: Records, weights: Weights, level: float, n_files: int, number: int) -> pd.DataFrame:
    """Return the share of the nearest records that are confidential, for each of :data:`TAILS`, and its chance."""
    lines, (n_original, n_holdout) = [], weights.times.sum(axis=1).tolist()
    shares = weights.counts[:, 0] / weights.counts.sum(axis=1) * copy.times
    for q, cut, sums in zip(TAILS, weights.cuts, weights.sums, strict=True):
        inside = weights.least <= cut
        n = int(copy.times[inside].sum())
        chance = relabelling.judge(
            sums, weights.times, float(n * weights.one), level, n_files * len(TAILS), [number, q]
        )
        names = {"percent": q, "n_records": n, "distance": cut / SCALE, "share": math.fsum(shares[inside]) / n}
        lines.append(names | {"expected": n_original / (n_original + n_holdout)} | chance._asdict())
    return pd.DataFrame(lines).rename(columns={"beyond": "nearer"})


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


def _copied(copy: Records, original: Records, holdout_records: Records, risk: float) -> dict[str, Any]:
    """Return the number of people with values of their own in a synthetic record, and whether that is chance."""
    n_original, n_holdout = (int(file.times.sum()) for file in (original, holdout_records))
    counts = original.occurrences(copy.pattern), holdout_records.occurrences(copy.pattern)
    alone = [int(count[counts[0] + counts[1] == 1].sum()) for count in counts]
    expected = n_original / (n_original + n_holdout)
    chance = float(betainc(alone[0], alone[1] + 1, expected)) if alone[0] else 1.0
    return {
        "n_alone_confidential": alone[0], "n_alone_holdout": alone[1], "alone_probability": chance,
        "copied": chance <= risk / 2,
    }  # fmt: skip


def _distance(level: np.ndarray) -> np.ndarray:
    return np.where(level < 0, np.nan, level / SCALE)


def _percentile(copy: Records, values: np.ndarray, percent: Any = PERCENT) -> Any:
    """Return a percentile over the synthetic records, or several; NaN if a value is."""
    return np.percentile(values[copy.place], percent, method="averaged_inverted_cdf")
