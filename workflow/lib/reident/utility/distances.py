"""Values that protection changed, and distances between distributions (METHODS §13).

Every distance of counts is exact: the same records are in both files, so its denominator is their number.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from reident.linkage.bins import cut_points
from reident.utility.files import MISSING, Both
from reident.utility.settings import UtilitySettings

MAX_CELLS = 4_000_000
"""Cells of a table of two variables that are counted one by one; of a larger table, those that occur."""


def changed(both: Both) -> np.ndarray:
    """Return whether values differ; a value instead of a missing one, or the reverse, differs. bool (n,)."""
    original, released = both.sides
    if not both.numeric:
        return original != released
    return (original != released) & ~(np.isnan(original) & np.isnan(released))


def is_missing(both: Both) -> tuple[np.ndarray, np.ndarray]:
    """Return where values are missing before and after protection."""
    original, released = both.sides
    return (np.isnan(original), np.isnan(released)) if both.numeric else (original == MISSING, released == MISSING)


def total_variation(original: np.ndarray, released: np.ndarray, n_codes: int) -> Fraction:
    """Return half the sum of the differences between the shares of codes, int64 (n,) with n > 0, below `n_codes`."""
    if n_codes > MAX_CELLS:
        # Only codes that occur can differ.
        both = np.unique(np.concatenate([original, released]), return_inverse=True)[1]
        original, released = np.split(both, 2)
        n_codes = int(both.max()) + 1
    before, after = (np.bincount(codes, minlength=n_codes) for codes in (original, released))
    return Fraction(int(np.abs(before - after).sum()), 2 * len(original))


def kolmogorov_smirnov(original: np.ndarray, released: np.ndarray) -> Fraction:
    """Return the largest difference between two distribution functions; float64 (n,), n > 0.

    Missing values, NaN, are below all others.
    """
    values = np.concatenate([np.where(np.isnan(numbers), -np.inf, numbers) for numbers in (original, released)])
    distinct, code = np.unique(values, return_inverse=True)
    counts = [np.bincount(codes, minlength=len(distinct)) for codes in np.split(code, 2)]
    return Fraction(int(np.abs(np.cumsum(counts[0] - counts[1])).max()), len(original))


def hellinger(original: np.ndarray, released: np.ndarray, n_codes: int) -> float:
    """Return the Hellinger distance between the shares of codes, in [0, 1]."""
    before, after = (np.bincount(codes, minlength=n_codes).tolist() for codes in (original, released))
    squares = ((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in zip(before, after, strict=True))
    return math.sqrt(math.fsum(squares) / (2 * len(original)))


def univariate(both: Both) -> Fraction:
    """Return the distance of a variable: Kolmogorov–Smirnov if it is numeric, otherwise total variation."""
    if both.numeric:
        return kolmogorov_smirnov(*both.sides)
    return total_variation(*both.sides, len(both.labels))


def cells(settings: UtilitySettings, both: Both) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the codes of both files for tables of two variables, and their number.

    A numeric variable is cut at the quantiles of its values before protection, and 0 is a missing value.
    """
    if not both.numeric:
        return both.original, both.released, len(both.labels)
    cuts = cut_points(both.original, settings.bins, settings.ranks)
    original, released = (
        np.where(np.isnan(values), MISSING, 1 + np.searchsorted(cuts, values, side="left")) for values in both.sides
    )
    return original, released, len(cuts) + 2


def pairwise(one: tuple[np.ndarray, np.ndarray, int], other: tuple[np.ndarray, np.ndarray, int]) -> Fraction:
    """Return the total variation between two tables of the same two variables, each as :func:`cells` gives it."""
    (before, after, n_codes), (other_before, other_after, n_others) = one, other
    codes = (before * n_others + other_before, after * n_others + other_after)
    return total_variation(*codes, n_codes * n_others)
