"""Codes that look like missing ones: those that surely are, and those that the analyst must decide (METHODS §1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pyarrow as pa

from reident.intake.undeclared import MISSING_WORDS, look_missing
from reident.reading.declared import UNKNOWN
from reident.sections.codes import number

_MARKS = frozenset({"u", "x", "na", "none"})
_WEAK = re.compile(r"-[1-6]|9+[78]|7+|8+")
_NINES = re.compile(r"9*[789]|7+|8+")
"""Codes of missing values such as 8, 77, 98, 997 and 999, without leading zeros."""

_LETTERS = re.compile(r"[^\W\d_]{2}")

_SPECIAL = [f".{letter}" for letter in "_abcdefghijklmnopqrstuvwxyz"]
"""The special missing values of SAS and Stata as reading writes them."""


def _suspects() -> list[str]:
    numbers = [f"-{digit}" for digit in range(1, 7)]
    for width in range(1, 10):
        nines = "9" * (width - 1)
        numbers += [f"-{nines}{last}" for last in "789"]
        numbers += [f"-{'7' * width}", f"-{'8' * width}"]
        numbers += [nines + "9", nines + "8", nines + "7", "8" * width, "7" * width] if width > 1 else []
    texts = [
        form
        for word in (*MISSING_WORDS, *sorted(UNKNOWN), *_SPECIAL)
        for form in (word, word.upper(), word.capitalize(), word.title())
    ]
    decimals = [f"{text}.0" for text in numbers]
    return list(dict.fromkeys([*texts, *numbers, *decimals]))


SUSPECTS = pa.array(_suspects(), pa.string())
"""Every text that may be a missing code of a column with many values, where not every value is counted."""


def certain(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the codes of one column that surely mean missing, with their records, from the records by trimmed text.

    These are the codes of :func:`reident.intake.undeclared.look_missing`, which a run warns of, the special missing
    values of SAS and Stata, and words that say that a value is not known. NA among other codes of two letters may be
    Namibia, and is left to the analyst, as are numbers that may well be values, such as 77, 98 and -1.
    """
    mapping: dict[str | float, int] = {code: rows for code, rows in counts.items()}  # noqa: C416 - of another type
    looks = {str(code): rows for code, rows in look_missing(mapping).items() if not _WEAK.fullmatch(str(code))}
    words = {code for code in counts if code.casefold() in UNKNOWN or code.casefold() in _SPECIAL}
    others = {code for code in counts if code not in looks}
    if sum(bool(_LETTERS.fullmatch(code)) for code in others) > len(others) / 2:
        looks = {code: rows for code, rows in looks.items() if code.casefold() != "na"}
    return {code: rows for code, rows in counts.items() if code in looks or code in words}


def uncertain(values: Mapping[str, int]) -> dict[str, int]:
    """Return the codes of categories that may mean missing, with their records, from those that do not surely mean it.

    A single letter U or X, NA among codes of two letters, -1 to -6, and the largest codes, such as 9, or 97, 98 and 99,
    if they follow a gap; those that do not end in 9 are of at most a fifth of the records.
    """
    if len(values) < 3:
        return {}
    most = sum(values.values()) / 5
    marks = {code for code in values if code.casefold() in _MARKS and number(code) is None}
    counts: dict[str | float, int] = {code: rows for code, rows in values.items()}  # noqa: C416 - of another type
    marks.update(str(code) for code in look_missing(counts) if str(code).startswith("-") and number(str(code)))
    last = _last(values)
    marks.update(code for code in last if values[code] <= most or code.endswith("9"))
    return {code: rows for code, rows in values.items() if code in marks}


def _last(codes: Iterable[str]) -> list[str]:
    """Return the largest numbers if they are like missing codes, and a gap lies between them and two others or more."""
    numbers = sorted((value, code) for code in codes if (value := number(code)) is not None)
    width = len(numbers[-1][1].lstrip("0")) if numbers else 0
    result = []
    for at in range(len(numbers) - 1, 1, -1):
        value, code = numbers[at]
        digits = code.lstrip("0")
        if not _NINES.fullmatch(digits) or len(digits) != width:
            break
        if value - numbers[at - 1][0] >= 2:
            result = [code for _, code in numbers[at:]]
    return result


def with_point(text: str, decimal: str) -> str:
    """Return a text of a file with this decimal separator as :func:`reident.sections.codes.number` reads it."""
    return text.replace(",", ".") if decimal == "," and "." not in text else text
