"""Typing one column of text: missing codes, recodes, NFC, coded integers, numbers (METHODS §1).

Every step that reads a source file types its variables here, so that a value means the same
whether it links two files, makes a record unique, or matches a synthetic record.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError

if TYPE_CHECKING:
    from reident.linking import Column

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SWAP = str.maketrans(",.", ".,")
_INTEGER = re.compile(r"([+-]?)0*(\d+)(\.0*)?", re.ASCII)


class Coding(NamedTuple):
    """How the texts of one column are read.

    Attributes
    ----------
    kind : {'categorical', 'numeric'}
    missing : codes that mean missing, looked up before recoding
    recode : from the file's code to the study's
    order : every category, where the study declares them
    integer_coded : whether ``1``, ``01`` and ``1.0`` are the same code
    decimal : {'.', ','}
        What the file writes before the decimals of its numbers. Codes of the study may have either.
    """

    kind: Literal["categorical", "numeric"]
    missing: Iterable[str] = ()
    recode: Mapping[str, str] = {}
    order: tuple[str, ...] | None = None
    integer_coded: bool = False
    decimal: str = "."


class Place(NamedTuple):
    """Where a column stands, for messages: file, column, variable of the study, number of the first record."""

    file: str
    column: str
    variable: str
    first_row: int = 2


def coding_of(column: Column, side: str, decimal: str = ".") -> Coding:
    """How one file's texts of a strata variable, which is categorical, or of a linking variable are read."""
    return Coding(
        getattr(column, "type", "categorical"),
        getattr(column.missing, side),
        getattr(column.recode, side),
        getattr(column, "order", None),
        column.integer_coded,
        decimal,
    )


def typed(text: pa.ChunkedArray | pa.Array, coding: Coding, place: Place) -> pa.Array:
    """One column, typed on its distinct texts and spread to the records.

    Parameters
    ----------
    text : pyarrow text column (n,)
        As it stands in the file, without nulls.
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
    recode = {normal(code): normal(target) for code, target in coding.recode.items()}
    if len(recode) < len(coding.recode):
        raise InputError(
            f"`recode` of `{place.variable}`, for {place.file}: two of its codes are the same once trimmed and "
            "normalised; keep one of them."
        )
    known = None if coding.order is None else {normal(category) for category in coding.order}
    out: list[str | float | None] = []
    for position, raw in enumerate(encoded.dictionary.to_pylist()):
        value = stored(raw)
        if value in missing:
            out.append(None)
            continue
        value, problem = recode.get(value, value), None
        if numeric:
            out.append(number(value))
            problem = "is not a number; declare it as a missing code, recode it" if out[-1] is None else None
        else:
            out.append(value)
            if known is not None and value not in known:
                problem = "is not in the declared `order`; add it, recode it"
        if problem:
            row = (
                pc.index(encoded.indices, pa.scalar(position, encoded.indices.type)).as_py() + place.first_row
            )
            raise InputError(
                f"{place.file}, row {row}, column `{place.column}`: the value of `{place.variable}` {problem}, "
                "or correct the file."
            )
    return pa.array(out, pa.float64() if numeric else pa.string()).take(encoded.indices)


def clean(text: str) -> str:
    """Text without blanks at its ends, in NFC."""
    return unicodedata.normalize("NFC", text.strip())


def normaliser(coding: Coding, *, stored: bool = False) -> Callable[[str], str]:
    """Trimming and NFC; for numbers and integer-coded variables also one spelling of each number.

    Parameters
    ----------
    stored : bool
        Whether the texts stand in a file, which writes decimals in one way only; codes that the study file
        names may be written in either.
    """
    ways = [_as_it_stands] if coding.decimal == "." else [_swapped] if stored else [_as_it_stands, _swapped]

    def one_number(text: str) -> str:
        texts = [way(clean(text)) for way in ways]
        values = [value for value in map(number, texts) if value is not None]
        return repr(values[0]) if values else texts[-1]

    def integer(text: str) -> str:
        text = clean(text)
        match = next(filter(None, (_INTEGER.fullmatch(way(text)) for way in ways)), None)
        if not match:
            return text
        digits = match[2]
        return ("-" if match[1] == "-" and digits != "0" else "") + digits

    if coding.kind == "numeric":
        return one_number
    return integer if coding.integer_coded else clean


def _as_it_stands(text: str) -> str:
    return text


def _swapped(text: str) -> str:
    """A comma for each point and a point for each comma: 1,5 is a number then, and 1.500 is none."""
    return text.translate(_SWAP)


def number(text: str) -> float | None:
    """The finite number that a text is, or None; never a negative zero."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return (value + 0.0) if np.isfinite(value) else None
