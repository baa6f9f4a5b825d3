"""Codes that the study may have forgotten to declare: missing ones, and those that a recode leaves out (METHODS §1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.parts import Preparing
from reident.intake.severity import MATERIAL, NOTABLE, Line, named, of_share, percentage
from reident.sections.codes import normaliser, number
from reident.sections.linkage import Column

Counts = Mapping[str | float, int]
"""Records by value, of one variable in one file."""

_WORDS = {"", ".", "..", "-", "--", "?", "na", "n/a", "n.a.", "#n/a", "nan", "null", "missing"}
"""Codes that look like missing ones, in any case."""

_NEGATIVE = re.compile(r"-(9*[789]|7+|8+)")
_NINES = re.compile(r"9{2,}")
OTHER = {"puf": "eif", "eif": "puf"}


class Sides(NamedTuple):
    """Both files as they are typed, and the true links between them by row number."""

    puf: pa.Table
    eif: pa.Table
    links: pa.Table


class Found(NamedTuple):
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


def of_column(part: Preparing, column: Column, sides: Sides, counts: Mapping[str, Counts]) -> list[Line]:
    """Warn of codes of a variable that look like missing ones, and of those that one file only has.

    Parameters
    ----------
    part : Preparing
    column : Column
    sides : Sides
    counts : mapping
        By side, ``puf`` and ``eif``: records by value after recoding, without missing ones.
    """
    warnings = []
    for side, own in counts.items():
        others = counts[OTHER[side]]
        looks = look_missing(own, _declared(column, side))
        if looks:
            warnings.append(_undeclared(part, _found(sides, side, column, looks), others))
        if column.coding(side).kind == "categorical":
            single = {code: rows for code, rows in own.items() if code not in others and code not in looks}
            if sum(single.values()) > MATERIAL * getattr(sides, side).num_rows:
                warnings.append(_single(part, _found(sides, side, column, single)))
    return warnings


def _found(sides: Sides, side: str, column: Column, codes: Counts) -> Found:
    """Count the true links of the records that have some codes."""
    values: pa.ChunkedArray = getattr(sides, side)[column.name]
    has = pc.is_in(values, pa.array(list(codes), values.type))
    linked = pc.sum(has.take(sides.links[side])).as_py() or 0
    return Found(side, column, codes, len(values), linked, sides.links.num_rows)


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
    numbers = {value: _number(value) for value in counts}
    texts = {value: value if isinstance(value, str) else f"{value:.15g}" for value in counts}
    negative = {value for value in counts if _NEGATIVE.fullmatch(texts[value])}
    if any(own < 0 for value, own in numbers.items() if own is not None and value not in negative):
        negative = set()
    nines = {value for value in counts if _NINES.fullmatch(texts[value])}
    largest = max(
        (own for value, own in numbers.items() if own is not None and value not in nines), default=0
    )
    nines = {value for value in nines if largest <= (numbers[value] or 0) / 2 and len(counts) > 1}
    words = {value for value in counts if texts[value].casefold() in _WORDS}
    return {value: counts[value] for value in counts if value in (words | negative | nines) - declared}


def _number(value: str | float) -> float | None:
    return number(value) if isinstance(value, str) else value


def _undeclared(part: Preparing, found: Found, others: Counts) -> Line:
    """Return the warning of codes that look like missing ones.

    A category that both files have does not keep records apart: two records that miss it agree on it.
    """
    categorical = found.column.coding(found.side).kind == "categorical"
    codes = named(sorted(value if isinstance(value, str) else f"{value:.15g}" for value in found.codes))
    what = "a code that looks" if len(found.codes) == 1 else "codes that look"
    warning = (
        f"{part.file_name(found.side)}, variable {found.column.name}: {found.records} have {what} like missing values "
        f"and are not declared as missing: {codes}. They count as values, also in {found.cost}. Add them to `missing`, "
        "or, if they are values, recode each to itself."
    )
    return found.line(warning, harmless=categorical and set(found.codes) <= set(others))


def _single(part: Preparing, found: Found) -> Line:
    """Return the warning of categories that one file only has."""
    column, n = found.column, len(found.codes)
    other, where = part.file_name(OTHER[found.side]), f"{part.file_name(found.side)}, variable {column.name}"
    effect = "never agree on this variable"
    if column in part.strata:
        effect = "are in strata without a record of the other file"
    effect = f"{found.records} {effect}, which concerns {found.cost}"
    if column.coding(found.side).recode:
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
    return found.line(warning)
