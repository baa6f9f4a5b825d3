"""Typing one column of text: missing codes, recodes, NFC, coded integers, numbers (METHODS §1).

Every step that reads a source file types its variables here: a value means the same
whether it links two files, makes a record unique, or matches a synthetic record.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.sections.codes import Coding, normaliser, number
from reident.sections.files import SourceFile
from reident.sections.keys import KeyVariable
from reident.sections.recodes import Recoding


class Place(NamedTuple):
    """The place of a column, for messages: file, column, variable of the study, number of the first record."""

    file: str
    column: str
    variable: str
    first_row: int = 2


def typed(text: pa.ChunkedArray | pa.Array, coding: Coding, place: Place) -> pa.Array:
    """Return one column, typed on its distinct texts and spread to the records.

    Parameters
    ----------
    text : pyarrow text column (n,)
        As written in the file, without nulls.
    coding : Coding
    place : Place

    Returns
    -------
    pyarrow.Array (n,)
        Text, or float64 if numeric; null where missing.

    Raises
    ------
    InputError
        A value that is not a finite number, or not in the declared order, with file, row and column; a
        recode table that names one code twice.
    """
    encoded = (text if isinstance(text, pa.Array) else text.combine_chunks()).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    numeric, normal = coding.kind == "numeric", normaliser(coding)
    stored = normaliser(coding, stored=True)
    missing = {normal(code) for code in coding.missing}
    recode = Recoding(coding)
    if recode.repeated:
        raise InputError(
            f"`recode` of `{place.variable}`, for {place.file}: two of its codes are equal after trimming and "
            "normalising. Keep one of them.",
            ("variable", place.variable),
        )
    known = None if coding.order is None else {normal(category) for category in coding.order}
    out: list[str | float | None] = []
    for position, raw in enumerate(encoded.dictionary.to_pylist()):
        value = stored(raw)
        if value in missing:
            out.append(None)
            continue
        value, problem = recode(value), None
        if numeric:
            out.append(number(value))
            problem = "is not a number. Declare it as a missing code, recode it" if out[-1] is None else None
        else:
            out.append(value)
            if known is not None and value not in known:
                problem = "is not in the declared `order`. Add it, recode it"
        if problem:
            row = (
                pc.index(encoded.indices, pa.scalar(position, encoded.indices.type)).as_py() + place.first_row
            )
            raise InputError(
                f"{place.file}, row {row}, column `{place.column}`: the value of `{place.variable}` {problem}, "
                "or correct the file.",
                ("variable", place.variable),
            )
    return pa.array(out, pa.float64() if numeric else pa.string()).take(encoded.indices)


def typed_key(variable: KeyVariable, source: SourceFile, text: pa.Table) -> pa.Array:
    """Return one key variable of one file, typed as by :func:`typed`."""
    place = Place(source.file_name, variable.column, variable.name, source.first_row)
    return typed(text[variable.column], variable.coding(source.decimal), place)
