"""Matches between records in which a missing value matches every value (`missing: wildcard`, METHODS §7).

Matching is no longer transitive, so there are no cells. Records are counted variable by variable: all records that
start with the same values are followed together, beside the others that match these values. The work grows with the
matches of such beginnings, not with the number of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MAX_FOLLOWED = 1 << 22
"""Pairs of a beginning and a record that are followed at a time, unless a single beginning has more."""


def matches(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Count, for each record, the others that are equal to it on every variable that both have.

    Parameters
    ----------
    codes, others : int32 (n, v), (m, v)
        The same codes in both; -1 for missing.

    Returns
    -------
    int64 (n,)
        From 0 to m.
    """
    return weighted_matches(codes, others, np.ones(len(others))).astype(np.int64)


def weighted_matches(codes: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sum of the weights of the others that match each record; float64 (n,), whatever their order.

    Parameters
    ----------
    codes, others : int32 (n, v), (m, v)
        As :func:`matches` takes them.
    weights : float64 (m,)
    """
    if not len(codes) or not len(others):
        return np.zeros(len(codes))
    order = _by_distinction(others)
    others, place = np.unique(others[:, order] + 1, axis=0, return_inverse=True)
    sort = np.lexsort([weights, place.ravel()])
    return _sums(codes[:, order] + 1, others, np.bincount(place.ravel()[sort], weights[sort], minlength=len(others)))


def independent_pairs(codes: np.ndarray, paired: np.ndarray) -> float:
    """Return how many independent events the records are that match exactly one other record.

    Records that match the same record are one event, however many they are: the number is (Σ size)² / Σ size² over the
    events, and half of the records where each is the other's match.

    Parameters
    ----------
    codes : int32 (n, v)
    paired : bool (n,)
        These records.
    """
    rows = np.flatnonzero(paired)
    other = weighted_matches(codes[rows], codes, np.arange(len(codes))).astype(np.int64) - rows
    sizes = np.unique(np.where(paired[other], np.minimum(rows, other), other), return_counts=True)[1]
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if len(rows) else 0.0


def _sums(codes: np.ndarray, others: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the sum of ``times`` over the others, all different, that match each record; 0 is missing."""
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    result = np.zeros(len(rows))
    everyone = np.arange(len(others), dtype=np.int32)
    todo = [_Followed(0, 0, np.zeros(len(rows), np.int64), np.zeros(len(others), np.int32), everyone)]
    while todo:
        part = todo.pop()
        if part.at == rows.shape[1]:
            counts = np.bincount(part.group, times[part.record], minlength=int(part.beginning[-1]) + 1)
            result[part.start : part.start + len(part.beginning)] = counts[part.beginning]
        else:
            todo += _longer(part, rows, others)
    return result[place.ravel()]


def _by_distinction(codes: np.ndarray) -> np.ndarray:
    """Return the variables, the one on which the fewest pairs match first."""
    share = []
    for column in codes.T:
        present = column[column >= 0]
        equal = (np.bincount(present) / len(column)) ** 2 if len(present) else np.zeros(1)
        share.append(1 - (len(present) / len(column)) ** 2 + equal.sum())
    return np.argsort(share, kind="stable")


class _Followed(NamedTuple):
    """Rows that are followed together, and the records that match their beginnings."""

    at: int  # variables in the beginnings
    start: int  # the first of the rows, which are sorted
    beginning: np.ndarray  # the number of each row's beginning, from 0; int64 (rows,)
    group: np.ndarray  # each beginning with each record that matches it; int32
    record: np.ndarray


def _longer(part: _Followed, rows: np.ndarray, others: np.ndarray) -> list[_Followed]:
    """Return the same rows with beginnings that are longer by a variable, or two halves if these are too many."""
    at, start, beginning, group, record = part
    levels, value = rows[start : start + len(beginning), at], others[record, at]
    base, n_groups = int(max(levels.max(), value.max(initial=0))) + 1, int(beginning[-1]) + 1
    keys, longer = np.unique(beginning * base + levels, return_inverse=True)
    first = np.searchsorted(keys, np.arange(n_groups + 1) * base)
    has_value = value > 0
    # A missing value of a record matches every longer beginning; another value those with the same one and the missing.
    n_children = np.where(has_value, 0, np.diff(first)[group])
    if n_groups > 1 and (2 * len(group) + n_children.sum() > MAX_FOLLOWED or n_groups * base > MAX_FOLLOWED):
        return _halves(part, n_groups // 2)
    child = np.full(n_groups * base, -1, np.int32)
    child[keys] = np.arange(len(keys))
    cell = group.astype(np.int64) * base
    parts = [(child[(cell + value)[has_value]], record[has_value]), (child[cell[has_value]], record[has_value])]
    offset = np.arange(n_children.sum()) - np.repeat(np.cumsum(n_children) - n_children, n_children)
    parts.append(((np.repeat(first[group], n_children) + offset).astype(np.int32), np.repeat(record, n_children)))
    groups, records = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return [_Followed(at + 1, start, longer, groups[groups >= 0], records[groups >= 0])]


def _halves(part: _Followed, middle: int) -> list[_Followed]:
    """Return the rows with beginnings below a number, and the others."""
    at, start, beginning, group, record = part
    split, low = int(np.searchsorted(beginning, middle)), group < middle
    return [
        _Followed(at, start, beginning[:split], group[low], record[low]),
        _Followed(at, start + split, beginning[split:] - middle, group[~low] - middle, record[~low]),
    ]
