"""Columns of statistical programs: numbers, dates, and special missing values as text (METHODS §1).

Only their display format distinguishes dates from other numbers. A date becomes YYYY-MM-DD, and a point in time
YYYY-MM-DD hh:mm:ss, the same text in every format. Times of day, and formats that show only a part of a date (a month,
a quarter), have no unambiguous text and are refused. Other display formats, and labels, are ignored: a code is the
stored code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.reading.names import TEXT
from reident.reading.numbers import date_text, double_text, first_inexact, moment_text

Display = Literal["number", "day", "moment", "time"]

_SAS = date(1960, 1, 1), 1
_CALENDARS = {"sas7bdat": _SAS, "xport": _SAS, "stata": _SAS, "spss": (date(1582, 10, 14), 86_400)}
"""How each program stores dates: the epoch, and the units per day."""

_PER_SECOND = {"stata": 1000}
"""The units per second of points in time, other than 1."""

_SAS_DAYS = re.compile(
    r"DATE|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]?|[BE]8601DA|IS8601DA|JULIAN|(WEEK|WORD)DAT[EX]|NLDATE[LSMW]?|HDATE"
)
_SAS_MOMENTS = re.compile(r"DATETIME|DATEAMPM|MDYAMPM|[BE]8601DT|IS8601DT|NLDATM")
_SAS_TIMES = re.compile(
    r"DT(DATE|MONYY|WKDATX|YEAR|YYQC)|([BE]|IS)8601\w*|NLDAT\w*|NLTIM\w*|TIME(AMPM)?|TOD|HHMM"
    r"|HOUR|MMSS|(MMYY|YYMM)[CDNPS]?|MONYY|YYMON|YYQR?[CDNPSZ]?|YEAR|MONTH|MONNAME|QTRR?|WEEK(DAY|[UVW])"
    r"|DAY|DOWNAME|JULDAY|MINGUO|NENGO|HEBDATE|EUR\w*"
)
_SPSS_DAYS = {"DATE", "ADATE", "EDATE", "JDATE", "SDATE"}
_SPSS_MOMENTS = {"DATETIME", "YMDHMS"}
_SPSS_TIMES = {"TIME", "DTIME", "MTIME", "MOYR", "QYR", "WKYR"}
_SPECIALS = pa.array([f".{chr(letter)}" for letter in range(256)], TEXT)


def display_of(kind: str, pattern: str | None) -> Display:
    """Return the meaning of a number by its display format, such as ``YYMMDD10``, ``%td`` or ``EDATE10``."""
    pattern = (pattern or "").strip()
    if kind == "stata":
        if re.match(r"%-?t?d", pattern):
            return "day"
        if re.match(r"%-?tc", pattern):
            return "moment"
        return "time" if re.match(r"%-?t[Cwmqhgb]", pattern) else "number"
    name = re.sub(r"[\d.]+$", "", pattern.upper())
    if kind == "spss":
        if name in _SPSS_MOMENTS:
            return "moment"
        return "day" if name in _SPSS_DAYS else "time" if name in _SPSS_TIMES else "number"
    if _SAS_DAYS.fullmatch(name):
        return "day"
    if _SAS_MOMENTS.fullmatch(name):
        return "moment"
    return "time" if _SAS_TIMES.fullmatch(name) else "number"


class StoredColumn(NamedTuple):
    """A column of a SAS, Stata or SPSS file: file, format, meaning of its numbers, and whether it is a key."""

    path: Path
    kind: str
    name: str
    display: Display
    key: bool

    @classmethod
    def make(cls, path: Path, kind: str, name: str, pattern: str | None, key: bool) -> Self:
        """Return a column; refuse a time of day or a part of a date, and a point in time that is a key."""
        display = display_of(kind, pattern)
        if display == "time" or (key and display == "moment"):
            raise InputError(
                f"{path.name}, column `{name}`: a time, or a part of a date, has no unambiguous text. Store the column "
                "as text, or as a number without a date format."
            )
        return cls(path, kind, name, display, key)


def number_text(column: StoredColumn, values: np.ndarray, letters: np.ndarray, before: int) -> pa.Array:
    """Return the text of numbers.

    Parameters
    ----------
    values : float array (n,)
        NaN where missing.
    letters : uint8 array (n,)
        The character of a special missing value, which the program writes after a point (``.A``, ``._``, ``.a``); 0
        elsewhere.
    before : int
        The number of preceding records, for messages.
    """
    special = letters > 0
    if column.key:
        _check_key(column, values, special, before)
    if column.display in ("day", "moment"):
        epoch, per_day = _CALENDARS[column.kind]
        if column.display == "day":
            text, wrong = date_text(values / per_day, epoch)
        else:
            text, wrong = moment_text(values.astype(np.float64), epoch, _PER_SECOND.get(column.kind, 1))
        if wrong is not None:
            raise InputError(
                f"{column.path.name}, row {before + wrong + 1}, column `{column.name}`: the value is not a valid date. "
                "Correct it, or store the column as a number without a date format."
            )
    else:
        text = double_text(values)
    if special.any():
        text = pc.if_else(pa.array(special), _SPECIALS.take(pa.array(letters)), text)
    return text


def _check_key(column: StoredColumn, values: np.ndarray, special: np.ndarray, before: int) -> None:
    wrong = [first_inexact(values), int(special.argmax()) if special.any() else None]
    places = [place for place in wrong if place is not None]
    if places:
        raise InputError(
            f"{column.path.name}, row {before + min(places) + 1}, column `{column.name}`: a numeric key must be an "
            "integer below 2^53 (2^24 in single precision), and must not be missing. Store keys as text."
        )


def decoded_text(
    column: StoredColumn, cells: pa.Array, decode: Callable, codec: str, remedy: str, before: int
) -> pa.Array:
    """Return decoded cells; `decode` may raise UnicodeError, and `before` is the number of preceding records."""
    encoded, texts = cells.dictionary_encode(), list[str]()
    for at, cell in enumerate(encoded.dictionary.to_pylist()):
        try:
            texts.append(decode(cell))
        except UnicodeError:  # the first such text is in the first such record
            row = before + 1 + pc.index(encoded.indices, pa.scalar(at, encoded.indices.type)).as_py()
            raise InputError(
                f"{column.path.name}, row {row}, column `{column.name}`: the text is not {codec}. Declare {remedy}"
            ) from None
    return pa.array(texts, TEXT).take(encoded.indices)
