"""Codes that look like missing ones: those that surely are, and those that the analyst must decide (METHODS §1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa

from reident.intake.severity import MATERIAL
from reident.intake.undeclared import look_missing
from reident.sections.codes import clean, number

_UNKNOWN = frozenset(
    {
        "unknown", "not stated", "not known", "not available", "not reported", "no answer", "no response", "refused",
        "refusal", "don't know", "dont know", "n.s.", "k.a.", "k. a.", "keine angabe", "unbekannt", "inconnu",
        "onbekend", "desconocido", "none given", "not applicable",
    }
)  # fmt: skip
"""Words that say that a value is not known."""

_LETTERS = re.compile(r"[^\W\d_]{2}")

_WORDS = (
    "",
    ".",
    "..",
    "-",
    "--",
    "?",
    "na",
    "n/a",
    "n.a.",
    "#n/a",
    "nan",
    "null",
    "missing",
    *sorted(_UNKNOWN),
)
_SPECIAL = [f".{letter}" for letter in "_abcdefghijklmnopqrstuvwxyz"]
"""The special missing values of SAS and Stata as reading writes them."""


def _suspects() -> list[str]:
    numbers = ["-1"]
    for width in range(1, 10):
        nines = "9" * (width - 1)
        numbers += [f"-{nines}{last}" for last in "789"]
        numbers += [f"-{'7' * width}", f"-{'8' * width}", *([nines + "9"] if width > 1 else [])]
    texts = [
        form
        for word in (*_WORDS, *_SPECIAL)
        for form in (word, word.upper(), word.capitalize(), word.title())
    ]
    decimals = [f"{text}.0" for text in numbers]
    return list(dict.fromkeys([*texts, *numbers, *decimals]))


SUSPECTS = pa.array(_suspects(), pa.string())
"""Every text that may be a missing code of a column with many values, where not every value is counted."""


def certain(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the codes of one column that surely mean missing, with their records.

    These are the codes of :func:`reident.intake.undeclared.look_missing`, which a run warns of, the special missing
    values of SAS and Stata, and words that say that a value is not known. NA among other codes of two letters may be
    Namibia, and is left to the analyst.

    Parameters
    ----------
    counts : mapping
        Records by trimmed text.
    """
    own: dict[str | float, int] = {code: rows for code, rows in counts.items()}  # noqa: C416 - of another type
    looks = {str(code): rows for code, rows in look_missing(own).items()}
    words = {code for code in counts if code.casefold() in _UNKNOWN or code.casefold() in _SPECIAL}
    others = {code for code in counts if code not in looks}
    if sum(bool(_LETTERS.fullmatch(code)) for code in others) > len(others) / 2:
        looks = {code: rows for code, rows in looks.items() if code.casefold() != "na"}
    return {code: rows for code, rows in counts.items() if code in looks or code in words}


def uncertain(counts: Mapping[str, int], missing: Mapping[str, int]) -> dict[str, int]:
    """Return the codes of a categorical column that may mean missing, with their records.

    A single letter U or X, a code of nines that follows a gap, and NA among codes of two letters.
    """
    values = {code: rows for code, rows in counts.items() if code not in missing}
    if len(values) < 3:
        return {}
    numbers = sorted(own for own in map(number, values) if own is not None)
    result = {}
    for code, rows in values.items():
        own = number(code)
        gap = own is not None and own == numbers[-1] and len(numbers) > 2 and own - numbers[-2] >= 2
        nines = own is not None and re.fullmatch(r"0*[89]*9", code) and gap
        letter = own is None and (code.casefold() in {"u", "x", "*"} or code.casefold() in {"na", "none"})
        if nines or letter:
            result[code] = rows
    return result


def material(rows: int, records: int) -> bool:
    """Whether codes are of more records than a warning of a run takes for negligible."""
    return rows > MATERIAL * records


def cleaned(counts: Mapping[str, int]) -> dict[str, int]:
    """Return records by trimmed and composed text."""
    result: dict[str, int] = {}
    for text, rows in counts.items():
        code = clean(text)
        result[code] = result.get(code, 0) + rows
    return result
