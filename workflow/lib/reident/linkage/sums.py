"""Sums of floating-point numbers that are rounded once, of very many short rows at a time (METHODS §6)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

MAX_TOGETHER = 32
"""Values of a segment that is summed with others; a longer one takes less time by itself."""


def of_rows(values: np.ndarray) -> np.ndarray:
    """Return the sum of each row of float64 (m, k), as :func:`math.fsum`: the exact sum, rounded once.

    A running sum is kept as two numbers; where these do not hold it exactly, :func:`math.fsum` sums the row.
    """
    high, low = np.zeros(len(values)), np.zeros(len(values))
    exact = np.ones(len(values), bool)
    with np.errstate(invalid="ignore", over="ignore"):
        for value in values.T:
            high, error = _two_sum(high, value)
            low, lost = _two_sum(low, error)
            high, low = _two_sum(high, low)
            exact &= lost == 0
    for row in np.flatnonzero(~exact):
        high[row] = math.fsum(values[row].tolist())
    return high


def of_shares(totals: np.ndarray) -> float:
    """Return Σ totals[k] / k over all positions k; position 0 holds 0; the totals are int64 or float64 (n,).

    With the true links among the candidates of all records that have k candidates, this is the number of claims that
    are right, on average, if an intruder names one candidate of each (METHODS §6).
    """
    sizes = np.flatnonzero(totals)
    return math.fsum(totals[sizes] / sizes)


def mean_of_known(values: Iterable[float]) -> float:
    """Return the mean of the numbers that are not NaN, whose sum is rounded once; NaN without any."""
    numbers = [value for value in values if not math.isnan(value)]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounded sums and their errors (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def products(values: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounded products and their errors (Dekker): the sum of both is the exact product.

    The values are 0, or from 2⁻⁹⁰⁰ to 2⁹⁰⁰; `times` are whole numbers from 0 to 2⁵³.
    """
    times = times.astype(np.float64)
    product = values * times
    (high, low), (top, rest) = _halves(values), _halves(times)
    return product, low * rest - (((product - high * top) - low * top) - high * rest)


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers into two of at most 26 bits each (Veltkamp)."""
    large = values * (2.0**27 + 1)
    high = large - (large - values)
    return high, values - high


def of_segments(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return the sum of the values between successive bounds, as :func:`math.fsum`; float64 (m,) for m + 1 bounds."""
    sizes = np.diff(bounds)
    sums = np.zeros(len(sizes))
    for size in np.unique(sizes[sizes <= MAX_TOGETHER]).tolist():
        at = np.flatnonzero(sizes == size)
        sums[at] = of_rows(values[bounds[at][:, np.newaxis] + np.arange(size)])
    for long in np.flatnonzero(sizes > MAX_TOGETHER).tolist():
        sums[long] = math.fsum(values[bounds[long] : bounds[long + 1]].tolist())
    return sums
