"""Files of SAS (sas7bdat), Stata and SPSS: codes instead of labels, special missing values apart (METHODS §1)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyreadstat

from reident.errors import InputError
from reident.reading.displayed import shown
from reident.reading.names import TEXT, check_header
from reident.reading.stored import Column, check_shown, number_text

if TYPE_CHECKING:
    from reident.sections.files import SourceFile

_BATCH = 250_000
"""Records in a batch. More than in other formats, because each batch reads the file again from its start."""

_PLAIN = "latin-1"
"""An encoding in which each byte is one character."""

_PROGRAM = {"sas7bdat": "SAS data set", "stata": "Stata file", "spss": "SPSS file"}
_READERS: dict[str, Callable[..., Any]] = {
    "sas7bdat": pyreadstat.read_sas7bdat,
    "stata": pyreadstat.read_dta,
    "spss": pyreadstat.read_sav,
}


def batches(
    path: Path, source: SourceFile, wanted: Sequence[str], keys: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text."""
    about = _read(path, source, source.encoding, metadataonly=True)[1]
    check_header(path, about.column_names, wanted, row="")
    codec = _codec(path, source, about.file_encoding)
    # Texts are decoded here: the library silently drops an incomplete letter at the end of a text.
    plain = _read(path, source, _PLAIN, metadataonly=True)[1].column_names
    names = dict(zip(about.column_names, plain, strict=True))
    columns = [
        Column(path, source.kind, name, shown(source.kind, about.original_variable_types[name]), name in keys)
        for name in wanted
    ]
    types = about.readstat_variable_types
    for column in columns:
        check_shown(column)
    before = 0
    while True:
        cells, _ = _read(
            path,
            source,
            _PLAIN,
            usecols=[names[name] for name in wanted],
            row_offset=before,
            row_limit=_BATCH,
        )
        size = len(cells[names[wanted[0]]])
        if size:
            texts = [
                _text(column, types[column.name], cells[names[column.name]], codec, before)
                for column in columns
            ]
            yield pa.record_batch(texts, names=list(wanted))
        before += size
        if size < _BATCH:
            break
    if about.number_rows is not None and 0 <= about.number_rows != before:
        raise _incomplete(path, source)


def column_names(path: Path, source: SourceFile) -> list[str]:
    """Return the names of the columns."""
    names = list(_read(path, source, source.encoding, metadataonly=True)[1].column_names)
    check_header(path, names, (), row="")
    return names


def _read(path: Path, source: SourceFile, encoding: str | None, **how: Any) -> tuple[dict[str, list], Any]:
    if encoding is not None:
        how["encoding"] = codecs.lookup(encoding).name
    try:
        return _READERS[source.kind](
            path, output_format="dict", user_missing=True, disable_datetime_conversion=True, **how
        )
    except UnicodeError:
        raise _encoding(path) from None
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - its own class is private, and its text may hold values
        if "sequence" in str(error) or "encoding" in str(error):
            raise _encoding(path) from None
        raise _incomplete(path, source) from None


def _codec(path: Path, source: SourceFile, stored: str | None) -> str:
    """Return the encoding of text: as declared, or as stored in the file; for Stata, by the file's version."""
    if source.encoding is not None:
        return source.encoding
    if source.kind == "stata":
        with path.open("rb") as stream:
            release = re.match(rb"<stata_dta><header><release>(\d+)<", stream.read(64))
        return "utf-8" if release and int(release[1]) >= 118 else "cp1252"
    try:
        return codecs.lookup(stored or "utf-8").name
    except LookupError:
        raise _encoding(path) from None


def _encoding(path: Path) -> InputError:
    return InputError(
        f"{path.name}: the text is not in the encoding that the file names. Declare the `encoding`."
    )


def _incomplete(path: Path, source: SourceFile) -> InputError:
    return InputError(f"{path.name}: the file is not a complete {_PROGRAM[source.kind]}. Write it again.")


def _text(column: Column, kind: str, cells: list, codec: str, before: int) -> pa.Array:
    """Return the text of one column; a special missing value is a letter among the numbers."""
    if kind == "string":
        return pa.array(_decoded(column, cells, codec, before), TEXT)
    specials = {place: f".{cell}" for place, cell in enumerate(cells) if isinstance(cell, str)}
    precision = np.float32 if kind == "float" else np.float64
    numbers = [np.nan if cell is None or isinstance(cell, str) else cell for cell in cells]
    return number_text(column, np.array(numbers, precision), specials, before)


def _decoded(column: Column, cells: list[str | None], codec: str, before: int) -> list[str]:
    """Return decoded texts; the characters of `cells` are single bytes."""
    texts: list[str] = []
    for row, cell in enumerate(cells, start=before + 1):
        if cell is None or cell.isascii():
            texts.append(cell or "")
            continue
        try:
            texts.append(cell.encode(_PLAIN).decode(codec))
        except UnicodeError:
            raise InputError(
                f"{column.path.name}, row {row}, column `{column.name}`: the text is not {codec}. Declare the "
                "`encoding`, or widen the column if it cuts a letter at the end of the text."
            ) from None
    return texts
