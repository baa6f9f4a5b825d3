"""Convert a column of numbers that a statistical program stored to text (METHODS §1)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.reading.displayed import CALENDARS, Shown
from reident.reading.names import TEXT
from reident.reading.numbers import date_text, double_text, first_inexact

_SPECIALS = pa.array([f".{chr(letter)}" for letter in range(256)], TEXT)


class Column(NamedTuple):
    """A column of a SAS, Stata or SPSS file.

    Attributes
    ----------
    path : Path
    kind : str
        The format of the file.
    name : str
    shown : {'number', 'day', 'time'}
        What its numbers are, by their display format.
    key : bool
        Whether it is a key column.
    """

    path: Path
    kind: str
    name: str
    shown: Shown
    key: bool


def check_shown(column: Column) -> None:
    """Refuse a time, a point in time, or a part of a date, which have no unambiguous text."""
    if column.shown == "time":
        raise InputError(
            f"{column.path.name}, column `{column.name}`: a time, or a part of a date, has no unambiguous text. Store "
            "the column as text, or as a number without a date format."
        )


def number_text(column: Column, values: np.ndarray, letters: np.ndarray, before: int) -> pa.Array:
    """Return the text of numbers.

    Parameters
    ----------
    values : float array (n,)
        NaN where missing.
    letters : uint8 array (n,)
        The character of a special missing value, which the program writes after a point (``.A``, ``._``, ``.a``); 0
        elsewhere.
    before : int
        The number of preceding records, for messages.
    """
    special = letters > 0
    if column.key:
        _check_key(column, values, special, before)
    if column.shown == "day":
        calendar = CALENDARS[column.kind]
        text, wrong = date_text(values / calendar.per_day, calendar.epoch)
        if wrong is not None:
            raise InputError(
                f"{column.path.name}, row {before + wrong + 1}, column `{column.name}`: the value is not a valid date. "
                "Correct it, or store the column as a number without a date format."
            )
    else:
        text = double_text(values)
    if special.any():
        text = pc.if_else(pa.array(special), _SPECIALS.take(pa.array(letters)), text)
    return text


def _check_key(column: Column, values: np.ndarray, special: np.ndarray, before: int) -> None:
    wrong = [first_inexact(values), int(special.argmax()) if special.any() else None]
    places = [place for place in wrong if place is not None]
    if places:
        raise InputError(
            f"{column.path.name}, row {before + min(places) + 1}, column `{column.name}`: a numeric key must be an "
            "integer below 2^53 (2^24 in single precision), and must not be missing. Store keys as text."
        )


def undecodable(column: Column, row: int, codec: str, remedy: str) -> InputError:
    """Return the error about a text in a row that is not in the encoding."""
    return InputError(
        f"{column.path.name}, row {row}, column `{column.name}`: the text is not {codec}. Declare {remedy}"
    )
