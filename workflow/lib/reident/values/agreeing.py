"""Which records have the values of a person: equal categories, and numbers within a tolerance (METHODS §14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reident.sections.exact import ULPS

PAIRS = 2**22
"""Pairs that are compared at a time; the memory that they take."""


class Values(NamedTuple):
    """The values of records that an intruder learns.

    Attributes
    ----------
    group : int64 (n,)
        Equal where the stratum and all learnt categories are equal; -1 for a record in no stratum, or that misses a
        value.
    numbers : float64 (n, q)
        The learnt numbers.
    """

    group: np.ndarray
    numbers: np.ndarray

    def take(self, rows: np.ndarray) -> Values:
        """Return the values of some records."""
        return Values(self.group[rows], self.numbers[rows])


def agree(people: Values, others: Values, within: Sequence[float]) -> np.ndarray:
    """Return whether each record has the values of the person in its place; bool (n,)."""
    equal = (people.group == others.group) & (people.group >= 0)
    for at, tolerance in enumerate(within):
        equal &= agree_numbers(others.numbers[:, at], people.numbers[:, at], tolerance)
    return equal


def agree_numbers(numbers: np.ndarray, true: np.ndarray, within: float) -> np.ndarray:
    """Return whether numbers are within a tolerance of the true ones; a missing one is not; bool (n,)."""
    low, high = _ends(true, within)
    return (numbers >= low) & (numbers <= high)


def n_agreeing(people: Values, others: Values, within: Sequence[float]) -> np.ndarray:
    """Return how many records have the values of each person, in the stratum of the person; int64 (n,)."""
    others = others.take(np.flatnonzero(others.group >= 0))
    first = others.numbers[:, 0] if within else np.zeros(len(others.group))
    distinct = np.unique(first)
    width = len(distinct) + 1
    place = others.group * width + np.searchsorted(distinct, first)
    order = np.argsort(place, kind="stable")
    low, high = _ends(people.numbers[:, 0], within[0]) if within else (np.zeros(len(people.group)),) * 2
    base = people.group * width
    start = np.searchsorted(place[order], base + np.searchsorted(distinct, low, "left"))
    stop = np.searchsorted(place[order], base + np.searchsorted(distinct, high, "right"))
    number = np.where(people.group >= 0, stop - start, 0)
    return number if len(within) < 2 else _of_pairs(people, others.take(order), start, number, within)


def _of_pairs(
    people: Values, others: Values, start: np.ndarray, number: np.ndarray, within: Sequence[float]
) -> np.ndarray:
    """Count the records that agree on every number, among those of each person that agree on the first."""
    ends, n = np.cumsum(number), np.zeros(len(number), np.int64)
    first = 0
    while first < len(number):
        before = ends[first] - number[first]
        last = max(first + 1, int(np.searchsorted(ends, before + PAIRS, "right")))
        who = np.repeat(np.arange(first, last), number[first:last])
        rows = np.arange(len(who)) - (ends - number - before)[who] + start[who]
        n[first:last] = np.bincount(
            who[agree(people.take(who), others.take(rows), within)] - first, minlength=last - first
        )
        first = last
    return n


def _ends(numbers: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest number within a tolerance: decimals such as 0.3 have no exact binary form."""
    slack = ULPS * (np.abs(numbers) + tolerance) if tolerance else 0.0
    return numbers - tolerance - slack, numbers + tolerance + slack


def modes(values: Values, stratum: np.ndarray) -> tuple[Values, np.ndarray]:
    """Return the most frequent values of each stratum, all of them where several are, and the stratum of each.

    Equal numbers count as one value here, whatever the tolerance.
    """
    known = np.flatnonzero(values.group >= 0)
    columns = [stratum[known], values.group[known], *values.numbers[known].T]
    order = known[np.lexsort(columns[::-1])]
    rows = np.column_stack([stratum[order], values.group[order], values.numbers[order]])
    new = np.append(True, (rows[1:] != rows[:-1]).any(axis=1)) if len(order) else np.zeros(0, bool)
    start = np.flatnonzero(new)
    size = np.diff(start, append=len(order))
    largest = np.zeros(int(stratum.max(initial=-1)) + 1, np.int64)
    np.maximum.at(largest, stratum[order[start]], size)
    chosen = order[start[size == largest[stratum[order[start]]]]]
    return values.take(chosen), stratum[chosen]
