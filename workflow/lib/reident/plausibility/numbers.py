"""Checks of a linking variable that is compared by number, over the true links (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import bdtrc

from reident.intake.severity import NOTABLE, UNDERSTATES
from reident.intake.undeclared import are_codes
from reident.plausibility import coarser, conversions
from reident.plausibility.coarser import Coarser
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.links import Trial
from reident.plausibility.records import FIFTHS, quantiles

MAX_CLOSENESS = 0.4
"""The largest mean closeness of numbers of another size: ties alone can make the fifths of near numbers differ."""

MAX_OVERLAP = 0.9
"""The distance of both distributions (KS) from which an intruder sees from the files alone that they differ."""

MIN_PART, MIN_OF_PART = 0.12, 12
"""The smallest share of the links, and the fewest, that differ by one number, and three times as many as by another."""

MIN_EXCHANGED = 0.05
"""The smallest share of dates whose day and month are exchanged."""

MIN_CODE, MAX_DISTANCE = 0.05, 0.25
"""The smallest share of the links that have a number which may be a code, and the largest distance (KS) of its partners
from everyone's."""

MIN_GRAVE = 0.1
"""The smallest share of the links whose number tells nothing for a grave warning."""

NEAR = (0.0, 0.05, 0.1, 0.2)
"""Distances, as shares of that of the quartiles, within which numbers of the other file are the same with noise."""

_Z = 4.0
"""Standard errors by which a gain exceeds nothing."""

MIN_LARGE = 1.1
"""The smallest logarithm of a factor, of about three, that no amount grows or shrinks by, unless it is a known one."""

_LARGE_FACTOR = 2.0
"""The logarithm of a factor that fewer than ten links show: no noise makes five or more numbers differ by it."""

_EPOCH = 719163
"""The number of the day 1970-01-01."""


def check(
    name: str, puf: np.ndarray, eif: np.ndarray, half: np.ndarray, fifths: tuple[np.ndarray, np.ndarray],
    chance: np.ndarray, trial: Trial, *, dates: bool = False,
) -> Iterator[Finding]:  # fmt: skip
    """Yield the findings from the numbers of linked records; NaN is missing.

    `fifths` are the classes of the numbers of both records as the PUF cuts them, `chance` is for each link the share of
    strangers in the same fifth; `half` tells the links from which cut points are learnt. What may be true of the people
    is grave only if the plain attack of `trial` finds more by allowing for it.
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
    rho = conversions.rank_correlation(x, y)
    yield Finding(name, "rank_correlation", rho, 0.0, n)
    converted = coarser.converted(x, y, dates=dates)
    if isinstance(converted, Coarser):
        finds_more = trial.finds_more_if_changed(converted.apply)
        severity = UNDERSTATES if finds_more and converted.is_shifted else NOTABLE
        severity = severity if finds_more or not converted.is_rounding else ""
        yield Finding(name, "coarser", converted.equal, float((x == y).mean()), n, severity, converted.words)
    elif converted is not None:
        is_step = converted.code == "offset" and not dates and _is_step(float(converted.plus), x, y)
        severity = NOTABLE if is_step else UNDERSTATES
        yield Finding(name, converted.code, converted.exact, 0.0, n, severity, converted.words)
    elif closeness(x, trended(x, y), _spread(x)).mean() < MAX_CLOSENESS and (gain := monotone_gain(x, y, half)) >= 0.15:
        severity = UNDERSTATES if not conversions.grow(x, y) and trial.finds_more() else NOTABLE
        yield Finding(name, "monotone", gain, 0.0, n, severity)
    elif rho < 0.15 and rho < 2.6 / np.sqrt(n - 1):
        severity = UNDERSTATES if trial.is_needless() else NOTABLE
        yield Finding(name, "no_better_than_chance", rho, 0.0, n, severity)
        return
    elif (share := one_sided(x, y)) is not None:
        severity = UNDERSTATES if _distance(x, y) >= MAX_OVERLAP else NOTABLE
        yield Finding(name, "trend", share, 0.5, n, severity)
    if converted is None:
        yield from _parts(name, x, y, dates=dates)
    for side, (own, other) in (("puf", (x, y)), ("eif", (y, x))):
        if len(spread := spread_values(own, other)):
            share = float(np.isin(own, spread).mean())
            looks_missing = bool(are_codes(spread, dates=dates).all())  # `undeclared_missing` leaves top codes to this
            is_grave = share >= MIN_GRAVE and (looks_missing or trial.finds_more_if_missing(side, spread))
            severity = UNDERSTATES if is_grave else NOTABLE
            yield Finding(name, f"spread_code_{side}", share, n=n, severity=severity, proposal="missing")


def _parts(name: str, x: np.ndarray, y: np.ndarray, *, dates: bool) -> Iterator[Finding]:
    """Yield what a part of the links differs by: a number, a number of years, a factor, or a day for a month."""
    n = len(x)
    if dates and (share := exchanged(x, y)) > MIN_EXCHANGED:
        yield Finding(name, "exchanged", share, 0.0, n, UNDERSTATES)
    elif dates and (share := coarse_dates(x, y)) >= MIN_PART:
        yield Finding(name, "coarse_dates", share, 0.0, n, UNDERSTATES)
    elif (part := part_offset(x, y, dates=dates)) is not None:
        is_step = not dates and _is_step(part[1], x, y)
        words = f"{part[1]:+.6g}" + (f" {part[2]}" if dates else "")
        yield Finding(name, "part_offset", part[0], 0.0, n, NOTABLE if is_step else UNDERSTATES, words)
    elif not dates and (scale := second_scale(x, y)) is not None:
        yield Finding(name, "second_scale", scale[0], 0.0, n, UNDERSTATES, f"times: {scale[1]:.4g}")


def _is_step(difference: float, x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether numbers differ by one step of theirs, as ages of two years do, which right files may."""
    return abs(difference) <= 1.001 * max(map(conversions.precision, (x, y)))


