"""The rarity of people: the distribution of rivals in the population, from those in a sample (METHODS §6.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear, minimize, nnls
from scipy.special import bdtr, gammaln, logsumexp, xlog1py, xlogy

DEGREE = 3
"""The degree of the polynomial, in the logarithm of the number of rivals, of the logarithm of the distribution."""

PENALTY = 0.05
"""Of the squares of its coefficients, over two; Efron (2016) has the penalty of their root."""

SHIFT = 0.5
"""Added to the number of rivals before its logarithm is taken."""

EVERY = 40
"""Numbers of rivals up to this are points of the grid; larger ones are in geometric progression."""

FARTHEST = 25
"""The largest number of rivals on the grid gives this number in the sample."""

STEPS = 10
"""The bisections with which an end of an interval is found: to 1/1024."""

MAX_ROUNDS = 40


class Rarity(NamedTuple):
    """Records by the number of their rivals, in a sample and, as the model sees them, in the population.

    Attributes
    ----------
    counts : float64 (keep + 1,)
        Records with 0, 1, … rivals in the sample; at last those with `keep` or more, or with a link never suspected.
    share : float
        The share of the population that the sample holds.
    people : float64 (J,)
        The numbers of rivals in the population on the grid, ascending.
    chances : float64 (keep + 1, J + 1)
        The probability of each count for each number of rivals; in the last column, of a link never suspected.
    """

    counts: np.ndarray
    share: float
    people: np.ndarray
    chances: np.ndarray


def rarity(counts: np.ndarray, share: float) -> Rarity:
    """Return the records by rivals, with the probabilities of their numbers in a random sample.

    The share of the sample is above 0 and below 1.
    """
    top = max(FARTHEST / share, EVERY + 20)
    people = np.unique(np.append(np.arange(EVERY + 1), np.rint(np.geomspace(EVERY, top, EVERY))))
    keep = len(counts) - 1
    chances_ = np.stack([_binomial(number, people, share) for number in range(keep)])
    chances = np.vstack([chances_, np.maximum(1 - chances_.sum(axis=0), 0)])
    never = np.append(np.zeros(keep), 1.0)
    return Rarity(counts.astype(np.float64), share, people, np.column_stack([chances, never]))


def _binomial(k: int, n: np.ndarray, p: float) -> np.ndarray:
    """Return the probability of k of n trials; 0 where n is smaller."""
    possible = np.where(n >= k, n, k)
    logarithm = (
        gammaln(possible + 1) - gammaln(k + 1) - gammaln(possible - k + 1) + xlogy(k, p) + xlog1py(possible - k, -p)
    )
    return np.where(n >= k, np.exp(logarithm), 0.0)


def confirmation_chances(rarity_: Rarity, share: float, limit: int) -> np.ndarray:
    """Return the probability that at most `limit` − 1 rivals are in the file; float64 (J + 1,).

    `share` is the share of the population that the intruder holds, and `limit` the rank limit.
    """
    below = rarity_.people < limit
    people = np.where(below, limit, rarity_.people)
    return np.append(np.where(below, 1.0, bdtr(limit - 1, people.astype(np.int64), min(share, 1.0))), 0.0)


def smooth(rarity_: Rarity) -> np.ndarray:
    """Return the distribution of rivals in the population, smooth in their logarithm; float64 (J + 1,).

    Notes
    -----
    Source: METHODS §6.5; Efron 2016. The largest penalised likelihood of an exponential family on the grid; links that
    are never suspected have a share of their own.
    """
    design, base = _design(rarity_.people)
    penalty = np.append(np.full(DEGREE, PENALTY), PENALTY / 5)
    n = rarity_.counts.sum()

    def loss(coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        weight = _weights(base + design @ coefficients)
        chance = np.maximum(rarity_.chances @ weight, 1e-300)
        score = rarity_.chances.T @ (rarity_.counts / chance) - n
        value = -(rarity_.counts * np.log(chance)).sum() + (penalty * coefficients**2).sum() / 2
        return value, -design.T @ (weight * score) + penalty * coefficients

    start = np.zeros(design.shape[1])
    return _weights(base + design @ minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x)


def _design(people: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of the exponential family, and the logarithm of the spacing of its grid."""
    scale = np.log(people + SHIFT)
    place = 2 * (scale - scale[0]) / (scale[-1] - scale[0]) - 1
    columns = np.polynomial.legendre.legvander(place, DEGREE)[:, 1:]
    columns /= np.sqrt((columns**2).mean(axis=0))
    design = np.zeros((len(people) + 1, DEGREE + 1))
    design[:-1, :DEGREE], design[-1, DEGREE] = columns, 1
    return design, np.append(np.log(np.gradient(scale)), 0.0)


