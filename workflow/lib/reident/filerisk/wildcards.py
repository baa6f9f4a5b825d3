"""Matches between records in which a missing value matches every value (`missing: wildcard`, METHODS §7, §7.8).

Matching is no longer transitive, so there are no cells. Records are counted variable by variable: all records that
start with the same values are followed together, beside the others that match these values. The work grows with the
matches of such beginnings, not with the number of pairs.

Two records match if they are equal on every variable that both have. A `rule` may ask for more: `WITHIN`, that the
record has every value that the other has, `COVERING`, that the other has every value that the record has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

MAX_FOLLOWED = 1 << 22
"""Pairs of a beginning and a record that are followed at a time, unless a single beginning has more."""

MAX_WORD = 2**62
"""Combinations of codes that one sorted word tells apart."""

Rule = Literal["either", "within", "covering"]
EITHER: Rule = "either"
WITHIN: Rule = "within"
COVERING: Rule = "covering"
"""Which of two records that match may miss a value that the other has: either of them, the other alone, or the record
alone."""


def matches(codes: np.ndarray, others: np.ndarray, rule: Rule = EITHER) -> np.ndarray:
    """Count, for each record, the others that match it.

    Parameters
    ----------
    codes, others : int32 (n, v), (m, v)
        The same codes in both; -1 for missing.
    rule : {'either', 'within', 'covering'}
        Which of two records that match may miss a value that the other has.

    Returns
    -------
    int64 (n,)
        From 0 to m.
    """
    return weighted_matches(codes, others, np.ones(len(others)), rule).astype(np.int64)


def weighted_matches(codes: np.ndarray, others: np.ndarray, weights: np.ndarray, rule: Rule = EITHER) -> np.ndarray:
    """Return the sum of the weights of the others that match each record; float64 (n,), whatever their order.

    Parameters
    ----------
    codes, others : int32 (n, v), (m, v)
        As :func:`matches` takes them, and `rule`.
    weights : float64 (m,)
    """
    return _sums(codes, others, weights[np.newaxis], rule)[0]


def counted_and_weighed(codes: np.ndarray, weights: np.ndarray, rule: Rule = EITHER) -> tuple[np.ndarray, np.ndarray]:
    """Return how many records of the file match each record, int64 (n,), and the sum of their weights, float64 (n,)."""
    counts, sums = _sums(codes, codes, np.stack([np.ones(len(codes)), weights]), rule)
    return counts.astype(np.int64), sums


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


def _sums(codes: np.ndarray, others: np.ndarray, weights: np.ndarray, rule: Rule) -> np.ndarray:
    """Return the sums of weights, float64 (k, m), over the others that match each record: float64 (k, n)."""
    if not len(codes) or not len(others):
        return np.zeros((len(weights), len(codes)))
    order = _by_distinction(others)
    rows, place = distinct(codes[:, order] + 1)
    columns, at = distinct(others[:, order] + 1)
    sorts = [np.lexsort([column, at]) for column in weights]
    times = [
        np.bincount(at[sort], column[sort], minlength=len(columns)) for sort, column in zip(sorts, weights, strict=True)
    ]
    result = np.zeros((len(weights), len(rows)))
    for part in _followed(rows, columns, rule):
        span = slice(part.start, part.start + len(part.beginning))
        for line, values in zip(result, times, strict=True):
            line[span] = np.bincount(part.group, values[part.record], minlength=int(part.beginning[-1]) + 1)[
                part.beginning
            ]
    return result[:, place]


def distinct(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different rows of codes from 0, int32 (n, v), in the order of their values, and the place of each.

    The same as :func:`numpy.unique` along the first axis, which sorts rows one by one.
    """
    levels = codes.max(axis=0, initial=0).astype(np.int64) + 1
    words, n_words = [np.zeros(len(codes), np.int64)], 1
    for column, n_levels in zip(codes.T, levels.tolist(), strict=True):
        if (n_words := n_words * n_levels) > MAX_WORD:
            words.append(np.zeros(len(codes), np.int64))
            n_words = n_levels
        words[-1] = words[-1] * n_levels + column
    order = np.lexsort(words[::-1])
    begins = np.ones(len(codes), bool)
    begins[1:] = np.any([word[order[1:]] != word[order[:-1]] for word in words], axis=0)
    place = np.empty(len(codes), np.int64)
    place[order] = np.cumsum(begins) - 1
    return codes[order[begins]], place


def matching_pairs(
    codes: np.ndarray, others: np.ndarray, rule: Rule = EITHER
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield all pairs of a record and another one that match, for some records at a time.

    Parameters
    ----------
    codes : int32 (n, v)
        All different, in the order of their values.
    others : int32 (m, v)
        As :func:`matches` takes them, and `rule`.

    Yields
    ------
    records : slice
        Of `codes`; each record is in one of them.
    record, other : int32 (pairs,)
        The place of the record in the slice, and that of the other in `others`.
    """
    for part in _followed(codes + 1, others + 1, rule):
        yield slice(part.start, part.start + len(part.beginning)), part.group, part.record


def _followed(rows: np.ndarray, others: np.ndarray, rule: Rule) -> Iterator[_Followed]:
    """Yield the different rows, which are sorted, as whole beginnings with all others that match them; 0 is missing."""
    everyone = np.arange(len(others), dtype=np.int32)
    todo = [_Followed(0, 0, np.zeros(len(rows), np.int64), np.zeros(len(others), np.int32), everyone)]
    while todo:
        part = todo.pop()
        if part.at == rows.shape[1]:
            yield part
        else:
            todo += _longer(part, rows, others, rule)


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


def _longer(part: _Followed, rows: np.ndarray, others: np.ndarray, rule: Rule) -> list[_Followed]:
    """Return the same rows with beginnings that are longer by a variable, or two halves if these are too many."""
    at, start, beginning, group, record = part
    levels, value = rows[start : start + len(beginning), at], others[record, at]
    base, n_groups = int(max(levels.max(), value.max(initial=0))) + 1, int(beginning[-1]) + 1
    keys = beginning * base + levels  # sorted, as the rows are
    begins = np.append(True, keys[1:] != keys[:-1])
    keys, longer = keys[begins], np.cumsum(begins) - 1
    first = np.searchsorted(keys, np.arange(n_groups + 1) * base)
    has_value = value > 0
    # A missing value of another record matches every longer beginning, a value those with the same one and the missing,
    # as far as the rule lets them.
    n_children = np.where(has_value | (rule == COVERING), 0, np.diff(first)[group])
    if n_groups > 1 and (2 * len(group) + n_children.sum() > MAX_FOLLOWED or n_groups * base > MAX_FOLLOWED):
        return _halves(part, n_groups // 2)
    child = np.full(n_groups * base, -1, np.int32)
    child[keys] = np.arange(len(keys))
    cell = group.astype(np.int64) * base
    parts = [(child[(cell + value)[has_value]], record[has_value])]
    if rule != WITHIN:
        beside = has_value | (rule == COVERING)
        parts.append((child[cell[beside]], record[beside]))
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
