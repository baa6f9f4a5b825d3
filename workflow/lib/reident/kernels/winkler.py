"""Winkler: the pairs that agree on the most variables, from windows of sorted values (METHODS §4.5, §5).

An EIF value agrees with a record of the PUF where it lies in the record's range of the variable. Ranges
are windows of the EIF sorted by that variable, so that only records in some window are looked at:
the shortest window first, and none any more once a record outside all windows so far could not
agree on enough of the remaining ones.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit
from reident.kernels.toplist import empty_best, in_threads, listed, offer, settle

MOST_RECORDS = 2**31 - 1


class Sorted(NamedTuple):
    """The EIF by each variable.

    ``order`` is int32 (v, n_eif): the records that are not missing, by value. ``position`` is int32
    (n_eif, v): where a record stands in that order, -1 where it is missing.
    """

    order: np.ndarray
    position: np.ndarray


@jit
def _scan(first, end, low, high, order, position, most, keep, best):
    """The PUF records [first, end); a level is the number of variables that do not agree, at most ``most``."""
    v = low.shape[1]
    levels, eifs, which = np.empty(keep + 1, np.int64), np.empty(keep + 1, np.int32), np.empty(v, np.int64)
    for i in range(first, end):
        windows = _shortest_first(low[i], high[i], which)
        count, bound = 0, most + 1
        for t in range(windows):
            least = v - (windows - t)  # the best level of a record that is in none of the windows before
            if least >= bound:
                break
            j = which[t]
            for place in range(low[i, j], high[i, j]):
                r = order[j, place]
                level = v - 1
                for u in range(windows):
                    p = position[r, which[u]]
                    if low[i, which[u]] <= p < high[i, which[u]] and u != t:
                        if u < t:
                            level = bound  # met in that window
                            break
                        level -= 1
                if level < bound:
                    count = offer(levels, eifs, count, level, r)
                    if count == keep + 1:
                        bound = levels[keep]
                        if least >= bound:
                            break
        settle(levels, eifs, count, best, i)


@jit
def _shortest_first(low, high, which):
    """The variables whose windows are not empty, by their lengths; returns how many."""
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


def sort_records(eif: np.ndarray) -> tuple[Sorted, list[np.ndarray]]:
    """The EIF by each variable, and the sorted values of each; float64 (n_eif, v), NaN for missing."""
    n, v = eif.shape
    order, position = np.empty((v, n), np.int32), np.full((n, v), -1, np.int32)
    values = []
    for j in range(v):
        by_value = np.argsort(eif[:, j], kind="stable")  # NaN last
        present = by_value[: n - int(np.isnan(eif[:, j]).sum())]
        order[j, : len(present)] = present
        position[present, j] = np.arange(len(present))
        values.append(eif[present, j])
    return Sorted(order, position), values


def most_agreements(
    low: np.ndarray,
    high: np.ndarray,
    eif: np.ndarray,
    *,
    min_agree: int,
    keep: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of each PUF record that agree on most variables, at the ranks with at most ``keep`` pairs.

    Parameters
    ----------
    low, high : float64 (n_puf, v)
        The range, ends included, of the EIF values that agree; infinite where it has no end, NaN where the
        value is missing. An empty range has ``low`` above ``high``.
    eif : float64 (n_eif, v)
        Values, or codes of categories; NaN for missing, which agrees with nothing.
    min_agree : int
        The smallest number of agreeing variables of a suspected pair, at least 1.
    keep : int
        The largest cumulative number of pairs of a rank that is returned, at least 1.
    threads : int
        The result does not depend on it.
    progress : callable, optional
        Called now and then with the fraction done.

    Returns
    -------
    puf, eif : int64 (m,)
        Positions, sorted by puf, most agreements first, eif.
    agreements : int64 (m,)
        The number of variables that agree, ``min_agree`` to v.
    crowded : bool (n_puf,)
        Records whose best rank alone has more than ``keep`` pairs; they have no pair in the result.

    Raises
    ------
    ValueError
        Where shapes disagree, or ``min_agree`` or ``keep`` is below 1.
    """
    if low.ndim != 2 or low.shape != high.shape or eif.ndim != 2 or eif.shape[1] != low.shape[1]:
        raise ValueError("low, high and eif need one row per record and the same columns.")
    if min_agree < 1 or keep < 1:
        raise ValueError("min_agree and keep must be at least 1.")
    if max(len(low), len(eif)) > MOST_RECORDS:
        raise ValueError(f"a file has more than {MOST_RECORDS} records.")
    n_puf, v = low.shape
    best = empty_best(n_puf, keep)
    if n_puf and len(eif) and min_agree <= v:
        (order, position), values = sort_records(eif)
        start, stop = np.zeros((n_puf, v), np.int32), np.zeros((n_puf, v), np.int32)
        for j in range(v):
            known = ~np.isnan(low[:, j])
            start[known, j] = np.searchsorted(values[j], low[known, j], side="left")
            stop[known, j] = np.searchsorted(values[j], high[known, j], side="right")

        def work(first: int, end: int) -> None:
            _scan(first, end, start, stop, order, position, v - min_agree, keep, best)

        in_threads(work, n_puf, block=256, threads=threads, progress=progress)
    puf, found, level, crowded = listed(best)
    return puf, found, v - level, crowded
