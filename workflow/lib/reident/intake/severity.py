"""The severities of warnings, and the table of warnings that a step makes (METHODS §1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

import pandas as pd

from reident.language.messages import Fields, message

INVALIDATES, UNDERSTATES, NOTABLE = "invalidates", "understates", "notable"
SEVERITIES = (INVALIDATES, UNDERSTATES, NOTABLE)
"""Every severity, the gravest first."""

MATERIAL = 0.01
"""A warning about at most this share of a file's records is notable, whatever it is about."""

MAX_CODES = 8
"""Codes that a warning names."""

MIN_RECORDS = 3
"""A code that fewer records have is in no draft, and not on the terminal: it could single out a person."""


class StudyWarning(NamedTuple):
    """One warning about valid input that may be a mistake, without a key or a value.

    Attributes
    ----------
    severity : str
        One of :data:`SEVERITIES`.
    code : str
        A key of ``warnings`` in ``messages.yaml`` of every language.
    fields : mapping
        The fields that its templates name, see :mod:`reident.language.messages`.
    affected, share : optional
        The records, or links, that it concerns, where they are known, and their share of the file's.
    codes : str
        The codes of a variable that it is about.
    """

    severity: str
    code: str
    fields: Fields
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


def table(warnings: Iterable[StudyWarning]) -> pd.DataFrame:
    """Return warnings as a table, the gravest first, each with its English sentence."""
    ordered = sorted(warnings, key=lambda warning: SEVERITIES.index(warning.severity))
    lines = []
    for severity, name, values, affected, share, codes in ordered:
        text, code, fields = message("warnings", name, values)
        lines.append((severity, text, affected, share, codes, code, fields))
    types = {"severity": str, "warning": str, "affected": "Int64", "share": float}
    types |= {"codes": str, "code": str, "fields": str}
    return pd.DataFrame(lines, columns=list(types)).astype(types)
