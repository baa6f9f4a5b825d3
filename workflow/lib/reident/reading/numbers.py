"""Convert stored numbers to text (METHODS §1).

An integer is written without a decimal point; any other number as the shortest decimal that reads back to the same
number of its type. A number beyond 2^53 (2^24 in single precision) may be the rounding of another integer: it is
written as a floating point number, and cannot be a key.
"""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from reident.reading.names import TEXT

EXACT = {np.dtype(np.float16): 2**11, np.dtype(np.float32): 2**24, np.dtype(np.float64): 2**53}
"""The limit below which every integer is represented exactly, by type."""


def double_text(values: np.ndarray) -> pa.Array:
    """Return the text of each number; the text of NaN is empty.

    Parameters
    ----------
    values : float array (n,)
        Of any precision, which determines the shortest decimal.
    """
    distinct, place = np.unique(values, return_inverse=True)
    texts = pa.array([_one(value) for value in distinct], TEXT)
    return texts.take(pa.array(place))


def _one(value: np.floating) -> str:
    number = float(value)
    if number != number:
        return ""
    if number.is_integer() and abs(number) < EXACT[value.dtype]:
        return str(int(number))
    return repr(number) if value.dtype == np.float64 else str(value)


def first_inexact(values: np.ndarray) -> int | None:
    """Return the position of the first number that is not an exactly represented integer; None if there is none.

    A NaN is accepted here: it is an empty key, which is refused when keys are compared.
    """
    with np.errstate(invalid="ignore"):
        fine = np.isnan(values) | ((values == np.floor(values)) & (np.abs(values) < EXACT[values.dtype]))
    return None if fine.all() else int(np.argmin(fine))


def date_text(days: np.ndarray, epoch: date) -> tuple[pa.Array, int | None]:
    """Return dates as YYYY-MM-DD, and the position of the first number that is not a date of the years 1 to 9999.

    Parameters
    ----------
    days : float64 (n,)
        Days since the epoch; the text of NaN is empty.
    epoch : date
    """
    distinct, place = np.unique(days, return_inverse=True)
    texts = [_day(value, epoch) for value in distinct.tolist()]
    wrong = np.array([text is None for text in texts], bool)[place]
    return pa.array(texts, TEXT).take(pa.array(place)), int(np.argmax(wrong)) if wrong.any() else None


def _day(value: float, epoch: date) -> str | None:
    if value != value:
        return ""
    try:
        return (epoch + timedelta(days=int(value))).isoformat() if value.is_integer() else None
    except OverflowError:
        return None
