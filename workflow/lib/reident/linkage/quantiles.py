"""Cut points of values, by scope (METHODS §3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from reident.linkage import batches

MAX_TOGETHER = 2**10
"""Records of a scope whose values are sorted with those of others; a larger one takes less time by itself."""


class Ascending(NamedTuple):
    """The values that are not missing, scope by scope, ascending in each.

    Attributes
    ----------
    values : float64 (n,)
    starts, counts : int64 (n_scopes,)
        Where the values of each scope begin, and how many there are; NaN follows them.
    """

    values: np.ndarray
    starts: np.ndarray
    counts: np.ndarray


def ascending(parts: Iterable[tuple[np.ndarray, np.ndarray]], sizes: np.ndarray) -> Ascending:
    """Put values in order, holding each of them once.

    Parameters
    ----------
    parts : iterable of (float64 (m,), int (m,))
        The values of records, NaN missing, and the scope of each record, -1 for none.
    sizes : int64 (n_scopes,)
        The number of records of each scope, with and without a value.
    """
    ends = np.cumsum(sizes)
    starts, counts = ends - sizes, np.zeros(len(sizes), np.int64)
    ordered = np.full(int(ends[-1]) if len(ends) else 0, np.nan)
    for values, scope in parts:
        rows = np.flatnonzero(~np.isnan(values) & (scope >= 0))
        scopes = scope[rows].astype(np.min_scalar_type(-max(len(sizes), 1)))  # small numbers are sorted faster
        n = np.bincount(scopes, minlength=len(sizes))
        first = starts + counts - (np.cumsum(n) - n)  # less those of the scopes before it
        ordered[np.repeat(first, n) + np.arange(len(scopes))] = values[rows[np.argsort(scopes, kind="stable")]]
        counts += n
    _sort(ordered, np.append(0, ends))
    return Ascending(ordered, starts, counts)


def _sort(values: np.ndarray, bounds: np.ndarray) -> None:
    """Sort the values between successive bounds, in place; NaN comes last."""
    large = np.flatnonzero(np.diff(bounds) > MAX_TOGETHER).tolist()
    for place in large:
        values[bounds[place] : bounds[place + 1]].sort()
    for begin, stop in zip([0, *(place + 1 for place in large)], [*large, len(bounds) - 1], strict=True):
        at = begin
        while at < stop:
            end = int(np.searchsorted(bounds, bounds[at] + batches.ROWS, side="right")) - 1
            end = min(max(end, at + 1), stop)
            together = values[bounds[at] : bounds[end]]
            scope = np.repeat(np.arange(end - at), np.diff(bounds[at : end + 1]))
            together[:] = together[np.lexsort((together, scope))]
            at = end


def cut_points_of(sorted_values: Ascending, bins: int, ranks: Literal["mean", "high"] | None = None) -> np.ndarray:
    """Return :func:`reident.linkage.bins.cut_points` of the values of each scope.

    The rows ascend, float64 (n_scopes, bins − 1); they are NaN if every value of the scope is missing.
    """
    cuts, occupied = np.full((len(sorted_values.counts), bins - 1), np.nan), np.flatnonzero(sorted_values.counts)
    if not len(occupied):
        return cuts
    first, n = sorted_values.starts[occupied, np.newaxis], sorted_values.counts[occupied, np.newaxis]
    if ranks is not None:
        cuts[occupied] = _group_ends(sorted_values.values, first, n, bins, ranks)
        return cuts
    rank, remainder = np.divmod(n * np.arange(1, bins), bins)
    low = sorted_values.values[first + np.where(remainder == 0, rank - 1, rank)]
    high = sorted_values.values[first + rank]
    cuts[occupied] = np.where(low == high, low, low / 2 + high / 2)
    return cuts


def _group_ends(
    values: np.ndarray, first: np.ndarray, n: np.ndarray, bins: int, ranks: Literal["mean", "high"]
) -> np.ndarray:
    """Return for each group but the last its largest value, or that of the group before if it is empty, by scope.

    Before all values, an empty group ends just below them. The n values of a scope begin at `first`; both are
    int64 (m, 1).

    A value is in a group below k if twice its rank is at most `most`. Those of a rank above most / 2 are not, those
    below the value of this rank are, and of the value itself the ranks of its first and its last record decide.
    """
    most = -(-2 * np.arange(1, bins) * (n + 1) // bins) - 1
    middle = first + np.clip(most // 2, 1, n) - 1
    value = values[middle]
    begin = _search(values, np.broadcast_to(first, middle.shape), middle, value, after=False)
    end = _search(values, middle, np.broadcast_to(first + n, middle.shape), value, after=True)
    twice_rank = 2 * (end - first) if ranks == "high" else begin - first + 1 + end - first
    before = np.where(begin > first, values[np.maximum(begin - 1, first)], np.nextafter(values[first], -np.inf))
    return np.where(twice_rank <= most, value, before)


def _search(ordered: np.ndarray, low: np.ndarray, high: np.ndarray, values: np.ndarray, *, after: bool) -> np.ndarray:
    """Return where each value would go between `low` and `high` to keep the order: before equal values, or after."""
    while (low < high).any():
        middle = (low + high) // 2
        pivots = ordered[np.minimum(middle, len(ordered) - 1)]
        right = (low < high) & ((pivots <= values) if after else (pivots < values))
        low, high = np.where(right, middle + 1, low), np.where(right, high, np.minimum(middle, high))
    return low
