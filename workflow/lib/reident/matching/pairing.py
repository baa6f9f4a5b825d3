"""Whether the records of two files correspond by their key, or by the order of their rows (METHODS §8)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from reident.intake import keys
from reident.plausibility.conversions import rank_correlation
from reident.sections.codes import number

MIN_RECORDS = 20
"""Records from which agreement is evidence of a key."""

_DEVIATIONS, _MOST = 4, 0.5
"""How many standard deviations of a correlation by chance an agreement is above it, and from where it always is."""

_FEW, _NUMBERS = 12, 0.9
"""Codes up to which codes are compared as such, and the share that are numbers from which they are numbers."""

Told = Literal["key", "rows", "neither"]


class Pairing(NamedTuple):
    """The agreement of corresponding records, of each variable: 1 if all agree, about 0 by chance; NaN of a constant.

    `records` is the number of pairs of records that are compared.
    """

    agreement: np.ndarray
    records: int

    @property
    def margin(self) -> float:
        """What an agreement by chance hardly exceeds."""
        return min(_MOST, _DEVIATIONS / math.sqrt(max(self.records, 1)))

    @property
    def is_told(self) -> bool:
        """Whether a variable agrees beyond chance; too few records tell nothing against it."""
        return self.records < MIN_RECORDS or bool((self.agreement > self.margin).any())


def pair(first: Iterable[pa.ChunkedArray], second: Iterable[pa.ChunkedArray], records: int) -> Pairing:
    """Compare the variables of two files, the records of which correspond row by row.

    The agreement of numbers, and of codes that are numbers of more than :data:`_FEW` values, is their rank correlation;
    that of other codes is Cohen's kappa. Records that miss a value, null, do not count.
    """
    return Pairing(np.array([_agreement(*_values(*both)) for both in zip(first, second, strict=True)]), records)


def _values(first: pa.ChunkedArray, second: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers, NaN where missing, or codes, negative where missing."""
    if pa.types.is_floating(first.type) or pa.types.is_integer(first.type):
        return first.to_numpy().astype(float), second.to_numpy().astype(float)
    codes, labels = keys.text_codes([first, second])
    numbers = [number(label) for label in labels.to_pylist()] if len(labels) > _FEW else []
    if sum(value is not None for value in numbers) <= _NUMBERS * len(labels):
        return codes[0], codes[1]
    values = np.array([*(math.nan if value is None else value for value in numbers), math.nan])
    return values[codes[0]], values[codes[1]]


def _agreement(first: np.ndarray, second: np.ndarray) -> float:
    is_code = first.dtype.kind == "i"
    present = (first >= 0) & (second >= 0) if is_code else ~np.isnan(first) & ~np.isnan(second)
    first, second = first[present], second[present]
    if not len(first) or min(np.ptp(first), np.ptp(second)) == 0:
        return math.nan
    if not is_code:
        return rank_correlation(first, second)
    size = int(max(first.max(), second.max())) + 1
    counts = [np.bincount(side, minlength=size) / len(side) for side in (first, second)]
    chance = float(counts[0] @ counts[1])
    return (float((first == second).mean()) - chance) / (1 - chance)


def tell(by_key: Pairing, by_row: Pairing | None) -> Told:
    """Return what shows which records correspond: the key, the order of the rows, or neither beyond chance.

    The rows do if most variables, and all on average, agree more by them than by the key, beyond chance. None for files
    of different sizes.
    """
    if by_row is not None and by_row.records >= MIN_RECORDS and by_row.is_told:
        gain = by_row.agreement - by_key.agreement
        gain = gain[~np.isnan(gain)]
        if len(gain) and min(float(gain.mean()), float(np.median(gain))) > by_row.margin:
            return "rows"
    return "key" if by_key.is_told else "neither"
