"""Coarser values of a typed column (METHODS §1)."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.keys import encode
from reident.sections.coarsening import Coarsening

SLACK = 1e-9
"""A number is the beginning of an interval if it falls short of it by at most this share of a width (METHODS §1)."""


_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The lengths of periods. Day 1, 0001-01-01, is a Monday."""

_EPOCH = date(1970, 1, 1).toordinal()


def coarsen(column: pa.Array | pa.ChunkedArray, coarsening: Coarsening, *, integer_coded: bool = False) -> pa.Array:
    """Return a typed column with coarser values; null where missing.

    Parameters
    ----------
    column : pyarrow.Array (n,)
        Text, or float64 if numeric; the result has the same type.
    integer_coded : bool
        Whether ``1`` and ``01`` are the same code.
    """
    encoded = encode(column)
    if coarsening.numeric:
        values = coarser_numbers(encoded.dictionary.to_numpy(zero_copy_only=False), coarsening)
        return pa.array(values, pa.float64()).take(encoded.indices)
    coarser = coarsening.coarser_code(integer_coded=integer_coded)
    codes = [coarser(code) for code in encoded.dictionary.to_pylist()]
    return pc.cast(pa.array(codes, pa.string()), column.type).take(encoded.indices)


def coarser_numbers(values: np.ndarray, coarsening: Coarsening) -> np.ndarray:
    """Return numbers within their ends, each as the middle of its interval; those of dates are of days; float64."""
    low, high = (None if end is None else float(end) for end in (coarsening.bottom, coarsening.top))
    if "date" in coarsening.keys:
        low, high = (
            None if end is None else float(end.toordinal()) for end in (coarsening.earliest, coarsening.latest)
        )
    if low is not None or high is not None:
        values = np.clip(values, low, high)
    if coarsening.to is not None:
        return _middles_of_periods(values, coarsening.to)
    return values if coarsening.width is None else _middles(values, coarsening.width)


def _middles_of_periods(values: np.ndarray, period: str) -> np.ndarray:
    """Return the middle of the period in which each day is: that of its first instant and of its successor's."""
    days = np.floor(values).astype(np.int64)
    if period in _DAYS:
        length = _DAYS[period]
        return (days - 1) // length * length + 1 + length / 2
    dates = (days - _EPOCH).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    first = dates // _MONTHS[period] * _MONTHS[period]
    ends = [(first + months).astype("datetime64[M]").astype("datetime64[D]") for months in (0, _MONTHS[period])]
    start, end = (one.astype(np.int64) + _EPOCH for one in ends)
    return (start + end) / 2


def _middles(values: np.ndarray, width: Fraction) -> np.ndarray:
    """Return the middle of each number's interval: (⌊x / width⌋ + ½) · width."""
    share = values / float(width)
    nearest = np.rint(share)
    at_end = np.abs(share - nearest) <= SLACK * np.maximum(np.abs(nearest), 1)
    whole, place = np.unique(np.where(at_end, nearest, np.floor(share)), return_inverse=True)
    middles = [float((2 * int(number) + 1) * width / 2) for number in whole.tolist()]
    return np.array(middles, np.float64)[place]
