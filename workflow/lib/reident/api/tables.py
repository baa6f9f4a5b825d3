"""Tables by their names, as data frames."""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from reident.errors import InputError, RiskWarning
from reident.intake.severity import NOTABLE
from reident.ledger import stored
from reident.pipeline.tables import TABLES
from reident.verdict.terminal import SEVERITY


class Tables(Mapping[str, pd.DataFrame]):
    """Tables by their names, ``tables["summary"]``, which are attributes too, ``tables.summary``.

    The tables of :func:`reident.file_risk` and others have the names of the files of docs/DATA.md without folder and
    ending, and their columns. What is printed shows no record.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self._tables = dict(tables)

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            raise KeyError(f"no table `{name}`; there are {', '.join(self)}")
        return self._tables[name]

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name.startswith("_") or name not in self._tables:
            raise AttributeError(f"no table `{name}`; there are {', '.join(self)}")
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {len(table):,} rows" for name, table in self.items())


def made_by(rule: str, content: Any) -> dict[str, pd.DataFrame]:
    """Return the tables that the function of a step returns, as their files have them."""
    if isinstance(content, pd.DataFrame):  # of a step that makes one table
        return {table.output: declared(table.path, content) for table in TABLES[rule]}
    return {table.output: declared(table.path, getattr(content, table.output)) for table in TABLES[rule]}


def declared(path: str, table: pa.Table | pd.DataFrame) -> pd.DataFrame:
    """Return a table as its file has it."""
    if isinstance(table, pa.Table):
        return table.to_pandas()
    file = Path(path)
    return stored.read_csv(file, content=stored.encoded(table, file))


def told(path: str, lines: pd.DataFrame) -> pd.DataFrame:
    """Return the warnings of a result as the file of this path has them; the grave ones are warnings of Python, too."""
    table = declared(path, lines)
    for line in table[table["severity"] != NOTABLE].itertuples():
        text = _OF_RUN.sub("the table `warnings`", line.warning)
        warnings.warn(f"{SEVERITY[line.severity]}: {text}", RiskWarning, stacklevel=_depth())
    return table


_OF_RUN = re.compile(r"`\w+/warnings\.csv`")
"""Where a run, which writes files, has the codes that a warning is about."""


def _depth() -> int:
    """Return how many calls above :func:`told` the code is that called the library."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("reident."):
        frame, depth = frame.f_back, depth + 1
    return max(depth, 1)


def threads_or_all(threads: int | None) -> int:
    """Return a number of threads: by default one for each processor. No number depends on it."""
    if threads is None:
        return os.cpu_count() or 1
    if not hasattr(threads, "__index__") or threads < 1:
        raise InputError("`threads` must be a positive integer, or None for one for each processor. Correct it.")
    return int(threads)
