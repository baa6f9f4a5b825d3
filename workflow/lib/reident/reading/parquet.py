"""Parquet files: types that have an unambiguous text (METHODS §1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from reident.errors import InputError
from reident.reading.names import BATCH, TEXT, check_header, incomplete
from reident.reading.numbers import double_text
from reident.sections.files import SourceFile


def batches(
    path: Path,
    source: SourceFile,  # noqa: ARG001 - the file describes itself
    wanted: Sequence[str],
    keys: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text."""
    with path.open("rb") as stream:
        try:
            stored = pq.ParquetFile(stream)
            check_header(path, stored.schema_arrow.names, wanted, row="")
            types = {name: stored.schema_arrow.field(name).type for name in wanted}
            for name, kind in types.items():
                _check_type(path, name, _values(kind), key=name in keys)
            before = 0
            for batch in stored.iter_batches(BATCH, columns=list(wanted)):
                columns = [_text(batch.column(name)) for name in wanted]
                for name, column in zip(wanted, columns, strict=True):
                    _check_utf8(path, name, column, before)
                before += batch.num_rows
                yield pa.record_batch(columns, names=list(wanted))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            if "UTF8" in str(error):  # pyarrow decodes categories itself, and does not say where
                raise _not_utf8(f"{path.name}, a column of categories") from None
            raise incomplete(path, "parquet") from None


def stored_text(path: Path, name: str, column: pa.Array | pa.ChunkedArray, *, key: bool) -> pa.ChunkedArray:
    """Return a column in memory as text, as one of a Parquet file is read."""
    whole = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    _check_type(path, name, _values(whole.type), key=key)
    return pa.chunked_array([_text(chunk) for chunk in whole.chunks], TEXT)


def column_names(path: Path, source: SourceFile) -> list[str]:  # noqa: ARG001 - the file describes itself
    """Return the names of the columns."""
    try:
        names = list(pq.read_schema(path).names)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise incomplete(path, "parquet") from None
    check_header(path, names, (), row="")
    return names


def _values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _check_type(path: Path, name: str, kind: pa.DataType, *, key: bool) -> None:
    if key and pa.types.is_floating(kind):
        raise InputError(
            f"{path.name}, column `{name}`: a key must not be stored as floating point numbers. Store it as text or "
            "integers."
        )
    certain = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_boolean,
        pa.types.is_date,
        pa.types.is_null,
    )
    moment = pa.types.is_timestamp(kind) and kind.tz is None and not key
    if not (moment or any(test(kind) for test in certain)):
        raise InputError(
            f"{path.name}, column `{name}`: the type {kind} has no unambiguous text. Store the column as text."
        )


def _text(column: pa.Array) -> pa.Array:
    """Return a column as text: integers and decimals exactly, dates as YYYY-MM-DD, null as empty text.

    A point in time without a zone is YYYY-MM-DD hh:mm:ss, to the microsecond.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        return double_text(column.to_numpy(zero_copy_only=False))
    if pa.types.is_decimal(column.type):
        column = pa.array([None if x is None else f"{x:f}" for x in column.to_pylist()], TEXT)
    if pa.types.is_timestamp(column.type):
        whole = pc.strftime(pc.cast(column, pa.timestamp("us"), safe=False), "%Y-%m-%d %H:%M:%S")
        column = pc.replace_substring_regex(pc.replace_substring_regex(whole, r"\.0+$", ""), r"(\.\d*[1-9])0+$", r"\1")
    if pa.types.is_date64(column.type):
        column = column.cast(pa.date32())
    return pc.fill_null(column.cast(TEXT), "")


def _check_utf8(path: Path, name: str, text: pa.Array, before: int) -> None:
    """Refuse text that is not UTF-8, which the program that wrote the file did not check."""
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        for row, cell in enumerate(text.cast(pa.binary()).to_pylist(), start=before + 1):
            try:
                cell.decode("utf-8")
            except UnicodeError:
                raise _not_utf8(f"{path.name}, row {row}, column `{name}`") from None
        raise


def _not_utf8(where: str) -> InputError:
    return InputError(f"{where}: the text is not UTF-8. Write the file again with the correct encoding.")
