"""From the numbers of a file to those of the study: another unit, implied decimals, a year of birth (METHODS §1)."""

from __future__ import annotations

from fractions import Fraction

from pydantic import model_validator

from reident.sections.base import Rational, Section
from reident.sections.codes import Conversion


class Convert(Section):
    """A conversion of a number of a file to that of the study: `times` it, `plus` a constant."""

    times: Rational = Fraction(1)
    """The factor, such as `1000` for thousands, `0.01` for two implied decimals, `1/12` for a year in months, or `-1`
    for a year of birth."""
    plus: Rational = Fraction(0)
    """What is added after that: with `times: -1`, `2026` makes an age of a year of birth."""

    @property
    def conversion(self) -> Conversion:
        """The function of one number."""
        return Conversion(self.times, self.plus)

    @model_validator(mode="after")
    def _changes_numbers(self) -> Convert:
        if not self.times:
            raise ValueError("`.times` must not be 0, which makes all numbers equal. Write the factor.")
        if self.times == 1 and not self.plus:
            raise ValueError("must change numbers, but multiplies by 1 and adds 0. Remove it, or correct it.")
        return self


class Conversions(Section):
    """The conversion of each file, from its numbers to those of the study."""

    puf: Convert | None = None
    """The conversion of the public use file."""
    eif: Convert | None = None
    """The conversion of the external intruder file."""

    @model_validator(mode="after")
    def _has_a_file(self) -> Conversions:
        if self.puf is None and self.eif is None:
            raise ValueError("must have `puf` or `eif`. Write for example `{eif: {times: 1000}}`.")
        return self


def check_convert(kind: str, convert: Convert | Conversions | None) -> None:
    """Refuse a conversion of codes, and any of dates but a shift."""
    if kind == "categorical" and convert is not None:
        raise ValueError("`.convert` must not be given without `type: numeric`. Remove it, or set `type: numeric`.")
    sides = [convert.puf, convert.eif] if isinstance(convert, Conversions) else [convert]
    if kind == "date" and any(side is not None and side.times != 1 for side in sides):
        raise ValueError("`.convert` of a date must have `plus` alone, a number of days. Remove `times`.")
