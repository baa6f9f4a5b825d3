"""Checks of a linking variable that is compared by number, over the true links (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtrc

from reident.intake.severity import NOTABLE, UNDERSTATES
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.records import FIFTHS, quantiles

MIN_GAIN, NOTABLE_GAIN = 0.06, 0.02
"""The smallest gains in closeness, of 1, for which a conversion is proposed with a reservation, or at all."""

MAX_CLOSENESS = 0.4
"""The largest mean closeness of numbers of another size: ties alone can make the fifths of near numbers differ."""

MAX_NOISE = 1.7
"""The largest ratio of the spreads of both files that noise in one of them may bring about."""

_Z = 4.0
"""Standard errors by which a gain exceeds nothing."""

_LARGE_FACTOR = 2.0
"""The logarithm of a factor that fewer than ten links show: no noise makes five or more numbers differ by it."""


class Conversion(NamedTuple):
    """The conversion of numbers of the EIF to those of the PUF: `times` and `plus`."""

    times: float
    plus: float

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Return the converted numbers."""
        return self.times * values + self.plus

    @property
    def words(self) -> str:
        """The conversion as the study file writes it, in four digits."""
        return f"times: {self.times:.4g}, plus: {self.plus:.4g}"


def _factor(x: np.ndarray, y: np.ndarray) -> Conversion | None:
    same = x * y > 0
    if same.sum() < max(MIN_LINKS // 2, 0.3 * len(x)):
        return None
    return Conversion(float(np.median(x[same] / y[same])), 0.0)


def _shift(x: np.ndarray, y: np.ndarray) -> Conversion:
    return Conversion(1.0, float(np.median(x - y)))


def _reversed(x: np.ndarray, y: np.ndarray) -> Conversion:
    return Conversion(-1.0, float(np.median(x + y)))


def _ranks(x: np.ndarray) -> np.ndarray:
    """Return the ranks of numbers, tied ones sharing the mean of theirs."""
    return pd.Series(x).rank().to_numpy()


def _linear(x: np.ndarray, y: np.ndarray) -> Conversion | None:
    spread = _spread(y)
    if not spread:
        return None
    rising = np.sum((_ranks(x) - (len(x) + 1) / 2) * (_ranks(y) - (len(x) + 1) / 2)) >= 0
    times = _spread(x) / spread * (1 if rising else -1)
    if 1 / MAX_NOISE < times < MAX_NOISE:
        return None
    return Conversion(times, float(np.median(x) - times * np.median(y)))


CONVERSIONS: dict[str, Callable[[np.ndarray, np.ndarray], Conversion | None]] = {
    "scale": _factor,
    "offset": _shift,
    "reversed": _reversed,
    "linear": _linear,
}
"""The conversions that are tried, the simpler ones first, by the code of the check."""


def check(
    name: str, puf: np.ndarray, eif: np.ndarray, half: np.ndarray, fifths: tuple[np.ndarray, np.ndarray],
    chance: np.ndarray, *, dates: bool = False,
) -> Iterator[Finding]:  # fmt: skip
    """Yield the findings from the numbers of linked records; NaN is missing.

    `fifths` are the classes of the numbers of both records as the PUF cuts them, `chance` is for each link the share of
    strangers in the same fifth; `half` tells the links from which a conversion is learnt. `dates` have no conversion
    but a shift, since nothing is a multiple of a day's number.
    """
    present = ~np.isnan(puf) & ~np.isnan(eif)
    x, y, half, chance = puf[present], eif[present], half[present], chance[present]
    n = len(x)
    if n < MIN_LINKS:
        yield Finding(name, "few_links", n, n=n)
        return
    agree = float((fifths[0][present] == fifths[1][present]).mean())
    yield Finding(name, "agreement", agree, float(chance.mean()), n)
    if x.min() == x.max() or y.min() == y.max():
        return
    ranks = _ranks(x) / n, _ranks(y) / n
    rho = float(np.corrcoef(*ranks)[0, 1])
    yield Finding(name, "rank_correlation", rho, 0.0, n)
    converted = best_conversion(x, y, half, ["offset"] if dates else CONVERSIONS)
    if converted is not None:
        code, conversion, gain = converted
        severity = UNDERSTATES if gain >= MIN_GAIN else NOTABLE
        words = f"plus: {conversion.plus:.0f}" if dates else conversion.words
        yield Finding(name, code, gain, 0.0, n, severity, words)
    elif closeness(x, y, _spread(x)).mean() < MAX_CLOSENESS and (gain := monotone_gain(x, y, half)) >= 0.15:
        yield Finding(name, "monotone", gain, 0.0, n, UNDERSTATES)
    elif rho < -2.6 / np.sqrt(n - 1) and not dates:
        yield Finding(name, "reversed", rho, 0.0, n, UNDERSTATES, _reversed(x, y).words)
    elif rho < 0.15 and rho < 2.6 / np.sqrt(n - 1):
        yield Finding(name, "no_better_than_chance", rho, 0.0, n, UNDERSTATES)
        return
    elif (share := one_sided(x, y)) is not None:
        yield Finding(name, "one_sided", share, 0.5, n, NOTABLE)
    if not dates and (scale := second_scale(x, y)) is not None:
        yield Finding(name, "second_scale", scale[0], 0.0, n, UNDERSTATES, f"times: {scale[1]:.4g}")
    for side, (own, other) in (("puf", ranks), ("eif", ranks[::-1])):
        if share := spread_values(own, other):
            severity = UNDERSTATES if share >= 0.1 else NOTABLE
            yield Finding(name, f"spread_code_{side}", share, n=n, severity=severity, proposal="missing")


def _spread(values: np.ndarray) -> float:
    """Return the distance of the quartiles, or the standard deviation where they are the same."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low) or float(values.std())


def closeness(x: np.ndarray, y: np.ndarray, spread: float) -> np.ndarray:
    """Return how near numbers are, from 0 (as far as the quartiles are apart, or farther) to 1."""
    return np.maximum(1 - np.abs(x - y) / spread, 0)


def best_conversion(
    x: np.ndarray, y: np.ndarray, half: np.ndarray, codes: Iterable[str] = CONVERSIONS
) -> tuple[str, Conversion, float] | None:
    """Return the conversion that, learnt on one half of the links, brings numbers nearest on the other.

    Those with some codes are tried. With it come its code and the gain in closeness; None if none gains anything. A
    simpler one is preferred to one that gains little more.
    """
    spread = _spread(x)
    before = closeness(x, y, spread)
    best = None
    for code in codes:
        learn = CONVERSIONS[code]
        gains = np.zeros(len(x))
        for learnt in (half, ~half):
            tried = ~learnt
            conversion = learn(x[learnt], y[learnt]) if learnt.sum() >= MIN_LINKS // 2 else None
            if conversion is not None:
                after = closeness(x[tried], conversion.apply(y[tried]), spread)
                gains[tried] = after - before[tried]
        gain, error = float(gains.mean()), float(gains.std() / np.sqrt(len(x)))
        conversion = learn(x, y)
        if conversion is None or gain < NOTABLE_GAIN or gain < _Z * error:
            continue
        if best is None or gain > best[2] + 0.02:
            best = code, conversion, gain
    return best


def monotone_gain(x: np.ndarray, y: np.ndarray, half: np.ndarray) -> float:
    """Return how much more often numbers are in the same fifth if each file is cut at its own.

    The cut points are learnt on the other half of the links; 0 if the gain is within chance.
    """
    gains = np.zeros(len(x))
    for learnt in (half, ~half):
        tried = ~learnt
        own, other = quantiles(x[learnt], FIFTHS), quantiles(y[learnt], FIFTHS)
        place = np.searchsorted(own, x[tried])
        gains[tried] = (place == np.searchsorted(other, y[tried])).astype(float)
        gains[tried] -= place == np.searchsorted(own, y[tried])
    total, changed = gains.sum(), np.abs(gains).sum()
    return float(total / len(x)) if changed and total > _Z * np.sqrt(changed) else 0.0


def one_sided(x: np.ndarray, y: np.ndarray) -> float | None:
    """Return the share of different numbers with the larger one in the EIF, if most of them are on one side."""
    difference = (y - x)[x != y]
    if len(difference) < 2 * MIN_LINKS or abs(np.median(y - x)) <= 0.04 * _spread(x):
        return None
    above = int((difference > 0).sum())
    extreme = max(above, len(difference) - above)
    return above / len(difference) if 2 * bdtrc(extreme - 1, len(difference), 0.5) < 1e-4 else None


def second_scale(x: np.ndarray, y: np.ndarray) -> tuple[float, float] | None:
    """Return the share of the links whose numbers have another scale than most, and its factor."""
    same = x * y > 0
    if same.sum() < 2 * MIN_LINKS:
        return None
    ratio = np.log(y[same] / x[same])
    ratio -= np.median(ratio)
    far = np.abs(ratio) > max(0.4, 6 * float(np.median(np.abs(ratio))))
    if far.mean() < 0.08 or far.sum() < MIN_LINKS // 2:
        return None
    middle = float(np.median(ratio[far]))
    if far.sum() < MIN_LINKS and abs(middle) < _LARGE_FACTOR:
        return None
    near = np.abs(ratio - middle) < 0.2 * abs(middle) + 0.1
    if abs(middle) < 0.4 or near[far].mean() < 0.8:
        return None
    return float(near.mean()), float(np.exp(middle))


def spread_values(own: np.ndarray, other: np.ndarray) -> float:
    """Return the share of links with a value whose partners are spread as everyone's, unlike the partners of others.

    Both are ranks from 0 to 1. Only the three most frequent values of at least 5 % and eight of the links count; they
    are taken out together before the others are looked at, since two codes would hide each other.
    """
    _, place, n = np.unique(own, return_inverse=True, return_counts=True)
    frequent = [value for value in np.argsort(-n, kind="stable")[:3] if n[value] >= max(8, 0.05 * len(own))]
    total, others = 0, ~np.isin(place, frequent)
    for value in frequent:
        mine = place == value
        rest = others if others.sum() >= 2 * MIN_LINKS else ~mine
        if rest.sum() < MIN_LINKS:
            continue
        wide, usual = (np.subtract(*np.quantile(ranks, [0.75, 0.25])) for ranks in (other[mine], (other - own)[rest]))
        value_rank = own[mine][0]
        same, by_chance = (float((np.abs(ranks - value_rank) < 0.05).mean()) for ranks in (other[mine], other))
        if wide > 0.33 and wide > 1.7 * usual and same < by_chance + 0.2:
            total += int(n[value])
    return total / len(own)
