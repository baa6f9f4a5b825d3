"""The publication of a count, a rate, an interval and a cut point by a rounding policy (METHODS §11.1).

Whatever is derived from a count (rates, intervals) is derived from its :class:`Published`, never from the count:
studies whose counts are published alike make the same edition.
"""

from __future__ import annotations

import hashlib
import json
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

from reident.linkage import intervals
from reident.release.cells import SUPPRESSED, Published
from reident.sections.release import MAX_COUNT, Policy, Step, nearest

WITHHELD = Published(SUPPRESSED, None, 0, MAX_COUNT)
"""What is published of a count that is suppressed to protect another one."""


def publish(policy: Policy, count: int, cell: str = "", seed: str = "") -> Published:
    """Return the publication of a count by a policy, from 0 to 10^12 (METHODS §11.1).

    Random rounding depends on a secret `seed`, and on which count it is (`cell`, without the variant): equal cells with
    equal counts are published alike. A count out of its range is a ValueError, as is random rounding without a seed.
    """
    count = int(count)
    if not 0 <= count <= MAX_COUNT:
        raise ValueError(f"a count must be from 0 to {MAX_COUNT:,}")
    if _is_small(policy, count):
        return _small(policy)
    if policy.small is not None and count == 0:
        return _of_value(policy, 0)
    unit = next(step.unit for step in policy.steps if count <= step.high)
    value = policy.lower(count, unit)
    if policy.rounding == "random" and value < count:
        value += unit * _is_up(seed, cell, count, count - value, unit)
    return _of_value(policy, value)


def interval(policy: Policy, text: str) -> tuple[int, int]:
    """Return the smallest and the largest count that a policy publishes as a text (METHODS §11.1).

    A suppressed count may be any from 0 to 10^12. A text that the policy does not publish is a ValueError.
    """
    if text == SUPPRESSED:
        return WITHHELD.low, WITHHELD.high
    if policy.small is not None and text == policy.small.shown:
        small = _small(policy)
        return small.low, small.high
    if not (text.isascii() and text.isdigit() and str(int(text)) == text):
        raise ValueError("the policy publishes no count as this text")
    published = _of_value(policy, int(text))
    return published.low, published.high


def rate(policy: Policy, numerator: Published, denominator: Published) -> str:
    """Return the rate of two published counts (METHODS §11.1).

    It is a fraction in [0, 1] with the decimals of the policy, half-even; empty if one of the counts is not published
    as a number, the denominator is 0, the numerator is larger, or the policy suppresses extremes and the rate would
    be published as 0 or 1.
    """
    if numerator.value is None or not denominator.value or not 0 <= numerator.value <= denominator.value:
        return ""
    scale = 10 ** (policy.rates.decimals + 2)
    # An integer rounded to a multiple of another one: no binary fraction decides a tie.
    scaled = nearest(numerator.value * scale, denominator.value) // denominator.value
    if policy.extremes == "suppressed" and scaled in {0, scale}:
        return ""
    return f"{Decimal(scaled).scaleb(-policy.rates.decimals - 2):f}"


def bounds(
    policy: Policy, numerator: Published, denominator: Published, method: str = "clopper-pearson", level: float = 0.95
) -> tuple[str, str]:
    """Return the study's interval of the rate of two published counts (METHODS §11.1).

    Its ends are fractions in [0, 1], rounded outward to the decimals of the policy; both empty where the rate is, where
    the policy has no intervals, or where those of the study do not follow from counts.
    """
    if policy.intervals == "absent" or not rate(policy, numerator, denominator):
        return "", ""
    return _outward(numerator.value or 0, denominator.value or 0, method, level, policy.rates.decimals)


def cut_point(policy: Policy, value: Decimal | float | str) -> str:
    """Return a cut point with the significant digits of a policy, half-even (METHODS §11.1).

    A float stands for the shortest decimal that reads as it. The text has no exponent, and no zeros after the last
    digit of a decimal: ``-12000``, ``0.5``, ``3``. A number that is not finite is a ValueError.
    """
    number = value if isinstance(value, Decimal) else _decimal(value)
    if not number.is_finite():
        raise ValueError("a cut point must be a finite number")
    digits = policy.cut_points.significant_digits
    if digits is not None:
        number = Context(prec=digits, rounding=ROUND_HALF_EVEN).plus(number)
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if number == 0 else text


def _is_small(policy: Policy, count: int) -> bool:
    return policy.small is not None and count < policy.small.below and (count > 0 or policy.zero == "small")


def _small(policy: Policy) -> Published:
    if policy.small is None:
        raise ValueError("the policy has no small counts")
    return Published(policy.small.shown, None, int(policy.zero == "shown"), policy.small.below - 1)


def _is_up(seed: str, cell: str, count: int, rest: int, unit: int) -> bool:
    """Return whether a count is rounded up: with probability rest / unit, by the seed, the cell and the count."""
    if not seed:
        raise ValueError("random rounding needs a seed")
    text = json.dumps([seed, cell, count], separators=(",", ":"))
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    return drawn * unit < rest << 256


def _of_value(policy: Policy, value: int) -> Published:
    zero = policy.small is not None and policy.zero == "shown"
    low, high = _counts(policy.rounding, policy.steps, zero, value)
    return Published(str(value), value, low, high)


@lru_cache(maxsize=100_000)
def _counts(rounding: str, steps: tuple[Step, ...], zero: bool, value: int) -> tuple[int, int]:
    """Return the smallest and the largest count that is published as a number; with `zero`, 0 is, without a step."""
    ends = [(0, 0)] if zero and value == 0 else []
    for step in steps:
        low, high = _image(rounding, step.unit, value)
        low, high = max(low, step.low), min(high, step.high)
        if low <= high:
            ends.append((low, high))
    if not ends:
        raise ValueError("the policy publishes no count as this number")
    return min(low for low, _ in ends), max(high for _, high in ends)


def _image(rounding: str, unit: int, value: int) -> tuple[int, int]:
    """Return the first and the last count that rounding to a unit publishes as a number; (1, 0) if there is none."""
    if rounding == "midpoint":
        last = value + unit // 2 if value else 0
        return (1, 0) if last % unit else (last - unit + 1 if value else 0, last)
    if value % unit:
        return 1, 0
    if rounding == "random":
        return value - unit + 1, value + unit - 1
    half, odd = unit // 2, value // unit % 2
    # A tie, which only an even unit has, goes to the even multiple.
    inner = half - odd if unit % 2 == 0 else half
    return value - inner, value + inner


@lru_cache(maxsize=100_000)
def _outward(numerator: int, denominator: int, method: str, level: float, decimals: int) -> tuple[str, str]:
    low, high = intervals.of_study(numerator, denominator, method, level)
    if low is None or high is None:
        return "", ""
    step = Decimal(1).scaleb(-decimals - 2)
    ends = Decimal(low).quantize(step, ROUND_FLOOR), Decimal(high).quantize(step, ROUND_CEILING)
    return f"{ends[0]:f}", f"{ends[1]:f}"


def _decimal(value: float | str) -> Decimal:
    try:
        return Decimal(str(value))
    except ArithmeticError:
        raise ValueError("a cut point must be a finite number") from None
