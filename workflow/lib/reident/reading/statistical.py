"""Files of SAS (sas7bdat), Stata and SPSS: codes, not labels; special missing values kept apart (METHODS §1)."""

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
"""Larger than that of other formats: each batch reads the file again up to where it begins."""

_PLAIN = "latin-1"
"""Each byte as the character of its number."""

_PROGRAM = {"sas7bdat": "SAS data set", "stata": "Stata file", "spss": "SPSS file"}
_READERS: dict[str, Callable[..., Any]] = {
    "sas7bdat": pyreadstat.read_sas7bdat,
    "stata": pyreadstat.read_dta,
    "spss": pyreadstat.read_sav,
}


def batches(
    path: Path, source: SourceFile, wanted: Sequence[str], keys: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The wanted columns as text."""
    about = _read(path, source, source.encoding, metadataonly=True)[1]
    check_header(path, about.column_names, wanted, row="")
    codec = _codec(path, source, about.file_encoding)
    # Letters are decoded here: the library drops half a letter at the end of a text, and says nothing.
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
        found, _ = _read(
            path,
            source,
            _PLAIN,
            usecols=[names[name] for name in wanted],
            row_offset=before,
            row_limit=_BATCH,
        )
        size = len(found[names[wanted[0]]])
        if size:
            texts = [
                _text(column, types[column.name], found[names[column.name]], codec, before)
                for column in columns
            ]
            yield pa.record_batch(texts, names=list(wanted))
        before += size
        if size < _BATCH:
            break
    if about.number_rows is not None and 0 <= about.number_rows != before:
        raise _not_whole(path, source)


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
        raise _not_whole(path, source) from None


def _codec(path: Path, source: SourceFile, said: str | None) -> str:
    """The encoding of text: declared, or what the file says; Stata's by its version."""
    if source.encoding is not None:
        return source.encoding
    if source.kind == "stata":
        with path.open("rb") as stream:
            release = re.match(rb"<stata_dta><header><release>(\d+)<", stream.read(64))
        return "utf-8" if release and int(release[1]) >= 118 else "cp1252"
    try:
        return codecs.lookup(said or "utf-8").name
    except LookupError:
        raise _encoding(path) from None


def _encoding(path: Path) -> InputError:
    return InputError(
        f"{path.name}: text that is not of the encoding that the file names; declare its `encoding`."
    )


def _not_whole(path: Path, source: SourceFile) -> InputError:
    return InputError(f"{path.name}: this is not a whole {_PROGRAM[source.kind]}; write it again.")


def _text(column: Column, kind: str, cells: list, codec: str, before: int) -> pa.Array:
    """One column of some records; a tagged missing value comes as its letter among the numbers."""
    if kind == "string":
        return pa.array(_decoded(column, cells, codec, before), TEXT)
    specials = {place: f".{cell}" for place, cell in enumerate(cells) if isinstance(cell, str)}
    precision = np.float32 if kind == "float" else np.float64
    numbers = [np.nan if cell is None or isinstance(cell, str) else cell for cell in cells]
    return number_text(column, np.array(numbers, precision), specials, before)


def _decoded(column: Column, cells: list[str | None], codec: str, before: int) -> list[str]:
    """Texts whose characters are bytes so far."""
    texts: list[str] = []
    for row, cell in enumerate(cells, start=before + 1):
        if cell is None or cell.isascii():
            texts.append(cell or "")
            continue
        try:
            texts.append(cell.encode(_PLAIN).decode(codec))
        except UnicodeError:
            raise InputError(
                f"{column.path.name}, row {row}, column `{column.name}`: a byte that is not {codec}; declare the "
                "`encoding` of the file, or widen the column where a letter at the end of a text was cut in two."
            ) from None
    return texts
