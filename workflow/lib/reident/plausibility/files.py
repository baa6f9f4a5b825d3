"""Checks of the files: records that repeat, and numbers that hardly overlap (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reident.intake.severity import UNDERSTATES
from reident.plausibility.conversions import apart, precision
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.hashing import mixed
from reident.plausibility.records import Records, Sides, Values

MIN_REPEATS = 0.2
"""The smallest excess of the share of records that repeat over that of the other file."""

MIN_VALUES = 30
"""The fewest numbers of a variable that tells records apart: exact repeats decide by themselves where it takes part."""

MIN_DISTANCE = 0.5
"""The smallest distance of two distributions that hardly overlap."""


def repeats(records: Records) -> Iterator[Finding]:
    """Yield whether records of one file repeat on all variables more often than both files' sizes explain."""
    twins = {side: _twins(_exact(records, side)) for side in ("puf", "eif")}
    coarse = {side: _twins(_codes(records, side)) for side in ("puf", "eif")}
    for side, other in (("eif", "puf"), ("puf", "eif")):
        if not len(twins[side]) or not len(twins[other]):
            continue
        share, usual = float((twins[side] > 0).mean()), float((twins[other] > 0).mean())
        size = max(len(twins[side]) - 1, 1) / max(len(twins[other]) - 1, 1)
        by_size = float((1 - np.exp(-twins[other] * max(size, 1))).mean())
        expected = float(coarse[other].mean()) * size
        is_repeated = coarse[side].mean() > 1.3 * expected + 0.2 or _are_copies(twins[side])
        is_repeated = is_repeated or share > 2 * _by_chance(records, side) + 0.1
        is_more = share > max(usual, by_size) + MIN_REPEATS and is_repeated
        severity = UNDERSTATES if is_more and len(twins[side]) >= MIN_LINKS else ""
        yield Finding(side, "repeats", share, usual, len(twins[side]), severity, "units" if severity else "")


def _twins(hashed: np.ndarray) -> np.ndarray:
    """Return for each record how many others are equal."""
    if not len(hashed):
        return np.empty(0, np.int64)
    ordered = np.sort(hashed)
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sizes = np.diff(np.r_[starts, len(ordered)])
    return np.repeat(sizes - 1, sizes)


def _by_chance(records: Records, side: str) -> float:
    """Return the share of records that would repeat if their most telling number went with the others by chance; or 1.

    The number is the one with most values, of those with :data:`MIN_VALUES`. It is drawn among the records of the same
    fifth of it and the same other values.
    """
    numbers = {name: values.numbers[side] for name, values in records.variables.items() if values.numbers}
    telling = {name: len(np.unique(column)) for name, column in numbers.items()}
    name = max(telling, key=lambda one: telling[one], default="")
    if not name or telling[name] < MIN_VALUES:
        return 1.0
    inside = records.strata[side] >= 0
    others = [values.numbers or values.codes for key, values in records.variables.items() if key != name]
    cell = joined(records, side, others)[inside]
    fifths = records.variables[name].codes[side][inside] + 1
    rest = np.unique(cell, return_inverse=True, return_counts=True)
    own = np.unique(numbers[name][inside], return_inverse=True, return_counts=True)
    fifth = np.bincount(fifths)[fifths]
    expected = (rest[2][rest[1]] - 1) * own[2][own[1]] / fifth
    return float((1 - np.exp(-expected)).mean())


def _are_copies(twins: np.ndarray) -> bool:
    """Return whether every record is there twice, or any other number of times, by its twins."""
    return len(twins) >= MIN_LINKS and bool(np.gcd.reduce(twins + 1) > 1)


def _codes(records: Records, side: str) -> np.ndarray:
    return joined(records, side, [values.codes for values in records.variables.values()])[records.strata[side] >= 0]


def _exact(records: Records, side: str) -> np.ndarray:
    columns = [_comparable(values) for values in records.variables.values()]
    return joined(records, side, columns)[records.strata[side] >= 0]


def _comparable(values: Values) -> Sides:
    """Return the codes of a variable, or its numbers at the precision of the file that has the coarser ones."""
    if values.numbers is None:
        return values.codes
    steps = [precision(np.unique(_sample(np.sort(column)))) for column in values.numbers.values()]
    if min(steps) in (0, max(steps)):
        return values.numbers
    return {side: np.rint(column / max(steps)) for side, column in values.numbers.items()}


def joined(records: Records, side: str, columns: list[Sides]) -> np.ndarray:
    """Return a hash of some columns and the stratum of each record of a file; uint64 (n,)."""
    hashed = mixed(bits(records.strata[side]))  # twice: a stratum and a code that change places make another sum
    for column in columns:
        hashed = mixed(hashed + bits(column[side]))
    return hashed


def bits(column: np.ndarray) -> np.ndarray:
    """Return a hash of each value of a column, equal for equal values; uint64."""
    if column.dtype.kind == "f":
        return mixed((column + 0.0).view(np.uint64) ^ np.uint64(1))
    return mixed(column.astype(np.int64).astype(np.uint64))


def distances(records: Records) -> Iterator[Finding]:
    """Yield numbers whose distributions in both files hardly overlap, where links are too few to tell more."""
    for name, values in records.variables.items():
        if values.numbers is None:
            continue
        columns = [np.sort(column[~np.isnan(column)]) for column in values.numbers.values()]
        if min(map(len, columns)) < MIN_LINKS:
            continue
        distance = apart(*columns)
        severity = UNDERSTATES if distance >= MIN_DISTANCE and records.links.n < MIN_LINKS else ""
        yield Finding(name, "distance", distance, 0.0, sum(map(len, columns)), severity)


def _sample(ordered: np.ndarray) -> np.ndarray:
    return ordered[:: max(1, len(ordered) // 10_000)]