def _weights(logarithms: np.ndarray) -> np.ndarray:
    return np.exp(logarithms - logsumexp(logarithms))


def likely(rarity_: Rarity, values: np.ndarray, drop: float) -> tuple[float, float]:
    """Return the range of the mean of `values` over all distributions of rivals that the counts make likely.

    Parameters
    ----------
    values : float64 (J + 1,)
        In [0, 1], of each number of rivals in the population.
    drop : float
        A distribution is likely if its logarithmic likelihood is at most this below the largest one.

    Notes
    -----
    The range is that of the profile likelihood, without any assumption on the shape of the distribution (Murphy and
    van der Vaart 2000). It is wide where the counts leave open how rare people are.
    """
    best, largest = _most_likely(rarity_)
    middle = float(values @ best)

    def is_likely(mean: float) -> bool:
        return _most_likely(rarity_, values, mean)[1] >= largest - drop

    return _end(is_likely, middle, 0.0), _end(is_likely, middle, 1.0)


def _end(is_likely: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return where a mean stops being likely, on the way from inside to outside."""
    if is_likely(outside):
        return outside
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        if is_likely(middle):
            inside = middle
        else:
            outside = middle
    return outside


def _most_likely(rarity_: Rarity, values: np.ndarray | None = None, mean: float = 0.0) -> tuple[np.ndarray, float]:
    """Return the distribution with a mean of `values` and the largest likelihood, and its logarithm.

    Rounds of least squares with weights of at least 0 (Wang 2007); the mean is held by rows of large weight.
    """
    occurring = rarity_.counts > 0
    chances, counts = rarity_.chances[occurring], rarity_.counts[occurring]
    n_points, firm = chances.shape[1], 1e3 * np.sqrt(counts.sum())
    constraints, aims = [firm * np.ones((1, n_points))], [np.array([firm])]
    weight = np.full(n_points, 1 / n_points)
    if values is not None:
        constraints.append(firm * values[np.newaxis])
        aims.append(np.array([firm * mean]))
        rows = np.vstack([*constraints, 1e-3 * np.eye(n_points)])
        weight = _least_squares(rows, np.concatenate([*aims, 1e-3 * weight]))
    logarithm = _log_likelihood(chances, counts, weight)
    root = np.sqrt(counts)
    for _ in range(MAX_ROUNDS):
        chance = np.maximum(chances @ weight, 1e-12)
        rows = np.vstack([(root / chance)[:, np.newaxis] * chances, *constraints])
        goal = _least_squares(rows, np.concatenate([2 * root, *aims]))
        step, better = 1.0, -np.inf
        while step > 1e-4 and better < logarithm - 1e-12:
            better = _log_likelihood(chances, counts, weight + step * (goal - weight))
            step /= 2
        if better < logarithm - 1e-12:
            break
        weight = weight + 2 * step * (goal - weight)
        gain, logarithm = better - logarithm, better
        if gain < 1e-4:
            break
    return weight, logarithm


def _least_squares(rows: np.ndarray, aims: np.ndarray) -> np.ndarray:
    """Return the weights of at least 0, with the sum 1, that bring the rows nearest to the aims."""
    try:
        weight = nnls(rows, aims)[0]
    except RuntimeError:  # The active sets run in a circle, which happens with nearly equal columns.
        weight = np.maximum(lsq_linear(rows, aims, (0, np.inf)).x, 0)
    return weight / weight.sum()


def _log_likelihood(chances: np.ndarray, counts: np.ndarray, weight: np.ndarray) -> float:
    return float((counts * np.log(np.maximum(chances @ weight, 1e-300))).sum())
