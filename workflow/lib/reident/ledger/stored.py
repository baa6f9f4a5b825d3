"""Files as steps read and write them: whole or not at all, to be read by their owner alone."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import os
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from reident.ledger import spreadsheets
from reident.pipeline.steps import table_of
from reident.pipeline.tables import Table


def read(path: Path) -> pa.Table | pd.DataFrame | str:
    """Return a Parquet table, a CSV table with the types that the step which makes it declares, or text."""
    if path.suffix == ".parquet":
        return pq.read_table(path, partitioning=None)
    if path.suffix == ".csv":
        return read_csv(path)
    return path.read_text(encoding="utf-8")


def read_csv(path: Path) -> pd.DataFrame:
    """Return a CSV table that a step made.

    Returns
    -------
    pandas.DataFrame
        Text as Python strings; integers as int64, or Int64 where one is empty; numbers as float64, exactly those that
        were written, NaN where empty; truth values as bool.

    Raises
    ------
    ValueError
        If no step declares the table, or a cell does not have the type of its column.
    """
    return typed(table_of(path), read_text(path))


def read_text(path: Path) -> pd.DataFrame:
    """Return the cells of a CSV table as text, without what keeps them from steering a spreadsheet."""
    return spreadsheets.plain(pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8"))


def typed(table: Table, text: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table of text in the types that are declared; other columns stay text."""
    values = text.copy()
    for column in table.columns:
        if column.name in values and column.type != "text":
            values[column.name] = _CONVERT[column.type](text[column.name])
    return values


def _integers(text: pd.Series) -> pd.Series:
    values = [_integer(cell) if cell else None for cell in text]
    return pd.Series(values, text.index, dtype="Int64" if None in values else "int64")


def _integer(cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        if (value := float(cell)).is_integer():  # beside an empty cell pandas writes 5 as 5.0
            return int(value)
        raise


def _numbers(text: pd.Series) -> pd.Series:
    return pd.Series([float(cell) if cell else float("nan") for cell in text], text.index, dtype="float64")


def _booleans(text: pd.Series) -> pd.Series:
    if not text.isin(["True", "False"]).all():
        raise ValueError("a truth value must be `True` or `False`")
    return text == "True"


_CONVERT = {"integer": _integers, "number": _numbers, "boolean": _booleans}


class Written(NamedTuple):
    """A file under its temporary name.

    Attributes
    ----------
    path : pathlib.Path
    sha256 : str
        Of what was handed over to be written; the disk may hold less.
    rows : int or None
        Of a table.
    """

    path: Path
    sha256: str
    rows: int | None


class Stream(io.FileIO):
    """A new file, readable by its owner alone, that knows the digest of what it was given."""

    def __init__(self, path: Path) -> None:
        super().__init__(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w")
        self.path = path
        self._digest = hashlib.sha256()

    def write(self, content: Any) -> int:
        """Write all of some bytes, however many the system takes at a time."""
        left = memoryview(content).cast("B")
        self._digest.update(left)
        while left:
            left = left[_take(self, left) :]
        return memoryview(content).nbytes

    def finish(self) -> str:
        """Sync and close; the digest."""
        os.fsync(self.fileno())
        self.close()
        return self._digest.hexdigest()


def _take(stream: Stream, left: memoryview) -> int:
    """How many bytes of some the system takes at once."""
    return os.write(stream.fileno(), left)


ROW_GROUP = 2**20
"""Rows of a row group: the bytes of a file do not depend on the batches in which it was written."""


class Sink:
    """A Parquet file that is written batch by batch under a temporary name."""

    def __init__(self, path: Path) -> None:
        self.aside = aside(path)
        self._stream = Stream(self.aside)
        self._writer: Any = None  # once the columns are known
        self._waiting: list[pa.Table] = []
        self._rows = self._written = 0

    def __call__(self, table: pa.Table) -> None:
        """Append rows."""
        table = table.replace_schema_metadata(None)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._stream, table.schema, compression="zstd")
        self._waiting.append(table)
        self._rows += table.num_rows
        if self._rows - self._written >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        """Write what fills row groups."""
        rows = pa.concat_tables(self._waiting)
        while rows.num_rows >= ROW_GROUP:
            self._write(rows.slice(0, ROW_GROUP))
            rows = rows.slice(ROW_GROUP)
        self._waiting = [rows]

    def _write(self, rows: pa.Table) -> None:
        # In one chunk: where chunks end shows in the pages.
        self._writer.write_table(rows.combine_chunks(), row_group_size=ROW_GROUP)
        self._written += rows.num_rows

    def close(self) -> Written:
        """Write the rest and sync."""
        if self._writer is None:
            raise RuntimeError("no rows came, not even none of them")
        self._flush()
        if self._waiting[0].num_rows or not self._written:
            self._write(self._waiting[0])
        self._writer.close()
        return Written(self.aside, self._stream.finish(), self._rows)

    def abandon(self) -> None:
        """Remove what was written."""
        if self._writer is not None:
            with contextlib.suppress(Exception):  # it may have failed on the disk that is full
                self._writer.close()
        with contextlib.suppress(OSError):
            self._stream.close()
        self.aside.unlink(missing_ok=True)


def is_source(path: Path) -> bool:
    """Whether a step writes records that a later one reads as it reads sources: exactly what is in the cells."""
    return path.parent.name == "simulated" or path.name in ("puf.csv", "eif.csv", "iuf.csv")


def encoded(content: pd.DataFrame | str | bytes, *, source: bool = False) -> bytes:
    """The bytes of a table as CSV, safe in a spreadsheet unless it is a source, or of a text."""
    if isinstance(content, pd.DataFrame):
        content = content if source else spreadsheets.guarded(content)
        text = content.to_csv(index=False, lineterminator="\n")
        if "\r" in text:  # a category's label may hold one, and would end the line unless it is quoted
            text = content.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        return text.encode()
    return content.encode() if isinstance(content, str) else content


def write_aside(path: Path, content: bytes) -> Written:
    """Write and sync a file, readable by its owner alone, under a temporary name beside `path`."""
    stream = Stream(aside(path))
    try:
        stream.write(content)
        return Written(stream.path, stream.finish(), None)
    except OSError:
        with contextlib.suppress(OSError):
            stream.close()
        stream.path.unlink(missing_ok=True)
        raise


def write(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    write_aside(path, content).path.replace(path)
    sync_folder(path.parent)


def aside(path: Path) -> Path:
    """The temporary name of a file, which no other process takes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def sync_folder(folder: Path) -> None:
    """Let the disk know which files a folder holds, so that names last as contents do."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # file systems on networks may not know how
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
