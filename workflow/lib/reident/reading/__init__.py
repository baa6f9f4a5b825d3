"""Reading source files as text: every field as it stands, record by record, in batches (METHODS §1).

Nothing is guessed: what is not whole, not even or not certain stops with file, row and column. Row
numbers are those that a viewer of the file shows: the header of a CSV file is row 1; where names are kept
apart from the records, the first record is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from reident.errors import InputError
from reident.reading import delimited, fixedwidth, parquet, statistical, xport
from reident.reading.names import BATCH, TEXT, refuse_foreign
from reident.sections.files import SourceFile

__all__ = ["BATCH", "batches", "read"]

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


def read(path: Path, source: SourceFile, columns: Sequence[str], keys: Sequence[str] = ()) -> pa.Table:
    """The named columns of a source file, as text.

    Parameters
    ----------
    path : Path
        The file; messages name it by its last part.
    source : SourceFile
        Its format and what belongs to that.
    columns : sequence of str
        The columns to keep; each stands once in the result, in this order.
    keys : sequence of str
        Those of them that are keys. A number that is a key must be a whole one that its type holds
        exactly: floating point numbers round what is beyond 2^53.

    Returns
    -------
    pyarrow.Table
        One row per record, every column of type string and without nulls.

    Raises
    ------
    InputError
        With the file, row and column, and a remedy; never with a value of the data.
    """
    wanted = list(dict.fromkeys(columns))
    schema = pa.schema([(name, TEXT) for name in wanted])
    return pa.Table.from_batches(list(batches(path, source, columns, keys)), schema)


def batches(
    path: Path, source: SourceFile, columns: Sequence[str], keys: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """As :func:`read`, some records at a time."""
    wanted = list(dict.fromkeys(columns))
    try:
        if path.is_dir():
            raise InputError(f"{path.name}: this is a folder, not a file; name the file in it.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path.name}: this is a pipe or a device, not a file; write it to a file.")
        refuse_foreign(path, source)
        yield from _READERS[source.kind](path, source, wanted, keys)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{path.name}: the file cannot be read ({reason}); check the path and permissions."
        ) from None
