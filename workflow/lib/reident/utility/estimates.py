"""Estimates before and after protection, and the overlap of their confidence intervals (METHODS §13)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from reident.utility.files import MISSING, Both
from reident.utility.section import Regression

SMALLEST_PIVOT = 1e-9
"""A column of a design that is shorter than this, less what earlier columns explain, depends on them."""


class Interval(NamedTuple):
    """An estimate with its confidence interval; the interval is None where its error is undefined."""

    value: float
    low: float | None
    high: float | None


class Estimate(NamedTuple):
    """One quantity before and after protection; None where a file does not determine it.

    Attributes
    ----------
    kind : {'mean', 'share', 'coefficient'}
    variable, level : str
        The level is empty for a numeric variable, and the text `(missing)` for missing values.
    """

    kind: str
    variable: str
    level: str
    original: Interval | None
    released: Interval | None

    @property
    def overlap(self) -> float | None:
        """The overlap of the intervals; None where neither file, or an interval, is defined."""
        return overlap(self.original, self.released)


def overlap(one: Interval | None, other: Interval | None) -> float | None:
    """Return the mean share of two intervals that they have in common; 0 where one estimate alone is defined.

    A point in the other interval counts 1: the estimates agree as far as their errors tell. Source: Karr et al. (2006);
    METHODS §13.
    """
    if one is None and other is None:
        return None
    if one is None or other is None:
        return 0.0
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    common = min(one.high, other.high) - max(one.low, other.low)
    widths = one.high - one.low, other.high - other.low
    if not all(widths):
        return float(common >= 0)
    return max(0.0, common / widths[0] + common / widths[1]) / 2


def around(
    value: float, error: float | None, level: float, least: float = -math.inf, most: float = math.inf
) -> Interval:
    """Return the interval of an estimate with a standard error, by the normal distribution, cut at its range."""
    if error is None:
        return Interval(value, None, None)
    reach = -float(ndtri((1 - level) / 2)) * error
    return Interval(value, max(least, value - reach), min(most, value + reach))


def of_variable(both: Both, level: float) -> list[Estimate]:
    """Return the mean of a numeric variable, or the share of each category, in both files."""
    name = both.variable.name
    if both.numeric:
        original, released = (_mean(values, level) for values in both.sides)
        return [Estimate("mean", name, "", original, released)]
    n = len(both.original)
    before, after = (np.bincount(codes, minlength=len(both.labels)).tolist() for codes in both.sides)
    return [
        Estimate("share", name, label_of(both, code), _share(a, n, level), _share(b, n, level))
        for code, (a, b) in enumerate(zip(before, after, strict=True))
        if a or b
    ]


def label_of(both: Both, code: int) -> str:
    """Return the category of a code."""
    return "(missing)" if code == MISSING else both.labels[code]


def _mean(values: np.ndarray, level: float) -> Interval | None:
    numbers = values[~np.isnan(values)]
    n = len(numbers)
    if n == 0:
        return None
    mean = math.fsum(numbers) / n
    if n == 1:
        return Interval(mean, None, None)
    return around(mean, math.sqrt(math.fsum(np.square(numbers - mean)) / (n - 1) / n), level)


def _share(count: int, n: int, level: float) -> Interval:
    share = count / n
    return around(share, math.sqrt(share * (1 - share) / n), level, 0.0, 1.0)


def of_regression(variables: Mapping[str, Both], options: Regression, level: float) -> list[Estimate]:
    """Return the coefficients of a linear regression of the complete cases of each file.

    A categorical predictor has an indicator of each category but the one that is most frequent before protection. A
    column that depends on earlier ones is left out, and its coefficient is undefined.
    """
    response, predictors = (variables[options.response], [variables[name] for name in options.predictors])
    terms = [("(intercept)", ""), *(term for both in predictors for term, _ in _terms(both))]
    coefficients = [_least_squares(response, predictors, side, level) for side in (0, 1)]
    return [
        Estimate("coefficient", name, label, coefficients[0][at], coefficients[1][at])
        for at, (name, label) in enumerate(terms)
    ]


def _terms(both: Both) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the variable and category of each column of a predictor, with the code of the category."""
    name = both.variable.name
    if both.numeric:
        yield (name, ""), 0
        return
    counts = [np.bincount(codes, minlength=len(both.labels)) for codes in both.sides]
    present = [code for code in range(1, len(both.labels)) if counts[0][code] + counts[1][code]]
    reference = max(present, key=lambda code: (counts[0][code], -code), default=None)
    for code in present:
        if code != reference:
            yield (name, both.labels[code]), code


def _least_squares(response: Both, predictors: Sequence[Both], side: int, level: float) -> list[Interval | None]:
    """Return the coefficient of each column with its interval; None for a column without one."""
    complete = ~np.isnan(response.sides[side])
    for both in predictors:
        values = both.sides[side]
        complete &= ~np.isnan(values) if both.numeric else values != MISSING
    y = response.sides[side][complete]
    columns = [np.ones(len(y))]
    for both in predictors:
        values = both.sides[side][complete]
        codes = [code for _, code in _terms(both)]
        columns += [values] if both.numeric else [(values == code).astype(np.float64) for code in codes]
    return _coefficients(np.column_stack(columns), y, level)


def _coefficients(design: np.ndarray, y: np.ndarray, level: float) -> list[Interval | None]:
    lengths = np.sqrt(np.square(design).sum(axis=0))
    columns = _independent(design / np.where(lengths > 0, lengths, 1))
    intervals: list[Interval | None] = [None] * design.shape[1]
    if not columns:
        return intervals
    scaled = design[:, columns] / lengths[columns]
    q, r = np.linalg.qr(scaled)
    inverse = np.linalg.inv(r)
    values = inverse @ (q.T @ y)
    free = len(y) - len(columns)
    residuals = math.fsum(np.square(y - scaled @ values))
    errors = np.sqrt(residuals / free * np.square(inverse).sum(axis=1)) if free > 0 else None
    for place, at in enumerate(columns):
        error = None if errors is None else float(errors[place] / lengths[at])
        intervals[at] = around(float(values[place] / lengths[at]), error, level)
    return intervals


def _independent(design: np.ndarray) -> list[int]:
    """Return the columns of unit length that do not depend on those before them."""
    if not len(design):
        return []
    # The triangle of a QR decomposition without pivots; fewer records than columns leave the last ones without a pivot.
    pivots = np.abs(np.diag(np.linalg.qr(design, mode="r")))
    return [at for at, pivot in enumerate(pivots) if pivot > SMALLEST_PIVOT]
