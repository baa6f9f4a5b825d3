"""Read source files as text, field by field, in batches of records (METHODS §1).

Nothing is guessed: a file that is incomplete, irregular or ambiguous is an error with file, row and column.
Row numbers are those that a viewer of the file shows: the header of a CSV file is row 1; in formats that store
names apart from the records, the first record is row 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.reading import delimited, fixedwidth, parquet, statistical, xport
from reident.reading.names import BATCH, TEXT, recognised, refuse_foreign
from reident.reading.parquet import stored_text
from reident.sections.files import SourceFile

__all__ = ["BATCH", "batches", "column_names", "read", "readable", "recognised", "stored_text", "tables"]

_Reader = Callable[[Path, SourceFile, Sequence[str], Sequence[str]], Iterator[pa.RecordBatch]]
_READERS: dict[str, _Reader] = {
    "csv": delimited.batches,
    "fixed-width": fixedwidth.batches,
    "parquet": parquet.batches,
    "sas7bdat": statistical.batches,
    "stata": statistical.batches,
    "spss": statistical.batches,
    "xport": xport.batches,
}
_NAMES: dict[str, Callable[[Path, SourceFile], list[str]]] = {
    "csv": delimited.column_names,
    "parquet": parquet.column_names,
    "sas7bdat": statistical.column_names,
    "stata": statistical.column_names,
    "spss": statistical.column_names,
    "xport": xport.column_names,
}

_DIGITS = r"^\s*[0-9]+\s*$"


def read(path: Path, source: SourceFile, columns: Sequence[str], keys: Sequence[str] = ()) -> pa.Table:
    """Return the given columns of a source file, as text.

    Parameters
    ----------
    path : Path
        The file; messages have its name without its folder.
    source : SourceFile
        The description of the file.
    columns : sequence of str
        The columns to keep, in this order; a repeated column is kept once.
    keys : sequence of str
        The key columns among them. A numeric key must be an integer that its type represents exactly:
        floating point numbers round integers beyond 2^53.

    Returns
    -------
    pyarrow.Table
        One row per record, every column of type string and without nulls.

    Raises
    ------
    InputError
        With the file, row and column, what is wrong and what to do; never with a value of the data.
    """
    found = list(batches(path, source, columns, keys))
    schema = found[0].schema if found else pa.schema([(name, TEXT) for name in dict.fromkeys(columns)])
    return pa.Table.from_batches(found, schema)


def batches(
    path: Path, source: SourceFile, columns: Sequence[str], keys: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Yield the given columns of a source file in batches of records, see :func:`read`."""
    wanted = list(dict.fromkeys(columns))
    with readable(path, source):
        for batch in _READERS[source.kind](path, source, wanted, keys):
            yield padded(batch, source.pad)


def tables(path: Path, source: SourceFile, columns: Sequence[str], keys: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the given columns of a source file in batches of records, each as a table."""
    for batch in batches(path, source, columns, keys):
        yield pa.Table.from_batches([batch])


def padded(batch: pa.RecordBatch, widths: Mapping[str, int]) -> pa.RecordBatch:
    """Return records in which the digits of some columns have zeros in front.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        Text columns.
    widths : mapping
        The width of each column that is padded; other columns than those of the batch do not matter. A value that is
        longer or does not consist of digits stays as it is. Blanks around digits are dropped.
    """
    for name, width in widths.items():
        if (at := batch.schema.get_field_index(name)) >= 0:
            text = batch.column(at)
            filled = pc.utf8_lpad(pc.utf8_trim_whitespace(text), width, "0")
            batch = batch.set_column(
                at, batch.schema.field(at), pc.if_else(pc.match_substring_regex(text, _DIGITS), filled, text)
            )
    return batch


def column_names(path: Path, source: SourceFile) -> list[str]:
    """Return the names of the columns of a source file, in their order.

    Parameters
    ----------
    source : SourceFile
        The description of a file that names its columns: any format but fixed width.

    Raises
    ------
    InputError
        For a file that cannot be read, or that gives a name twice.
    """
    with readable(path, source):
        return _NAMES[source.kind](path, source)


@contextlib.contextmanager
def readable(path: Path, source: SourceFile) -> Iterator[None]:
    """Refuse a file of another format than the declared one, and explain why it cannot be read.

    Raises
    ------
    InputError
        Within the context too, for an error of the operating system.
    """
    try:
        if path.is_dir():
            raise InputError(f"{path.name} is a folder. Name a file in it.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path.name} is a pipe or a device. Write its content to a file.")
        refuse_foreign(path, source)
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{path.name}: the file cannot be read ({reason}). Check the path and the permissions."
        ) from None
