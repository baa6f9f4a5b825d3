"""Sample uniques that are population uniques, and correct matches, by log-linear models (METHODS §7.3).

The table of the key has a cell for each combination of the categories that occur in the file. The people of a cell are
Poisson with mean λ, its records with mean μ = π·λ, and ln μ is a sum of effects of the variables and of interactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expi

from reident.filerisk.estimates import NO_UNIQUE, NOT_CONVERGED, OK, SATURATED, WHOLE, Z, interval

MAX_CELLS = 10_000_000
"""Cells of the largest table for which interactions are fitted and models are tested."""
TOLERANCE = 1e-7
"""The fit has the margins of the file to this share of a record and of the margin."""
ROUNDS = 2_000
MAX_DRAWN = 1_000_000
"""Cells of the largest table for which an interval is simulated."""
MOST, FEWEST, WORK = 100, 20, 5_000_000
"""Simulated files: as many as have this number of cells together, within these bounds."""
DRAWN_DIGITS = 9
ROUGH, ROUGH_ROUNDS = 1e-3, 100
"""How exactly a simulated file is fitted, and in how many rounds at most."""
TOO_LARGE = "table_too_large"

Margins = Sequence[tuple[int, ...]]
"""The sets of variables whose joint counts a model fits."""


class Table(NamedTuple):
    """The cells of the key.

    Attributes
    ----------
    counts : float64
        The records of each cell, an axis for each variable; of no cell where there are too many.
    levels : tuple of int
        The categories of each variable that occur.
    single : int64 (u, v)
        The categories of each sample unique.
    shares : list of float64
        For each variable the share of the records in each category.
    n : int
        Records.
    """

    counts: np.ndarray
    levels: tuple[int, ...]
    single: np.ndarray
    shares: list[np.ndarray]
    n: int


class Estimate(NamedTuple):
    """An estimate with the test of its model.

    Attributes
    ----------
    value, low, high : float
        The estimate and its interval of 95 %, NaN where there is none.
    bias : float
        The estimated bias of the estimate by a wrong model.
    test : float
        This divided by its standard error: positive where the model leaves out what matters.
    """

    value: float
    low: float
    high: float
    bias: float
    test: float


class Model(NamedTuple):
    """A log-linear model of the file.

    Attributes
    ----------
    population_uniques, correct_matches : Estimate
        τ₁ and τ₂ of the sample uniques.
    risks : float64 (u,)
        The expectation of 1 / F of each sample unique, in the order of ``Table.single``.
    status : str
    """

    population_uniques: Estimate
    correct_matches: Estimate
    risks: np.ndarray
    status: str

    @property
    def largest_test(self) -> float:
        """The larger of the absolute tests of both estimates, NaN where one has no test."""
        return float(np.max(np.abs([self.population_uniques.test, self.correct_matches.test])))

    @property
    def is_sound(self) -> bool:
        """Whether nothing in the file speaks against the model: its tests, and its intervals where it has them."""
        inside = (not estimate.value < estimate.low and not estimate.value > estimate.high for estimate in self[:2])
        return self.status == OK and self.largest_test <= Z and all(inside)


def table_of(codes: np.ndarray, sizes: np.ndarray) -> Table:
    """Count the records of each cell; records that miss a value are left out."""
    complete = np.flatnonzero(sizes > 0)
    inside = codes[complete]
    places = [np.unique(column, return_inverse=True) for column in inside.T]
    levels = tuple(len(labels) for labels, _ in places)
    ranks = np.stack([place for _, place in places], axis=1)
    shares = [np.bincount(column, minlength=1) / max(len(inside), 1) for column in ranks.T]
    counts: np.ndarray = np.zeros(0)
    if len(inside) and np.prod([float(n) for n in levels]) <= MAX_CELLS:
        cells = np.ravel_multi_index(tuple(ranks.T), levels)
        counts = np.bincount(cells, minlength=int(np.prod(levels))).astype(np.float64)
    counts = counts.reshape(levels if counts.size else (0,))
    return Table(counts, levels, ranks[sizes[complete] == 1], shares, len(inside))


def margins_of(model: str | Sequence[Sequence[str]], names: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the margins that a model fits: of each variable, and of its interactions that no other one contains.

    Parameters
    ----------
    model : {'main', 'two-way'} or list of interactions
    names : sequence of str
        The key variables.
    """
    v, variables = len(names), list(names)
    sets: list[tuple[int, ...]] = [(j,) for j in range(v)]
    if model == "two-way":
        sets += [(i, j) for i in range(v) for j in range(i + 1, v)]
    elif model != "main":
        sets += [tuple(sorted(variables.index(name) for name in interaction)) for interaction in model]
    sets = list(dict.fromkeys(sets))
    return [margin for margin in sets if not any(set(margin) < set(larger) for larger in sets)]


def is_saturated(table: Table, margins: Margins) -> bool:
    """Return whether a model fits every cell as it is, so that nothing in the file can test it."""
    varying = {axis for axis, n in enumerate(table.levels) if n > 1}
    return any(varying <= set(axes) for axes in margins)


