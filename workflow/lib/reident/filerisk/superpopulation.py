"""Population uniques by models of the sizes of cells: Pitman, Zayatz, SNB, and a choice of one (METHODS §7.4).

Each takes the sizes of the cells of the file, int64, and the share of the population that is in the cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, gammaln

from reident.filerisk.estimates import (
    CONTRADICTED,
    NO_PAIR,
    NO_UNIQUE,
    NOT_CONVERGED,
    OK,
    SMALL_FRACTION,
    UNSUPPORTED,
    WHOLE,
    interval,
)

AGREEMENT = 2.0
"""The largest ratio between the τ₁ of a recommended model of uniqueness and that of the log-linear model."""
ROUNDS, TOLERANCE = 200, 1e-9
NOISE = 1e-13
"""The share of a likelihood that is rounding."""
MAX_LOGIT = 15.0
"""The logit of α beyond which the search has left the model for its edge."""
LARGE = 50.0
"""Arguments from which Stirling's series has all digits."""


class Uniques(NamedTuple):
    """The estimates of population uniques by a model.

    Attributes
    ----------
    in_sample : float
        The expected sample uniques that are population uniques; NaN unless the status is `ok` or `whole_population`.
    in_population : float
        The expected population uniques.
    low, high : float
        The interval of 95 % for the former; NaN where the model gives none.
    status : str
    """

    in_sample: float
    in_population: float
    low: float
    high: float
    status: str


def _without(status: str) -> Uniques:
    nothing = float("nan")
    return Uniques(nothing, nothing, nothing, nothing, status)


def _without_model(sizes: np.ndarray, fraction: float) -> Uniques | None:
    """Return the result where no model is needed or none applies: with everybody, or without a unique."""
    n_unique = int((sizes == 1).sum())
    if fraction >= 1:
        return Uniques(n_unique, n_unique, n_unique, n_unique, WHOLE)
    if not n_unique:
        return _without(NO_UNIQUE)
    return None


def pitman(sizes: np.ndarray, fraction: float) -> Uniques:
    """Estimate the population uniques by the sampling formula of Pitman.

    Notes
    -----
    θ and α have the largest likelihood; where that is at the edge α = 0, the model is the Ewens sampling formula. Of N
    people, the expected uniques are N·Π_{i=1}^{N−1} (θ + α + i − 1)/(θ + i), and a unique of n records is unique in the
    population with the probability Π_{i=n}^{N−1} (θ + α + i − 1)/(θ + i). A file of uniques alone has its largest
    likelihood where everybody is unique, at α = 1 and for every α as θ grows: it says nothing about the model.
    Source: Pitman 1995; Ewens 1972; Hoshino 2001.
    """
    if (ends := _without_model(sizes, fraction)) is not None:
        return ends
    if sizes.max() == 1:
        return _without(NO_PAIR)
    maximum = _largest_likelihood(sizes)
    if maximum is None:
        return _without(NOT_CONVERGED)
    at, information = maximum
    n, n_unique = float(sizes.sum()), int((sizes == 1).sum())
    people = n / fraction
    share = _share(at, n, people)
    theta, alpha = _parameters(at)
    uniques = people * np.exp(_ratio(people + theta, alpha - 1) - _ratio(theta + 1, alpha - 1))
    step = 1e-5
    slope = [
        (np.log(_share(at + move, n, people)) - np.log(_share(at - move, n, people))) / (2 * step)
        for move in np.eye(2)[: len(information)] * step
    ]
    relative = float(slope @ np.linalg.solve(information, slope))
    variance = n_unique * share * (1 - share) + (n_unique * share) ** 2 * relative
    return Uniques(n_unique * share, uniques, *interval(n_unique * share, variance, n_unique), OK)


def _parameters(at: np.ndarray) -> tuple[float, float]:
    """Return θ and α of ln(θ + α) and logit α."""
    alpha = float(expit(at[1]))
    return float(np.exp(at[0])) - alpha, alpha


def _share(at: np.ndarray, n: float, people: float) -> float:
    """Return the probability that a unique of n records is unique among all people."""
    theta, alpha = _parameters(at)
    return float(np.exp(_ratio(people + theta, alpha - 1) - _ratio(n + theta, alpha - 1)))


def _ratio(z: float, a: float) -> float:
    """Return ln Γ(z + a) − ln Γ(z) without the loss of digits of a difference of large numbers."""
    if min(z, z + a) < LARGE:
        return float(gammaln(z + a) - gammaln(z))
    series = [1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) for x in (z, z + a)]
    return float((z + a - 0.5) * np.log1p(a / z) + a * np.log(z) - a + series[1] - series[0])


