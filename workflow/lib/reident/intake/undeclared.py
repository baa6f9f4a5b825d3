"""Values that look like missing codes that the study does not declare (METHODS §1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

import numpy as np

from reident.sections.codes import number

Counts = Mapping[str | float, int]
"""Records by value, of one variable in one file."""

MISSING_WORDS = ("", ".", "..", "-", "--", "?", "*", "na", "n/a", "n.a.", "#n/a", "nan", "null", "missing")
"""Codes that look like missing ones, in any case."""

_NEGATIVE = re.compile(r"-(9*[789]|7+|8+)")
_NINES = re.compile(r"9{2,}")
_DIGITS = 15
"""Digits of a number in words."""
_SPECIAL = np.unique(
    [float(f"{'9' * k}{last}") for k in range(_DIGITS) for last in "789"]
    + [float(d * k) for k in range(1, _DIGITS + 1) for d in "78"]
)
"""The sizes of the numbers that these patterns describe."""
OTHER = {"puf": "eif", "eif": "puf"}


class NumberCounts:
    """Records by number: each number that may look like a missing code, and the ends of all others.

    This is what :func:`look_missing` depends on, and does not grow with the file.
    """

    def __init__(self) -> None:
        self._special: dict[str | float, int] = {}
        self._low, self._high = np.inf, -np.inf

    def add(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Count distinct numbers, float64 (k,), NaN where missing, with the records of each, int64 (k,)."""
        near = np.rint(values)
        close = np.isin(np.abs(near), _SPECIAL) & (np.abs(values - near) <= np.abs(near) * 1e-13)
        for value, n in zip(values[close].tolist(), rows[close].tolist(), strict=True):
            text = f"{value:.15g}"
            if _NEGATIVE.fullmatch(text) or _NINES.fullmatch(text):
                self._special[value] = self._special.get(value, 0) + n
            else:
                self._widen(value, value)
        others = values[~close & ~np.isnan(values)]
        self._widen(float(others.min(initial=np.inf)), float(others.max(initial=-np.inf)))

    def counts(self) -> Counts:
        """Return the records by value; those of the ends are not all counted."""
        ends = (self._low, self._high) if self._low <= self._high else ()
        return self._special | dict.fromkeys(ends, 1)

    def _widen(self, low: float, high: float) -> None:
        self._low, self._high = min(self._low, low), max(self._high, high)


def look_missing(counts: Counts, declared: Set[str | float | None] = frozenset()) -> dict[str | float, int]:
    """Return the values that look like undeclared missing codes, with their records.

    These are words such as an empty cell, ``.`` or ``NA``; the negative codes -7, -8, -9, -97, -99, -999 … where the
    variable has no other negative value; and 99, 999, 9999 … where every other number is at most half of it.
    """
    words, negative, nines = (set[str | float]() for _ in range(3))
    largest, below_zero = 0.0, False
    for value in counts:  # once: very many strata have very many codes
        text = value if isinstance(value, str) else f"{value:.15g}"
        amount = _number(value)
        if _NEGATIVE.fullmatch(text):
            negative.add(value)
        elif amount is not None and amount < 0:
            below_zero = True
        if _NINES.fullmatch(text):
            nines.add(value)
        elif amount is not None and amount > largest:
            largest = amount
        if text.casefold() in MISSING_WORDS:
            words.add(value)
    looks = words if below_zero else words | negative
    looks |= {value for value in nines if largest <= (_number(value) or 0) / 2 and len(counts) > 1}
    return {value: counts[value] for value in counts if value in looks - declared}


def _number(value: str | float) -> float | None:
    return number(value) if isinstance(value, str) else value
