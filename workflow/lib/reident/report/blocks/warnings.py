"""Show the warnings of a study: the grave ones in the brief, all of them in their section (METHODS §1)."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from reident.intake.severity import NOTABLE
from reident.language.messages import sentence
from reident.outcomes import WARNINGS
from reident.page.layout import block, box, paragraphs
from reident.page.sentences import Sentences
from reident.page.wording import whole
from reident.report.results import Results

TEXT = Sentences("warnings")


@block(WARNINGS)
def grave_warnings(results: Results) -> str:
    """Return the warnings that may invalidate or understate, in full, and the number of the others."""
    warning_lines = results.warnings
    grave = warning_lines[warning_lines["severity"] != NOTABLE]
    others = len(warning_lines) - len(grave)
    if grave.empty:
        return box("note", TEXT("front.notable", n=others) if others else TEXT("front.nothing"))
    return box("warning", *_texts(grave), *([TEXT("front.more", n=others)] if others else []))


@block(WARNINGS)
def warnings(results: Results) -> str | None:
    """Return every warning, set apart."""
    if results.warnings.empty:
        return None
    return paragraphs(TEXT("text"), box("warning", *_texts(results.warnings)))


_CODE = re.compile(r"`([\w.:/ -]+)`")


def _with_code(text: str) -> str:
    """Return a warning whole and literally, with the keys that it names in backticks as code."""
    parts = _CODE.split(text)
    return "".join(f"`{part}`" if at % 2 else whole(part) if part else "" for at, part in enumerate(parts))


def _texts(warning_lines: pd.DataFrame) -> list[str]:
    return [TEXT(f"lead.{row.severity}", text=_with_code(warning_text(row))) for row in warning_lines.itertuples()]


def warning_text(row: Any) -> str:
    """Return a recorded warning in the language of the report, or as it is if this release does not know its code.

    A bag of an earlier release has the sentence alone, or a code that has other fields today.
    """
    try:
        return sentence("warnings", row.code, row.fields)
    except (AttributeError, KeyError, TypeError, ValueError):
        return str(row.warning)
