"""CSV and its dialects: irregular rows, unbalanced quotes and NUL bytes are errors with their row (METHODS §1)."""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from reident.errors import InputError
from reident.reading import blocks
from reident.reading.names import BATCH, TEXT, MissingColumnError, check_header
from reident.reading.textfile import lines, opened
from reident.sections.files import SourceFile

MAX_FIELD = blocks.MAX_RECORD
MAX_NAMED_FIELD = 2**26
"""Characters up to which a field that is too long is told from a quote that is never closed."""

_MAX_TITLES = 20
"""Lines above the header that are told from rows with a wrong number of fields."""

_SEPARATOR = re.compile(r'\s*"?sep=(.|\\t)"?\s*', re.IGNORECASE)
"""The line by which a spreadsheet knows the delimiter."""

_CHUNK = 1024
"""Records that are held with all their fields: a wide file has hundreds of fields that the study does not use."""


def batches(
    path: Path,
    source: SourceFile,
    wanted: Sequence[str],
    keys: Sequence[str],  # noqa: ARG001 - text is always exact
) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text, field by field: by the fast reader, from where it cannot by the exact one."""
    with _records(path, source) as (header, reader):
        _check_header(path, header, wanted, reader)
    fast = blocks.batches(path, source, header, wanted)
    yield from blocks.proven(fast, lambda: exact_batches(path, source, wanted))


def exact_batches(path: Path, source: SourceFile, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text by Python's reader, which finds every irregularity and its place."""
    with _records(path, source) as (header, reader):
        check_header(path, header, wanted)
        fields, row = [itemgetter(header.index(name)) for name in wanted], 1
        columns: list[list[str]] = [[] for _ in wanted]
        while records := list(islice(reader, _CHUNK)):
            _check_widths(path, records, len(header), row)
            row += len(records)
            for column, field in zip(columns, fields, strict=True):
                column.extend(map(field, records))
            if len(columns[0]) >= BATCH:
                yield _batch(columns, wanted)
                columns = [[] for _ in wanted]
        if columns[0]:
            yield _batch(columns, wanted)


def _check_header(path: Path, header: list[str], wanted: Sequence[str], reader: Iterator[list[str]]) -> None:
    """Refuse a header without the wanted columns, or which is below other lines."""
    try:
        check_header(path, header, wanted)
    except MissingColumnError:
        with contextlib.suppress(csv.Error):
            refuse_titles(path, [len(header), *map(len, islice(reader, _CHUNK))])
        raise


def column_names(path: Path, source: SourceFile) -> list[str]:
    """Return the names in the header."""
    with _records(path, source) as (header, _):
        check_header(path, header, ())
        return header


@contextlib.contextmanager
def _records(path: Path, source: SourceFile) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """Give the header of a file, and its records, which are read as they are asked for."""
    csv.field_size_limit(MAX_FIELD)
    with opened(path, source) as text:
        reader = csv.reader(lines(path, text), **_dialect(source))
        try:
            header = next(reader, None)
            if not header:
                raise _no_header(path, reader)
            _refuse_first(path, source, header)
            yield header, reader
        except csv.Error as error:
            raise _irregular(path, source, error) from None


def _no_header(path: Path, rest: Iterator[list[str]]) -> InputError:
    if any(rest):
        return InputError(f"{path.name}, row 1: the header row is blank. Remove the blank line.")
    return InputError(f"{path.name}: the file is empty. Write a header row and records.")


def _refuse_first(path: Path, source: SourceFile, header: Sequence[str]) -> None:
    """Refuse a first row that is not the header: a separator, or a title that a spreadsheet has filled up."""
    refuse_separator(path, source.delimiter.join(header))
    if len(header) > 2 and sum(bool(name.strip()) for name in header) == 1:
        raise InputError(
            f"{path.name}, line 1: the line is above the header, such as a title; only one of its {len(header)} fields "
            "is not empty. Remove what is above the header."
        )


