"""Files as steps read and write them: complete or not at all, and readable by their owner alone."""

from __future__ import annotations

import contextlib
import csv
import errno
import glob
import hashlib
import io
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from reident.ledger import cells, spreadsheets
from reident.pipeline.steps import table_of

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of a disk without room."""


def read(path: Path) -> pa.Table | pd.DataFrame | str:
    """Return a Parquet table, a CSV table with the types that the step which makes it declares, or text."""
    if path.suffix == ".parquet":
        return pq.read_table(path, partitioning=None)
    if path.suffix == ".csv":
        return read_csv(path)
    return path.read_text(encoding="utf-8")


def read_csv(path: Path, columns: Sequence[str] | None = None, content: bytes | None = None) -> pd.DataFrame:
    """Return a CSV table that a step made, or some of its columns.

    With `content`, these are the bytes of the file, which need not be there.

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
    with _checked(path):
        table = _converted(path, _read(path, content, usecols=columns))
    if spreadsheets.is_for_people(path):
        table = spreadsheets.plain(table)
    texts = [name for name, kind in table.dtypes.items() if isinstance(kind, pd.StringDtype)]
    table = table.astype(dict.fromkeys(texts, object)) if texts else table
    return table if columns is None else table[list(columns)]


def read_batches(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    """Yield a CSV table as it is written, in the types of its columns, some rows at a time; at least one batch."""
    with _checked(path), _read(path, chunksize=rows) as batches:
        for batch in batches:
            yield _converted(path, batch)


def read_text(path: Path, content: bytes | None = None) -> pd.DataFrame:
    """Return the cells of a CSV table as text, without the marks that keep them from steering a spreadsheet."""
    source = path if content is None else io.BytesIO(content)
    table = pd.read_csv(source, dtype=str, keep_default_na=False, encoding="utf-8")
    return spreadsheets.plain(table) if spreadsheets.is_for_people(path) else table.astype(object)


def _read(path: Path, content: bytes | None = None, **options: Any) -> Any:
    """Read a CSV table with pandas: empty cells of numbers are missing, and everything but numbers is text."""
    types = {"integer": "Int64", "number": "float64"}
    numbers = {column.name: types[column.type] for column in table_of(path).columns if column.type in types}
    return pd.read_csv(
        path if content is None else io.BytesIO(content),
        dtype=defaultdict(lambda: "str", numbers),
        na_values={name: [""] for name in numbers},
        keep_default_na=False,
        encoding="utf-8",
        **options,
    )


@contextlib.contextmanager
def _checked(path: Path) -> Iterator[None]:
    """Raise one kind of error for a cell that does not have the type of its column; pandas has several."""
    try:
        yield
    except (TypeError, OverflowError):
        raise ValueError(f"{path.name}: a cell does not have the type of its column") from None


def _converted(path: Path, values: pd.DataFrame) -> pd.DataFrame:
    """Return a table with truth values, and with plain integers where none is missing."""
    columns = [column for column in table_of(path).columns if column.name in values]
    for name in (column.name for column in columns if column.type == "boolean"):
        if not values[name].isin(["True", "False"]).all():
            raise ValueError("a truth value must be `True` or `False`")
        values[name] = values[name] == "True"
    whole = [column.name for column in columns if column.type == "integer" and not values[column.name].hasnans]
    return values.astype(dict.fromkeys(whole, "int64")) if whole else values


class Written(NamedTuple):
    """A file under its temporary name: the digest and number of the bytes that were to be written."""

    path: Path
    sha256: str
    size: int
    rows: int | None  # of a table


class Stream(io.FileIO):
    """A new file, readable by its owner alone, with the digest and the number of the bytes to be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w")
        self.path = path
        self._digest = hashlib.sha256()
        self._size = 0

    def write(self, content: Any) -> int:
        """Write all of some bytes, however many the system takes at a time."""
        view = memoryview(content).cast("B")
        self._digest.update(view)
        self._size += view.nbytes
        while view:
            view = view[_take(self, view) :]
        return memoryview(content).nbytes

    def finish(self, rows: int | None = None) -> Written:
        """Sync and close, or raise an OSError if the file does not hold as many bytes as were to be written."""
        os.fsync(self.fileno())
        self.close()
        if self.path.stat().st_size != self._size:
            raise OSError(errno.EIO, "the disk does not hold what was written")
        return Written(self.path, self._digest.hexdigest(), self._size, rows)


def _take(stream: Stream, view: memoryview) -> int:
    """Write some of the bytes and return how many."""
    return os.write(stream.fileno(), view)


ROW_GROUP = 2**20
"""Rows of a row group: the bytes of a file do not depend on the batches in which it was written."""


class Sink:
    """A Parquet file that is written batch by batch under a temporary name."""

    def __init__(self, path: Path) -> None:
        self._stream = Stream(temporary(path))
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
        """Write the rows that fill row groups."""
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
            raise RuntimeError("the table has no batch of rows; an empty table has one batch without rows")
        self._flush()
        if self._waiting[0].num_rows or not self._written:
            self._write(self._waiting[0])
        self._writer.close()
        return self._stream.finish(self._rows)

    def abandon(self) -> None:
        """Remove the written file."""
        if self._writer is not None:
            with contextlib.suppress(Exception):  # it may have failed on the disk that is full
                self._writer.close()
        with contextlib.suppress(OSError):
            self._stream.close()
        self._stream.path.unlink(missing_ok=True)


def arranged(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a table as its file is declared: the columns in their order, and counts that may be missing as integers.

    What the table lacks is empty in the file, unless the file has it in some studies only.

    Raises
    ------
    ValueError
        A column that is not declared, which would be lost.
    """
    declared = {column.name: column for column in table_of(path).columns}
    if any("{" in name for name in declared):  # the study names some of them
        return table
    if lost := sorted(set(table) - set(declared)):
        raise ValueError(f"{table_of(path).path}: not in pipeline/columns.csv: {', '.join(lost)}. Add them there.")
    counts = [name for name in table if declared[name].type == "integer" and table[name].dtype.kind != "i"]
    names = [name for name, column in declared.items() if name in table or not column.only]
    table = table.astype(dict.fromkeys(counts, "Int64")) if counts else table
    return table if list(table) == names else table.reindex(columns=names)


def encoded(content: pd.DataFrame | str | bytes, path: Path | None = None) -> bytes:
    """Return the bytes of a text, or of a table as CSV: safe in a spreadsheet unless only steps read `path`.

    With the path of a result, the table is as that is declared, see :func:`arranged`.
    """
    if isinstance(content, pd.DataFrame):
        content = content if path is None else arranged(content, path)
        for_people = path is None or spreadsheets.is_for_people(path)
        lines = cells.text_of(content, spreadsheets.guarded_text if for_people else str)
        if lines is not None:
            return lines
        content = spreadsheets.guarded(content) if for_people else content
        text = content.to_csv(index=False, lineterminator="\n")
        if "\r" in text:  # a category's label may hold one, and would end the line unless it is quoted
            text = content.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        return text.encode()
    return content.encode() if isinstance(content, str) else content


def write_temporary(path: Path, content: bytes) -> Written:
    """Write and sync a file, readable by its owner alone, under a temporary name beside `path`."""
    stream = Stream(temporary(path))
    try:
        stream.write(content)
        return stream.finish()
    except OSError:
        with contextlib.suppress(OSError):
            stream.close()
        stream.path.unlink(missing_ok=True)
        raise


def write(path: Path, content: bytes) -> None:
    """Write a file, complete or not at all."""
    write_temporary(path, content).path.replace(path)
    sync_folder(path.parent)


def temporary(path: Path) -> Path:
    """Return the temporary name of a file, which no other process uses."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def remove_parts(path: Path) -> None:
    """Remove the files with temporary names of processes that were killed."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Sync the names of the files in a folder, which a power failure could undo while it keeps their contents."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
