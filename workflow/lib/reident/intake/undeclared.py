"""Values that look like missing codes that the study does not declare (METHODS §1)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Set
from datetime import date

import numpy as np

from reident.intake.severity import MIN_RECORDS
from reident.reading.declared import NOTHING
from reident.sections.codes import number

Counts = Mapping[str | float, int]
"""Records by value, of one variable in one file."""

MISSING_WORDS = ("", ".", "..", "-", "--", "?", "*", "na", "n/a", "n.a.", "#n/a", "nan", "null", "missing")
"""Codes that look like missing ones, in any case."""

_NEGATIVE = re.compile(r"-(9*[789]|7+|8+|[1-6])")
_SMALL = re.compile(r"-[1-6]")
"""Negative codes that are values on a scale such as -2 to 2."""

_NINES = re.compile(r"9{2,}")
_HIGH = re.compile(r"9+[789]|77+|88+")
"""The largest codes of a number of digits, two or more."""

_DIGITS = 15
"""Digits of a number in words."""
_SPECIAL = np.unique(
    [float(f"{'9' * k}{last}") for k in range(_DIGITS) for last in "789"]
    + [float(d * k) for k in range(1, _DIGITS + 1) for d in "78"]
    + [float(small) for small in range(1, 7)]
)
"""The sizes of the numbers that these patterns describe."""

_DAYS = frozenset(
    float(date.fromisoformat(day).toordinal())
    for day in (
        *(
            "0001-01-01",
            "1111-11-11",
            "1582-10-14",
            "1582-10-15",
            "1753-01-01",
            "1800-01-01",
            "1899-12-30",
            "1899-12-31",
        ),
        *(
            "1900-01-01",
            "1901-01-01",
            "1904-01-01",
            "1960-01-01",
            "1970-01-01",
            "2099-12-31",
            "2100-01-01",
            "2222-02-22",
        ),
        *("2999-12-31", "7777-07-07", "8888-08-08", "8888-12-31", "9999-01-01", "9999-09-09", "9999-12-31"),
    )
)
"""Days that stand for a missing date: the first and last ones of programs, and those of equal digits."""

_NEAR = 10
"""Other values on each side of a code that are looked at."""

_FAR, _WIDE, _HEAP = 3, 12, 5
"""How many times a gap is as wide as those below it, and goes into the range of all others; and how many times a heap
has as many records as its neighbours."""

_MAX_VALUES = 2**16
"""Distinct numbers up to which all are counted."""

DISTORTS = 1.1
"""Codes that make a standard deviation more than this many times as large, or as small, change what is near."""
OTHER = {"puf": "eif", "eif": "puf"}


class NumberCounts:
    """Records by number, as far as :func:`look_missing` depends on them, and the moments of all numbers.

    These are all numbers while they are few; then those that may look like a missing code, or that the file declares as
    one (`declared`), the ends of all others, and those next to a code. They do not grow with the file, nor depend on
    the order of its records.
    """

    def __init__(self, limit: int = _MAX_VALUES, *, dates: bool = False) -> None:
        self._codes, self._limit, self._dates = Counter[float](), limit, dates
        self.declared = NOTHING
        self._values, self._rows = np.empty(0), np.empty(0, np.int64)  # of the others
        self._moments = np.zeros(3)  # records, sum and sum of squares of the others

    def add(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Count distinct numbers, float64 (k,), NaN where missing, with the records of each, int64 (k,)."""
        special = are_codes(values, dates=self._dates) | self.declared.numbers(values)
        for value, n in zip(values[special].tolist(), rows[special].tolist(), strict=True):
            self._codes[value] += n
        others = ~special & ~np.isnan(values)
        values, rows = values[others], rows[others]
        with np.errstate(over="ignore"):
            self._moments += [(rows * values**power).sum() for power in range(3)]
        self._values, place = np.unique(np.concatenate([self._values, values]), return_inverse=True)
        self._rows = np.bincount(place, np.concatenate([self._rows, rows]), len(self._values)).astype(np.int64)
        if len(self._values) > self._limit:
            self._forget()

    def counts(self) -> Counts:
        """Return the records by value; of many values, those that matter."""
        counts: dict[str | float, int] = dict(zip(self._values.tolist(), self._rows.tolist(), strict=True))
        counts.update(self._codes.items())
        return counts

    def distortion(self, codes: Collection[str | float]) -> float:
        """Return how many times as large, or as small, some codes make the standard deviation; at least 1."""
        values = {value: n for value, n in self._codes.items() if value not in codes}
        spread = [_deviation(self._moments, special) for special in (self._codes, values)]
        if not all(value > 0 and math.isfinite(value) for value in spread):
            return 1.0
        return max(spread[0] / spread[1], spread[1] / spread[0])

    def _forget(self) -> None:
        """Keep the ends, and the numbers nearest to any that may be a code."""
        places = np.searchsorted(self._values, [*_SPECIAL, *-_SPECIAL, -np.inf, np.inf])
        near = places[:, None] + np.arange(-_NEAR - 1, _NEAR + 1)
        kept = np.unique(np.clip(near, 0, len(self._values) - 1))
        self._values, self._rows = self._values[kept], self._rows[kept]


def are_codes(values: np.ndarray, *, dates: bool = False) -> np.ndarray:
    """Return the numbers, of dates those of days, that may be missing codes; bool (n,)."""
    if dates:
        return np.isin(values, list(_DAYS))
    near = np.rint(values)
    close = np.isin(np.abs(near), _SPECIAL) & (np.abs(values - near) <= np.abs(near) * 1e-13)
    close[close] = [_is_code(value) for value in values[close].tolist()]
    return close


