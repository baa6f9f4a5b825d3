"""Dates in SAS, Stata and SPSS: numbers that only their display format distinguishes from others (METHODS §1).

A date becomes YYYY-MM-DD, the same text in every format. Times, points in time, and formats that show only a part
of a date (a month, a quarter) have no unambiguous text and are refused. Other display formats, and labels, are
ignored: a code is the stored code.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Literal, NamedTuple

Shown = Literal["number", "day", "time"]


class Calendar(NamedTuple):
    """How a program stores dates: the epoch, and the units per day."""

    epoch: date
    per_day: int


CALENDARS = {
    "sas7bdat": Calendar(date(1960, 1, 1), 1),
    "xport": Calendar(date(1960, 1, 1), 1),
    "stata": Calendar(date(1960, 1, 1), 1),
    "spss": Calendar(date(1582, 10, 14), 86_400),
}

_SAS_DAYS = re.compile(
    r"DATE|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]?|[BE]8601DA|IS8601DA|JULIAN|(WEEK|WORD)DAT[EX]|NLDATE[LSMW]?|HDATE"
)
_SAS_TIMES = re.compile(
    r"DATETIME|DATEAMPM|DT(DATE|MONYY|WKDATX|YEAR|YYQC)|([BE]|IS)8601\w*|NLDAT\w*|NLTIM\w*|TIME(AMPM)?|TOD|HHMM"
    r"|HOUR|MMSS|MDYAMPM|(MMYY|YYMM)[CDNPS]?|MONYY|YYMON|YYQR?[CDNPSZ]?|YEAR|MONTH|MONNAME|QTRR?|WEEK(DAY|[UVW])"
    r"|DAY|DOWNAME|JULDAY|MINGUO|NENGO|HEBDATE|EUR\w*"
)
_SPSS_DAYS = {"DATE", "ADATE", "EDATE", "JDATE", "SDATE"}
_SPSS_TIMES = {"DATETIME", "YMDHMS", "TIME", "DTIME", "MTIME", "MOYR", "QYR", "WKYR"}


def shown(kind: str, display: str | None) -> Shown:
    """Return what a number is according to its display format.

    Parameters
    ----------
    kind : {'sas7bdat', 'xport', 'stata', 'spss'}
    display : str or None
        As in the file, for example ``YYMMDD10``, ``%td``, ``EDATE10``.
    """
    display = (display or "").strip()
    if kind == "stata":
        if re.match(r"%-?t?d", display):
            return "day"
        return "time" if re.match(r"%-?t[cCwmqhgb]", display) else "number"
    name = re.sub(r"[\d.]+$", "", display.upper())
    if kind == "spss":
        return "day" if name in _SPSS_DAYS else "time" if name in _SPSS_TIMES else "number"
    if _SAS_DAYS.fullmatch(name):
        return "day"
    return "time" if _SAS_TIMES.fullmatch(name) else "number"