def _largest_likelihood(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return ln(θ + α) and logit α with their information, at the edge that of the first; None if no search ends."""
    inside, (edge, edge_information) = _inside(sizes), _edge(sizes)
    if inside is not None and _likelihood(inside[0], sizes)[0] > _likelihood(edge, sizes)[0]:
        return inside
    return (edge, edge_information) if _slope_at_edge(float(np.exp(edge[0])), sizes) <= 0 else None


def _edge(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ln θ and logit α = −∞ of the Ewens sampling formula, and the information of ln θ.

    As many cells as the file has are expected, Σ_{j<n} θ/(θ + j). The sum is convex in j and below 1 + θ·Σ 1/j, which
    gives a bound on either side; without a unique or with uniques alone there is no such θ.
    """
    n_cells, j = len(sizes), np.arange(int(sizes.sum()), dtype=np.float64)
    low = (n_cells - 1) / (1 / j[1:]).sum()
    high = n_cells * (len(j) - 1) / (2 * (len(j) - n_cells))
    at = brentq(lambda at: (np.exp(at) / (np.exp(at) + j)).sum() - n_cells, np.log(low), np.log(high), xtol=1e-13)
    theta = np.exp(at)
    return np.array([at, -np.inf]), np.array([[(theta * j / (theta + j) ** 2).sum()]])


def _slope_at_edge(theta: float, sizes: np.ndarray) -> float:
    """Return the derivative of the logarithm of the likelihood by α at α = 0."""
    larger = _larger(sizes)
    return len(sizes) * (len(sizes) - 1) / (2 * theta) - float((larger / np.arange(1, len(larger) + 1)).sum())


def _larger(sizes: np.ndarray) -> np.ndarray:
    """Return the cells of more than 1, 2, … records, up to the largest."""
    return (len(sizes) - np.cumsum(np.bincount(sizes)))[1:-1]


def _inside(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return ln(θ + α) and logit α with the information there, or None if the search does not end inside."""
    at, damping = np.array([np.log(len(sizes)), 0.0]), 1.0
    value, gradient, information = _likelihood(at, sizes)
    for _ in range(ROUNDS):
        if np.abs(gradient).max() <= TOLERANCE * len(sizes):
            inside = abs(at[1]) < MAX_LOGIT and np.linalg.eigvalsh(information)[0] > 0
            return (at, information) if inside else None
        matrix = information + damping * np.diag(np.maximum(np.abs(np.diag(information)), 1e-6))
        if np.linalg.eigvalsh(matrix)[0] > 0:
            moved = at + np.clip(np.linalg.solve(matrix, gradient), -2, 2)
            tried = _likelihood(moved, sizes)
            if tried[0] >= value - NOISE * abs(value):
                at, (value, gradient, information) = moved, tried
                damping /= 10
                continue
        damping = max(damping * 4, 1e-8)
    return None


def _likelihood(at: np.ndarray, sizes: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the logarithm of the likelihood, its gradient and the information in ln(θ + α) and logit α."""
    theta, alpha = _parameters(at)
    i = np.arange(1, len(sizes))
    j = np.arange(1, int(sizes.sum()))
    larger = _larger(sizes)
    k = np.arange(1, len(larger) + 1)
    a, b, c = theta + i * alpha, theta + j, k - alpha
    value = np.log(a).sum() - np.log(b).sum() + (larger * np.log(c)).sum()
    slope = np.array([(1 / a).sum() - (1 / b).sum(), (i / a).sum() - (larger / c).sum()])
    second = np.array(
        [
            [-(1 / a**2).sum() + (1 / b**2).sum(), -(i / a**2).sum()],
            [-(i / a**2).sum(), -((i / a) ** 2).sum() - (larger / c**2).sum()],
        ]
    )
    spread, steep = theta + alpha, alpha * (1 - alpha)
    change = np.array([[spread, -steep], [0.0, steep]])  # of θ and α by each coordinate
    curved = change.T @ second @ change
    curved[0, 0] += slope[0] * spread
    curved[1, 1] += (slope[1] - slope[0]) * steep * (1 - 2 * alpha)
    return float(value), change.T @ slope, -curved


def zayatz(sizes: np.ndarray, fraction: float) -> Uniques:
    """Estimate the population uniques as if cells of the population had the sizes of those of the file.

    Notes
    -----
    A cell of j people has one of them in a sample of n of N with the hypergeometric probability h(j). A unique of the
    file is a population unique with the probability n₁·h(1) / Σ_j n_j·h(j), for n_j cells of size j in the file.
    Source: Zayatz 1991.
    """
    if (ends := _without_model(sizes, fraction)) is not None:
        return ends
    n_cells = np.bincount(sizes)
    size = np.flatnonzero(n_cells)
    size = size[size > 0]
    n = int(sizes.sum())
    people = max(round(n / fraction), n + 1)
    probabilities = np.array([_one_of(int(j), n, people) for j in size])
    n_unique = n_cells[1]
    inside = float(n_unique * (n_unique * probabilities[0]) / (n_cells[size] * probabilities).sum())
    return Uniques(inside, inside / fraction, float("nan"), float("nan"), OK)


def _one_of(j: int, n: int, people: int) -> float:
    """Return the probability that a sample of n people has exactly one of j, divided by that of j = 1."""
    if people - n < j - 1:
        return 0.0
    k = np.arange(j - 1, dtype=np.float64)
    return float(j * np.exp(np.log1p(-(n - 1) / (people - 1 - k)).sum()))


def snb(sizes: np.ndarray, fraction: float) -> Uniques:
    """Estimate the population uniques by the slide negative binomial model.

    Notes
    -----
    The people of a cell less one are negative binomial with α and β. The expected cells of size one and two are set to
    those of the file, for a number of cells K estimated as Haas and Stokes (1998) do. The uniques are K·β^α.
    Source: Chen and Keller-McNulty 1998.
    """
    if (ends := _without_model(sizes, fraction)) is not None:
        return ends
    if not (sizes == 2).any():
        return _without(NO_PAIR)
    n_one, n_two = int((sizes == 1).sum()), int((sizes == 2).sum())
    n_cells = _cells_of_population(sizes, fraction)

    def excess(at: float) -> float:
        return n_cells * fraction * _single_rate(float(expit(at)), fraction, n_two / n_one) - n_one

    grid = np.linspace(-25, 25, 201)
    values = np.array([excess(at) for at in grid])
    turns = np.flatnonzero(np.isfinite(values[1:]) & np.isfinite(values[:-1]) & (values[1:] * values[:-1] < 0))
    if not len(turns):
        return _without(NOT_CONVERGED)
    beta = float(expit(brentq(excess, grid[turns[-1]], grid[turns[-1] + 1], xtol=1e-13)))
    uniques = n_cells * beta ** _alpha(beta, fraction, n_two / n_one)
    return Uniques(uniques * fraction, uniques, float("nan"), float("nan"), OK)


def _cells_of_population(sizes: np.ndarray, fraction: float) -> float:
    """Estimate the cells of the population that have people: the modified estimator of Shlosser."""
    counts = np.bincount(sizes)
    i = np.flatnonzero(counts)
    i = i[i > 0]
    cells = counts[i]
    missed = (1 - fraction) ** i
    numerator = (i * fraction**2 * (1 - fraction**2) ** (i - 1.0) * cells).sum()
    denominator = (((1 - fraction**2) ** i - missed) * cells).sum()
    once = (i * fraction * (1 - fraction) ** (i - 1.0) * cells).sum()
    return float(len(sizes) + (sizes == 1).sum() * numerator / denominator * ((missed * cells).sum() / once) ** 2)


def _alpha(beta: float, fraction: float, ratio: float) -> float:
    """Return α with ``ratio`` times as many cells of size two as of size one in the file."""
    q = 1 - beta
    w = q * (1 - fraction)
    u = 1 - w
    a, b, c = fraction * q * w / 2, fraction * q * (2 - w) / 2 - ratio * u * w, -ratio * u * u
    if a == 0:
        return float("nan")
    root = np.sqrt(b * b - 4 * a * c)
    return float((root - b) / (2 * a) if b <= 0 else -2 * c / (b + root))


def _single_rate(beta: float, fraction: float, ratio: float) -> float:
    """Return the probability that a cell has one record in the file, divided by the sampling fraction."""
    alpha, w = _alpha(beta, fraction, ratio), (1 - beta) * (1 - fraction)
    return float((beta / (1 - w)) ** alpha * (1 + alpha * w / (1 - w)))


def chosen(fraction: float, models: dict[str, Uniques]) -> str | None:
    """Return the model that the rule of Dankar et al. (2012) chooses, or None if a model that it needs has no estimate.

    Up to :data:`SMALL_FRACTION` it is `pitman`, above it the one of `zayatz` and `snb` with the smaller estimate.
    """
    compared = ("pitman",) if fraction <= SMALL_FRACTION else ("snb", "zayatz")
    if any(models[name].status != OK for name in compared):
        return None
    return min(compared, key=lambda name: models[name].in_population)


def support(in_sample: float, linear: float | None) -> str:
    """Return `ok` if a log-linear model supports a model of uniqueness, or the status that says why not.

    Parameters
    ----------
    in_sample : float
        The expected sample uniques that are population uniques, τ₁, by the model of uniqueness.
    linear : float or None
        τ₁ by the recommended log-linear model; None if no model is recommended.

    Notes
    -----
    The sizes of cells alone do not show whether a model of uniqueness holds, a log-linear model has a test.
    """
    if linear is None:
        return UNSUPPORTED
    low, high = sorted((in_sample, linear))
    return OK if high <= AGREEMENT * low else CONTRADICTED
