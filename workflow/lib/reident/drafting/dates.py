"""The formats that the dates of a column have, as far as their texts tell (METHODS §1)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from reident.sections.days import ISO, UNITS, DateForm

_DAYS = [
    *(ISO, "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "YYYY/MM/DD", "DD-MM-YYYY", "MM-DD-YYYY"),
    *("DD.MM.YY", "DD/MM/YY", "MM/DD/YY", "DDMMMYYYY", "DD-MMM-YYYY", "DD MMM YYYY", "DDMMMYY", "DD-MMM-YY"),
]
_TIMES = ["", *(f"{between}{time}" for between in " T" for time in ("hh:mm", "hh:mm:ss", "hh:mm:ssZ"))]
_DIGITS = "YYYYMMDD"
_FORMATS = [*map("".join, itertools.product(_DAYS, _TIMES)), "YYYY-MM", _DIGITS]
"""The formats that are tried."""

_SHORTEST = 7
"""Letters and digits of the shortest date."""

_YEARS = range(1850, 2101)
"""The years of eight digits that are a date."""

_LATEST_YEAR = 2030
"""The latest year of two digits as long as the analyst has not decided it."""

_MIDNIGHT = re.compile(r"(.{10})[ T]00:00:00(\.0+)?")

_FIRST, _SHARE = 30, 0.9
"""The first texts, of which one must be a date, and the share of all that must be dates of one format."""


def formats(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the formats in which most texts are dates; empty if there is none.

    Several formats are left where days and months could be exchanged in every text.
    """
    midnights = [match[1] for text in texts if (match := _MIDNIGHT.fullmatch(text))]
    texts = midnights if len(midnights) == len(texts) else texts
    first = [text for text in texts[:_FIRST] if len(text) >= _SHORTEST]
    tried = [_DIGITS] if all(map(str.isdecimal, first)) else _FORMATS
    candidates = [form for form in tried if any(_is_date(text, form) for text in first)]
    counts = {form: sum(_is_date(text, form) for text in texts) for form in candidates}
    most = max(counts.values(), default=0)
    return tuple(form for form, n in counts.items() if n == most > _SHARE * len(texts))


def number(text: str, form: str) -> float | None:
    """Return the number of a date; None of another text."""
    dates = _form(form)
    return dates.number(dates.iso(text))


def coarsest(forms: Sequence[str]) -> str:
    """Return the smallest part of a date that all formats have, if some have a smaller one; otherwise empty."""
    units = {DateForm(form).unit for form in forms}
    return max(units, key=UNITS.index) if len(units) > 1 else ""


def has_short_year(forms: Sequence[str]) -> bool:
    """Return whether a format has years of two digits."""
    return any(DateForm(form).has_short_year for form in forms)


def _is_date(text: str, form: str) -> bool:
    moment = _form(form).moment(text)
    return moment is not None and (form != _DIGITS or moment.year in _YEARS)


def _form(form: str) -> DateForm:
    return DateForm(form, _LATEST_YEAR)
