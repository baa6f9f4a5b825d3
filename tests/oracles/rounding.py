"""What the bundled rounding policies publish, written from the words of their sources, with fractions and loops."""

from collections.abc import Callable
from fractions import Fraction


def to_multiple(count: int, base: int) -> int:
    """Return the nearest multiple of a base; halfway between two, the one that is an even number of bases."""
    quotient = Fraction(count, base)
    below = quotient.numerator // quotient.denominator
    distances = {multiple: abs(quotient - multiple) for multiple in (below, below + 1)}
    least = min(distances.values())
    nearest = [multiple for multiple, distance in distances.items() if distance == least]
    return next(multiple for multiple in nearest if len(nearest) == 1 or multiple % 2 == 0) * base


def to_digits(count: int, digits: int) -> int:
    """Return a count of which only so many digits are not zero."""
    power = 1
    while count // power >= 10**digits:
        power *= 10
    return to_multiple(count, power)


def census(count: int) -> str:
    """The rounding rules of the Disclosure Review Board."""
    if count < 15:
        return "<15"
    if 15 <= count <= 99:
        return str(to_multiple(count, 10))
    if 100 <= count <= 999:
        return str(to_multiple(count, 50))
    if 1_000 <= count <= 9_999:
        return str(to_multiple(count, 100))
    if 10_000 <= count <= 99_999:
        return str(to_multiple(count, 500))
    if 100_000 <= count <= 999_999:
        return str(to_multiple(count, 1_000))
    return str(to_digits(count, 4))


def opensafely(count: int) -> str:
    """Redact counts of 7 or fewer, then round to the nearest 5."""
    return "[REDACTED]" if count <= 7 else str(to_multiple(count, 5))


def midpoint(count: int) -> str:
    """ceiling(x / 6) * 6 - floor(6 / 2) * (x != 0), as the documentation of OpenSAFELY writes it in R."""
    sixes = 0
    while sixes * 6 < count < 10_000:
        sixes += 1
    if count >= 10_000:
        sixes = -(-count // 6)
    return str(sixes * 6 - 3 * (count != 0))


def exact(count: int) -> str:
    """The count."""
    return str(count)


FIXED: dict[str, Callable[[int], str]] = {
    "census-drb": census,
    "opensafely": opensafely,
    "midpoint-6": midpoint,
    "none": exact,
}
"""The policies without chance, by the name of their file."""

BASES = {"base-5-random": 5, "base-3-random": 3}
"""The bases of the policies with random rounding."""


def around(count: int, base: int) -> tuple[int, int, Fraction]:
    """Return the multiples below and above a count, and the probability of the upper one that makes it unbiased."""
    below = count
    while below % base:
        below -= 1
    above = count
    while above % base:
        above += 1
    return below, above, Fraction(count - below, base)


def images(publish: Callable[[int], str], end: int) -> dict[str, list[int]]:
    """Return by published text all counts below `end` that are published as it."""
    found: dict[str, list[int]] = {}
    for count in range(end):
        found.setdefault(publish(count), []).append(count)
    return found


def rate(part: int, whole: int, decimals: int) -> Fraction:
    """Return part / whole as a multiple of 10^-decimals, halfway to the even multiple."""
    scaled = Fraction(part, whole) * 10**decimals
    below = scaled.numerator // scaled.denominator
    if scaled - below == Fraction(1, 2):
        return Fraction(below + below % 2, 10**decimals)
    return Fraction(below + (scaled - below > Fraction(1, 2)), 10**decimals)


def significant(value: Fraction, digits: int) -> Fraction:
    """Return a number with so many significant digits, halfway to the even last digit."""
    if value < 0:
        return -significant(-value, digits)
    if value == 0:
        return value
    unit = Fraction(1)
    while value / unit >= 10**digits:
        unit *= 10
    while value / unit < 10 ** (digits - 1):
        unit /= 10
    return rate((value / unit).numerator, (value / unit).denominator, 0) * unit