def _spread(values: np.ndarray) -> float:
    """Return the distance of the quartiles, or the standard deviation where they are the same."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low) or float(values.std())


def closeness(x: np.ndarray, y: np.ndarray, spread: float) -> np.ndarray:
    """Return how near numbers are, from 0 (as far as the quartiles are apart, or farther) to 1."""
    return np.maximum(1 - np.abs(x - y) / spread, 0)


def trended(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the second numbers moved or multiplied to the size of the first, whichever brings them nearer."""
    same = x * y > 0
    factor = float(np.median(x[same] / y[same])) if 2 * same.sum() > len(x) else 1.0
    return min((y + np.median(x - y), factor * y), key=lambda moved: float(np.median(np.abs(x - moved))))


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


def part_offset(x: np.ndarray, y: np.ndarray, *, dates: bool = False) -> tuple[float, float, str] | None:
    """Return the share of the links that differ by one number, that number and its unit; None if no number stands out.

    The numbers that are tried are differences, of dates in days and in whole years. Each pair of numbers counts once.
    """
    x, y = np.unique(np.column_stack([x, y]), axis=0).T
    apart = [(np.round(y - x, 6), "days")]
    if dates:
        (year, month, day), (others, months, days) = map(calendar, (x, y))
        apart.append((np.where((month == months) & (day == days), others - year, np.nan), "years"))
    best = None
    for differences, unit in apart:
        values, n = np.unique(differences[~np.isnan(differences) & (differences != 0)], return_counts=True)
        first, second = np.sort(np.append(n, [0, 0]))[:-3:-1]
        if first < max(MIN_OF_PART, MIN_PART * len(x)) or first <= 3 * second:
            continue
        if best is None or first > best[0]:
            best = int(first), float(values[n.argmax()]), unit
    return None if best is None else (best[0] / len(x), best[1], best[2])


