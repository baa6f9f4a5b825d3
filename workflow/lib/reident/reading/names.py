"""What the readers of all formats share: the names of columns, batches, and files of another format."""

from __future__ import annotations

import contextlib
import gzip
import unicodedata
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from reident.errors import InputError
from reident.sections.files import PACKED

if TYPE_CHECKING:
    from reident.sections.files import SourceFile

BATCH = 65_536
"""Records that are read together."""

TEXT = pa.string()

_GZIP = b"\x1f\x8b"
_PORTABLE = b"ASCII SPSS PORT FILE"
"""Not at the very begin: what precedes it depends on the program."""

_START = 64

_SPREADSHEET = "a spreadsheet or another zip archive; save the sheet as CSV and name that file"
_FOREIGN = [
    (b"PK\x03\x04", "", _SPREADSHEET),
    (b"\xd0\xcf\x11\xe0", "", "an old Excel workbook; save the sheet as CSV and name that file"),
    (b"PAR1", "parquet", "a Parquet file; declare `format: parquet`"),
    (b"$FL2", "spss", "an SPSS file; declare `format: spss`"),
    (b"$FL3", "spss", "an SPSS file; declare `format: spss`"),
    (b"<stata_dta>", "stata", "a Stata file; declare `format: stata`"),
    (b"HEADER RECORD*******LIB", "xport", "a SAS transport file; declare `format: xport`"),
    (bytes(12) + b"\xc2\xea\x81\x60", "sas7bdat", "a SAS data set; declare `format: sas7bdat`"),
    (_PORTABLE, "", "an SPSS portable file; save it as .sav and name that file"),
    (b"\x28\xb5\x2f\xfd", "", "packed by zstd; unpack it, or pack it by gzip"),
    (b"BZh", "", "packed by bzip2; unpack it, or pack it by gzip"),
    (b"\xfd7zXZ\x00", "", "packed by xz; unpack it, or pack it by gzip"),
]
"""First bytes of files, the format that they are of if any, and what to do where another is declared."""


def refuse_foreign(path: Path, source: SourceFile) -> None:
    """Say what a file is whose first bytes tell that it is not of its format."""
    with path.open("rb") as stream:
        start = stream.read(_START)
    packed = start.startswith(_GZIP)
    if packed and source.kind not in PACKED:
        raise InputError(
            f"{path.name}: read as {source.kind}, but packed by gzip, which only CSV and fixed width may be; unpack it."
        )
    if packed:
        with contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(path) as stream:
            start = stream.read(_START)
    for mark, kind, what in _FOREIGN:
        if mark in (start if mark == _PORTABLE else start[: len(mark)]) and kind != source.kind:
            inside = f"{what.split(';')[0]}, which may not be packed by gzip; unpack it, and name that file"
            raise InputError(f"{path.name}: read as {source.kind}, but this is {inside if packed else what}.")


def check_header(path: Path, header: Sequence[str], wanted: Sequence[str], row: str = ", row 1") -> None:
    """Refuse a name that repeats, and a wanted one that is not there.

    Parameters
    ----------
    row : str
        Where the names stand, for messages: empty where not in a row.
    """
    seen: set[str] = set()
    for position, name in enumerate(header, start=1):
        if name in seen:
            raise InputError(
                f"{path.name}{row}, column {position}: a column name is repeated; rename one of the two."
            )
        seen.add(name)
    composed = {unicodedata.normalize("NFC", name) for name in header}
    for name in wanted:
        if name in seen:
            continue
        if unicodedata.normalize("NFC", name) in composed:
            raise InputError(
                f"{path.name}{row}: the column `{name}` is written there with letters that look alike and are stored "
                "otherwise (composed or not, Unicode NFC); copy the name from the file into the study file."
            )
        raise InputError(
            f"{path.name}{row}: there is no column `{name}`; correct the name in the study file"
            f"{', or the delimiter' if row else ''}."
        )
