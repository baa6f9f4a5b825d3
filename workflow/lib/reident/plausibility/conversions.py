"""The conversion of the numbers of one file to those of another, from linked records or distributions (METHODS §1.1).

Of a shift, a known factor, a factor and a line that one is taken under which most links agree exactly, at the precision
of the files, the simpler ones first. Where noise leaves none exact, only what no trend brings about is a conversion.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

MIN_PAIRS = 10
"""Linked pairs of numbers from which a conversion is evidence."""

MIN_EXACT = 0.15
"""The smallest share of the links that a conversion makes equal, beyond twice those that are equal without it."""

MIN_CORRELATION, MIN_FALL = 0.3, -0.6
"""The smallest rank correlation of numbers in another unit, and the largest of reversed ones, where none are exact."""

MIN_FACTOR, MAX_DEVIATION, MIN_OF_LINE = 3.0, 0.15, 0.8
"""The smallest factor that no trend of the numbers explains where none are exact; the largest deviation of the
logarithms of ratios that shows a smaller known factor, half of that which shows a larger one (a sixth of its logarithm
if that is more), as amounts that grow apart do not; and the smallest rank correlation of a line."""

MIN_POSITIVE, MIN_PACE = 0.9, 0.5
"""The smallest share of numbers of one sign, and the smallest ratio of the spreads of their logarithms and rank
correlation, of amounts that grow at paces of their own."""

BESIDE = Fraction(11, 10)
"""How many times as large a factor beside another one is."""

_APART = 0.5
"""The largest difference of two distribution functions (KS) from which distributions alone are evidence."""

_CLOSE = 0.005
"""The largest relative distance from a known factor at which numbers with noise are taken for it."""

_SHARES = np.arange(0.05, 0.96, 0.05)
_YEARS, _AGES = (1880.0, 2035.0), (0.0, 120.0)
_STEPS = np.array([step * 10.0**power for power in range(6, -4, -1) for step in (5, 2, 1)])

_BASES = (
    *("1", "12", "52", "7", "24", "60", "365.25", "40"),
    *("2.2046226218", "2.54", "1.609344", "3.2808398950", "4.1868", "1.8", "1.95583"),
)


def _known() -> list[Fraction]:
    bases = [factor for base in _BASES for factor in (Fraction(base), 1 / Fraction(base))]
    powers = [Fraction(10) ** power for power in (0, 3, -3, 2, -2, 6, -6, 1, -1, 4, -4, 5, -5)]
    wide = [base * power for base in bases[:4] for power in powers]
    return list(dict.fromkeys([*wide, *bases, Fraction("0.45359237"), 1 / Fraction("0.45359237")]))


KNOWN = [factor for factor in _known() if factor != 1]
"""Factors of usual units."""


class Conversion(NamedTuple):
    """A conversion of the numbers of a file to those of another: `times` them, `plus` a constant.

    Attributes
    ----------
    times, plus : Fraction
    n : int
        The linked pairs that it was found in; 0 if the distributions alone show it.
    exact : float
        The share of them that it makes equal at the precision of the files.
    """

    times: Fraction
    plus: Fraction
    n: int = 0
    exact: float = 0.0

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Return the converted numbers."""
        return float(self.times) * values + float(self.plus)

    @property
    def code(self) -> str:
        """The code of the check that finds it."""
        if self.times == 1:
            return "offset"
        return "reversed" if self.times < 0 else "scale" if not self.plus else "linear"

    @property
    def words(self) -> str:
        """The conversion as the study file writes it, in six digits; what changes nothing is left out."""
        terms = [f"times: {float(self.times):.6g}"] if self.times != 1 else []
        return ", ".join([*terms, *([f"plus: {float(self.plus):.6g}"] if self.plus else [])])


SAME = Conversion(Fraction(1), Fraction(0))


