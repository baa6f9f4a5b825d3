"""How much a warning matters, and the table of warnings that a step makes (METHODS §1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

import pandas as pd

INVALIDATES, UNDERSTATES, NOTABLE = "invalidates", "understates", "notable"
SEVERITIES = (INVALIDATES, UNDERSTATES, NOTABLE)
"""Every severity, the gravest first."""

MATERIAL = 0.01
"""A warning about at most this share of a file's records is notable, whatever it is about."""

MAX_CODES = 8
"""Codes that a warning names."""

MIN_RECORDS = 3
"""A code that fewer records have is in no draft, and not on the terminal: it could single out a person."""


class Line(NamedTuple):
    """One warning: one of :data:`SEVERITIES`, and what was accepted and what to do, without a key or a value.

    `affected` are the records, or links, that it concerns, where they are known; `share` is their share of the file's.
    """

    severity: str
    warning: str
    affected: int | None = None
    share: float | None = None
    codes: str = ""


def of_share(share: float) -> str:
    """Return the severity of a warning that lets records of a file, a share of all, disagree with their own."""
    return UNDERSTATES if share > MATERIAL else NOTABLE


def named(codes: Iterable[str]) -> str:
    """Return the first :data:`MAX_CODES` codes as a list; an empty code is shown as two quotation marks."""
    texts = [code or '""' for code in codes]
    return ", ".join([*texts[:MAX_CODES], *(["…"] if len(texts) > MAX_CODES else [])])


def named_frequent(counts: Mapping[str, int], always: Set[str]) -> str:
    """Return the codes in `always` and those of :data:`MIN_RECORDS` records as a list for a message, … for others."""
    frequent = [code for code in sorted(counts) if counts[code] >= MIN_RECORDS or code in always]
    shown = [code or '""' for code in frequent[:MAX_CODES]]
    return ", ".join([*shown, *(["…"] if len(shown) < len(counts) else [])])


def percentage(share: float) -> str:
    """Return a share as a percentage for a message, never as 0 where it is not."""
    return f"{100 * share:.1f} %" if share >= 0.001 or not share else "less than 0.1 %"


def table(lines: Iterable[Line]) -> pd.DataFrame:
    """Return warnings as a table, the gravest first."""
    ordered = sorted(lines, key=lambda line: SEVERITIES.index(line.severity))
    types = {"severity": str, "warning": str, "affected": "Int64", "share": float, "codes": str}
    return pd.DataFrame(ordered, columns=list(Line._fields)).astype(types)
