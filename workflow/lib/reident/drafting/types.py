"""Whether a variable is numeric or categorical, with the reason; and which codes a draft may show (METHODS §1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reident.drafting import names
from reident.drafting.profile import MAX_LEVELS, DraftColumn
from reident.intake.severity import MIN_RECORDS
from reident.study.reading import TODO

MAX_CODES = 50
"""A column with more levels is not taken for one of categories, and no code of it is written into a draft."""

_FEW = 12
"""Whole numbers with at most this many levels are codes, unless the name is that of an amount."""

_MAX_CODE_LENGTH = 40


class Kind(NamedTuple):
    """The type of a variable, with the reason; ``TODO`` if the analyst must decide."""

    kind: str
    reason: str


def kind(columns: Sequence[DraftColumn]) -> Kind:
    """Return the type of a variable that one or two files have."""
    if all(column.dates for column in columns):
        return Kind("date", "compared by the number of the day")
    if any(column.dates for column in columns):
        return Kind(TODO, "only one of the files has dates; remove the variable, or compare a year or an age")
    if not all(column.valid for column in columns):
        return Kind(TODO, "no record of one file has a value; remove the variable")
    if not all(column.is_numeric for column in columns):
        wrong = max(columns, key=lambda column: column.not_numbers / column.valid)
        few = wrong.whole and 0 < len(wrong.values) <= _FEW and not names.names_amount(wrong.name)
        if 0 < wrong.not_numbers <= wrong.valid / 20 and not few:
            return Kind(
                TODO,
                f"{wrong.not_numbers:,} of {wrong.valid:,} values of `{wrong.name}` are not numbers; declare them as "
                "missing and write `numeric`, or write `categorical`",
            )
        return Kind("categorical", "values are not numbers")
    if any(column.padded for column in columns):
        return Kind("categorical", "codes with leading zeros")
    return _kind_of_numbers(columns)


def _kind_of_numbers(columns: Sequence[DraftColumn]) -> Kind:
    levels = [MAX_LEVELS if column.levels is None else len(column.values) for column in columns]
    most = max(levels)
    levels_text = " and ".join(f"more than {MAX_LEVELS:,}" if n >= MAX_LEVELS else f"{n:,}" for n in levels)
    seldom = any(n > column.valid / 2 and n >= 5 for n, column in zip(levels, columns, strict=True))
    amount = any(names.names_amount(column.name) for column in columns)
    code = any(names.names_code(column.name) for column in columns)
    if not all(column.whole for column in columns) and (most > _FEW or seldom):
        return Kind("numeric", f"numbers with decimals, {levels_text} levels")
    if (most <= 2 or (most <= _FEW and not seldom)) and not (amount and most > 6):
        return Kind("categorical", f"{levels_text} levels")
    if code and not amount:
        return Kind(
            "categorical" if most <= 1000 else TODO, f"{levels_text} levels, and the name is that of a classification"
        )
    if amount:
        return Kind("numeric", f"numbers, {levels_text} levels, and the name is that of an amount")
    if seldom or any(_wide(column) for column in columns):
        return Kind("numeric", f"numbers of a wide range, {levels_text} levels")
    return Kind(TODO, f"whole numbers, {levels_text} levels: write `numeric` for amounts, `categorical` for codes")


def _wide(column: DraftColumn) -> bool:
    """Whether whole numbers have no common number of digits and differ by a thousand or more, as codes seldom do."""
    low, high = column.width
    return low < high and len(column.sample) > 1 and float(column.sample[-1] - column.sample[0]) >= 1000


def is_text(column: DraftColumn) -> bool:
    """Whether a column has free text, names or identifiers: most values occur once, or are long."""
    if column.is_numeric or column.dates:
        return False
    if column.levels is None:
        return True
    return column.width[1] > _MAX_CODE_LENGTH or (len(column.values) > 20 and len(column.values) > column.valid / 2)


def is_identifier(column: DraftColumn) -> bool:
    """Whether a column identifies records, or groups of them such as households, and is no variable to compare."""
    amount = column.is_numeric and (not column.whole or names.names_amount(column.name))
    if amount or column.dates:
        return False
    many = column.levels is None or len(column.values) > column.records / 3
    return column.unique or (many and names.names_key(column.name) >= 0.8)


def obstacle(column: DraftColumn) -> str:
    """Return why a column is not taken for a variable; empty if it may be one."""
    if column.valid == 0:
        return "no values"
    if is_text(column):
        some = 0 < column.not_numbers < column.valid / 2
        wrong = f"{column.not_numbers:,} of {column.valid:,} values are not numbers"
        return wrong if some else "names or free text"
    if is_identifier(column):
        return "identifies records or groups of them"
    return ""


def codes_to_show(column: DraftColumn) -> dict[str, int]:
    """Return the codes of a column that a draft may show, with their records; none of other columns.

    These are codes of a column with at most :data:`MAX_CODES` short codes, of at least :data:`MIN_RECORDS` records
    each, whose records are at least that many for each code on average.
    """
    values = column.values
    if not values or len(values) > MAX_CODES or column.unique or is_text(column) or column.dates:
        return {}
    if column.valid < MIN_RECORDS * len(values) or column.width[1] > _MAX_CODE_LENGTH:
        return {}
    return {code: rows for code, rows in values.items() if rows >= MIN_RECORDS}
