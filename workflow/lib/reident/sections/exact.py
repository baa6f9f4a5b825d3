"""Numbers of a study file that must stay exact: rational weights and decimal scores."""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

SCALE = 10**12
"""Scores that are not whole are compared as integers at this scale: twelve decimals (METHODS §4.3)."""

ULPS = 4 * sys.float_info.epsilon
"""Ranges are closed, and decimal text has no exact binary form: 1.1 − 1 is a little above 0.1. An end is moved
outwards by so small a share of the numbers that it is computed from that no value of 14 digits can slip in."""


def _parse_rational(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    try:
        return Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        raise ValueError("must be a number such as 0.5, or a fraction such as 1/3.") from None


def rational_text(value: Fraction) -> str:
    """The shortest exact text: a decimal where one exists, otherwise ``a/b``."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():f}"


Rational = Annotated[
    Fraction,
    BeforeValidator(_parse_rational),
    PlainSerializer(rational_text, return_type=str),
    WithJsonSchema({"type": ["number", "string"]}),
]
"""An exact rational, written ``0.5`` or ``1/3`` in the study file."""
