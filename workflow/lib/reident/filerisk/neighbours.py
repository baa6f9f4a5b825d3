"""l-diversity and t-closeness of a sensitive variable among the records that match each record (METHODS §7.8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reident.filerisk import wildcards


class Diversity(NamedTuple):
    """The fewest values among the matches of a record, and the largest distance t of these; NaN without a record."""

    distinct_l: float
    t: float


def diversity_of_matches(
    codes: np.ndarray, target: np.ndarray, rule: wildcards.Rule, places: np.ndarray | None
) -> Diversity:
    """Measure the diversity of a sensitive variable; a record without a value of it is left out.

    Parameters
    ----------
    codes : int32 (n, v)
        -1 for missing.
    target : int32 (n,)
        The sensitive variable; -1 for missing.
    rule : {'either', 'within'}
        Which of two records that match may miss a value that the other has.
    places : int32 (n,), optional
        The places of the values in their order, by which t compares them; -1 for missing.
    """
    least, largest = _worst(codes, target, rule, ordered=False)
    if places is not None:
        largest = _worst(codes, places, rule, ordered=True)[1]
    return Diversity(least, largest)


def _worst(codes: np.ndarray, target: np.ndarray, rule: wildcards.Rule, *, ordered: bool) -> tuple[float, float]:
    """Return the fewest values among the matches of a record, and the largest distance of their shares."""
    inside = target >= 0
    if not inside.any():
        return float("nan"), float("nan")
    value = np.unique(target[inside], return_inverse=True)[1]
    others, place = wildcards.distinct(np.column_stack([codes[inside] + 1, value]).astype(np.int32))
    times, m = np.bincount(place), int(value.max()) + 1
    shares = np.bincount(value) / len(value)
    rows, _ = wildcards.distinct(codes[inside] + 1)
    least, largest = m, 0.0
    for span, record, other in wildcards.matching_pairs(rows - 1, others[:, :-1] - 1, rule):
        keys, at = np.unique(record.astype(np.int64) * m + others[other, -1], return_inverse=True)
        counts, owner = np.bincount(at, times[other]), keys // m
        n_values = np.bincount(owner, minlength=span.stop - span.start)
        least = min(least, int(n_values[n_values > 0].min()))
        part = counts / np.bincount(owner, counts)[owner]
        distance = _ordered if ordered else _equal
        largest = max(largest, float(distance(owner, keys % m, part, shares).max()))
    return float(least), largest


def _equal(owner: np.ndarray, value: np.ndarray, part: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return ½ Σ abs(p − q) for each owner of values, which are sorted; values that it does not have have p = 0."""
    q = shares[value]
    result: np.ndarray = (np.bincount(owner, np.abs(part - q) - q) + 1) / 2
    return result


def _ordered(owner: np.ndarray, value: np.ndarray, part: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return Σ abs(P − Q) / (m − 1) for each owner of values, which are sorted: P is the same up to its next value."""
    m = len(shares)
    if m == 1:
        return np.zeros(int(owner.max()) + 1)
    cumulated = np.cumsum(shares)
    before = np.append(0.0, np.cumsum(cumulated))
    last = np.append(owner[1:] != owner[:-1], True)
    stop = np.where(last, m, np.append(value[1:], m))
    sums = np.cumsum(part)
    total = sums - np.repeat(np.append(0.0, sums[last][:-1]), np.diff(np.flatnonzero(np.append(True, last))))
    middle = np.clip(np.searchsorted(cumulated, total), value, stop)
    away = total * (middle - value) - (before[middle] - before[value])
    away += before[stop] - before[middle] - total * (stop - middle)
    first = np.append(True, last[:-1])
    away += np.where(first, before[value], 0.0)  # below its first value P is 0
    result: np.ndarray = np.bincount(owner, away) / (m - 1)
    return result
