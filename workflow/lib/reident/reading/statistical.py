"""Files of SAS (sas7bdat), Stata and SPSS: codes instead of labels, special missing values apart (METHODS §1)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyreadstat

from reident.errors import InputError
from reident.reading import layout, sas, spss, stata
from reident.reading.displayed import shown
from reident.reading.layout import UndecodableError, decoded, text_of
from reident.reading.names import TEXT, check_header
from reident.reading.proven import UnprovenError, proven
from reident.reading.stored import Column, check_shown, number_text, undecodable

if TYPE_CHECKING:
    from reident.sections.files import SourceFile

_BATCH = 250_000
"""Records in a batch. More than in other formats, because each batch reads the file again from its start."""

_PLAIN = "latin-1"
"""An encoding in which each byte is one character."""

_REMEDY = "the `encoding`, or widen the column if it cuts a letter at the end of the text."

_PROGRAM = {"sas7bdat": "SAS data set", "stata": "Stata file", "spss": "SPSS file"}
_LAYOUTS: dict[str, type[layout.ArrayFile]] = {
    "sas7bdat": sas.DataSet,
    "stata": stata.StataFile,
    "spss": spss.SystemFile,
}
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
    columns = [
        Column(path, source.kind, name, shown(source.kind, about.original_variable_types[name]), name in keys)
        for name in wanted
    ]
    for column in columns:
        check_shown(column)
    file = _File(path, source, wanted, columns, about, codec)
    yield from proven(_fast(file), lambda: _by_library(file))


class _File(NamedTuple):
    """What both readers know of a file."""

    path: Path
    source: SourceFile
    wanted: Sequence[str]
    columns: list[Column]
    about: Any
    codec: str

    def is_text(self, name: str) -> bool:
        """Whether a column is text."""
        return self.about.readstat_variable_types[name] == "string"


def _fast(file: _File) -> Iterator[pa.RecordBatch]:
    """Yield the columns of a file whose records are an array.

    Raises
    ------
    UnprovenError
    """
    stored = _LAYOUTS[file.source.kind](file.path)
    every = stored.layout.fields
    if len(every) != len(file.about.column_names) or stored.layout.n != file.about.number_rows:
        raise UnprovenError
    fields = [every[file.about.column_names.index(name)] for name in file.wanted]
    if any(
        (field.kind == "text") != file.is_text(name) for field, name in zip(fields, file.wanted, strict=True)
    ):
        raise UnprovenError
    before = 0
    for block in stored.blocks():
        texts = []
        for column, field in zip(file.columns, fields, strict=True):
            if field.kind == "text":
                cells = stored.text_cells(layout.cells_of(block, field))
                texts.append(_decoded(column, cells, stored.padding, file.codec, before))
            else:
                numbers, letters = stored.numbers(layout.numbers_of(block, field))
                texts.append(number_text(column, numbers, letters, before))
        before += len(block)
        yield pa.record_batch(texts, names=list(file.wanted))


def _by_library(file: _File) -> Iterator[pa.RecordBatch]:
    """Yield the columns as a general library gives them."""
    before, n = 0, file.about.number_rows
    # Texts are decoded here: the library silently drops an incomplete letter at the end of a text.
    names = _read(file.path, file.source, _PLAIN, metadataonly=True)[1].column_names
    plain_of = dict(zip(file.about.column_names, names, strict=True))
    plain_names = [plain_of[name] for name in file.wanted]
    while True:
        cells, _ = _read(
            file.path, file.source, _PLAIN, usecols=plain_names, row_offset=before, row_limit=_BATCH
        )
        size = len(cells[plain_names[0]])
        if size:
            texts = [
                _text(file, column, cells[plain], before)
                for column, plain in zip(file.columns, plain_names, strict=True)
            ]
            yield pa.record_batch(texts, names=list(file.wanted))
        before += size
        if size < _BATCH:
            break
    if n is not None and 0 <= n != before:
        raise _incomplete(file.path, file.source)


def column_names(path: Path, source: SourceFile) -> list[str]:
    """Return the names of the columns."""
    names = list(_read(path, source, source.encoding, metadataonly=True)[1].column_names)
    check_header(path, names, (), row="")
    return names


def _read(path: Path, source: SourceFile, encoding: str | None, **how: Any) -> tuple[dict[str, list], Any]:
    if encoding is not None:
        how["encoding"] = codecs.lookup(encoding).name
    try:
        cells, about = _READERS[source.kind](
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
    if None in about.column_names:  # the name is not in a damaged file
        raise _incomplete(path, source)
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
    return InputError(
        f"{path.name}: the text is not in the encoding that the file names. Declare the `encoding`."
    )


def _incomplete(path: Path, source: SourceFile) -> InputError:
    return InputError(f"{path.name}: the file is not a complete {_PROGRAM[source.kind]}. Write it again.")


def _text(file: _File, column: Column, cells: list, before: int) -> pa.Array:
    """Return the text of one column; a special missing value is a letter among the numbers."""
    kind = file.about.readstat_variable_types[column.name]
    if kind == "string":
        try:
            encoded = pc.fill_null(pa.array(cells, TEXT), "").dictionary_encode()
            return decoded(encoded, lambda text: _one(text.encode(_PLAIN), file.codec))
        except UndecodableError as error:
            raise undecodable(column, before + error.row + 1, file.codec, _REMEDY) from None
    letters = np.zeros(len(cells), np.uint8)
    try:
        numbers = pa.array(cells, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:  # letters
        letters = np.array([ord(cell) if isinstance(cell, str) else 0 for cell in cells], np.uint8)
        numbers = np.array([np.nan if cell is None or isinstance(cell, str) else cell for cell in cells])
    return number_text(column, numbers.astype(np.float32 if kind == "float" else np.float64), letters, before)


def _decoded(column: Column, cells: np.ndarray, padding: str, codec: str, before: int) -> pa.Array:
    """Return the text of cells."""
    try:
        return text_of(cells, padding, lambda cell: _one(cell.rstrip(padding.encode()), codec))
    except UndecodableError as error:
        raise undecodable(column, before + error.row + 1, codec, _REMEDY) from None


def _one(cell: bytes, codec: str) -> str:
    """Return a text; one of ASCII is the same in every encoding of these files."""
    return cell.decode("ascii" if cell.isascii() else codec)
