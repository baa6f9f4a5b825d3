"""The unit of the numbers of a file, seen from the numbers of another file (METHODS §1).

A variable in another unit has ranks that agree and numbers that do not. The models are tried in the order of
:data:`MODELS`, and the first is taken whose differences are about as small as the smallest.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

_MIN_PAIRS = 10
"""Linked pairs of numbers from which a unit is evidence."""

_MIN_CORRELATION = 0.3
_APART = 0.5
"""The largest difference of two distribution functions (KS) from which distributions alone are evidence."""

_CLOSE, _ROUNDING = 1.25, 0.002
"""A model is as good as the best if its differences are at most this many times as large, or by a share of values."""

_SHIFT, _FACTOR = 0.5, 1.5
"""The smallest offset, in standard deviations, and the smallest factor, that are seen through disturbed values."""

_SNAP = 0.045
"""The largest relative distance from a usual factor at which it is taken for it."""

_SHARES = np.arange(0.05, 0.96, 0.05)
_YEARS, _AGES = (1880.0, 2035.0), (0.0, 120.0)

_BASES = (
    *("1", "12", "52", "7", "24", "60", "365.25", "40"),
    *("2.2046226218", "2.54", "1.609344", "3.2808398950", "4.1868", "1.8", "1.95583"),
)


def _usual() -> list[Fraction]:
    bases = [factor for base in _BASES for factor in (Fraction(base), 1 / Fraction(base))]
    powers = [Fraction(10) ** power for power in (0, 3, -3, 2, -2, 6, -6, 1, -1, 4, -4, 5, -5)]
    wide = [base * power for base in bases[:4] for power in powers]
    return list(dict.fromkeys([*wide, *bases, Fraction("0.45359237"), 1 / Fraction("0.45359237")]))


_USUAL = [factor for factor in _usual() if factor != 1]


class Unit(NamedTuple):
    """A conversion of the numbers of a file to those of another: `times` them, `plus` a constant; and its fit.

    `n` is the number of linked pairs; 0 if the distributions alone show it.
    """

    times: Fraction
    plus: Fraction
    n: int


def unit(ours: np.ndarray, theirs: np.ndarray, linked: tuple[np.ndarray, np.ndarray] | None = None) -> Unit | None:
    """Return the conversion of their numbers to ours, if they are in another unit; None without evidence of that.

    Parameters
    ----------
    ours, theirs : float64
        The numbers of each file, sorted, without missing values.
    linked : pair of float64 (n,), optional
        The numbers of linked records, NaN where missing.
    """
    if linked is not None:
        own, other = (np.asarray(side, np.float64) for side in linked)
        both = np.isfinite(own) & np.isfinite(other)
        if both.sum() >= _MIN_PAIRS:
            return _of_pairs(own[both], other[both])
    return _of_distributions(ours, theirs)


def _of_pairs(ours: np.ndarray, theirs: np.ndarray) -> Unit | None:
    correlation = rank_correlation(ours, theirs)
    if abs(correlation) < _MIN_CORRELATION:
        return None
    return _best(ours, theirs, np.sign(correlation), len(ours))


def _of_distributions(ours: np.ndarray, theirs: np.ndarray) -> Unit | None:
    """Return the unit from the quantiles, of distributions that hardly overlap."""
    if min(len(ours), len(theirs)) < 2 * _MIN_PAIRS or apart(ours, theirs) < _APART:
        return None
    own, other = (np.quantile(side, _SHARES) for side in (ours, theirs))
    reversed_ = any(_within(first, _YEARS) and _within(second, _AGES) for first, second in ((own, other), (other, own)))
    return _best(own, other[::-1] if reversed_ else other, -1 if reversed_ else 1, 0)


def apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest difference of the distribution functions of sorted numbers."""
    points = np.union1d(ours, theirs)
    below = [np.searchsorted(side, points, "right") / len(side) for side in (ours, theirs)]
    return float(np.abs(below[0] - below[1]).max())


def _within(values: np.ndarray, ends: tuple[float, float]) -> bool:
    return bool(values[0] >= ends[0] and values[-1] <= ends[1] and (values == np.rint(values)).mean() > 0.5)


