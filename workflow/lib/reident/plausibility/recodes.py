"""Recode tables of both files that give one code to different ranges (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reident.intake.settings import PreparationSettings
from reident.intake.severity import NOTABLE, UNDERSTATES
from reident.plausibility.findings import Finding
from reident.sections.recodes import span

MIN_AGREEMENT = 0.8
"""The smallest agreement of linked records from which different ranges may be right, as of ages of another year."""


def check(settings: PreparationSettings, agreement: Mapping[str, float], n: int) -> Iterator[Finding]:
    """Yield the variables of which a code stands for different ranges, by the agreement of the n linked records."""
    for column in settings.columns:
        if column.coding("puf").kind != "categorical":
            continue
        puf, eif = (ranges(column.coding(side).recode) for side in ("puf", "eif"))
        different = [code for code in puf if code in eif and puf[code] != eif[code]]
        if different:
            severity = NOTABLE if agreement.get(column.name, 0.0) >= MIN_AGREEMENT else UNDERSTATES
            yield Finding(column.name, "ranges", len(different) / len(puf), n=n, severity=severity)


def ranges(table: Mapping[str, str]) -> dict[str, list[tuple[float, float]]]:
    """Return the numbers that each code of a recode table stands for, as ranges that do not touch, by code."""
    found = dict[str, list[tuple[float, float]]]()
    for key, code in table.items():
        if (interval := span(key)) is not None:
            found.setdefault(code, []).append((interval.first, interval.last))
    return {code: joined(spans) for code, spans in found.items()}


def joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return ranges of whole numbers in order, those that follow each other as one."""
    result = list[tuple[float, float]]()
    for first, last in sorted(spans):
        start, end = first, last
        if result and first <= result[-1][1] + 1:
            start, before = result.pop()
            end = max(last, before)
        result.append((start, end))
    return result
