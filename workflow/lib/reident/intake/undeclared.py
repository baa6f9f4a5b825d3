"""Codes that the study may have forgotten to declare: missing ones, and those that a recode leaves out (METHODS §1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Set
from typing import NamedTuple, Protocol

import numpy as np

from reident.intake.parts import Preparing
from reident.intake.severity import MATERIAL, NOTABLE, Line, named, of_share, percentage
from reident.sections.codes import normaliser, number
from reident.sections.linkage import Column

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


class File(Protocol):
    """One file as it is typed."""

    @property
    def n(self) -> int:
        """The number of records."""

    def counts(self, variable: str) -> Counts:
        """Return the records by value, without missing ones; of numbers, see :class:`NumberCounts`."""

    def linked(self, variable: str, codes: Collection[str | float]) -> int:
        """Return the number of true links of the records that have some codes."""


class Files(NamedTuple):
    """Both files as they are typed, and the number of true links between them."""

    puf: File
    eif: File
    links: int


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


class CodeGroup(NamedTuple):
    """Codes of a variable in one file: the file, the variable, the records that have them, and their true links."""

    side: str
    column: Column
    codes: Mapping[str | float, int]
    n: int
    n_links: int
    links: int

    @property
    def rows(self) -> int:
        """The records."""
        return sum(self.codes.values())

    @property
    def records(self) -> str:
        """The records, with their share, in words."""
        return f"{self.rows:,} of {self.n:,} records ({percentage(self.rows / self.n)})"

    @property
    def cost(self) -> str:
        """The true links that they concern, in words."""
        share = percentage(self.n_links / self.links) if self.links else "0 %"
        return f"{self.n_links:,} of {self.links:,} true links ({share})"

    def line(self, warning: str, *, harmless: bool = False) -> Line:
        """Return the warning; it is grave if it is about a material share of the records, and of the true links."""
        shares = [self.rows / self.n, *([self.n_links / self.links] if self.links else [])]
        severity = NOTABLE if harmless else of_share(min(shares))
        texts = (value if isinstance(value, str) else f"{value:.15g}" for value in self.codes)
        return Line(severity, warning, self.rows, self.rows / self.n, named(sorted(texts)))


def code_warnings(part: Preparing, column: Column, files: Files) -> list[Line]:
    """Warn of codes of a variable that look like missing ones, and of those that one file only has."""
    warnings = []
    for side, other in OTHER.items():
        codes, others = (getattr(files, name).counts(column.name) for name in (side, other))
        looks = look_missing(codes, _declared(column, side))
        if looks:
            warnings.append(_undeclared(part, _code_group(files, side, column, looks), others))
        if column.coding(side).kind == "categorical":
            single = {code: rows for code, rows in codes.items() if code not in others and code not in looks}
            if sum(single.values()) > MATERIAL * getattr(files, side).n:
                warnings.append(_single(part, _code_group(files, side, column, single)))
    return warnings


def _code_group(files: Files, side: str, column: Column, codes: Counts) -> CodeGroup:
    """Count the true links of the records that have some codes."""
    file: File = getattr(files, side)
    return CodeGroup(side, column, codes, file.n, file.linked(column.name, codes), files.links)


def _declared(column: Column, side: str) -> set[str | float | None]:
    """Return the codes that the study names as values: those of `order`, and those that `recode` results in."""
    coding = column.coding(side)
    normal = normaliser(coding)
    texts = {normal(code) for code in (*(coding.order or ()), *coding.recode.values())}
    return {number(text) for text in texts} if coding.kind == "numeric" else set(texts)


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


def _undeclared(part: Preparing, group: CodeGroup, others: Counts) -> Line:
    """Return the warning of codes that look like missing ones.

    A category that both files have does not keep records apart: two records that miss it agree on it.
    """
    categorical = group.column.coding(group.side).kind == "categorical"
    codes = named(sorted(value if isinstance(value, str) else f"{value:.15g}" for value in group.codes))
    what = "a code that looks" if len(group.codes) == 1 else "codes that look"
    warning = (
        f"{part.file_name(group.side)}, variable {group.column.name}: {group.records} have {what} like missing values "
        f"and are not declared as missing: {codes}. They count as values, also in {group.cost}. Add them to `missing`, "
        "or, if they are values, recode each to itself."
    )
    return group.line(warning, harmless=categorical and set(group.codes) <= set(others))


def _single(part: Preparing, group: CodeGroup) -> Line:
    """Return the warning of categories that one file only has."""
    column, n = group.column, len(group.codes)
    other, where = (
        part.file_name(OTHER[group.side]),
        f"{part.file_name(group.side)}, variable {column.name}",
    )
    effect = "never agree on this variable"
    if column in part.strata:
        effect = "are in strata without a record of the other file"
    effect = f"{group.records} {effect}, which concerns {group.cost}"
    if column.coding(group.side).recode:
        warning = (
            f"{where}: `recode` is incomplete. It does not result in a code of {other} for {n:,} "
            f"{'code' if n == 1 else 'codes'}, so {effect}. Complete the recode table; `prepared/warnings.csv` "
            "names the codes."
        )
    else:
        occur = "code does" if n == 1 else "codes do"
        warning = (
            f"{where}: {n:,} {occur} not occur in {other}, so {effect}. Recode one of the files (`recode`); "
            "`prepared/warnings.csv` names the codes."
        )
    return group.line(warning)
