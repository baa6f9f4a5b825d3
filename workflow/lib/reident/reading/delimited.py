"""CSV and its dialects: a field count unlike the header's, an unbalanced quote, a NUL byte stop with their row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from reident.errors import InputError
from reident.reading.names import BATCH, TEXT, check_header
from reident.reading.textfile import lines, opened

if TYPE_CHECKING:
    from reident.sections.files import SourceFile

_LONGEST_FIELD = 1_000_000
_TOGETHER = 1024
"""So many records are held with all their fields, of which a wide file has hundreds that no study asks for."""


def batches(
    path: Path,
    source: SourceFile,
    wanted: Sequence[str],
    keys: Sequence[str],  # noqa: ARG001 - text is exact, whatever it is for
) -> Iterator[pa.RecordBatch]:
    """The wanted columns as text, every field as it stands."""
    csv.field_size_limit(_LONGEST_FIELD)
    with opened(path, source) as text:
        reader = csv.reader(lines(path, text), **_dialect(source))
        try:
            header = next(reader, None)
            if not header:
                _say_no_header(path, reader)
            check_header(path, header, wanted)
            fields, row = [itemgetter(header.index(name)) for name in wanted], 1
            columns: list[list[str]] = [[] for _ in wanted]
            while records := list(islice(reader, _TOGETHER)):
                _check_widths(path, records, len(header), row)
                row += len(records)
                for column, field in zip(columns, fields, strict=True):
                    column.extend(map(field, records))
                if len(columns[0]) >= BATCH:
                    yield _batch(columns, wanted)
                    columns = [[] for _ in wanted]
            if columns[0]:
                yield _batch(columns, wanted)
        except csv.Error as error:
            _say_csv(path, source, error)


def _say_no_header(path: Path, after: Iterator[list[str]]) -> NoReturn:
    if any(after):
        raise InputError(
            f"{path.name}, row 1: the first line is blank, where the header row stands; remove it."
        )
    raise InputError(f"{path.name}: the file is empty; it needs a header row.")


def _batch(columns: list[list[str]], wanted: Sequence[str]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(column, TEXT) for column in columns], names=list(wanted))


def _dialect(source: SourceFile) -> dict[str, Any]:
    quoting = {"quotechar": source.quote} if source.quote else {"quoting": csv.QUOTE_NONE}
    return {"delimiter": source.delimiter, "strict": True, **quoting}


def _check_widths(path: Path, records: list[list[str]], width: int, before: int) -> None:
    """Refuse rows whose field count is not the header's; a blank line has none."""
    if len(records[0]) == width and len(set(map(len, records))) == 1:
        return
    for offset, record in enumerate(records, start=1):
        if len(record) != width:
            raise InputError(
                f"{path.name}, row {before + offset}: {len(record)} fields where the header has {width}; "
                "quote fields that hold the delimiter, and remove blank lines."
            )


def _say_csv(path: Path, source: SourceFile, error: csv.Error) -> NoReturn:
    if "new-line character" in str(error):
        problem, remedy = "a bare carriage return", "save the file with line feeds as line ends"
    elif "field larger" in str(error) or "end of data" in str(error):
        problem, remedy = "a quote that is never closed", "close it, or double the quotes inside fields"
    else:
        problem, remedy = (
            "a quote in the middle of a field",
            "quote the whole field and double the quotes in it",
        )
    line = _first_line_of_bad_record(path, source)
    raise InputError(f"{path.name}, line {line}: {problem}; {remedy}.") from None


def _first_line_of_bad_record(path: Path, source: SourceFile) -> int:
    """Where the record begins that the CSV reader refuses: its quote may have swallowed the rest of the file."""
    with opened(path, source) as text:
        reader = csv.reader(text, **_dialect(source))
        while True:
            line = reader.line_num + 1
            try:
                next(reader)
            except (csv.Error, StopIteration):
                return line