def _is_code(value: float) -> bool:
    text = _text(value)
    return bool(_NEGATIVE.fullmatch(text) or _HIGH.fullmatch(text))


def _deviation(moments: np.ndarray, codes: Mapping[float, int]) -> float:
    """Return the standard deviation of numbers with these moments, and of codes with their records."""
    with np.errstate(all="ignore"):
        n, first, second = moments + [sum(rows * value**power for value, rows in codes.items()) for power in range(3)]
        return float(np.sqrt(np.maximum(second / n - (first / n) ** 2, 0))) if n else 0.0


def look_missing(counts: Counts, declared: Set[str | float | None] = frozenset()) -> dict[str | float, int]:
    """Return the values that look like undeclared missing codes, with their records.

    These are words such as an empty cell, ``.`` or ``NA``; the negative codes -1 to -9, -97, -99, -999 … where the
    variable has no other negative value; and of 77, 88, 97, 98, 99, 777 … those that :func:`_high` names. All
    candidates are taken out together before the others are looked at, so that they do not hide each other.
    """
    words, negative, high = (set[str | float]() for _ in range(3))
    others, texts = dict[float, int](), False
    for value, rows in counts.items():  # once: very many strata have very many codes
        text = value if isinstance(value, str) else f"{value:.15g}"
        if text.casefold() in MISSING_WORDS:
            words.add(value)
        elif _NEGATIVE.fullmatch(text) or _HIGH.fullmatch(text):
            if value not in declared:
                (negative if text.startswith("-") else high).add(value)
        elif (amount := _number(value)) is not None:
            others[amount] = others.get(amount, 0) + rows
        else:
            texts = True
    if texts and not others:
        others = {0.0: 0}
    looks = words | _negative(negative, others) | _high({value: counts[value] for value in high}, others)
    return {value: counts[value] for value in counts if value in looks - declared}


def are_top_codes(codes: Collection[str | float], counts: Counts) -> bool:
    """Return whether all codes are numbers at the top of a file, next to others: top codes as well as missing ones."""
    values = np.sort([amount for value in counts if value not in codes and (amount := _number(value)) is not None])
    return len(values) > _NEAR and all(
        isinstance(code, float) and code > values[-1] and not _has_gap(code, values) for code in codes
    )


def look_missing_dates(counts: Counts, declared: Set[str | float | None] = frozenset()) -> dict[str | float, int]:
    """Return the days that look like undeclared missing codes, with their records.

    These are days such as 1900-01-01 or 9999-12-31 that are before or after all others, by more than :data:`_FAR` times
    any gap between the next :data:`_NEAR` and a share of 1 in :data:`_WIDE` of their range; or that have
    :data:`MIN_RECORDS` records and more than :data:`_HEAP` times as many as any other day.
    """
    others = {_amount(value): rows for value, rows in counts.items() if value not in _DAYS}
    looks = {value: rows for value, rows in counts.items() if value in _DAYS - declared}
    if len(others) < 2:
        return {}
    values, most = np.sort(list(others)), max(others.values())
    sides = values, -values[::-1]

    def is_apart(day: float) -> bool:
        return any(
            sign * day > side[-1] and _has_gap(sign * day, side) for sign, side in zip((1, -1), sides, strict=True)
        )

    return {
        day: rows
        for day, rows in looks.items()
        if is_apart(_amount(day)) or (rows >= MIN_RECORDS and rows > _HEAP * most)
    }


def _negative(codes: Set[str | float], others: Mapping[float, int]) -> Set[str | float]:
    """Return negative codes where no other value is negative; -1 to -6 only below a larger range of other values."""
    if any(value < 0 for value in others):
        return set()
    small = {code for code in codes if _SMALL.fullmatch(_text(code))}
    largest = max(others, default=0.0)
    return codes if all(largest > -(_number(code) or 0) for code in small) else codes - small


def _high(codes: Mapping[str | float, int], others: Mapping[float, int]) -> set[str | float]:
    """Return the codes among 77, 88, 97, 98, 99, 777 … that look like missing ones, with their records.

    - All other numbers are at most half of it. One that does not end in 9 needs :data:`MIN_RECORDS` records, or a 99 of
      as many digits beside it, since an amount of 77 may be one person's.
    - Of numbers, not of categories, whose codes may have gaps: it is above all others, and the gap is wider than
      :data:`_FAR` times any between the next :data:`_NEAR` below it, and a share of 1 in :data:`_WIDE` of their range.
    - Of numbers, it has more than :data:`_HEAP` times as many records as any of the next :data:`_NEAR` on each side.
    """
    if not others:
        return set()
    values = np.sort(list(others))
    looks = {code for code in codes if values[-1] <= _amount(code) / 2}
    alone = {len(_text(code)) for code in looks if _NINES.fullmatch(_text(code))}
    looks = {code for code in looks if codes[code] >= MIN_RECORDS or len(_text(code)) in alone}
    for code, rows in codes.items():
        if isinstance(code, float) and rows >= MIN_RECORDS and len(values) > _NEAR:
            place = int(np.searchsorted(values, code))
            near = values[max(0, place - _NEAR) : place + _NEAR]
            if _has_gap(code, values) or rows > _HEAP * max(others[value] for value in near.tolist()):
                looks.add(code)
    return looks


def _has_gap(code: float, values: np.ndarray) -> bool:
    gap, spaces = code - values[-1], np.diff(values[-_NEAR:])
    return bool(gap > _FAR * spaces.max() and gap >= (values[-1] - values[0]) / _WIDE)


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.15g}"


def _amount(value: str | float) -> float:
    return _number(value) or 0.0


def _number(value: str | float) -> float | None:
    return number(value) if isinstance(value, str) else value