def _best(ours: np.ndarray, theirs: np.ndarray, sign: float, n: int) -> Unit | None:
    """Return the simplest model that is about as good as the best; None if that is to leave the numbers as they are."""
    # Protection widens a distribution: its width tells nothing, and neither is it the same.
    names = MODELS if n else ("factor", "offset")
    models = [MODELS[name](ours, theirs, sign) for name in names]
    fits = [(model, _differences(ours, theirs, *model)) for model in models if model is not None]
    if not fits:
        return None
    least = min(size for _, size in fits)
    scale = float(np.median(np.abs(ours))) or 1.0
    times, plus = next(model for model, size in fits if size <= _CLOSE * least + _ROUNDING * scale)
    return None if times == 1 and not plus else Unit(times, plus, n)


def _differences(ours: np.ndarray, theirs: np.ndarray, times: Fraction, plus: Fraction) -> float:
    """Return the median size of the residuals of a model."""
    return float(np.median(np.abs(ours - float(times) * theirs - float(plus))))


_Model = tuple[Fraction, Fraction] | None


def _same(_ours: np.ndarray, _theirs: np.ndarray, _sign: float) -> _Model:
    return Fraction(1), Fraction(0)


def _factor(ours: np.ndarray, theirs: np.ndarray, sign: float) -> _Model:
    some = (ours * theirs) > 0
    if sign < 0 or some.sum() < max(_MIN_PAIRS, len(ours) / 4):
        return None
    logs = np.log(ours[some] / theirs[some])
    middle = float(np.median(logs))
    spread = 1.4826 * float(np.median(np.abs(logs - middle)))
    # The mean of what is near the median varies less than the median does.
    middle = float(logs[np.abs(logs - middle) <= 3 * spread + 1e-12].mean())
    error = spread / np.sqrt(some.sum())
    if abs(middle) < max(np.log(_FACTOR) if spread > 0.02 else 0.02, 4 * error):
        return None
    return _snapped(float(np.exp(middle)), 3 * error), Fraction(0)


def _snapped(factor: float, error: float) -> Fraction:
    """Return the usual factor near to one; without one, four digits of it."""
    nearest = min(_USUAL, key=lambda usual: abs(np.log(factor / float(usual))))
    if abs(np.log(factor / float(nearest))) <= min(_SNAP, max(0.005, error)):
        return nearest
    return Fraction(f"{factor:.4g}")


def _offset(ours: np.ndarray, theirs: np.ndarray, sign: float) -> _Model:
    differences = ours - sign * theirs
    plus = float(np.median(differences))
    if sign > 0 and abs(plus) < _SHIFT * float(np.std(ours)):
        return None
    return Fraction(int(sign)), _rounded(plus, ours, theirs)


def _line(ours: np.ndarray, theirs: np.ndarray, sign: float) -> _Model:
    """Return the line through the medians with the ratio of the quartile ranges as its slope; 9/5 and 32, if near."""
    ranges = [float(np.subtract(*np.quantile(side, [0.75, 0.25]))) for side in (ours, theirs)]
    if min(ranges) <= 0:
        return None
    slope = sign * ranges[0] / ranges[1]
    times = -_snapped(-slope, _SNAP) if sign < 0 else _snapped(slope, _SNAP)
    return times, _rounded(float(np.median(ours) - float(times) * np.median(theirs)), ours, theirs)


def _rounded(plus: float, *sides: np.ndarray) -> Fraction:
    """Return a constant as a whole number where all numbers are, else with four digits."""
    whole = all((side == np.rint(side)).all() for side in sides)
    return Fraction(round(plus)) if whole or abs(plus) >= 1000 else Fraction(f"{plus:.4g}")


MODELS: dict[str, Callable[[np.ndarray, np.ndarray, float], _Model]] = {
    "same": _same,
    "factor": _factor,
    "offset": _offset,
    "line": _line,
}
"""From the simplest; each returns its factor and constant from numbers of pairs, and the sign of their correlation."""


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return Spearman's correlation of two variables; 0 if one has a single value."""
    ranks = []
    for values in (first, second):
        _, place, rows = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(rows) - rows / 2)[place])
    if min(side.std() for side in ranks) == 0:
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
