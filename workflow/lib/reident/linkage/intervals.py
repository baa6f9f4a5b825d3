"""Confidence intervals of rates: what the rate over many files made in the same way can be (METHODS §6)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betainccinv, betaincinv, expit, logit, ndtri, stdtrit


class Interval(NamedTuple):
    """A confidence interval of a rate, fractions in [0, 1]; None where the rate is undefined."""

    low: float | None
    high: float | None


CLUSTERED = "clustered"
"""The method of a study whose records depend on each other within their clusters."""


def are_independent(method: str) -> bool:
    """Return whether a study takes its records as independent, so that its intervals follow from counts of them."""
    return method != CLUSTERED


def of_study(successes: int, trials: int, method: str, level: float) -> Interval:
    """Return the study's own interval of a rate of which two counts are known; no other one replaces it (METHODS §6).

    Where records depend on each other, both ends are None: the counts do not tell how records spread over clusters.
    """
    return interval(successes, trials, method, level) if are_independent(method) else Interval(None, None)


def interval(successes: int, trials: int, method: str = "clopper-pearson", level: float = 0.95) -> Interval:
    """Return the confidence interval of a proportion of independent records (METHODS §6).

    Raises
    ------
    ValueError
        If successes exceed trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError("successes must lie between 0 and trials")
    if trials == 0:
        return Interval(None, None)
    tail, failures = (1 - level) / 2, trials - successes
    if method == "wilson":
        return _wilson(successes / trials, trials, float(-ndtri(tail)))
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betainccinv(successes + 1, failures, tail)) if failures else 1.0
    return Interval(low, high)


def score(successes: int, trials: int, level: float) -> Interval:
    """Return Wilson's score interval, of which Newcombe's interval of a difference is made (METHODS §10.3)."""
    return interval(successes, trials, "wilson", level)


def _wilson(p: float, n: int, z: float) -> Interval:
    """Return the two proportions that lie z of their own standard errors from the observed proportion p."""
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((middle + side * half) / (1 + z * z / n) for side in (-1, 1))
    return Interval(0.0 if p == 0 else low, 1.0 if p == 1 else high)


def one_sided(trials: int, level: float = 0.95) -> float | None:
    """Return the one-sided upper bound of a proportion with 0 successes, 1 − (1 − level)^{1/trials} (METHODS §6)."""
    return float(-np.expm1(np.log1p(-level) / trials)) if trials else None


class Spread(NamedTuple):
    """How numerator and denominator of a rate spread over clusters: sums over the clusters with records, whole numbers.

    Attributes
    ----------
    clusters, hit : the number of clusters with records, and of those with records that count for the rate
    x, y : the records of a cluster, and those of them that count for the rate
    xx, xy, yy : their products
    """

    clusters: int
    hit: int
    x: int
    y: int
    xx: int
    xy: int
    yy: int


def clustered(spread: Spread, level: float = 0.95) -> Interval:
    """Return the confidence interval of Σy / Σx, where records of a cluster depend on each other.

    It has the linearised variance of the ratio over the clusters with records, Student's t with as many degrees of
    freedom as clusters less one, on the logit scale; METHODS §6 has the formula and the special cases.
    """
    k, x, y = spread.clusters, spread.x, spread.y
    if not k:
        return Interval(None, None)
    if y in {0, x}:  # The clusters, and not the records, are independent trials.
        return interval(k if y else 0, k, level=level)
    if k == 1:
        return Interval(0.0, 1.0)
    rate = y / x
    # Σ(y_i − R·x_i)² · (Σx)², a whole number of any size; 0 where every cluster has the same rate.
    squares = x * x * spread.yy - 2 * x * y * spread.xy + y * y * spread.xx
    variance = (k * squares) / ((k - 1) * x**4) if squares else rate * (1 - rate) / x
    half = float(stdtrit(k - 1, 1 - (1 - level) / 2)) * math.sqrt(variance) / (rate * (1 - rate))
    low, high = (float(expit(logit(rate) + side * half)) for side in (-1, 1))
    return Interval(low, high)
