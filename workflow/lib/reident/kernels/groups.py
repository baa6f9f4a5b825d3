"""Micro-aggregation of one variable: sort, groups of k, each value replaced by its group's (METHODS §9)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np


def sizes(n: int, k: int) -> np.ndarray:
    """The sizes of the groups of n sorted values, lowest first: k each, the last takes the remainder.

    One group of n where n is below 2·k; none where n is 0.
    """
    if not n:
        return np.empty(0, np.int64)
    counts = np.full(max(1, n // k), k, np.int64)
    counts[-1] = n - k * (len(counts) - 1)
    return counts


def microaggregate(values: np.ndarray, k: int, aggregate: Literal["mean", "median"] = "mean") -> np.ndarray:
    """Replace each value by the mean or median of its group.

    Parameters
    ----------
    values : float64 (n,)
        NaN is missing, stays missing and is in no group. Records stand in an order that has a meaning, such as that
        of their keys: equal values that do not fit into one group are dealt out in it.
    k : int
        The size of a group, at least 1; the last group, of the largest values, has k … 2·k − 1.
    aggregate : {'mean', 'median'}
        The mean is that of the correctly rounded sum, never outside the range of the group, and does not depend on the
        order of summation. The median of an even number of values is the mean of the two in the middle.
    """
    present = np.flatnonzero(~np.isnan(values))
    order = present[np.argsort(values[present], kind="stable")]
    ordered, counts = values[order], sizes(len(order), k)
    starts = np.cumsum(counts) - counts
    of_group = _medians(ordered, starts, counts) if aggregate == "median" else _means(ordered, starts, counts)
    masked = np.full(len(values), np.nan)
    masked[order] = np.repeat(of_group, counts)
    return masked


def _means(ordered: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    listed = ordered.tolist()
    ends = zip(starts.tolist(), counts.tolist(), strict=True)
    sums = np.array([math.fsum(listed[start : start + count]) for start, count in ends], np.float64)
    return np.clip(sums / counts, ordered[starts], ordered[starts + counts - 1])


def _medians(ordered: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    low, high = ordered[starts + (counts - 1) // 2], ordered[starts + counts // 2]
    return np.where(low == high, low, low / 2 + high / 2)
