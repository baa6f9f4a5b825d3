"""What declarations of codes share, whichever section of a study they stand in (METHODS §1)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import AliasChoices, BeforeValidator, Field


def both_spellings(schema: dict[str, Any]) -> None:
    """Let the schema of a section with :data:`IntegerCoded` know both spellings."""
    schema["properties"]["integer-coded"] = schema["properties"]["integer_coded"]


def listed(value: Any) -> Any:
    """One missing code stands for a list of one.

    Raises
    ------
    ValueError
        For an empty element, which may stand for an empty cell or for the word NULL.
    """
    if isinstance(value, str):
        value = [value]
    if value is None or (isinstance(value, list | tuple) and None in value):
        raise ValueError(
            'a code that is null or not written at all is not certain; write `"NULL"` in quotes for that word, or `""` '
            "for an empty cell."
        )
    return value


Codes = Annotated[tuple[str, ...], BeforeValidator(listed, json_schema_input_type=str | tuple[str, ...])]
"""The codes that mean missing, of one file."""

IntegerCoded = Annotated[
    bool,
    Field(
        validation_alias=AliasChoices("integer_coded", "integer-coded"),
        description="Whether `1`, `01` and `1.0` are the same code; also written `integer-coded`.",
    ),
]


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
