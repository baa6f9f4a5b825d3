"""Whole steps: the bound of a score never exceeds it, and reaches it just beyond each step (METHODS §4.3)."""

import numba
import numpy as np
import pytest
from reident.kernels import euclidean, steps

TABLE = steps.whole_steps(euclidean.UNIT)


@numba.njit(error_model="numpy")
def bounds(table, x, y):
    """What the search counts for pairs of numbers, each eᵃ of its value in deviations, in single precision."""
    found = np.empty(x.size, np.float32)
    for at in range(x.size):
        t = abs(x[at] - y[at]) / (x[at] + y[at])
        found[at] = steps.square(table, t * t)
    return found


@numba.njit(error_model="numpy")
def scores(table, difference, spread):
    found = np.empty(difference.size)
    for at in range(difference.size):
        found[at] = steps.score(table, difference[at], spread[at])
    return found


def pairs(n=200_000):
    """Values in deviations whose difference is near a whole step, on either side of it, or anywhere up to 8."""
    rng = np.random.default_rng(3)
    near = rng.integers(0, 8, n) + rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-9, -1, n)
    difference = np.abs(np.where(rng.random(n) < 0.8, near, rng.uniform(0, 8, n)))
    a = rng.uniform(-30, 30, n)
    return a, a + difference


def test_a_bound_is_never_above_the_score_by_more_than_its_error():
    a, b = pairs()
    x, y = (np.exp(value).astype(np.float32) for value in (a, b))
    step = np.minimum(np.floor(np.abs(b - a) * (1 + steps.SLACK)), 6)
    exact = np.tanh(step / 2) ** 2
    found = bounds(TABLE, x, y).astype(float)
    assert (found <= exact + euclidean.SQUARE_ERROR * euclidean.UNIT).all()
    beyond = np.abs(b - a) >= step + 1e-4
    assert beyond.mean() > 0.3
    assert np.abs(found - exact)[beyond].max() < euclidean.SQUARE_ERROR * euclidean.UNIT


def test_what_is_nowhere_known_stays_unknown():
    nan = np.array([np.nan], np.float32)
    assert np.isnan(bounds(TABLE, nan, nan)).all()


SCORES = [
    ("less than a step", 0.999, 1.0, 0),
    ("a whole step", 2.0, 1.0, 2),
    ("a whole step of decimals, which falls short in binary", 0.3 - 0.1, 0.1, 2),
    ("three steps of decimals", 1.1 - 0.8, 0.1, 3),
    ("a step by a rounded deviation", 3 * 2**0.5, 2**0.5, 3),
    ("short by more than a rounding", 3 * (1 - 2e-9), 1.0, 2),
    ("the last step", 6.0, 1.0, 6),
    ("beyond it", 1e300, 1.0, 6),
    ("an infinite difference", np.inf, 1.0, 6),
    ("without a deviation", 1e-9, np.nan, 6),
]


@pytest.mark.parametrize(
    ("sentence", "difference", "spread", "step"), SCORES, ids=[case[0] for case in SCORES]
)
def test_a_difference_is_rounded_down_to_whole_steps(sentence, difference, spread, step):
    found = scores(TABLE, np.array([difference]), np.array([spread]))
    assert found == pytest.approx(np.tanh(step / 2), rel=1e-15)


def test_pairs_below_a_step_on_every_variable_tie_with_equal_ones():
    """200 records that are 0.999 deviations apart on each of eight variables, and two that are a whole step apart."""
    n, v = 200, 8
    eif = np.full((n, v), 0.999)
    eif[[7, 70], 3] = 1.0
    codes = np.full((1, v), -1, np.int32)
    puf, level = (
        euclidean.nearest(
            codes, np.full((n, v), -1, np.int32), np.zeros((1, v)), eif, np.ones(v), numeric=np.ones(v, bool),
            alpha=0.5, norm="rms", threshold=35 * 10**10, scale=10**12, keep=n, whole_steps=whole,
        )[at]
        for whole, at in ((True, 1), (True, 2))
    )  # fmt: skip
    far = round(np.sqrt(np.tanh(0.5) ** 2 / v) * 1e12)
    assert level.tolist() == [0] * (n - 2) + [far] * 2
    assert puf.tolist()[-2:] == [7, 70]
