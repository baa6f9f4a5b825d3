"""Files as steps read and write them: whole or not at all, to be read by their owner alone."""

from __future__ import annotations

import contextlib
import csv
import os
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from reident.columns import COUNTS


def read(path: Path) -> pa.Table | pd.DataFrame | str:
    """A Parquet table, a CSV table (text, counts as integers), or text."""
    if path.suffix == ".parquet":
        return pq.read_table(path, partitioning=None)
    if path.suffix == ".csv":
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        for name in COUNTS.intersection(table.columns):
            table[name] = pd.to_numeric(table[name].replace("", None)).astype(
                "Int64" if (table[name] == "").any() else "int64"
            )
        return table
    return path.read_text(encoding="utf-8")


ROW_GROUP = 2**20
"""Rows of a row group: the bytes of a file do not depend on the batches in which it was written."""


class Sink:
    """A Parquet file that is written batch by batch under a temporary name."""

    def __init__(self, path: Path) -> None:
        self.aside = _aside(path)
        self._stream = _opened(self.aside)
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

    def close(self) -> tuple[Path, int]:
        """Write the rest and sync; the file under its temporary name, and its number of rows."""
        if self._writer is None:
            raise RuntimeError("no rows came, not even none of them")
        self._flush()
        if self._waiting[0].num_rows or not self._written:
            self._write(self._waiting[0])
        self._writer.close()
        _sync(self._stream)
        return self.aside, self._rows

    def abandon(self) -> None:
        """Remove what was written."""
        if self._writer is not None:
            with contextlib.suppress(Exception):  # it may have failed on the disk that is full
                self._writer.close()
        self._stream.close()
        self.aside.unlink(missing_ok=True)


def encoded(content: pd.DataFrame | str | bytes) -> bytes:
    """The bytes of a table as CSV, or of a text."""
    if isinstance(content, pd.DataFrame):
        text = content.to_csv(index=False, lineterminator="\n")
        if "\r" in text:  # a category's label may hold one, and would end the line unless it is quoted
            text = content.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        return text.encode()
    return content.encode() if isinstance(content, str) else content


def write_aside(path: Path, content: bytes) -> Path:
    """Write and sync a file, readable by its owner alone, under a temporary name beside `path`."""
    aside = _aside(path)
    stream = _opened(aside)
    stream.write(content)
    _sync(stream)
    return aside


def _aside(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _opened(aside: Path) -> BinaryIO:
    return os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _sync(stream: BinaryIO) -> None:
    with stream:
        stream.flush()
        os.fsync(stream.fileno())