def find(ours: np.ndarray, theirs: np.ndarray, *, dates: bool = False) -> Conversion | None:
    """Return the conversion of the numbers of linked records, if those of one file are in another unit.

    Parameters
    ----------
    ours, theirs : float64 (n,)
        The numbers of linked records, without missing values.
    dates : bool
        Whether they are days, of which none is a multiple of another.
    """
    n = len(ours)
    if n < MIN_PAIRS or min(ours.std(), theirs.std()) == 0:
        return None
    steps = precision(ours), precision(theirs)
    before = exact(ours, theirs, SAME, steps)
    falls = rank_correlation(ours, theirs) < 0
    best = None
    for found in _candidates(ours, theirs, steps, dates=dates):
        share = exact(ours, theirs, found, steps)
        if (found.times < 0) != falls or share < MIN_EXACT + 2 * before or (best and share <= best.exact + 0.02):
            continue
        usual = max(by_chance(ours, theirs, found, steps), beside(ours, theirs, found, steps))
        pairs = np.unique(np.column_stack([ours, theirs]), axis=0).T  # one pair of numbers may be that of many records
        if share >= usual + max(usual, MIN_EXACT) and exact(pairs[0], pairs[1], found, steps) >= MIN_EXACT:
            best = found._replace(n=n, exact=share)
    return best or (None if dates or before >= MIN_EXACT else _through_noise(ours, theirs))


def precision(values: np.ndarray) -> float:
    """Return the largest step of 1, 2 or 5 times a power of ten of which nine in ten numbers are multiples; or 0."""
    units = np.unique(values[values != 0])[:, np.newaxis] / _STEPS
    are_multiples = (np.abs(units - np.rint(units)) < 1e-6) & (np.abs(units) > 0.5)
    shares = are_multiples.mean(0) if len(units) else np.zeros(len(_STEPS))
    return float(next((step for step, share in zip(_STEPS, shares, strict=True) if share >= 0.9), 0.0))


def exact(ours: np.ndarray, theirs: np.ndarray, conversion: Conversion, steps: tuple[float, float]) -> float:
    """Return the share of pairs that are equal after a conversion, at the precision of both files."""
    return float((np.abs(ours - conversion.apply(theirs)) <= _reach(ours, conversion, steps)).mean())


def beside(ours: np.ndarray, theirs: np.ndarray, conversion: Conversion, steps: tuple[float, float]) -> float:
    """Return the share of pairs that are equal after the conversion with the next larger, or smaller, constant.

    A factor that growth may bring about is compared with those beside it, too, which rounded numbers hardly tell apart.
    """
    step = Fraction(max(2 * _reach(ours, conversion, steps), steps[0]))
    moved = [conversion._replace(plus=conversion.plus + sign * step) for sign in (1, -1)]
    if conversion.times != 1 and 1 / MIN_FACTOR < conversion.times < MIN_FACTOR:
        moved += [conversion._replace(times=conversion.times * by) for by in (BESIDE, 1 / BESIDE)]
    return max(exact(ours, theirs, one, steps) for one in moved)


def by_chance(ours: np.ndarray, theirs: np.ndarray, conversion: Conversion, steps: tuple[float, float]) -> float:
    """Return the share of the pairs of strangers that are equal after a conversion."""
    converted, reach = np.sort(conversion.apply(theirs)), _reach(ours, conversion, steps)
    within = np.searchsorted(converted, ours + reach, "right") - np.searchsorted(converted, ours - reach)
    return float(within.mean()) / len(theirs)


def _reach(ours: np.ndarray, conversion: Conversion, steps: tuple[float, float]) -> float:
    """Return how far numbers that are equal may be apart: half a step of the coarser file, if steps are not equal."""
    step = steps[0], steps[1] * abs(float(conversion.times))
    rounding = 1e-9 * float(np.abs(ours).max(initial=1))
    is_same = abs(step[0] - step[1]) <= 1e-6 * max(step) and conversion.times.denominator == 1
    return rounding if is_same else max(step) / 2 + rounding


