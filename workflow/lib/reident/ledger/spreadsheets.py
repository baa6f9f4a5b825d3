"""CSV tables that people open in a spreadsheet: a label is shown, never run as a formula, and read back as it was.

A spreadsheet takes a cell that begins with one of a few characters for a formula, and may then run
programs or fetch addresses. In the tables of :func:`is_for_people`, such a
text gets an apostrophe in front, which reading takes away again; so does a text that begins with an
apostrophe. Numbers stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from reident.pipeline.steps import STEPS
from reident.sections.columns import MARK

_FORMULA = re.compile(r"['=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

_FOR_STEPS = {
    re.sub(r"{\w+}", "*", table.path)
    for step in STEPS.values()
    for table in step.tables
    if table.path.endswith(".csv") and not (table.reported or table.exported or step.rule == "edition")
}
"""The CSV tables that only steps read, such as the records of simulated studies."""


def is_for_people(path: Path) -> bool:
    """Return whether people open a CSV table: all but those that only steps read."""
    return not any(path.match(pattern) for pattern in _FOR_STEPS)


def guarded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which a spreadsheet takes no text for a formula, in cells and header."""
    return _every_text(table, guarded_text)


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table that :func:`guarded` was given, from a table of text."""
    return _every_text(table, plain_text)


def guarded_text(text: str) -> str:
    """Return a text that a spreadsheet does not take for a formula."""
    return MARK + text if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def plain_text(text: str) -> str:
    """Return the text that :func:`guarded_text` was given."""
    return text.removeprefix(MARK)


def _every_text(table: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Return a table with every text changed, in cells and header; other values stay."""
    changed = table.rename(columns=lambda name: change(name) if isinstance(name, str) else name)
    for at, kind in enumerate(table.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            changed.isetitem(at, _every_cell(table.iloc[:, at], change))
    return changed


def _every_cell(column: pd.Series, change: Callable[[str], str]) -> pd.Series:
    """Return a column with every text changed, each different text once: very many lines have few."""
    if isinstance(column.dtype, pd.StringDtype):
        place, texts = pd.factorize(column)
        replacements = np.array([*map(change, texts), np.nan], object)
        return pd.Series(replacements[place], index=column.index, dtype=object)
    texts = [change(value) if isinstance(value, str) else value for value in column]
    return pd.Series(texts, index=column.index, dtype=object)
