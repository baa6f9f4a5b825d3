"""Dates as numbers: the number of a day, and the texts that denote it (METHODS §1).

A date is the number of its day, 1 for 0001-01-01, as :meth:`datetime.date.toordinal` has it; a time of day is a
fraction of its day. What is not a date of the Gregorian calendar has no number.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time
from functools import cache
from typing import NamedTuple

ISO = "YYYY-MM-DD"
"""The format of a column that declares none; the days of every column may be written so."""

UNITS = ("time", "day", "month", "year")
"""The smallest part of a date that a format has, the finest first."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PARTS = {
    "YYYY": r"(?P<year>\d{4})",
    "YY": r"(?P<digits>\d\d)",
    "MMM": f"(?P<name>{'|'.join(_MONTHS)})",
    "MM": r"(?P<month>\d\d)",
    "DD": r"(?P<day>\d\d)",
    "hh": r"(?P<hour>\d\d)",
    "mm": r"(?P<minute>\d\d)",
    "ss": r"(?P<second>\d\d)(?P<fraction>\.\d{1,6})?",
}
_PART = re.compile("|".join(_PARTS))
_BETWEEN = re.compile(r"[-./:, TZ]*")
_SEPARATED = re.compile(r"(?<![A-Za-z])(MM|DD|hh)(?![A-Za-z])")
"""Parts that may have one digit, since something stands on either side of them."""

_ISO = {
    "time": re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})?", re.ASCII),
    "day": re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
    "month": re.compile(r"\d{4}-\d\d", re.ASCII),
    "year": re.compile(r"\d{4}", re.ASCII),
}
"""One spelling of the dates of each unit: a day is none of a column of months."""

_BEGINNING = "0001-01-01"
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00(\.0+)?", re.ASCII)
"""How programs write a day of a column of points in time."""

_ORDERS = [("YYYY", "YY"), ("MM", "MMM"), ("DD",), ("hh",), ("mm",), ("ss",)]
_SECONDS = 86_400


class DateForm(NamedTuple):
    """The form of the dates of a column.

    Attributes
    ----------
    format : str
        Its parts in their order, such as ``DD.MM.YYYY``.
    latest_year : int or None
        The latest year that two digits may mean.
    """

    format: str = ISO
    latest_year: int | None = None

    @property
    def unit(self) -> str:
        """The smallest part that the format has, one of :data:`UNITS`."""
        parts = set(_PART.findall(self.format))
        return UNITS[0 if "hh" in parts else 1 if "DD" in parts else 2 if parts & {"MM", "MMM"} else 3]

    @property
    def is_valid(self) -> bool:
        """Whether the format has a year, each part once, and none without the next larger one."""
        parts = _PART.findall(self.format)
        present = [sum(part in group for part in parts) for group in _ORDERS]
        between = _PART.sub("", self.format)
        return present[0] == 1 and present == sorted(present, reverse=True) and bool(_BETWEEN.fullmatch(between))

    @property
    def has_short_year(self) -> bool:
        """Whether years have two digits."""
        return "YY" in _PART.findall(self.format)

    def iso(self, text: str) -> str:
        """Return a text without blanks at its ends as YYYY-MM-DD, as far as the format goes; unchanged if no date."""
        moment = self.moment(text)
        if moment is None:
            midnight = _MIDNIGHT.fullmatch(text) if self.unit == "day" else None
            return text if midnight is None else midnight[1]
        if self.unit == "time":
            return moment.isoformat(" ")
        return moment.date().isoformat()[: {"day": 10, "month": 7, "year": 4}[self.unit]]

    def number(self, text: str) -> float | None:
        """Return the number of a date that :meth:`iso` has written; None if it is not one."""
        if not _ISO[self.unit].fullmatch(text):
            return None
        try:
            moment = datetime.fromisoformat(text + _BEGINNING[len(text) :])
        except ValueError:
            return None
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1e6
        return moment.toordinal() + seconds / _SECONDS

    def moment(self, text: str) -> datetime | None:
        """Return the beginning of the date that a text denotes in this very format; None if it denotes none."""
        match = _pattern(self.format).fullmatch(text)
        if match is None:
            return None
        parts = {name: value for name, value in match.groupdict().items() if value is not None}
        year = int(parts["year"]) if "year" in parts else self._year(int(parts["digits"]))
        month = _MONTHS.index(parts["name"].lower()) + 1 if "name" in parts else int(parts.get("month", 1))
        hour, minute, second = (int(parts.get(name, 0)) for name in ("hour", "minute", "second"))
        microsecond = round(float(parts.get("fraction", 0)) * 1e6)
        try:
            day = date(year, month, int(parts.get("day", 1)))
            return datetime.combine(day, time(hour, minute, second, microsecond))
        except ValueError:
            return None

    def _year(self, digits: int) -> int:
        latest = self.latest_year or 0
        return latest - (latest - digits) % 100


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern of the dates of a format."""
    pattern, single, end = "", {match.start() for match in _SEPARATED.finditer(form)}, 0
    for part in _PART.finditer(form):
        digits = _PARTS[part[0]]
        digits = digits.replace(r"\d\d", r"\d{1,2}") if part.start() in single else digits
        pattern += re.escape(form[end : part.start()]) + digits
        end = part.end()
    return re.compile(pattern + re.escape(form[end:]), re.ASCII | re.IGNORECASE)


def day_text(number: float) -> str:
    """Return the day of a number as YYYY-MM-DD; of a number that no day has, the number itself."""
    day = math.floor(number)
    return date.fromordinal(day).isoformat() if 1 <= day <= date.max.toordinal() else f"{number:,.6g}"
