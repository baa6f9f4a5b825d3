"""Declaration of the codes of a column, in whichever section of a study (METHODS §1)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from reident.sections.days import DateForm


def both_spellings(schema: dict[str, Any]) -> None:
    """Add the spelling with a hyphen to the schema of a section that has :data:`IntegerCoded`."""
    schema["properties"]["integer-coded"] = schema["properties"]["integer_coded"]


def listed(value: Any) -> Any:
    """Return missing codes as a list; a single code may be written without brackets.

    Raises
    ------
    ValueError
        For an absent code, which could mean an empty cell or the word NULL.
    """
    if isinstance(value, str):
        value = [value]
    if value is None or (isinstance(value, list | tuple) and None in value):
        raise ValueError(
            'must not contain an absent or null code, which is ambiguous. Write `"NULL"` in quotation marks for that '
            'word, or `""` for an empty cell.'
        )
    return value


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_ZERO = re.compile(r"[+-]?[0.]+([eE].*)?", re.ASCII)
_SWAP = str.maketrans(",.", ".,")
_INTEGER = re.compile(r"([+-]?)0*(\d+)(\.0*)?", re.ASCII)

THOUSANDS = {",": ",", ".": ".", " ": " \u00a0\u2009\u202f", "'": "'’"}
"""The characters between thousands by how a study names them: a blank is of any width."""


class Coding(NamedTuple):
    """The rules for reading the texts of one column.

    Attributes
    ----------
    kind : {'categorical', 'numeric'}
    missing : iterable of str
        Codes that mean missing, looked up before recoding.
    recode : mapping
        From the file's codes to the study's.
    order : tuple of str or None
        Every category, if the study declares an order.
    integer_coded : bool
        Whether ``1``, ``01`` and ``1.0`` are the same code.
    decimal : {'.', ','}
        The decimal separator of the file. Codes of the study file may use either separator.
    thousands : str
        The separator of thousands in the numbers of the file: a key of :data:`THOUSANDS`, or empty for none.
    convert : Conversion or None
        From the numbers of the file, after recoding, to those of the study.
    date : DateForm or None
        How the file writes dates, whose numbers are those of their days; None if it has no dates.
    """

    kind: Literal["categorical", "numeric"]
    missing: Iterable[str] = ()
    recode: Mapping[str, str] = {}
    order: tuple[str, ...] | None = None
    integer_coded: bool = False
    decimal: str = "."
    thousands: str = ""
    convert: Conversion | None = None
    date: DateForm | None = None

    def number(self, text: str) -> float | None:
        """Return the number of a normalised text; None if it has none."""
        return number(text) if self.date is None else self.date.number(text)


class Conversion(NamedTuple):
    """A conversion of a number of a file to the unit of the study: `times` it, `plus` a constant, exact as decimals."""

    times: Fraction
    plus: Fraction

    def __call__(self, value: float) -> float | None:
        """Return the double nearest to the converted decimal; None beyond the range of doubles."""
        exact = Fraction(repr(value)) * self.times + self.plus
        try:
            converted = float(exact)
        except OverflowError:
            return None
        return None if exact and not converted else converted + 0.0


def clean(text: str) -> str:
    """Return a text in NFC, without blanks at its ends."""
    return unicodedata.normalize("NFC", text.strip())


def normaliser(coding: Coding, *, stored: bool = False) -> Callable[[str], str]:
    """Return a function that trims a text and composes it (NFC); it also gives each number and date one spelling.

    Parameters
    ----------
    coding : Coding
    stored : bool
        Whether the texts come from a file, which has one decimal separator. Codes in the study file may be
        written with either separator.
    """
    if (form := coding.date) is not None:
        return lambda text: form.iso(clean(text))
    ways = [_unchanged] if coding.decimal == "." else [_swapped] if stored else [_unchanged, _swapped]
    if coding.kind == "numeric" and coding.thousands:
        grouped = partial(_ungrouped, thousands=coding.thousands, decimal=coding.decimal)
        ways = [grouped] if stored else [*ways, grouped]

    def one_number(text: str) -> str:
        texts = [way(clean(text)) for way in ways]
        values = [value for value in map(number, texts) if value is not None]
        return repr(values[0]) if values else texts[-1]

    def integer(text: str) -> str:
        text = clean(text)
        match = next(filter(None, (_INTEGER.fullmatch(way(text)) for way in ways)), None)
        if not match:
            return text
        digits = match[2]
        return ("-" if match[1] == "-" and digits != "0" else "") + digits

    if coding.kind == "numeric":
        return one_number
    return integer if coding.integer_coded else clean


def _unchanged(text: str) -> str:
    return text


def _swapped(text: str) -> str:
    """Exchange commas and points: then 1,5 is a number, and 1.500 is not."""
    return text.translate(_SWAP)


def _ungrouped(text: str, thousands: str, decimal: str) -> str:
    """Return a number with a decimal point and nothing between its thousands; other texts as without separators."""
    if grouped_form(thousands, decimal).fullmatch(text):
        text = re.sub(f"[{THOUSANDS[thousands]}]", "", text)
    return text if decimal == "." else _swapped(text)


@cache
def grouped_form(thousands: str, decimal: str) -> re.Pattern[str]:
    """Return the pattern of a number whose thousands are separated, each group of three digits alike."""
    return re.compile(
        rf"[+-]?\d{{1,3}}([{THOUSANDS[thousands]}])\d{{3}}(\1\d{{3}})*({re.escape(decimal)}\d*)?", re.ASCII
    )


@lru_cache(1 << 16)  # the same codes are in many columns
def number(text: str) -> float | None:
    """Return the finite number that a text denotes, never a negative zero; None if it is not a number.

    A number beyond the range of doubles, such as 1e400 or 1e-400, is not one.
    """
    if not _NUMBER.fullmatch(text) or underflows(text):
        return None
    value = float(text)
    return (value + 0.0) if np.isfinite(value) else None


def underflows(text: str) -> bool:
    """Return whether a number other than 0 is so close to 0 that it would be read as 0."""
    return bool(_NUMBER.fullmatch(text)) and float(text) == 0 and not _ZERO.fullmatch(text)


def check_order(kind: str, order: tuple[str, ...] | None, *, integer_coded: bool) -> None:
    """Refuse categories of a variable that has none, and a category that is given twice."""
    if kind != "categorical" and (order is not None or integer_coded):
        raise ValueError(
            f"must not have `order` or `integer_coded` with `type: {kind}`. Remove them, or set `type: categorical`."
        )
    if len(set(order or ())) < len(order or ()):
        raise ValueError("`.order` must not contain a category twice. Remove one of the two.")
