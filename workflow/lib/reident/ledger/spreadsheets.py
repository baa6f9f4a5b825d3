"""CSV tables in spreadsheets: a label is shown, never run as a formula, and read back as it was.

A spreadsheet takes a cell that begins with one of a few characters for a formula, and may then run
programs or fetch addresses. In the tables that people open, such a text is written behind an
apostrophe, which a reader takes away again; so is a text that begins with an apostrophe. Numbers
stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

MARK = "'"
_STEERS = re.compile(r"['=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guarded(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts, those of its header too, steer no spreadsheet."""
    return _every_text(table, _guarded)


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """The table that :func:`guarded` was given, from a table of text."""
    return _every_text(table, lambda text: text.removeprefix(MARK))


def _guarded(text: str) -> str:
    return MARK + text if _STEERS.match(text) and not _NUMBER.fullmatch(text) else text


def _every_text(table: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Every text of a table, in cells and header, changed; other values are left."""
    changed = table.rename(columns=lambda name: change(name) if isinstance(name, str) else name)
    for at, kind in enumerate(table.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            texts = [change(value) if isinstance(value, str) else value for value in table.iloc[:, at]]
            changed.isetitem(at, pd.Series(texts, index=table.index, dtype=object))
    return changed