def refuse_separator(path: Path, line: str) -> None:
    """Refuse a first line such as ``sep=;``, which is no header."""
    if match := _SEPARATOR.fullmatch(line):
        sign = match[1].replace("\t", "\\t")
        raise InputError(
            f"{path.name}, line 1: the line tells a spreadsheet the delimiter, and is not the header. Remove the line, "
            f'and declare `delimiter: "{sign}"`.'
        )


def refuse_titles(path: Path, widths: Sequence[int]) -> None:
    """Refuse lines above the header, such as a title, from the number of fields of the first rows."""
    width = widths[-1]
    n = next((len(widths) - at for at, other in enumerate(reversed(widths)) if other != width), 0)
    # One field less is a header without a name for the row numbers.
    if width > 1 and 0 < n <= min(_MAX_TITLES, len(widths) - 2) and max(widths[:n]) <= max(1, width - 2):
        what = "line 1: the line is" if n == 1 else f"lines 1 to {n}: the lines are"
        raise InputError(
            f"{path.name}, {what} above the header, such as a title; the rows from line {n + 1} on have {width} fields "
            f"each. Remove what is above the header."
        )


def _batch(columns: list[list[str]], wanted: Sequence[str]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(column, TEXT) for column in columns], names=list(wanted))


def _dialect(source: SourceFile) -> dict[str, Any]:
    quoting = {"quotechar": source.quote} if source.quote else {"quoting": csv.QUOTE_NONE}
    return {"delimiter": source.delimiter, "strict": True, **quoting}


def _check_widths(path: Path, records: list[list[str]], width: int, before: int) -> None:
    """Refuse rows that do not have as many fields as the header; a blank line has no field."""
    if len(records[0]) == width and len(set(map(len, records))) == 1:
        return
    if before == 1:
        refuse_titles(path, [width, *map(len, records)])
    for offset, record in enumerate(records, start=1):
        if len(record) != width:
            raise InputError(
                f"{path.name}, row {before + offset}: the row must have as many fields as the header ({width}), but "
                f"has {len(record)}. Quote fields that contain the delimiter, and remove blank lines."
            )


def _irregular(path: Path, source: SourceFile, error: csv.Error) -> InputError:
    if "field larger" in str(error) and (problem := _long_field(path, source)):
        return InputError(f"{path.name}, {problem}")
    if "new-line character" in str(error):
        what = "the line contains a single carriage return. Save the file with line feeds as line ends."
    elif "field larger" in str(error) or "end of data" in str(error):
        what = "a quote is never closed. Close it, or double the quotes inside fields."
    else:
        what = "a quote is in the middle of a field. Quote the whole field, and double the quotes in it."
    return InputError(f"{path.name}, line {_first_line_of_bad_record(path, source)}: {what}")


def _long_field(path: Path, source: SourceFile) -> str:
    """Return the problem of the first field that is too long; nothing if a quote before it is never closed."""
    csv.field_size_limit(MAX_NAMED_FIELD)
    with opened(path, source) as text, contextlib.suppress(csv.Error):
        header: list[str] = []
        for row, record in enumerate(csv.reader(text, **_dialect(source)), start=1):
            header = header or record
            for name, field in zip(header, record, strict=False):
                if len(field) > MAX_FIELD:
                    where = f"row {row}, column `{name}`: the field" if row > 1 else "row 1: a column name"
                    return f"{where} has {len(field):,} characters (limit {MAX_FIELD:,}). Shorten it."
    return ""


def _first_line_of_bad_record(path: Path, source: SourceFile) -> int:
    """Return the first line of the record that the CSV reader refuses; an open quote may extend it to the end."""
    with opened(path, source) as text:
        reader = csv.reader(text, **_dialect(source))
        while True:
            line = reader.line_num + 1
            try:
                next(reader)
            except (csv.Error, StopIteration):
                return line