def fit(
    counts: np.ndarray, margins: Margins, tolerance: float = TOLERANCE, rounds: int = ROUNDS
) -> tuple[np.ndarray, bool]:
    """Fit a log-linear model to a table by iterative proportional fitting.

    Parameters
    ----------
    counts : float64
        The records of each cell.
    margins : sequence of tuple of int
        The axes whose joint counts the fit has.
    tolerance : float
        The largest distance of a margin, as a share of one record more than it has.
    rounds : int
        The most rounds.

    Returns
    -------
    fitted : float64
        The maximum-likelihood estimate of the expected counts.
    converged : bool
        Whether it has all margins after these rounds.

    Notes
    -----
    Margins are fitted in the given order, from a table of ones: the same bytes each time.
    """
    observed = [_margin(counts, axes) for axes in margins]
    fitted = np.full(counts.shape, counts.sum() / counts.size)
    for _ in range(rounds):
        distance = 0.0
        for axes, target in zip(margins, observed, strict=True):
            margin = _margin(fitted, axes)
            distance = max(distance, float((np.abs(margin - target) / (1 + target)).max()))
            fitted *= np.divide(target, margin, out=np.zeros_like(margin), where=margin > 0)
        if distance <= tolerance or all(len(axes) == 1 for axes in margins):  # independence is exact after one round
            return fitted, True
    return fitted, False


