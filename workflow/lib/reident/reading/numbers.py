"""How stored numbers become text (METHODS §1).

A whole number is written as one, without a decimal point; any other as the shortest decimal that reads
back to the same number of its type. A number beyond 2^53 (2^24 in single precision) may be the rounding of
another: it keeps the form of a floating point number, and cannot be a key.
"""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from reident.reading.names import TEXT

EXACT = {np.dtype(np.float16): 2**11, np.dtype(np.float32): 2**24, np.dtype(np.float64): 2**53}
"""Below this in size every whole number of the type is itself."""


def double_text(values: np.ndarray) -> pa.Array:
    """The text of each number; a NaN is empty.

    Parameters
    ----------
    values : float array (n,)
        Of any precision; the shortest decimal is that of its type.
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
    """The position of the first number that is no key: not whole, or beyond what its type holds exactly.

    A NaN is none: it is an empty key, which is refused where keys are compared.
    """
    with np.errstate(invalid="ignore"):
        fine = np.isnan(values) | ((values == np.floor(values)) & (np.abs(values) < EXACT[values.dtype]))
    return None if fine.all() else int(np.argmin(fine))


def date_text(days: np.ndarray, epoch: date) -> tuple[pa.Array, int | None]:
    """Dates as YYYY-MM-DD, and the position of the first that is no whole day of the years 1 to 9999.

    Parameters
    ----------
    days : float64 (n,)
        Since the epoch; a NaN is empty.
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
