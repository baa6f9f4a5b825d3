"""Convert stored numbers to text (METHODS §1).

An integer is written without a decimal point; any other number as the shortest decimal that reads back to the same
number of its type. A number beyond 2^53 (2^24 in single precision) may be the rounding of another integer: it is
written as a floating point number, and cannot be a key.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.reading.names import TEXT

EXACT = {np.dtype(np.float16): 2**11, np.dtype(np.float32): 2**24, np.dtype(np.float64): 2**53}
"""The limit below which every integer is represented exactly, by type."""


_CERTAIN = {np.dtype(np.float32): 6, np.dtype(np.float64): 15}
"""Digits with which no two decimals are the same number of a type: one that reads back is the shortest."""

_POSITIONAL = 1e-3, 1e5
"""Numbers that Python and numpy write without an exponent, and without a fraction of many zeros."""


def double_text(values: np.ndarray) -> pa.Array:
    """Return the text of each number, of any precision, which determines the shortest decimal; that of NaN is empty."""
    bits = pa.array(np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")).dictionary_encode()
    return _texts(bits.dictionary.to_numpy().view(values.dtype)).take(bits.indices)


def _texts(values: np.ndarray) -> pa.Array:
    """Return the text of each number, by compiled code where this is certain to equal the text by Python."""
    size = np.abs(values)
    with np.errstate(invalid="ignore"):
        whole = (size < EXACT[values.dtype]) & (values == np.floor(values))
    text = pa.array(np.where(whole, values, 0).astype(np.int64)).cast(TEXT)
    parts = np.flatnonzero(~whole)
    if not len(parts):
        return text
    fraction = pa.array([""] * len(parts), TEXT)
    certain = np.zeros(len(parts), bool)
    if values.dtype in _CERTAIN:
        low, high = _POSITIONAL
        certain = (size[parts] >= low) & (size[parts] < high)
        decimals = pa.array(values[parts]).cast(TEXT)
        # All characters but the point and the sign; zeros in front count too.
        digits = pc.utf8_length(decimals).to_numpy() - 1 - (values[parts] < 0)
        certain &= digits <= _CERTAIN[values.dtype]
        fraction = decimals
    slow = pa.array(_shortest(values[parts[~certain]]), TEXT)
    fraction = pc.replace_with_mask(fraction, pa.array(~certain), slow)
    return pc.replace_with_mask(text, pa.array(~whole), fraction)


def _shortest(values: np.ndarray) -> list[str]:
    """Return the shortest decimal of each number that is not written as an integer; empty for NaN."""
    texts = map(repr, values.tolist()) if values.dtype == np.float64 else map(str, values)
    return ["" if text == "nan" else text for text in texts]


def first_inexact(values: np.ndarray) -> int | None:
    """Return the position of the first number that is not an exactly represented integer; None if there is none.

    A NaN is accepted here: it is an empty key, which is refused when keys are compared.
    """
    with np.errstate(invalid="ignore"):
        fine = np.isnan(values) | ((values == np.floor(values)) & (np.abs(values) < EXACT[values.dtype]))
    return None if fine.all() else int(np.argmin(fine))


def date_text(days: np.ndarray, epoch: date) -> tuple[pa.Array, int | None]:
    """Return dates as YYYY-MM-DD, and the position of the first number that is not a date of the years 1 to 9999.

    Days are counted since the epoch; the text of NaN is empty.
    """
    bits = pa.array(np.ascontiguousarray(days, np.float64).view(np.uint64)).dictionary_encode()
    texts = pa.array([_day(value, epoch) for value in bits.dictionary.to_numpy().view(np.float64).tolist()], TEXT)
    text = texts.take(bits.indices)
    return text, pc.index(text.is_null(), True).as_py() if text.null_count else None


def moment_text(units: np.ndarray, epoch: date, per_second: int) -> tuple[pa.Array, int | None]:
    """Return points in time as YYYY-MM-DD hh:mm:ss, to the microsecond; see :func:`date_text`."""
    encoded = pa.array(units, pa.float64(), mask=np.isnan(units)).dictionary_encode()
    texts = pa.array([_moment(value, epoch, per_second) for value in encoded.dictionary.to_pylist()], TEXT)
    wrong = pc.fill_null(pc.is_null(texts).take(encoded.indices), False)
    text = pc.fill_null(texts.take(encoded.indices), "")
    return text, pc.index(wrong, True).as_py() if wrong.true_count else None


def _moment(value: float, epoch: date, per_second: int) -> str | None:
    try:
        moment = datetime.combine(epoch, time()) + timedelta(microseconds=round(value * 10**6 / per_second))
    except OverflowError:
        return None
    return moment.isoformat(" ").rstrip("0") if moment.microsecond else moment.isoformat(" ")


def _day(value: float, epoch: date) -> str | None:
    if value != value:
        return ""
    try:
        return (epoch + timedelta(days=int(value))).isoformat() if value.is_integer() else None
    except OverflowError:
        return None
