"""Typing one column of text: missing codes, recodes, NFC, coded integers, numbers (METHODS §1).

Every step that reads a source file types its variables here: a value means the same
whether it links two files, makes a record unique, or matches a synthetic record.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.intake.keys import encode
from reident.sections.codes import Coding, Conversion, clean, grouped_form, normaliser, number
from reident.sections.files import PACKED, SourceFile
from reident.sections.keys import KeyVariable
from reident.sections.recodes import Recoding

_PLAIN = r"^-?[0-9]{1,17}(\.[0-9]{1,17})?$"
"""Numbers that every reader of decimals reads alike, to the nearest double, as none is too large for one."""

_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?", re.ASCII)
"""What would be a number in a file with a decimal comma."""


_DATE = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4}", re.ASCII)
_TIME = re.compile(rf"({_DATE.pattern})[T ]\d\d?:\d\d(:\d\d(\.\d+)?)?", re.ASCII)
_ZONE = re.compile(rf"({_TIME.pattern}) ?(Z|UTC|[+-]\d\d:?\d\d)", re.ASCII)
"""What looks like a date, also with a time, and with a time zone."""


class Place(NamedTuple):
    """The place of a column, for messages.

    Attributes
    ----------
    variable : str
        Of the study.
    first_row : int
        The number of the first record.
    takes_decimal : bool
        Whether the study may declare the decimal separator of the file.
    """

    file: str
    column: str
    variable: str
    first_row: int = 2
    takes_decimal: bool = True

    @classmethod
    def locate(cls, source: SourceFile, column: str, variable: str, before: int = 0) -> Place:
        """Return the place of a column of a file, after some records that came before."""
        return cls(source.file_name, column, variable, source.first_row + before, source.kind in PACKED)


def typed(text: pa.ChunkedArray | pa.Array, coding: Coding, place: Place) -> pa.Array:
    """Return one column, typed on its distinct texts and spread to the records.

    Parameters
    ----------
    text : pyarrow text column (n,)
        As written in the file, without nulls.

    Returns
    -------
    pyarrow.Array (n,)
        Text, or float64 if numeric; null where missing.

    Raises
    ------
    InputError
        A value that is not a finite number, a date, or in the declared order, with file, row and column; a
        recode table that names one code twice.
    """
    encoded = encode(text)
    return _distinct(encoded, coding, place).take(encoded.indices)


def typed_codes(text: pa.ChunkedArray | pa.Array, coding: Coding, place: Place) -> pa.Array:
    """Return one column, typed as by :func:`typed`, but text as a dictionary with each distinct value once."""
    encoded = encode(text)
    values = _distinct(encoded, coding, place)
    if not pa.types.is_string(values.type):
        return values.take(encoded.indices)
    codes = values.dictionary_encode()  # two texts may have the same value
    return pa.DictionaryArray.from_arrays(codes.indices.take(encoded.indices), codes.dictionary)


def _distinct(encoded: pa.DictionaryArray, coding: Coding, place: Place) -> pa.Array:
    """Return the value of each distinct text of a column."""
    numeric, normal = coding.kind == "numeric", normaliser(coding)
    stored = normaliser(coding, stored=True)
    missing = {normal(code) for code in coding.missing}
    recode = Recoding(coding)
    if recode.repeated:
        raise InputError(
            f"`recode` of `{place.variable}`, for {place.file}: two of its codes are equal after trimming and "
            "normalising. Keep one of them."
        )
    categories = None if coding.order is None else {normal(category) for category in coding.order}
    values, plain = _plain_numbers(encoded.dictionary, coding, missing)
    others = np.flatnonzero(~plain)
    out: list[str | float | None] = []
    for position, raw in zip(others.tolist(), encoded.dictionary.take(pa.array(others)).to_pylist(), strict=True):
        value = stored(raw)
        if value in missing:
            out.append(None)
            continue
        value, problem = recode(value), None
        if numeric:
            out.append(coding.number(value))
            problem = None if out[-1] is not None else _unreadable(raw, coding, place)
        else:
            out.append(value)
            if categories is not None and value not in categories:
                problem = "is not in the declared `order`. Add it, recode it, or correct the file."
        if problem:
            row = pc.index(encoded.indices, pa.scalar(position, encoded.indices.type)).as_py() + place.first_row
            raise InputError(
                f"{place.file}, row {row}, column `{place.column}`: the value of `{place.variable}` {problem}"
            )
    values = pc.replace_with_mask(values, pa.array(~plain), pa.array(out, values.type))
    return values if coding.convert is None else converted(values, coding.convert, place)


def converted(values: pa.Array, convert: Conversion, place: Place) -> pa.Array:
    """Return the numbers of a file in the unit of the study; null where missing."""
    encoded = encode(values)
    numbers = [convert(value) for value in encoded.dictionary.to_pylist()]
    if None in numbers:
        raise InputError(
            f"{place.file}, column `{place.column}`: `convert` of `{place.variable}` gives a number beyond the range "
            "of doubles. Correct the factor."
        )
    return pa.array(numbers, pa.float64()).take(encoded.indices)


def _unreadable(text: str, coding: Coding, place: Place) -> str:
    """Return the problem of a text that is not a number, or not a date, and a remedy."""
    if coding.date is not None:
        remedy = "Correct `format`, declare it as a missing code, recode it, or correct the file."
        if coding.date.unit != "time" and _TIME.fullmatch(clean(text)):
            remedy = "It has a time of day: add `hh:mm:ss` to `format`, or correct the file."
        if _ZONE.fullmatch(clean(text)):
            remedy = "It has a time zone: write the times of both files in one zone, without it."
        return f"is not a valid date ({coding.date.format}). {remedy}"
    if _DATE.fullmatch(clean(text)):
        return (
            "is not a number, because it is a date. Set `type: date` where variables "
            "have a type; otherwise write the days of the file as numbers."
        )
    if place.takes_decimal and grouped_form(",", ".").fullmatch(clean(text)) and coding.decimal == ".":
        return (
            'is not a number, because it has a comma. If the comma is the decimal separator, set `decimal: ","` for '
            'the file; if it separates thousands, set `thousands: ","`; otherwise correct the file.'
        )
    if coding.decimal == "," or not _COMMA.fullmatch(clean(text)):
        return "is not a number. Declare it as a missing code, recode it, or correct the file."
    problem = "is not a number, because it has a comma. "
    if not place.takes_decimal:
        return problem + "Write the numbers of the file with a decimal point."
    return problem + (
        'If the comma is the decimal separator, set `decimal: ","` for the file; otherwise correct the file.'
    )


def _plain_numbers(texts: pa.Array, coding: Coding, missing: Collection[str]) -> tuple[pa.Array, np.ndarray]:
    """Return the values of texts that are numbers in plain digits, which most are, and which texts these are.

    The values have the type of the column and are null for other texts. No text is plain unless the column is numeric
    and has the numbers as they are in the file. `missing` are the missing codes, normalised.
    """
    if coding.kind != "numeric":
        return pa.nulls(len(texts), pa.string()), np.zeros(len(texts), bool)
    if coding.recode or coding.decimal != "." or coding.date is not None:
        return pa.nulls(len(texts), pa.float64()), np.zeros(len(texts), bool)
    plain = pc.match_substring_regex(texts, _PLAIN)
    numbers = pc.if_else(plain, texts, pa.scalar(None, texts.type)).cast(pa.float64())
    codes = [value for value in map(number, missing) if value is not None]
    values = pc.if_else(pc.is_in(numbers, pa.array(codes, pa.float64())), pa.scalar(None, pa.float64()), numbers)
    return pc.add(values, 0.0), plain.to_numpy(zero_copy_only=False)  # 0 instead of -0


def typed_key(variable: KeyVariable, source: SourceFile, text: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return one key variable of one file, typed as by :func:`typed_codes`."""
    place = Place.locate(source, variable.column, variable.name)
    return typed_codes(text, variable.coding(*source.separators), place)