def _candidates(
    ours: np.ndarray, theirs: np.ndarray, steps: tuple[float, float], *, dates: bool
) -> Iterator[Conversion]:
    """Yield conversions to try, the simpler ones first."""
    step = max(steps)
    yield Conversion(Fraction(1), _most_frequent(ours - theirs, step))
    if dates:
        return
    yield Conversion(Fraction(-1), _most_frequent(ours + theirs, step))
    same = ours * theirs > 0
    if same.sum() >= max(MIN_PAIRS // 2, 0.3 * len(ours)):
        order = np.argsort(ours[same] / theirs[same])
        ratios, sizes = (ours[same] / theirs[same])[order], np.abs(theirs[same])[order]
        middle = float(ratios[np.searchsorted(np.cumsum(sizes), sizes.sum() / 2)])  # rounding disturbs small ones most
        for factor in KNOWN:
            if abs(np.log(middle / float(factor))) < 0.1:
                yield Conversion(factor, Fraction(0))
        yield from (Conversion(Fraction(f"{middle:.{digits}g}"), Fraction(0)) for digits in (2, 3, 4, 6))
    slope = _slope(ours, theirs)
    if slope:
        near = [factor for factor in KNOWN if abs(np.log(abs(slope) / float(factor))) < 0.02]
        for size in (*near, Fraction(f"{abs(slope):.4g}")):
            times = size if slope > 0 else -size
            yield Conversion(times, _most_frequent(ours - float(times) * theirs, step))


def _most_frequent(values: np.ndarray, step: float) -> Fraction:
    """Return the most frequent one of some numbers, in steps; of equally frequent ones the smallest in size."""
    if not step:
        return Fraction(f"{np.median(values):.6g}")
    units, n = np.unique(np.rint(values / step), return_counts=True)
    at = np.lexsort((np.abs(units), -n))[0]
    near = values[np.rint(values / step) == units[at]]
    return Fraction(f"{np.median(near):.10g}")


def _slope(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the median slope between pairs of records that are half of all apart in order; 0 without any."""
    order, half = np.argsort(theirs, kind="stable"), len(theirs) // 2
    low, high = order[:half], order[-half:]
    apart = theirs[high] - theirs[low]
    some = apart > 0
    return float(np.median((ours[high] - ours[low])[some] / apart[some])) if some.any() else 0.0


def _through_noise(ours: np.ndarray, theirs: np.ndarray) -> Conversion | None:
    """Return the conversion of numbers none of which agree exactly, if no trend explains it."""
    n, rho = len(ours), rank_correlation(ours, theirs)
    spread, other = (float(np.subtract(*np.quantile(side, [0.75, 0.25]))) or side.std() for side in (ours, theirs))
    if abs(rho) < MIN_CORRELATION or (-rho > 0 and rho > MIN_FALL):
        return None
    if rho < 0:
        times = Fraction(-1) if 1 / MIN_FACTOR < spread / other < MIN_FACTOR else -_snapped(spread / other)
        return Conversion(times, _rounded(float(np.median(ours - float(times) * theirs)), ours, theirs), n)
    same = ours * theirs > 0
    if same.mean() > 0.3:
        logs = np.log(ours[same] / theirs[same])
        middle = float(np.median(logs))
        deviation = 1.4826 * float(np.median(np.abs(logs - middle)))
        middle = float(logs[np.abs(logs - middle) <= 3 * deviation + 1e-12].mean())
        factor = _snapped(float(np.exp(middle)), 3 * deviation / np.sqrt(same.sum()))
        is_unit = factor in KNOWN and deviation < MAX_DEVIATION and abs(middle) > np.log(1.5)
        is_large = abs(middle) > np.log(MIN_FACTOR) and deviation < max(2 * MAX_DEVIATION, abs(middle) / 6)
        scaled = Conversion(factor, Fraction(0), n)
        nearer = np.median(np.abs(ours - scaled.apply(theirs))) < 0.6 * np.median(np.abs(ours - theirs))
        if nearer and (is_unit or is_large):
            return scaled
    plus = float(np.median(ours - theirs))
    is_line = rho > MIN_OF_LINE and not grow(ours, theirs)
    if is_line and not 1 / MIN_FACTOR < spread / other < MIN_FACTOR and abs(plus) > spread / 2:
        times = _snapped(spread / other)
        return Conversion(times, _rounded(float(np.median(ours - float(times) * theirs)), ours, theirs), n)
    return None


def grow(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether numbers may be amounts that grow, each at a pace of its own: of one sign and of one shape."""
    same = x * y > 0
    if same.mean() < MIN_POSITIVE:
        return False
    logs = np.log(np.abs(x[same])), np.log(np.abs(y[same]))
    spreads = sorted(float(np.subtract(*np.quantile(side, [0.75, 0.25]))) for side in logs)
    return spreads[0] >= MIN_PACE * spreads[1] and rank_correlation(*logs) >= MIN_PACE


def _snapped(factor: float, error: float = 0.0) -> Fraction:
    """Return the known factor near to one; without one, four digits of it."""
    nearest = min(KNOWN, key=lambda known: abs(np.log(factor / float(known))))
    if abs(np.log(factor / float(nearest))) <= max(_CLOSE, min(error, 0.045)):
        return nearest
    return Fraction(f"{factor:.4g}")


def _rounded(plus: float, *sides: np.ndarray) -> Fraction:
    """Return a constant as a whole number where all numbers are, else with four digits."""
    whole = all((side == np.rint(side)).all() for side in sides)
    return Fraction(round(plus)) if whole or abs(plus) >= 1000 else Fraction(f"{plus:.4g}")


def of_distributions(ours: np.ndarray, theirs: np.ndarray) -> Conversion | None:
    """Return the conversion that the quantiles of sorted numbers show, if their distributions hardly overlap."""
    if min(len(ours), len(theirs)) < 2 * MIN_PAIRS or apart(ours, theirs) < _APART:
        return None
    own, other = (np.quantile(side, _SHARES) for side in (ours, theirs))
    pairs = ((own, other), (other, own))
    if any(_within(first, _YEARS) and _within(second, _AGES) for first, second in pairs):
        return Conversion(Fraction(-1), _rounded(float(np.median(own + other[::-1])), own, other))
    same = own * other > 0
    factor = _snapped(float(np.exp(np.median(np.log(own[same] / other[same])))), 0.045) if same.mean() > 0.5 else None
    shift = Conversion(Fraction(1), _rounded(float(np.median(own - other)), own, other))
    if factor is None:
        return shift
    scaled = Conversion(factor, Fraction(0))
    sizes = [float(np.median(np.abs(own - one.apply(other)))) for one in (scaled, shift)]
    return scaled if factor != 1 and sizes[0] <= 1.25 * sizes[1] + 0.002 * float(np.median(np.abs(own))) else shift


def _within(values: np.ndarray, ends: tuple[float, float]) -> bool:
    return bool(values[0] >= ends[0] and values[-1] <= ends[1] and (values == np.rint(values)).mean() > 0.5)


def apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest difference of the distribution functions of sorted numbers, at some 10,000 of each."""
    points = np.concatenate([side[:: max(1, len(side) // 10_000)] for side in (ours, theirs)])
    below = [np.searchsorted(side, points, "right") / len(side) for side in (ours, theirs)]
    return float(np.abs(below[0] - below[1]).max())


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value from 0, ties sharing their mean; NaN of a missing one."""
    present = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    _, inverse, counts = np.unique(values[present], return_inverse=True, return_counts=True)
    ranks[present] = (np.cumsum(counts) - (counts + 1) / 2)[inverse]
    return ranks


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return Spearman's correlation of two variables; 0 if one has a single value."""
    both = ranks(first), ranks(second)
    return 0.0 if min(side.std() for side in both) == 0 else float(np.corrcoef(*both)[0, 1])
