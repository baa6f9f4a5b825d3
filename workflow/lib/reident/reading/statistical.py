"""Files of SAS (sas7bdat), Stata and SPSS, read by pyreadstat: codes instead of labels, special missing values apart.

See METHODS §1. Each batch passes over the records before it, so that memory does not grow with the file.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.reading.declared import Declared
from reident.reading.names import TEXT, check_header, incomplete
from reident.reading.stored import StoredColumn, decoded_text, number_text
from reident.sections.files import SourceFile

_BATCH = 100_000
"""Records in a batch: more than in other formats, since each batch passes over the records before it."""

_PLAIN = "latin-1"
"""An encoding in which each byte is one character."""

_REMEDY = "the `encoding`, or widen the column if it cuts a letter at the end of the text."

_READERS = {"sas7bdat": "read_sas7bdat", "stata": "read_dta", "spss": "read_sav"}
"""The functions of pyreadstat."""


def batches(path: Path, source: SourceFile, wanted: Sequence[str], keys: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text."""
    about = _read(path, source, source.encoding, metadataonly=True)[1]
    check_header(path, about.column_names, wanted, row="")
    displays, types = about.original_variable_types, about.readstat_variable_types
    columns = [StoredColumn.make(path, source.kind, name, displays[name], name in keys) for name in wanted]
    codec = _codec(path, source, about.file_encoding)
    # Texts are decoded here: the library silently drops an incomplete letter at the end of a text.
    names = _read(path, source, _PLAIN, metadataonly=True)[1].column_names
    plain = [names[about.column_names.index(name)] for name in wanted]
    schema = pa.schema([_declared(about, source.kind, name).field(name) for name in wanted])
    n = size = 0
    while size == _BATCH or not n:
        cells, _ = _read(path, source, _PLAIN, usecols=plain, row_offset=n, row_limit=_BATCH)
        if not (size := len(cells[plain[0]])):
            break
        texts = [
            _text(column, types[column.name], cells[name], codec, n)
            for column, name in zip(columns, plain, strict=True)
        ]
        yield pa.record_batch(texts, schema=schema)
        n += size
    if about.number_rows is not None and 0 <= about.number_rows != n:
        raise incomplete(path, source.kind)


def _declared(about: Any, kind: str, name: str) -> Declared:
    """Return the codes of a column that the file declares to be missing, by itself or by their labels."""
    ranges, labels = about.missing_ranges.get(name, ()), about.variable_value_labels.get(name, {})
    return Declared.compose(ranges, labels, special=kind != "spss")


def column_names(path: Path, source: SourceFile) -> list[str]:
    """Return the names of the columns."""
    names = list(_read(path, source, source.encoding, metadataonly=True)[1].column_names)
    check_header(path, names, (), row="")
    return names


def _read(path: Path, source: SourceFile, encoding: str | None, **how: Any) -> tuple[dict[str, list], Any]:
    import pyreadstat  # noqa: PLC0415 - files of other formats do not wait for it

    if encoding is not None:
        how["encoding"] = codecs.lookup(encoding).name
    try:
        cells, about = getattr(pyreadstat, _READERS[source.kind])(
            path, output_format="dict", user_missing=True, disable_datetime_conversion=True, **how
        )
    except UnicodeError:
        raise _encoding(path) from None
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - its own class is private, and its text may hold values
        if "sequence" in str(error) or "encoding" in str(error):
            raise _encoding(path) from None
        raise incomplete(path, source.kind) from None
    if None in about.column_names:  # the name is not in a damaged file
        raise incomplete(path, source.kind)
    return cells, about


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
    return InputError(f"{path.name}: the text is not in the encoding that the file names. Declare the `encoding`.")


def _text(column: StoredColumn, kind: str, cells: list, codec: str, before: int) -> pa.Array:
    """Return the text of one column; a special missing value is a letter among the numbers."""
    if kind == "string":
        plain = pc.fill_null(pa.array(cells, TEXT), "")

        def decode(text: str) -> str:
            # A text of ASCII is the same in every encoding of these files.
            return text if text.isascii() else text.encode(_PLAIN).decode(codec)

        return decoded_text(column, plain, decode, codec, _REMEDY, before)
    letters = np.zeros(len(cells), np.uint8)
    try:
        numbers = pa.array(cells, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:  # letters
        letters = np.array([ord(cell) if isinstance(cell, str) else 0 for cell in cells], np.uint8)
        numbers = np.array([np.nan if cell is None or isinstance(cell, str) else cell for cell in cells])
    return number_text(column, numbers.astype(np.float32 if kind == "float" else np.float64), letters, before)
