"""The digest of the content of a table, whatever wrote its file (METHODS §10).

Equal values in equal rows and columns have equal digests: row groups, compression, encodings, the widths of integers
and the versions of the writers do not count. Floating-point numbers are compared bit by bit, except that every NaN is
one value; null, NaN and empty text are three.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from reident.ledger import stored

ROWS = 2**16
"""Rows in memory at a time."""

_TYPES = {"integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_(), "text": pa.large_string()}


def digest(path: Path) -> str | None:
    """Return the SHA-256 of the content of a Parquet or CSV table that a step made; None for any other file."""
    return next(iter(digests(path)), None)


def digests(path: Path) -> list[str]:
    """Return the digests of a table and of its first columns, from all of them to one; none for any other file.

    A later release adds columns at the end: the table of an earlier one is then its first columns.

    Raises
    ------
    ValueError
        If a cell does not have the type of its column, or a type is not one that steps write.
    """
    if path.suffix not in (".csv", ".parquet"):
        return []
    batches = _csv_batches(path) if path.suffix == ".csv" else _parquet_batches(path)
    columns: list[_Column] = []
    for batch in batches:
        columns = columns or [_Column(name) for name in batch.schema.names]
        for column, values in zip(columns, batch.columns, strict=True):
            column.update(values)
    lines = [column.summary() for column in columns]
    firsts = (lines[:n] for n in range(len(lines), 0, -1))
    return [hashlib.sha256(json.dumps(each, ensure_ascii=False).encode()).hexdigest() for each in firsts]


class _Column:
    """The digests of one column, which do not depend on where batches end."""

    def __init__(self, name: str) -> None:
        self.name, self.kind, self.rows = name, "", 0
        self._parts = [hashlib.sha256() for _ in range(3)]  # which values there are; values or lengths; text

    def update(self, values: pa.Array) -> None:
        """Take the values of the next rows."""
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        self.kind = _kind(values.type)
        self.rows += len(values)
        there, plain, text = self._parts
        there.update(values.is_valid().to_numpy(zero_copy_only=False).tobytes())
        values = values.drop_null().cast(_TYPES[self.kind])
        if self.kind == "text":
            plain.update(pc.binary_length(values).to_numpy(zero_copy_only=False).astype("<i8").tobytes())
            text.update("".join(values.to_pylist()).encode())
        elif self.kind == "number":
            numbers = values.to_numpy(zero_copy_only=False)
            plain.update(np.where(np.isnan(numbers), np.nan, numbers).astype("<f8").tobytes())
        else:
            plain.update(values.to_numpy(zero_copy_only=False).astype("<i8").tobytes())

    def summary(self) -> list[Any]:
        """Return the summary of the content of the column."""
        return [self.name, self.kind, self.rows, *(part.hexdigest() for part in self._parts)]


def _kind(type_: pa.DataType) -> str:
    """Return the kind of values that a type of Arrow has."""
    if pa.types.is_integer(type_):
        return "integer"
    if pa.types.is_floating(type_):
        return "number"
    if pa.types.is_boolean(type_):
        return "boolean"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_null(type_):
        return "text"
    raise ValueError(f"{type_} is not a type of a result")


def _parquet_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file; the first batch has the columns, and perhaps no rows."""
    with pq.ParquetFile(path) as file:
        yield pa.RecordBatch.from_pylist([], schema=file.schema_arrow)
        yield from file.iter_batches(ROWS)


def _csv_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a CSV file in the types of their columns; an empty cell is null where it is not text."""
    for batch in stored.read_batches(path, ROWS):
        yield pa.RecordBatch.from_pandas(batch, preserve_index=False)
