"""Recode tables: from the codes of a file to those of the study, one by one, by ranges, or all others (METHODS §1).

A code that is given itself comes before a range, and a range before `otherwise`. Missing codes are looked up before
any of them.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reident.sections.codes import Coding, clean, normaliser, number

OTHERWISE = "otherwise"
"""The key of a recode table for every code without an entry of its own."""

_RANGE = re.compile(r"([+-]?\d+)-([+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


class Span(NamedTuple):
    """The codes from one number to another, both included; the last one is infinite for `65-`."""

    first: float
    last: float
    text: str

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.first <= value <= self.last


def span(text: str) -> Span | None:
    """Return the range that a key of a recode table denotes; None for a single code.

    Examples
    --------
    >>> span("18-29"), span("65-"), span("-9")
    (Span(first=18, last=29, text='18-29'), Span(first=65, last=inf, text='65-'), None)
    """
    match = _RANGE.fullmatch(clean(text))
    return None if match is None else Span(int(match[1]), int(match[2]) if match[2] else math.inf, clean(text))


class Recoding:
    """One recode table, with its codes normalised.

    Parameters
    ----------
    coding : Coding

    Attributes
    ----------
    codes : dict
        The target of each code that is given itself; a range counts as a code too, for files that have it as one.
    spans : list of (Span, str)
        The ranges with their targets.
    otherwise : str or None
        The target of every other code.
    repeated : bool
        Whether two codes are equal after normalising.
    """

    def __init__(self, coding: Coding) -> None:
        normal = self._normal = normaliser(coding)
        table = {code: normal(target) for code, target in coding.recode.items()}
        self._integers_only = coding.kind != "numeric"
        self.otherwise = table.pop(OTHERWISE, None)
        self.codes = {normal(code): target for code, target in table.items()}
        self.repeated = len(self.codes) < len(table)
        ranges = {} if coding.date else table  # 2024-03 is a month
        self.spans = [(interval, to) for code, to in ranges.items() if (interval := span(code)) is not None]

    def names(self, code: str) -> bool:
        """Return whether a normalised code has an entry of its own: itself, or a range."""
        return code in self.codes or self._target_of_span(code) is not None

    def is_alone(self, code: str, entry: str) -> bool:
        """Return whether an entry of the table, not `otherwise`, is a normalised code, or the range 9-9 of it."""
        interval = span(entry)
        of_one = interval is not None and interval.first == interval.last and self._value(code) in interval
        return self._normal(entry) == code or of_one

    def __call__(self, code: str) -> str:
        """Return the study's code for a normalised code that is not missing."""
        if code in self.codes:
            return self.codes[code]
        if (target := self._target_of_span(code)) is not None:
            return target
        return code if self.otherwise is None else self.otherwise

    def unused(self, codes: Iterable[str]) -> list[str]:
        """Return the keys of the table, `otherwise` aside, that none of some normalised codes has."""
        every = set(codes)
        ranges = {interval.text for interval, _ in self.spans if any(self._value(code) in interval for code in every)}
        return [code for code in self.codes if code not in every and clean(code) not in ranges]

    def _target_of_span(self, code: str) -> str | None:
        if not self.spans:
            return None
        value = self._value(code)
        return next((target for interval, target in self.spans if value in interval), None)

    def _value(self, code: str) -> float | None:
        """Return the number of a code; of a category, only if it is written as an integer."""
        if self._integers_only:
            return int(code) if _INTEGER.fullmatch(code) else None
        return number(code)


def check_recodes(coding: Coding, key: str, missing: str = "missing") -> None:
    """Refuse ranges that overlap or end before they begin, and a recode table that has or results in a missing code.

    Missing codes are looked up before recoding: the table has no effect on one, and one that it results in would be
    read as a value. A range, or `otherwise`, may cover missing codes.

    Parameters
    ----------
    coding : Coding
    key, missing : str
        The keys of the recode table and of the missing codes, for the message.
    """
    check_spans({} if coding.date else coding.recode, key)
    normal, recoding = normaliser(coding), Recoding(coding)
    codes = {normal(code) for code in coding.missing}
    for code, target in coding.recode.items():
        if code != OTHERWISE and any(recoding.is_alone(missing_code, code) for missing_code in codes):
            raise ValueError(
                f"`.{key}` must not have `{code}`, which is in `{missing}` too: missing codes are looked up before "
                f"recoding, so it is never recoded. If it means missing, remove it from `{key}`, otherwise from "
                f"`{missing}`."
            )
        if normal(target) in codes:
            single = code != OTHERWISE and span(code) is None
            remedy = f"Add `{code}` to `{missing}` instead." if single else "Choose another code."
            raise ValueError(
                f"`.{key}` must not map a code to `{target}`, which is a missing code: missing codes are looked up "
                f"before recoding, so it would be read as a value. {remedy}"
            )


def check_spans(table: Mapping[str, str], key: str) -> None:
    """Refuse ranges of a recode table that overlap or end before they begin."""
    spans = sorted(interval for code in table if (interval := span(code)) is not None)
    for interval in spans:
        if interval.last < interval.first:
            raise ValueError(f"`.{key}.{interval.text}` must not end before it begins. Swap the two numbers.")
    for interval, successor in itertools.pairwise(spans):
        if successor.first <= interval.last:
            raise ValueError(
                f"`.{key}` must not have ranges that overlap, but `{interval.text}` and `{successor.text}` do. Correct "
                "one of the two."
            )