def _margin(table: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Return the sums over all other axes, which stay with length 1."""
    return table.sum(axis=tuple(j for j in range(table.ndim) if j not in axes), keepdims=True)


def residual(values: np.ndarray, weights: np.ndarray, margins: Margins) -> np.ndarray:
    """Return the residual of values of cells after their projection on the effects of a model.

    Parameters
    ----------
    values, weights : float64
        With an axis for each variable. The projection is by least squares with these weights.
    margins : sequence of tuple of int
        Of the model.
    """
    residuals = values - (weights * values).sum() / weights.sum()
    sums = [_margin(weights, axes) for axes in margins]
    scale = float(np.sqrt((weights * values**2).sum()))
    for _ in range(ROUNDS):
        moved = 0.0
        for axes, total in zip(margins, sums, strict=True):
            mean = np.divide(_margin(weights * residuals, axes), total, out=np.zeros_like(total), where=total > 0)
            residuals -= mean
            moved += float((total * mean**2).sum())
        if np.sqrt(moved) <= TOLERANCE * scale:
            break
    return residuals


def model(table: Table, margins: Margins, fraction: float, seed: int = 1) -> Model:
    """Estimate τ₁ and τ₂ by a log-linear model, with their intervals and the tests of the model.

    Parameters
    ----------
    margins : sequence of tuple of int
        Of the model, see :func:`margins_of`.
    fraction : float
        π, the share of the population that is in the cells.
    seed : int
        Of the files that are simulated for the intervals.

    Notes
    -----
    τ₁ = Σ e^(−ν) and τ₂ = Σ (1 − e^(−ν))/ν over the sample uniques, with ν = λ·(1 − π). The test is B̂ of Skinner and
    Shlomo (2008), divided by its standard error.
    """
    n_unique = len(table.single)
    nothing = Estimate(*[float("nan")] * 5)
    if fraction >= 1:
        exact = nothing._replace(value=float(n_unique), low=float(n_unique), high=float(n_unique))
        return Model(exact, exact, np.ones(n_unique), WHOLE)
    main = all(len(axes) == 1 for axes in margins)
    if not n_unique or (not table.counts.size and not main):
        return Model(nothing, nothing, np.full(n_unique, np.nan), TOO_LARGE if n_unique else NO_UNIQUE)
    if not table.counts.size:
        mu = table.n * np.prod([shares[table.single[:, j]] for j, shares in enumerate(table.shares)], axis=0)
        one, inverse = _Risks(mu / fraction, fraction).terms
        unique, match = (nothing._replace(value=float(terms.sum())) for terms in (one, inverse))
        return Model(unique, match, inverse, TOO_LARGE)
    fitted, converged = fit(table.counts, margins)
    parts = _Risks(fitted[tuple(table.single.T)] / fraction, fraction).terms
    values = [float(h.sum()) for h in parts]
    ends = _intervals(values, n_unique, fitted, margins, fraction, seed)
    tested = _tested(table.counts, fitted, margins, fraction)
    estimates = [Estimate(value, *limits, *test) for value, limits, test in zip(values, ends, tested, strict=True)]
    status = SATURATED if is_saturated(table, margins) else OK
    return Model(estimates[0], estimates[1], parts[1], status if converged else NOT_CONVERGED)


def _intervals(
    values: Sequence[float], n_unique: int, fitted: np.ndarray, margins: Margins, fraction: float, seed: int
) -> list[tuple[float, float]]:
    """Return the intervals of τ₁ and τ₂ from files that are simulated by the model and fitted by it again.

    The mean error in these files is taken off the estimate, since a model of many effects follows the uniques of its
    file; the variance is that of the error, and that of what is true of a file with the same cells.
    """
    if fitted.size > MAX_DRAWN:
        return [(float("nan"), float("nan"))] * 2
    rng = np.random.default_rng(seed)
    expected = np.round(fitted, DRAWN_DIGITS)  # the last bits must not decide about a draw
    expectations = _Risks(expected / fraction, fraction)
    errors, variances = [], []
    for _ in range(min(MOST, max(FEWEST, WORK // fitted.size))):
        counts = rng.poisson(expected).astype(np.float64)
        single = counts == 1
        again = _Risks(fit(counts, margins, ROUGH, ROUGH_ROUNDS)[0][single] / fraction, fraction)
        errors.append([new.sum() - old[single].sum() for new, old in zip(again.terms, expectations.terms, strict=True)])
        variances.append([terms[single].sum() for terms in expectations.variances])
    bias, variance = np.mean(errors, axis=0), np.var(errors, axis=0, ddof=1) + np.mean(variances, axis=0)
    middle = [
        min(max(value - error, value / 10), n_unique - (n_unique - value) / 10)
        for value, error in zip(values, bias, strict=True)
    ]
    return [interval(estimate, float(spread), n_unique) for estimate, spread in zip(middle, variance, strict=True)]


class _Risks:
    """Expectations for a cell with one record, for λ: P(F = 1) and E(1/F), with the variances of both."""

    def __init__(self, lam: np.ndarray, fraction: float) -> None:
        nu = lam * (1 - fraction)
        probability, inverse = np.exp(-nu), mean_reciprocal(nu)
        self.terms = probability, inverse
        self.variances = (probability * (1 - probability), np.maximum(0.0, mean_reciprocal_square(nu) - inverse**2))


def _tested(counts: np.ndarray, fitted: np.ndarray, margins: Margins, fraction: float) -> list[tuple[float, float]]:
    """Return B̂ of τ₁ and of τ₂, and B̂ divided by its standard error."""
    lam, difference = fitted / fraction, counts - fitted
    results = []
    for first, second in _derivatives(lam * (1 - fraction)):
        # By λ: a derivative by ν times 1 − π.
        a = -lam * np.exp(-fitted) * first * (1 - fraction)
        b = lam * np.exp(-fitted) * second * (1 - fraction) ** 2 / (2 * fraction)
        bias = float((a * difference + b * (difference**2 - counts)).sum())
        residuals = residual(a, fitted, margins)
        error = float(np.sqrt((fitted * residuals**2).sum() + 2 * (b**2 * fitted**2).sum()))
        results.append((bias, bias / error if error > 0 else float("nan")))
    return results


def _derivatives(nu: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the first and second derivative by ν of e^(−ν) and of (1 − e^(−ν))/ν."""
    e = np.exp(-nu)
    small = nu < 0.05
    x = np.where(small, 1.0, nu)
    first = np.where(small, _series(nu, 1), (e * (1 + nu) - 1) / x**2)
    second = np.where(small, _series(nu, 2), (2 - e * (nu**2 + 2 * nu + 2)) / x**3)
    return [(-e, e), (first, second)]


def _series(nu: np.ndarray, order: int) -> np.ndarray:
    """Return a derivative of (1 − e^(−ν))/ν = Σ (−ν)^k / (k + 1)! for a small ν."""
    x = np.minimum(nu, 0.05)
    coefficients = [[-1 / 2, 1 / 3, -1 / 8, 1 / 30, -1 / 144, 1 / 840, -1 / 5760, 1 / 45360]]
    coefficients.append([1 / 3, -1 / 4, 1 / 10, -1 / 36, 1 / 168, -1 / 960, 1 / 6480, -1 / 50400])
    return np.polynomial.polynomial.polyval(x, coefficients[order - 1])


def mean_reciprocal(nu: np.ndarray) -> np.ndarray:
    """Return E(1/F) where F − 1 is Poisson with mean ν."""
    return np.divide(-np.expm1(-nu), nu, out=np.ones_like(nu), where=nu > 0)


def mean_reciprocal_square(nu: np.ndarray) -> np.ndarray:
    """Return E(1/F²) where F − 1 is Poisson with mean ν: e^(−ν)·Σ_{j ≥ 1} ν^(j−1) / (j·j!)."""
    result = np.empty_like(nu)
    low, high = nu < 1, nu > 50
    x, term = nu[low], np.exp(-nu[low])
    total = term.copy()
    for j in range(2, 25):
        term = term * x / j
        total += term / j
    result[low] = total
    x = nu[~low & ~high]
    result[~low & ~high] = np.exp(-x) * (expi(x) - np.euler_gamma - np.log(x)) / x
    x = nu[high]
    term, total = 1 / x, 1 / x
    for k in range(1, 20):
        term = term * k / x
        total = total + term
    result[high] = total / x
    return result
