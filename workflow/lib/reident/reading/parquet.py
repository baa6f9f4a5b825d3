"""Parquet files: types that have an unambiguous text (METHODS §1).

Nothing is wrapped, rounded or passed over: a page whose checksum is wrong, a date that has no text and a time that is
finer than its text are errors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from reident.errors import InputError
from reident.reading.names import BATCH, TEXT, check_header, incomplete
from reident.reading.numbers import double_text
from reident.sections.files import SourceFile

_PER_DAY = {"day": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
"""The units of a date or a timestamp in a day."""

_EPOCH = date(1970, 1, 1).toordinal()
_FIRST_DAY, _LAST_DAY = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH


def batches(
    path: Path,
    source: SourceFile,  # noqa: ARG001 - the file describes itself
    wanted: Sequence[str],
    keys: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text."""
    with path.open("rb") as stream:
        try:
            # In nanoseconds, INT96 beyond 2262 would become another day without a word.
            stored = pq.ParquetFile(stream, page_checksum_verification=True, coerce_int96_timestamp_unit="us")
            check_header(path, stored.schema_arrow.names, wanted, row="")
            types = {name: stored.schema_arrow.field(name).type for name in wanted}
            for name, kind in types.items():
                _check_type(path, name, _values(kind), key=name in keys)
            before = 0
            for batch in stored.iter_batches(BATCH, columns=list(wanted)):
                columns = [_text(path, name, batch.column(name), before) for name in wanted]
                for name, column in zip(wanted, columns, strict=True):
                    _check_utf8(path, name, column, before)
                before += batch.num_rows
                yield pa.record_batch(columns, names=list(wanted))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            if "UTF8" in str(error):  # pyarrow decodes categories itself, and does not say where
                raise _not_utf8(f"{path.name}, a column of categories") from None
            if "CRC checksum" in str(error):
                raise InputError(
                    f"{path.name}: the checksum of a page does not match its content, so the file is damaged. Copy or "
                    "write the file again."
                ) from None
            raise incomplete(path, "parquet") from None


def stored_text(path: Path, name: str, column: pa.Array | pa.ChunkedArray, *, key: bool) -> pa.ChunkedArray:
    """Return a column in memory as text, as one of a Parquet file is read."""
    whole = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    _check_type(path, name, _values(whole.type), key=key)
    starts = itertools.accumulate((len(chunk) for chunk in whole.chunks), initial=0)
    return pa.chunked_array([_text(path, name, chunk, n) for chunk, n in zip(whole.chunks, starts, strict=False)], TEXT)


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


def _text(path: Path, name: str, column: pa.Array, before: int) -> pa.Array:
    """Return a column as text: integers and decimals exactly, dates as YYYY-MM-DD, null as empty text.

    A point in time without a zone is YYYY-MM-DD hh:mm:ss, to the microsecond.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_temporal(column.type):
        _check_dates(path, name, column, before)
    if pa.types.is_floating(column.type):
        return double_text(column.to_numpy(zero_copy_only=False))
    if pa.types.is_decimal(column.type):
        column = pa.array([None if x is None else f"{x:f}" for x in column.to_pylist()], TEXT)
    if pa.types.is_timestamp(column.type):
        whole = pc.strftime(pc.cast(column, pa.timestamp("us")), "%Y-%m-%d %H:%M:%S")
        column = pc.replace_substring_regex(pc.replace_substring_regex(whole, r"\.0+$", ""), r"(\.\d*[1-9])0+$", r"\1")
    if pa.types.is_date64(column.type):
        column = column.cast(pa.date32())
    return pc.fill_null(column.cast(TEXT), "")


def _check_dates(path: Path, name: str, column: pa.Array, before: int) -> None:
    """Refuse dates and points in time outside the years 1 to 9999, and those that are finer than their text."""
    is_day, unit = pa.types.is_date(column.type), getattr(column.type, "unit", "ms")
    if pa.types.is_date32(column.type):
        column, unit = column.cast(pa.int32()), "day"
    per_day = _PER_DAY[unit]
    numbers = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    outside = (numbers < _FIRST_DAY * per_day) | (numbers >= (_LAST_DAY + 1) * per_day)
    finer = numbers % (per_day if is_day else max(per_day // _PER_DAY["us"], 1)) != 0
    if outside.any():
        row, what = int(outside.argmax()), "the date must be in the years 1 to 9999. Correct it, or leave it empty."
    elif finer.any() and is_day:
        row, what = int(finer.argmax()), "the date must not have a time of day. Store the column as timestamps."
    elif finer.any():
        row, what = int(finer.argmax()), "the time must not be finer than a microsecond. Round the column."
    else:
        return
    raise InputError(f"{path.name}, row {before + row + 1}, column `{name}`: {what}")


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
