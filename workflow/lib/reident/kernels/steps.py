"""Scores of euclidean in whole steps: differences in standard deviations are rounded down (METHODS §4.3).

A metric without whole steps has the steps None, which is known when the search is compiled: its code is that of a
metric that knows no steps.

In a lower bound the square of a score counts as tanh²(k/2) only from tanh²(k/2) + 6·u on, rounded to single precision.
It is off by at most 5.5·u (see `euclidean`), so that the difference is at least k deviations, less a share of 10⁻⁶·u
that `SLACK` covers. What counts is a constant, rounded by at most u/2: it is off by less than the score itself may be.
Such a bound is no upper bound; pairs have none.
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from reident.kernels.search import INLINE

FARTHEST = 6
"""Standard deviations from which on a score does not grow."""

SLACK = 1e-9
"""The share by which a difference may fall short of a step, since standard deviations and values are rounded."""


def whole_steps(unit: float) -> np.ndarray:
    """Return for 1 to 6 steps the least square that surely reaches them, and theirs.

    Parameters
    ----------
    unit : float
        The relative rounding error of single precision.

    Returns
    -------
    float32 (6, 2)
    """
    squares = np.tanh(np.arange(1, FARTHEST + 1) / 2) ** 2
    return np.stack([squares + 6 * unit, squares], axis=1).astype(np.float32)


def square(steps: Any, t: Any) -> Any:
    """Return the square of a score in single precision: t, or what it surely is in whole steps; NaN of NaN."""
    raise NotImplementedError


def score(steps: Any, difference: float, spread: float) -> float:
    """Return the score of two different numbers by the definition; a spread of NaN counts as 6 deviations."""
    raise NotImplementedError


@overload(square, jit_options=INLINE, strict=False)
def _choose_square(steps: Any, *_: Any) -> Any:
    def stepped(steps, t):
        reached = np.float32(0)
        for k in range(FARTHEST):
            reached = steps[k, 1] if t >= steps[k, 0] else reached
        return reached if t == t else t

    return (lambda _, t: t) if isinstance(steps, types.NoneType) else stepped


@overload(score, jit_options=INLINE, strict=False)
def _choose_score(steps: Any, *_: Any) -> Any:
    def stepped(_, difference, spread):
        x = 0
        while x < FARTHEST and not difference * (1 + SLACK) < (x + 1) * spread:
            x += 1
        return math.tanh(x / 2.0)

    def exact(_, difference, spread):
        return math.tanh(min(6.0, difference / spread) / 2.0)  # in this order also 6 where the spread is NaN

    return exact if isinstance(steps, types.NoneType) else stepped
