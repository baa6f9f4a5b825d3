"""Confidence intervals of rates, about the rate over many files made in the same way (METHODS §6)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """A confidence interval of a rate, fractions in [0, 1]; None where the rate is undefined."""

    low: float | None
    high: float | None


CLUSTERED = "clustered"
"""The method of a study whose records depend on each other within their clusters."""

FEW_CLUSTERS = 15
"""With fewer clusters that have a case, clustered intervals are too short (METHODS §6)."""

_LEAST = 1e-300
"""The effective number of records where one cluster has nearly all of them: the interval is then from 0 to 1."""


def are_independent(method: str) -> bool:
    """Return whether a study takes its records as independent, so that its intervals follow from counts of them."""
    return method != CLUSTERED


def of_study(successes: int, trials: int, method: str, level: float) -> Interval:
    """Return the study's own interval of a rate with two known counts; no other one replaces it (METHODS §6).

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
    low, high = ends(np.array([successes]), np.array([trials]), method, level)
    return Interval(float(low[0]), float(high[0]))


def ends(
    successes: np.ndarray, trials: np.ndarray, method: str = "clopper-pearson", level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper ends of many intervals, NaN without trials; successes may be expected numbers."""
    from scipy.special import betainccinv, betaincinv, ndtri  # noqa: PLC0415 - a step without an interval does not wait for it

    tail, failures = (1 - level) / 2, trials - successes
    with np.errstate(divide="ignore", invalid="ignore"):
        if method == "wilson":
            low, high = _wilson(successes / trials, trials, float(-ndtri(tail)))
        else:
            low = betaincinv(successes, failures + 1, tail)
            high = betainccinv(successes + 1, failures, tail)
    low, high = np.where(successes == 0, 0.0, low), np.where(failures == 0, 1.0, high)
    return np.where(trials == 0, np.nan, low), np.where(trials == 0, np.nan, high)


def score(successes: int, trials: int, level: float) -> Interval:
    """Return Wilson's score interval, the basis of Newcombe's interval of a difference (METHODS §10.3)."""
    return interval(successes, trials, "wilson", level)


def _wilson(p: np.ndarray, n: np.ndarray, z: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the two proportions that lie z of their own standard errors from the observed proportions p."""
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def one_sided(trials: int, level: float = 0.95) -> float | None:
    """Return the one-sided upper bound of a proportion with 0 successes, 1 − (1 − level)^{1/trials} (METHODS §6)."""
    return float(-np.expm1(np.log1p(-level) / trials)) if trials else None


class Spread(NamedTuple):
    """The spread of the records of a rate over clusters.

    Attributes
    ----------
    kinds : tuple
        For each kind of cluster with records, ascending: its records, those of them that count for the rate, and the
        number of such clusters.
    """

    kinds: tuple[tuple[int, int, int], ...] = ()

    @property
    def clusters(self) -> int:
        """The number of clusters with records."""
        return sum(times for _, _, times in self.kinds)

    @property
    def hit(self) -> int:
        """The number of clusters with a record that counts for the rate."""
        return sum(times for _, y, times in self.kinds if y)


def clustered(spread: Spread, level: float = 0.95) -> Interval:
    """Return the confidence interval of Σy / Σx, where records of a cluster depend on each other.

    It is Clopper–Pearson's of the effective number of records (Korn and Graubard 1998), with the jackknife variance
    over the clusters; METHODS §6 has the formulas, the degrees of freedom and the special cases.
    """
    k = spread.clusters
    if not k:
        return Interval(None, None)
    x, y, times = np.array(spread.kinds, np.int64).T
    n, hits = int(x @ times), int(y @ times)
    if hits in {0, n}:  # The clusters, and not the records, are independent trials.
        return interval(k if hits else 0, k, level=level)
    if k == 1:
        return Interval(0.0, 1.0)
    from scipy.special import betainccinv, betaincinv, stdtrit  # noqa: PLC0415 - as above

    rate, tail = hits / n, (1 - level) / 2
    squares = ((y * n - x * hits) / (n * (n - x))) ** 2  # of what the rate changes by without a cluster
    effective, freedom = float(n), 1 / math.fsum(times * (x / n) ** 2) - 1
    if (total := math.fsum(times * squares)) > 0:
        effective = min(effective, rate * (1 - rate) * k / ((k - 1) * total))
        freedom = min(freedom, 2 * total**2 / math.fsum(times * squares**2))
    effective *= float(stdtrit(n - 1, tail) / stdtrit(freedom, tail)) ** 2
    effective = max(effective, _LEAST)
    successes, failures = rate * effective, (1 - rate) * effective
    return Interval(float(betaincinv(successes, failures + 1, tail)), float(betainccinv(successes + 1, failures, tail)))
