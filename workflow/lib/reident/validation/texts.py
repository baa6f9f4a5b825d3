"""The text of source files, each read once, with its problems: a file without a column is still read."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from reident import reading
from reident.errors import InputError
from reident.reading.names import TEXT, MissingColumnError, check_header
from reident.sections.files import SourceFile
from reident.validation.findings import Findings

DELIMITERS = (",", ";", "\t", "|")
MAX_LISTED = 80
"""Columns of a file that are listed."""

MAX_NEAR = 3
"""Names that are like one which a file does not have."""


class Wanted(NamedTuple):
    """A source file, the columns that a step reads, and those of them that are keys.

    Attributes
    ----------
    made : pandas.DataFrame or None
        The file itself where the study makes it, and can.
    is_made : bool
        Whether the study makes the file.
    """

    path: Path
    source: SourceFile
    columns: Sequence[str]
    keys: Sequence[str] = ()
    made: pd.DataFrame | None = None
    is_made: bool = False


class Texts:
    """The source files of a study."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._wanted: dict[str, Wanted] = {}
        self._read: dict[str, pa.Table | None] = {}

    def want(self, wanted: Wanted) -> None:
        """Announce the columns to be read of a file, so that one reading is enough."""
        key = _key(wanted)
        request = self._wanted.get(key, wanted)
        if not set(wanted.columns) <= set(request.columns):
            self._read.pop(key, None)
        self._wanted[key] = request._replace(
            columns=list(dict.fromkeys([*request.columns, *wanted.columns])),
            keys=list(dict.fromkeys([*request.keys, *wanted.keys])),
        )

    def get(self, wanted: Wanted) -> pa.Table | None:
        """Return the columns of a file that are there; None if the file cannot be read or has none of them."""
        key = _key(wanted)
        self.want(wanted)
        if key not in self._read:
            self._read[key] = self._text(self._wanted[key])
        table = self._read[key]
        if table is None:
            return None
        names = [name for name in dict.fromkeys(wanted.columns) if name in table.column_names]
        return table.select(names) if names else None

    def _text(self, wanted: Wanted) -> pa.Table | None:
        # Unlike `Path.is_file`, this takes a name that is too long.
        if wanted.made is None if wanted.is_made else not os.path.isfile(wanted.path):  # noqa: PTH113
            return None  # which is an error of the source, or of the study file
        columns = list(wanted.columns)
        while columns:
            try:
                return _text_of(wanted, columns)
            except MissingColumnError as error:
                self._note_missing(wanted, error)
                columns = [name for name in columns if name not in error.missing]
            except InputError as error:
                self._findings.error(str(error))
                break
        return None

    def _note_missing(self, wanted: Wanted, error: MissingColumnError) -> None:
        """Note every column that a file does not have, with those that it has, unless its first row is no header."""
        path, source, findings = wanted.path, wanted.source, self._findings
        columns = set(wanted.columns)
        if error.row and len(error.missing) == len(columns):
            remedy = "Check that it is a header, and the `delimiter`."
            if (other := _delimiter(error.header, source, columns)) is not None:
                n = len(_columns_by(error.header, source, other) & columns)
                sign = '`"\\t"`' if other == "\t" else f"`{other}`"
                remedy = f"With the delimiter {sign} it has {n} of them. Correct the `delimiter`."
            findings.error(
                f"{path.name}{error.row}: the row has none of the {len(columns)} columns that the study names. {remedy}"
            )
            return
        layout = "`layout`" if source.kind == "fixed-width" else "the file"
        for name in error.missing:
            near = _near(name, error.header)
            question = f"Did you mean {' or '.join(f'`{other}`' for other in near)}? " if near else ""
            remedy = "Add its positions." if source.kind == "fixed-width" else "Correct the name in the study file."
            findings.error(f"{path.name}{error.row}: {layout} has no column `{name}`. {question}{remedy}")
        listed = ", ".join(map(_printable, error.header[:MAX_LISTED]))
        more = f" and {len(error.header) - MAX_LISTED:,} more" if len(error.header) > MAX_LISTED else ""
        findings.hint(f"Columns of {path.name}: {listed}{more}")


def _key(wanted: Wanted) -> str:
    """Return the identity of a reading of a file."""
    source = wanted.source
    key = source.model_dump_json(include=set(SourceFile.model_fields) - {"path"})
    return f"{wanted.path}\n{key}\n{id(wanted.made)}"  # variants may draw different files of one name


def _text_of(wanted: Wanted, columns: Sequence[str]) -> pa.Table:
    if wanted.made is None:
        return reading.read(wanted.path, wanted.source, columns, wanted.keys)
    check_header(wanted.path, list(wanted.made.columns), columns)
    return pa.table({name: pa.chunked_array([pa.array(wanted.made[name], TEXT)]) for name in columns})


def _near(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that are most like another one, in whatever case."""
    folded = {other.casefold(): other for other in names}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=MAX_NEAR)
    return [_printable(folded[one]) for one in close]


def _columns_by(header: Sequence[str], source: SourceFile, delimiter: str) -> set[str]:
    """Return the columns of a header by another delimiter."""
    fields = source.delimiter.join(header).split(delimiter)
    return {field.strip().strip(source.quote or None) for field in fields}


def _delimiter(header: Sequence[str], source: SourceFile, columns: set[str]) -> str | None:
    """Return the delimiter by which a header has most of the columns; None if it has none by any."""
    number = {other: len(_columns_by(header, source, other) & columns) for other in DELIMITERS}
    best = max(number, key=lambda other: number[other])
    return best if number[best] else None


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)
