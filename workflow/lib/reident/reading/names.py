"""The common part of the readers of all formats: checks of column names, and of the format of a file (METHODS §1)."""

from __future__ import annotations

import contextlib
import gzip
import unicodedata
import zlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from reident.errors import InputError
from reident.sections.files import PACKED, SourceFile

BATCH = 65_536
"""The number of records in a batch."""

TEXT = pa.string()

GZIP = b"\x1f\x8b"
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)
"""What the reading of a gzip file raises that is truncated or damaged."""

_COMPLETE = {
    "parquet": "Parquet file",
    "sas7bdat": "SAS data set",
    "stata": "Stata file",
    "spss": "SPSS file",
    "xport": "SAS transport file",
}
_PORTABLE = b"ASCII SPSS PORT FILE"
"""Near the beginning of the file; what precedes it depends on the program."""

_START = 64

_AS_CSV = "Save the sheet as CSV, and name that file."
_AS_SAV = "Save it as .sav, and name that file."
_AS_GZIP = "Decompress it, or compress it with gzip."
_FOREIGN = [
    (b"PK\x03\x04", "", "a spreadsheet or another zip archive", _AS_CSV),
    (b"\xd0\xcf\x11\xe0", "", "an old Excel workbook", _AS_CSV),
    (b"PAR1", "parquet", "a Parquet file", ""),
    (b"$FL2", "spss", "an SPSS file", ""),
    (b"$FL3", "spss", "an SPSS file", ""),
    (b"<stata_dta>", "stata", "a Stata file", ""),
    (b"HEADER RECORD*******LIB", "xport", "a SAS transport file", ""),
    (bytes(12) + b"\xc2\xea\x81\x60", "sas7bdat", "a SAS data set", ""),
    (_PORTABLE, "", "an SPSS portable file", _AS_SAV),
    (b"\x28\xb5\x2f\xfd", "", "compressed with zstd", _AS_GZIP),
    (b"BZh", "", "compressed with bzip2", _AS_GZIP),
    (b"\xfd7zXZ\x00", "", "compressed with xz", _AS_GZIP),
]
"""The first bytes of a file, its format if a study can declare it, what it is, and what to do."""


def recognised(path: Path) -> str:
    """Return the format that the first bytes of a file show, of those that a study can declare; empty for others."""
    with path.open("rb") as stream:
        start = stream.read(_START)
    return next((kind for mark, kind, _, _ in _FOREIGN if kind and start.startswith(mark)), "")


def refuse_foreign(path: Path, source: SourceFile) -> None:
    """Refuse a file whose first bytes show that it is not of the declared format."""
    with path.open("rb") as stream:
        start = stream.read(_START)
    packed = start.startswith(GZIP)
    if packed and source.kind not in PACKED:
        raise InputError(f"{path.name}: a `{source.kind}` file must not be compressed with gzip. Decompress it.")
    if packed:
        with contextlib.suppress(*DAMAGE), gzip.open(path) as stream:
            start = stream.read(_START)
    for mark, kind, what, advice in _FOREIGN:
        if mark in (start if mark == _PORTABLE else start[: len(mark)]) and kind != source.kind:
            remedy = "Decompress it." if packed else advice or f"Declare `format: {kind}`."
            inside = ", compressed with gzip" if packed else ""
            raise InputError(f"{path.name}: the file is not a `{source.kind}` file; it is {what}{inside}. {remedy}")


def incomplete(path: Path, kind: str) -> InputError:
    """Return the error of a file that is not a whole file of its format."""
    return InputError(f"{path.name}: the file is not a complete {_COMPLETE[kind]}. Write it again.")


def damaged(path: Path) -> InputError:
    """Return the error of a gzip file that raises one of :data:`DAMAGE`."""
    return InputError(f"{path.name}: the gzip file is truncated or damaged. Copy the file again, and compare its size.")


class MissingColumnError(InputError):
    """Columns that a file does not have.

    Parameters
    ----------
    message : str
        About the first of them.
    missing : sequence of str
        All of them.
    header : sequence of str
        The columns that the file has, if its first row is a header.
    row : str
        The place of the names in the file, as :func:`check_header` takes it.
    """

    def __init__(self, message: str, missing: Sequence[str], header: Sequence[str], row: str) -> None:
        super().__init__(message)
        self.missing, self.header, self.row = tuple(missing), tuple(header), row


def check_header(path: Path, header: Sequence[str], wanted: Sequence[str], row: str = ", row 1") -> None:
    """Refuse a column name that is given twice, and a file without a wanted column.

    Parameters
    ----------
    header : sequence of str
        The names of the columns in the file.
    wanted : sequence of str
        The names of the columns to read.
    row : str
        The place of the names in the file, for messages; empty if they are not in a row.

    Raises
    ------
    InputError
    """
    seen: set[str] = set()
    for position, name in enumerate(header, start=1):
        if name in seen:
            raise InputError(
                f"{path.name}{row}, column {position}: the column name is given twice. Rename one of the two."
            )
        seen.add(name)
    missing = [name for name in wanted if name not in seen]
    for name in missing:
        raise MissingColumnError(f"{path.name}{row}: {_without(name, header, row)}", missing, header, row)


def _without(name: str, header: Sequence[str], row: str) -> str:
    """Return the message that a file has no column of a name, with a remedy."""
    if unicodedata.normalize("NFC", name) in {unicodedata.normalize("NFC", one) for one in header}:
        return (
            f"the column `{name}` is written with letters that look the same but are stored differently (Unicode "
            "NFC). Copy the name from the file into the study file."
        )
    return (
        f"the file has no column `{name}`. Correct the name in the study file{', or the `delimiter`' if row else ''}."
    )
