"""Reading source files as text: every field as it stands, row by row, in batches (METHODS §1).

Nothing is guessed: a field count unlike the header's, a repeated column name, an
undecodable byte, an unbalanced quote or a truncated archive stops with file and row.
Row 1 is the header, so that row numbers are those of a spreadsheet.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from reident.errors import InputError

if TYPE_CHECKING:
    from reident.sources import SourceFile

BATCH = 65_536
_LONGEST_FIELD = 1_000_000


def read(path: Path, source: SourceFile, columns: Sequence[str], keys: Sequence[str] = ()) -> pa.Table:
    """The named columns of a source file, as text.

    Parameters
    ----------
    path : Path
        The file; messages name it by its last part.
    source : SourceFile
        Its format, delimiter and encoding.
    columns : sequence of str
        The columns to keep; each stands once in the result, in this order.
    keys : sequence of str
        Those of them that are keys: a Parquet file may not store these as floating point numbers,
        which round what is beyond 2^53.

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
    if path.is_dir():
        raise InputError(f"{path.name}: this is a folder, not a file; name the file in it.")
    parquet = source.format == "parquet" or (source.format is None and path.suffix.lower() == ".parquet")
    try:
        return _read_parquet(path, wanted, keys) if parquet else _read_csv(path, source, wanted)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{path.name}: the file cannot be read ({reason}); check the path and permissions."
        ) from None


def _check_header(path: Path, header: Sequence[str], wanted: Sequence[str]) -> None:
    seen: set[str] = set()
    for position, name in enumerate(header, start=1):
        if name in seen:
            raise InputError(
                f"{path.name}, row 1, column {position}: a column name is repeated; rename one of the two."
            )
        seen.add(name)
    for name in wanted:
        if name not in seen:
            raise InputError(
                f"{path.name}, row 1: there is no column `{name}`; correct the name in the study file, "
                "or the delimiter."
            )


def _read_csv(path: Path, source: SourceFile, wanted: Sequence[str]) -> pa.Table:
    csv.field_size_limit(_LONGEST_FIELD)
    with _open_text(path, source) as text:
        reader = csv.reader(_lines(path, text), delimiter=source.delimiter, strict=True)
        try:
            header = next(reader, None)
            if not header:
                raise InputError(f"{path.name}: the file is empty; it needs a header row.")
            _check_header(path, header, wanted)
            positions = [header.index(name) for name in wanted]
            batches, row = [], 1
            while records := list(islice(reader, BATCH)):
                _check_widths(path, records, len(header), row)
                row += len(records)
                fields = list(zip(*records, strict=True))
                batches.append(
                    pa.record_batch([pa.array(fields[at], pa.string()) for at in positions], names=wanted)
                )
        except UnicodeError:
            _say_encoding(path, source)
        except csv.Error as error:
            _say_csv(path, source, error)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InputError(
                f"{path.name}: the archive is truncated or damaged; copy the file again and compare its size."
            ) from None
    return pa.Table.from_batches(batches, pa.schema([(name, pa.string()) for name in wanted]))


def _lines(path: Path, text: io.TextIOBase) -> Iterator[str]:
    for number, line in enumerate(text, start=1):
        if "\0" in line:
            raise InputError(f"{path.name}, line {number}: a NUL byte; export the file again as plain text.")
        yield line


def _open_text(path: Path, source: SourceFile) -> io.TextIOBase:
    """The decoded text; ``newline=""`` leaves line ends to the CSV reader."""
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    encoding = (
        "utf-8-sig" if source.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else source.encoding
    )
    opener = gzip.open if packed else open
    return opener(path, "rt", encoding=encoding, errors="strict", newline="")


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


def _say_encoding(path: Path, source: SourceFile) -> NoReturn:
    raise InputError(
        f"{path.name}, row {_undecodable_row(path, source)}: a byte that is not {source.encoding}; "
        "declare the `encoding` of the file."
    ) from None


def _undecodable_row(path: Path, source: SourceFile) -> int:
    """The physical line of the first byte that does not decode (line feeds are single bytes in what is left)."""
    with path.open("rb") as probe:
        packed = probe.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(path, "rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode(source.encoding)
            except UnicodeError:
                return number
    return 1


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
    with _open_text(path, source) as text:
        reader = csv.reader(text, delimiter=source.delimiter, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                next(reader)
            except (csv.Error, StopIteration):
                return line


def _read_parquet(path: Path, wanted: Sequence[str], keys: Sequence[str]) -> pa.Table:
    try:
        stored = pq.ParquetFile(path)
        _check_header(path, stored.schema_arrow.names, wanted)
        table = stored.read(columns=list(wanted)).select(list(wanted))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"{path.name}: this is not a whole Parquet file; write it again.") from None
    for name in keys:
        if pa.types.is_floating(table[name].type):
            raise InputError(
                f"{path.name}, column `{name}`: a key stored as floating point numbers; store it as text or integers."
            )
    return pa.table({name: _as_text(path, name, table[name]) for name in wanted})


def _as_text(path: Path, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text of a Parquet column: text and whole numbers as they are, floats in shortest form, null as empty."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_floating(kind):
        column = pa.chunked_array([pa.array([_float_text(x) for x in column.to_pylist()], pa.string())])
    elif not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_null(kind)
    ):
        raise InputError(
            f"{path.name}, column `{name}`: the type {kind} has no certain text form; store the column as text."
        )
    return pc.fill_null(column.cast(pa.string()), "")


def _float_text(value: float | None) -> str | None:
    if value is None or value != value:
        return None
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
