"""Confidence intervals of rates: what another release, made in the same way, could show (METHODS §6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betainccinv, betaincinv, expit, logit, ndtri, stdtrit

if TYPE_CHECKING:
    from reident.sections.linkage import Rates


class Interval(NamedTuple):
    """A confidence interval of a rate, fractions in [0, 1]; None where the rate is undefined."""

    low: float | None
    high: float | None


def interval(successes: int, trials: int, method: str = "clopper-pearson", level: float = 0.95) -> Interval:
    """Return the confidence interval of a proportion of independent records (METHODS §6).

    Parameters
    ----------
    successes, trials : int
    method : {'clopper-pearson', 'wilson'}
    level : float
        The confidence level, a fraction.

    Returns
    -------
    Interval

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


def _wilson(p: float, n: int, z: float) -> Interval:
    """Return the two proportions that lie z of their own standard errors from the observed proportion p."""
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((middle + side * half) / (1 + z * z / n) for side in (-1, 1))
    return Interval(0.0 if p == 0 else low, 1.0 if p == 1 else high)


def one_sided(trials: int, level: float = 0.95) -> float | None:
    """Return the one-sided upper bound of a proportion with 0 successes, 1 − (1 − level)^{1/trials} (METHODS §6)."""
    return float(-np.expm1(np.log1p(-level) / trials)) if trials else None


def clustered(hits: np.ndarray, records: np.ndarray, cluster: np.ndarray, level: float = 0.95) -> Interval:
    """Return the confidence interval of Σ hits / Σ records, where records of a cluster depend on each other.

    Parameters
    ----------
    hits, records : float (n,)
        The numerator and the denominator of each record, 0 ≤ hits ≤ records; for a proportion, records are 1.
    cluster : int64 (n,)
        The number of each record's cluster, at least 0.
    level : float
        The confidence level, a fraction.

    Returns
    -------
    Interval
        The linearised variance of the ratio over the clusters with records, Student's t with as many degrees of
        freedom as clusters less one, on the logit scale; METHODS §6 has the formula and the special cases.
    """
    _, place = np.unique(cluster[records > 0], return_inverse=True)
    if not len(place):
        return Interval(None, None)
    y, x = (np.bincount(place, values[records > 0]) for values in (hits, records))
    k, total, tail = len(x), float(x.sum()), (1 - level) / 2
    rate = float(y.sum()) / total
    if rate in {0, 1}:  # The clusters, and not the records, are independent trials.
        return interval(k if rate else 0, k, level=level)
    if k == 1:
        return Interval(0.0, 1.0)
    variance = k / (k - 1) * float(np.square(y - rate * x).sum()) / total**2
    if variance < 1e-24:  # Every cluster has the same rate, but for rounding.
        variance = rate * (1 - rate) / total
    half = float(stdtrit(k - 1, 1 - tail)) * math.sqrt(variance) / (rate * (1 - rate))
    low, high = (float(expit(logit(rate) + side * half)) for side in (-1, 1))
    return Interval(low, high)


class Uncertainty(NamedTuple):
    """The interval of a conditional rate, and its one-sided bound where nothing is confirmed (otherwise None)."""

    interval: Interval
    bound: float | None


def of_counts(confirmed: int, suspected: int, rates: Rates) -> Uncertainty:
    """Return what is known of the conditional rate of another release made in the same way (METHODS §6).

    Parameters
    ----------
    confirmed, suspected : int
        Numbers of records, which are independent.
    rates : Rates
        The method and the level.
    """
    ends = interval(confirmed, suspected, rates.interval, rates.level)
    return Uncertainty(ends, None if confirmed else one_sided(suspected, rates.level))


def of_clusters(confirmed: np.ndarray, cluster: np.ndarray, level: float) -> Uncertainty:
    """Return the same where only records of different clusters are independent.

    Parameters
    ----------
    confirmed : bool (n,)
        Whether each suspected record is confirmed.
    cluster : int64 (n,)
        The number of each record's cluster.
    level : float
        The confidence level, a fraction.
    """
    ends = clustered(confirmed.astype(float), np.ones(len(confirmed)), cluster, level)
    return Uncertainty(ends, None if confirmed.any() else one_sided(len(np.unique(cluster)), level))
