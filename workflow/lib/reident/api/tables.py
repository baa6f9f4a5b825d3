"""Tables by their names, as data frames."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from reident.ledger import stored
from reident.pipeline.tables import TABLES


class Tables(Mapping[str, pd.DataFrame]):
    """Tables by their names, ``tables["summary"]``, which are attributes too, ``tables.summary``.

    The tables of :func:`reident.file_risk` and others have the names of the files of docs/DATA.md without folder and
    ending, and their columns. What is printed shows no record.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self._tables = dict(tables)

    def __getitem__(self, name: str) -> pd.DataFrame:
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


def made_by(rule: str, content: Any) -> Tables:
    """Return the tables that the function of a step returns, as their files have them."""
    return Tables({table.output: declared(table.path, getattr(content, table.output)) for table in TABLES[rule]})


def declared(path: str, table: pa.Table | pd.DataFrame) -> pd.DataFrame:
    """Return a table as its file has it."""
    if isinstance(table, pa.Table):
        return table.to_pandas()
    file = Path(path)
    return stored.read_csv(file, content=stored.encoded(table, file))


def threads_or_all(threads: int | None) -> int:
    """Return a number of threads: by default one for each processor. No number depends on it."""
    return threads or os.cpu_count() or 1
