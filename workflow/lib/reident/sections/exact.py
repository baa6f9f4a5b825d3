"""Numbers of a study file that stay exact: rational weights, and decimal scores as scaled integers."""

from __future__ import annotations

import re
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

SCALE = 10**12
"""Fractional scores are compared as integers at this scale, which is twelve decimals (METHODS §4.3)."""

ULPS = 4 * sys.float_info.epsilon
"""The slack of the ends of a closed range, as a share of the numbers that an end is computed from.

Decimal text has no exact binary form: 1.1 − 1 is slightly above 0.1. The slack is too small to let in another
value of up to 14 digits."""

MAX_EXPONENT = 308
"""The largest exponent of a rational, as of a double. Without a limit, `1e9999999` would have ten million digits."""

MAX_DIGITS = 10_000
"""More digits than a rational can have: Python reads integers of at most 4,300 digits."""

_EXPONENT = re.compile(r"e([+-]?[\d_]+)$", re.IGNORECASE)


def parse_rational(value: Any) -> Fraction:
    """Return an exact number from its text in a study file."""
    if isinstance(value, Fraction):
        return value
    text = str(value).strip()
    try:
        exponent = _EXPONENT.search(text)
        if exponent is None or abs(int(exponent[1])) <= MAX_EXPONENT:
            return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError("must be a number. Write a decimal such as 0.5, or a fraction such as 1/3.") from None
    raise ValueError(f"must have an exponent from -{MAX_EXPONENT} to {MAX_EXPONENT}. Write the number without it.")


def rational_text(value: Fraction) -> str:
    """Return the shortest exact text of a rational: a decimal if there is one, otherwise ``a/b``."""
    cofactor = value.denominator
    for prime in (2, 5):
        while cofactor % prime == 0:
            cofactor //= prime
    if cofactor != 1:
        return f"{value.numerator}/{value.denominator}"
    with localcontext() as context:
        context.prec = MAX_DIGITS
        return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():f}"