def calendar(days: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the year, the month and the day of numbers of days."""
    dates = (np.floor(days).astype(np.int64) - _EPOCH).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    year = months.astype("datetime64[Y]").astype(np.int64) + 1970
    return year, months.astype(np.int64) % 12 + 1, (dates - months).astype(np.int64) + 1


def exchanged(x: np.ndarray, y: np.ndarray) -> float:
    """Return the share of different dates in which the day of each is the month of the other."""
    (year, month, day), (others, months, days) = map(calendar, (x, y))
    return float(((year == others) & (month == days) & (day == months) & (month != day)).mean())


def coarse_dates(x: np.ndarray, y: np.ndarray) -> float:
    """Return the share of different dates of a year with a 1 January or 1 July, or of a month with a 1st or 15th."""
    sides = [calendar(days) for days in (x, y)]
    same_year, same_month = sides[0][0] == sides[1][0], sides[0][1] == sides[1][1]
    shares = []
    for year, month, day in sides:
        del year
        of_year = same_year & (day == 1) & ((month == 1) | (month == 7))
        of_month = same_year & same_month & ((day == 1) | (day == 15))
        shares.append(max(float((part & (x != y)).mean()) for part in (of_year, of_month)))
    return max(shares)


def second_scale(x: np.ndarray, y: np.ndarray) -> tuple[float, float] | None:
    """Return the share of the links whose numbers have another scale than most, and its factor.

    Numbers that are near to each other for the file have no other scale, however different small ones are.
    """
    same = x * y > 0
    if same.sum() < max(2 * MIN_LINKS, len(x) / 2):
        return None
    ratio = np.log(y[same] / x[same])
    middle = float(np.median(ratio))
    usual = float(np.median(np.abs(ratio - middle)))
    x, y = np.unique(np.column_stack([x, y])[same], axis=0).T  # one pair of numbers may be that of many records
    ratio = np.log(y / x) - middle
    far = (np.abs(y - np.exp(middle) * x) > 0.3 * _spread(y)) & (np.abs(ratio) > max(0.4, 6 * usual))
    if far.mean() < 0.08 or far.sum() < MIN_LINKS // 2:
        return None
    middle = float(np.median(ratio[far]))
    if far.sum() < MIN_LINKS and abs(middle) < _LARGE_FACTOR:
        return None
    near = np.abs(ratio - middle) < min(0.2 * abs(middle), 4 * usual) + 0.1  # they err as the others do
    is_known = any(abs(middle - np.log(float(factor))) < 0.01 for factor in conversions.KNOWN)
    if abs(middle) < (0.4 if is_known else MIN_LARGE) or near[far].mean() < 0.8:
        return None
    return float(near.mean()), float(np.exp(middle))


def spread_values(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the numbers that tell nothing, as a missing code or an imputed mean does not.

    The partners of such a number are distributed as those of all other numbers, and not as those of its neighbours,
    which are the nearest numbers on both sides. Only the three most frequent numbers of at least 5 % and eight of the
    links count; no such code is a neighbour of another, since two would hide each other.
    One that both files have about as often is a value, also with noise around it in the other file.
    """
    values, place, n = np.unique(own, return_inverse=True, return_counts=True)
    frequent = [value for value in np.argsort(-n, kind="stable")[:3] if n[value] >= max(8, MIN_CODE * len(own))]
    to_all = {
        value: _distance(other[place == value], other[place != value])
        for value in frequent
        if n[value] <= len(own) - 2 * MIN_LINKS and not _is_value(own, other, float(values[value]))
    }
    suspects = [value for value in to_all if to_all[value] < MAX_DISTANCE]
    rest = ~np.isin(place, suspects)
    spread = []
    for value in suspects if rest.sum() >= 2 * MIN_LINKS else ():
        near = _neighbours(own[rest], float(values[value]), other[rest])
        to_near = _distance(other[place == value], near)
        noise = [z * np.sqrt(1 / n[value] + 1 / m) for z, m in ((1.36, len(near)), (1.63, len(own) - n[value]))]
        if to_near > max(noise[0], 0.2) and to_all[value] < max(0.5 * to_near, noise[1]):
            spread.append(values[value])
    return np.array(spread)


def _is_value(own: np.ndarray, other: np.ndarray, value: float) -> bool:
    """Return whether the other file has a number, or numbers near to it, two thirds as often beyond the usual ones."""
    n, spread = int((own == value).sum()), _spread(own)
    excess = (((np.abs(side - value) <= near * spread).sum() for side in (own, other)) for near in NEAR)
    return any(3 * (first - second) <= n for first, second in excess)


def _neighbours(own: np.ndarray, value: float, other: np.ndarray) -> np.ndarray:
    """Return the partners of the numbers that are nearest to one: a fifth of all, at least eight, with ties."""
    distance = np.abs(own - value)
    k = min(len(own), max(8, len(own) // 5))
    return other[distance <= np.partition(distance, k - 1)[k - 1]]


def _distance(first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest difference of the distribution functions of two sets of numbers (KS)."""
    return conversions.apart(np.sort(first), np.sort(second))
