"""Winkler: the pairs that agree on the most variables, from windows of sorted values (METHODS §4.5, §5).

An EIF value agrees with a PUF record if it is within the record's range of the variable. With the EIF sorted
by that variable, a range is a window. A record that is in no window agrees on nothing, so that only records in
windows are compared: those of the shortest window first, and of a further window only while a record outside all
windows before it could still agree on enough variables.
"""

from typing import NamedTuple, Unpack

import numpy as np

from reident.kernels.compiling import jit
from reident.kernels.toplist import Pairs, Workers, bound_of, check, empty_best, in_threads, list_pairs, offer, settle


class SortedRecords(NamedTuple):
    """The EIF by each variable."""

    order: np.ndarray  # int32 (v, n_eif): the records that do not miss the variable, by value
    position: np.ndarray  # int32 (n_eif, v): position of a record in it, -1 where it misses the variable


@jit
def _scan(first, end, low, high, order, position, most, keep, best):
    """Find the pairs of PUF records first to end - 1 with at most ``most`` variables that do not agree: the level."""
    v = low.shape[1]
    levels, eifs, which = np.empty(keep + 1, np.int64), np.empty(keep + 1, np.int32), np.empty(v, np.int64)
    for i in range(first, end):
        windows = _sort_windows(low[i], high[i], which)
        count, bound = 0, most + 1
        for t in range(windows):
            least = v - (windows - t)  # the best level of a record that is in no window before this one
            if least >= bound:
                break
            j = which[t]
            for at in range(low[i, j], high[i, j]):
                r = order[j, at]
                level = v - 1
                for u in range(windows):
                    p = position[r, which[u]]
                    if low[i, which[u]] <= p < high[i, which[u]] and u != t:
                        if u < t:
                            level = bound  # the record was compared in that window
                            break
                        level -= 1
                if level < bound:
                    count = offer(levels, eifs, count, level, r)
                    if count > keep:
                        bound = bound_of(levels, 0)
                        if least >= bound:
                            break
        settle(levels, eifs, count, best, i)


@jit
def _sort_windows(low, high, which):
    """Write the variables whose windows are not empty, the shortest window first; return how many there are."""
    windows = 0
    for j in range(low.size):
        length = high[j] - low[j]
        if length > 0:
            a = windows
            while a > 0 and high[which[a - 1]] - low[which[a - 1]] > length:
                which[a] = which[a - 1]
                a -= 1
            which[a] = j
            windows += 1
    return windows


def sort_records(eif: np.ndarray) -> tuple[SortedRecords, list[np.ndarray]]:
    """Sort the EIF, float64 (n_eif, v) with NaN for missing, by each variable; return the sorted values too."""
    n, v = eif.shape
    order, position = np.empty((v, n), np.int32), np.full((n, v), -1, np.int32)
    values = []
    for j in range(v):
        by_value = np.argsort(eif[:, j], kind="stable")  # NaN last
        present = by_value[: n - int(np.isnan(eif[:, j]).sum())]
        order[j, : len(present)] = present
        position[present, j] = np.arange(len(present))
        values.append(eif[present, j])
    return SortedRecords(order, position), values


def most_agreements(
    low: np.ndarray, high: np.ndarray, eif: np.ndarray, *, min_agree: int, keep: int, **workers: Unpack[Workers]
) -> Pairs:
    """Return the pairs of each PUF record that agree on most variables, at the ranks with at most ``keep`` pairs.

    Parameters
    ----------
    low, high : float64 (n_puf, v)
        The closed range of the EIF values that agree; infinite where it has no end, NaN where the
        value is missing. A range with ``low`` above ``high`` is empty.
    eif : float64 (n_eif, v)
        Values, or codes of categories; NaN for missing, which agrees with nothing.
    min_agree : int
        The smallest number of agreeing variables of a suspected pair, at least 1.
    keep, **workers
        See `toplist`.

    Returns
    -------
    Pairs
        By the number of variables that agree, the highest first.

    Notes
    -----
    Source: METHODS §4.5, §5; Winkler 2002.
    """
    check(low, eif, keep)
    if low.shape != high.shape:
        raise ValueError("low and high must have the same columns and records.")
    if min_agree < 1:
        raise ValueError("min_agree must be at least 1.")
    n_puf, v = low.shape
    best = empty_best(n_puf, keep)
    if n_puf and len(eif) and min_agree <= v:
        (order, position), values = sort_records(eif)
        start, stop = np.zeros((n_puf, v), np.int32), np.zeros((n_puf, v), np.int32)
        for j in range(v):
            present = ~np.isnan(low[:, j])
            start[present, j] = np.searchsorted(values[j], low[present, j], side="left")
            stop[present, j] = np.searchsorted(values[j], high[present, j], side="right")

        def work(first: int, end: int) -> None:
            _scan(first, end, start, stop, order, position, v - min_agree, keep, best)

        in_threads(work, n_puf, block=256, **workers)
    pairs = list_pairs(best)
    return pairs._replace(level=v - pairs.level, next_level=v - pairs.next_level)
