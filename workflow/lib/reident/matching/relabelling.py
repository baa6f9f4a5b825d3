"""Whether synthetic records are nearer to confidential records than chance allows: relabelled records (METHODS §8.1).

If nothing was memorised, any n_X of the n_X + n_H records could have been the confidential ones. A relabelling draws
them anew. Records of equal weight are one class, of which a multivariate hypergeometric draw gives the number.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

MIN_DRAWS = 9_999
"""Relabellings of a share; more where shares and files are so many that this could not tell."""

MAX_CLASSES = 200
"""Classes of weights that are not rounded."""

MAX_RECORDS = 10_000
"""Records of both files whose weights are not rounded."""

_BITS = 4
"""The significant bits of rounded weights: what is tested is then the sum of these."""

_CELLS = 2**22
"""Numbers drawn at a time."""


class Chance(NamedTuple):
    """The distribution of a share by chance.

    Attributes
    ----------
    deviation : float
        The standard deviation of the share over all labellings.
    low, high : float
        The band of chance: a share outside is beyond chance at the level.
    probability : float
        That of a share at least as large, adjusted for all tests.
    beyond : bool
        Whether the share is above the band.
    """

    deviation: float
    low: float
    high: float
    probability: float
    beyond: bool


def judge(weights: np.ndarray, times: np.ndarray, scale: float, level: float, n_tests: int, seed: list[int]) -> Chance:
    """Compare the confidential records' part of all weights with that of relabelled records.

    Parameters
    ----------
    weights : int64 (k,)
        What each record of a class is given by the synthetic records.
    times : int64 (2, k)
        Confidential records and records of the holdout in each class.
    scale : float
        The sum of all weights, of which a share is a part.
    level : float
        The level at which all tests together do not accuse.
    """
    n, n_confidential = int(times.sum()), int(times[0].sum())
    apart = (weights - float(weights @ times.sum(axis=0)) / n) / scale
    variance = n_confidential * (n - n_confidential) / (n * (n - 1)) * math.fsum(apart**2 * times.sum(axis=0))
    if len(np.unique(weights)) > MAX_CLASSES and n > MAX_RECORDS:
        weights = _rounded(weights)
    values, kind = np.unique(weights, return_inverse=True)
    sizes = np.bincount(kind, times.sum(axis=0), len(values)).astype(np.int64)
    tail = (1 - level) / 2 / n_tests
    n_draws = max(MIN_DRAWS, math.ceil(2 / tail) - 1)
    draws = np.sort(_draw(values, sizes, n_confidential, n_draws, seed))
    total = int(values @ sizes)
    observed = int(weights @ times[0]) - (total >> 40)  # sums that differ by the rounding of equal parts are equal
    probability = (1 + n_draws - int(np.searchsorted(draws, observed))) / (1 + n_draws)
    beyond = math.floor(tail * (1 + n_draws)) - 1  # draws that are beyond the band, on either side
    low, high = (int(draws[at]) / total for at in (beyond, n_draws - 1 - beyond))
    adjusted = min(1.0, n_tests * probability)
    return Chance(math.sqrt(variance), low, high, adjusted, observed > draws[n_draws - 1 - beyond])


def _rounded(weights: np.ndarray) -> np.ndarray:
    """Return the weights to some significant bits."""
    fraction, exponent = np.frexp(weights.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(fraction, _BITS)), exponent - _BITS).astype(np.int64)


def _draw(values: np.ndarray, sizes: np.ndarray, n_confidential: int, n_draws: int, seed: list[int]) -> np.ndarray:
    """Return the sum of the weights of the records that are called confidential, of each relabelling."""
    rng, block = np.random.default_rng(seed), max(1, _CELLS // len(values))
    # One record after another where they are few, one class after another where these are.
    are_few = min(n_confidential, int(sizes.sum()) - n_confidential) <= 4 * len(values)
    draw = partial(rng.multivariate_hypergeometric, method="count" if are_few else "marginals")
    blocks = (min(block, n_draws - start) for start in range(0, n_draws, block))
    return np.concatenate([draw(sizes, n_confidential, n) @ values for n in blocks])
