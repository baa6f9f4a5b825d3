"""Numbers that are equal within a radius, decided exactly (METHODS §8, §12).

Binary floating point cannot decide whether 0.8 is within 0.1 of 0.7: the difference of the two
doubles is a little more than 0.1. Here a value is the decimal number in the file (the
shortest one with the same double, which is the written one up to 15 digits), the radius is the
number in the study file, and |y − x| ≤ r·|x| or |y − x| ≤ d is decided on these, in integers.

Every number becomes its rank among all distinct values, every record's neighbourhood a half-open
interval of ranks; from there on nothing is compared but ranks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

Interval = Literal["closed", "open"]

_DIGITS = 15
"""Decimal digits that every double keeps."""

_FARTHEST = 4 * 10**_DIGITS
"""Units between any two scaled values are fewer."""


class Reach(NamedTuple):
    """A radius: a share r of the confidential value's size, or a distance d; both exact and not negative."""

    size: Fraction
    relative: bool
    interval: Interval


class Ranked(NamedTuple):
    """The values of one variable as ranks.

    Attributes
    ----------
    ranks : list of int32 (n,)
        By file; a missing value has the rank after all others.
    low, high : int32 (n,)
        Of the records of the first file: ``low <= rank < high`` is equal within the radius.
    """

    ranks: list[np.ndarray]
    low: np.ndarray
    high: np.ndarray


def ranked(values: Sequence[np.ndarray], reach: Reach, *, missing_match: bool) -> Ranked:
    """Rank the values of all files, and the neighbourhoods of those of the first file.

    Parameters
    ----------
    values : sequence of float64 (n,)
        The confidential file's first; NaN is missing.
    missing_match : bool
        Whether a missing value is equal to a missing value; it never is to a number.
    """
    distinct = np.unique(np.concatenate([column[~np.isnan(column)] for column in values]))
    ranks = [np.searchsorted(distinct, column).astype(np.int32) for column in values]  # NaN sorts last
    low, high = neighbourhoods(distinct, reach)
    last = len(distinct)
    low, high = np.append(low, last), np.append(high, last + missing_match)
    return Ranked(ranks, low[ranks[0]].astype(np.int32), high[ranks[0]].astype(np.int32))


def neighbourhoods(distinct: np.ndarray, reach: Reach) -> tuple[np.ndarray, np.ndarray]:
    """For each of the sorted distinct values, which of them are within its radius.

    Parameters
    ----------
    distinct : float64 (k,)
        Sorted, finite, distinct.

    Returns
    -------
    low, high : int64 (k,)
        Half-open intervals of positions in `distinct`; an empty one has ``low == high``.
    """
    scaled = scaled_whole(distinct)
    if scaled is not None:
        whole, places = scaled
        farthest = _units(whole, places, reach)
        low = np.searchsorted(whole, whole - farthest, side="left")
        high = np.searchsorted(whole, whole + farthest, side="right")
        return low, np.maximum(low, high)
    units, places = _long_units(distinct)
    ends = [_reach_in_units(unit, places, reach) for unit in units]
    low = np.array([bisect_left(units, u - w) for u, w in zip(units, ends, strict=True)], np.int64)
    high = np.array([bisect_right(units, u + w) for u, w in zip(units, ends, strict=True)], np.int64)
    return low, np.maximum(low, high)


def scaled_whole(values: np.ndarray) -> tuple[np.ndarray, int] | None:
    """Return values as whole numbers of 10^−places, where 15 digits are enough for all of them; otherwise None.

    Returns
    -------
    whole : int64 (k,)
    places : int
    """
    largest = np.abs(values).max(initial=0)
    for places in range(_DIGITS + 1):
        power = 10.0**places
        if largest * power >= 10.0**_DIGITS:
            return None
        whole = np.rint(values * power)
        # A quotient of two exact doubles is the double nearest to the decimal number, so equality
        # says that the value is this decimal number, of at most 15 digits.
        if (whole / power == values).all():
            return whole.astype(np.int64), places
    return None


def _units(whole: np.ndarray, places: int, reach: Reach) -> np.ndarray | int:
    """Return the farthest distance in units, for each value where the radius is relative."""
    if not reach.relative:
        return min(_reach_in_units(0, places, reach), _FARTHEST)
    if reach.size.numerator < 9_000:  # times 10^15 still fits 64 bits
        return np.minimum(_reach_in_units(whole, places, reach), _FARTHEST)
    reaches = [_reach_in_units(unit, places, reach) for unit in whole.tolist()]
    return np.array([min(units, _FARTHEST) for units in reaches], np.int64)


def _reach_in_units(unit: Any, places: int, reach: Reach) -> Any:
    """Return the largest whole distance within the radius of a value, or of each; −1 if there is no such distance."""
    size = reach.size
    top = size.numerator * (abs(unit) if reach.relative else 10**places)
    return top // size.denominator if reach.interval == "closed" else -(-top // size.denominator) - 1


def _long_units(values: np.ndarray) -> tuple[list[int], int]:
    """Return values as integers of any length, of 10^−places: the shortest decimals with the same doubles."""
    decimals = [Decimal(repr(value)) for value in values.tolist()]
    places = max((max(0, -int(decimal.as_tuple().exponent)) for decimal in decimals), default=0)
    return [int(decimal.scaleb(places)) for decimal in decimals], places
