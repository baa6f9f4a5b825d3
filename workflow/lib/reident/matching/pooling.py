"""The intruder who pools all synthetic files, and may not know whether a target is in them (METHODS §8).

The probability that record j is the target is the mean over the files of [j matches] / max(c, P), where P is the
number of people in the population who match the target, or 0 if the target is known to be in the file.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from reident.matching.counting import Encoded, Matches, Regions
from reident.matching.prepare import exact

_CLOSE = 1e-9
"""Rounding could decide between probabilities that are this close."""


class Pooled(NamedTuple):
    """The candidates of the pooled intruder for every target; (N,).

    Attributes
    ----------
    c : int64
        Records with the largest probability; 0 if no record matches in any file, or if it is more probable that the
        target is not in the file.
    t : bool
        Whether the target's own record is among them.
    probability : float64
        The probability of the target's own record.
    """

    c: np.ndarray
    t: np.ndarray
    probability: np.ndarray


def pool(
    encoded: Encoded,
    regions: Regions,
    matches: Matches,
    population: np.ndarray | None = None,
    fraction: Fraction | None = None,
) -> Pooled:
    """Find the records with the largest match probability over all synthetic files.

    Parameters
    ----------
    encoded, regions, matches
        The files, and where and how often the targets match.
    population : float64 (N,), optional
        P, the number of people who match each target; positive.
    fraction : Fraction, optional
        The sampling fraction f in (0, 1]: P is c / f in every file. Without both, targets are known to be in the file.
    """
    c, t = matches.c[1:], matches.t[1:]
    certain = population is None and fraction is None
    people = np.zeros(c.shape[1]) if population is None else population
    divisors = np.ascontiguousarray(np.maximum(c, people).T)  # 0 where nothing matches
    weights = np.divide(1, divisors, out=np.zeros(divisors.shape), where=divisors > 0)
    share = fraction or Fraction(1)
    n_files = np.maximum((c > 0).sum(axis=0), 1) if certain else len(c)
    probability = np.where(t, weights.T, 0.0).sum(axis=0) * float(share) / n_files
    count, is_own, pattern = c[0], t[0], np.ones((len(people), 1), np.int64)
    if len(c) > 1:
        count, is_own, pattern = _largest(encoded, regions, divisors, people)
    if not certain:
        named = _is_named(c.T, divisors, pattern, share)
        count, is_own = np.where(named, count, 0), is_own & named
    return Pooled(count, is_own, probability)


def _largest(
    encoded: Encoded, regions: Regions, divisors: np.ndarray, people: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for every target the number of records with the largest probability, whether its own has it, and files.

    Targets that ask the same are one query.
    """
    from reident.kernels import pooling as kernel  # noqa: PLC0415 - compiled code: loaded where it runs

    columns = np.column_stack([regions.target_groups, regions.low, regions.high, people.view(np.int64)])
    _, at, query, sizes = np.unique(columns, axis=0, return_index=True, return_inverse=True, return_counts=True)
    query = query.reshape(-1)
    in_order = np.argsort(query, kind="stable")
    first = np.concatenate([[0], np.cumsum(sizes)])
    queries = kernel.Queries(
        regions.target_groups[at], regions.low[at], regions.high[at], np.maximum(divisors[at], 1e-300)
    )
    rows = encoded.targets[in_order]
    best = kernel.pool(regions.groups[1:], regions.ranks[1:], queries, first, rows)
    for u in np.flatnonzero(best.is_close):
        inside = slice(first[u], first[u + 1])
        near = [order[a:b] for order, a, b in zip(best.order, best.start[:, u], best.stop[:, u], strict=True)]
        best.n_best[u], best.pattern[u], best.is_own[inside] = _exactly(
            regions, int(at[u]), np.unique(np.concatenate(near)), divisors[at[u]], rows[inside]
        )
    is_own = np.empty(len(rows), bool)
    is_own[in_order] = best.is_own
    return best.n_best[query], is_own, best.pattern[query]


def _exactly(
    regions: Regions, target: int, near: np.ndarray, divisors: np.ndarray, rows: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """Do the work of the kernel for one query, in fractions; its candidates are among the records `near`."""
    from reident.kernels.pooling import BITS  # noqa: PLC0415 - compiled code: loaded where it runs

    ranks = regions.ranks[1:, near]
    is_candidate = regions.groups[1:, near] == regions.target_groups[target]
    is_candidate &= ((regions.low[target] <= ranks) & (ranks < regions.high[target])).all(axis=2)
    is_any = is_candidate.any(axis=0)
    records = near[is_any]
    patterns, of_record = np.unique(is_candidate[:, is_any].T, axis=0, return_inverse=True)
    scores = [_score(pattern, divisors) for pattern in patterns]
    is_best = np.array([score == max(scores) for score in scores])
    best = records[is_best[of_record.reshape(-1)]]
    words = np.zeros(-(-len(divisors) // BITS), np.int64)
    for file in np.flatnonzero(patterns[is_best.argmax()]):
        words[file // BITS] |= 1 << int(file % BITS)
    return len(best), words, np.isin(rows, best)


def _score(files: np.ndarray, divisors: np.ndarray) -> Fraction:
    """Return m times the match probability of a record that matches in these files."""
    return sum((1 / exact(divisors[file]) for file in np.flatnonzero(files)), Fraction(0))


def _is_named(c: np.ndarray, divisors: np.ndarray, pattern: np.ndarray, share: Fraction) -> np.ndarray:
    """Return whether a record is at least as probable as that the target is not in the file: bool (N,)."""
    from reident.kernels.pooling import BITS  # noqa: PLC0415 - compiled code: loaded where it runs

    m = c.shape[1]
    files = np.arange(m)
    is_best = ((pattern[:, files // BITS] >> (files % BITS)) & 1).astype(bool) & (c > 0)
    positive = np.maximum(divisors, 1e-300)
    largest = np.where(is_best, 1 / positive, 0).sum(axis=1) * float(share)
    absent = m - np.where(c > 0, c / positive, 0).sum(axis=1) * float(share)
    named = largest > absent
    close = np.flatnonzero(np.abs(largest - absent) <= _CLOSE * m)
    alike = np.column_stack([c[close], divisors[close].view(np.int64), is_best[close]])
    _, at, case = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    decided = [_is_named_exactly(c[i], divisors[i], is_best[i], share) for i in close[at]]
    named[close] = np.array(decided, bool)[case.reshape(-1)]
    return named & (c > 0).any(axis=1)


def _is_named_exactly(c: np.ndarray, divisors: np.ndarray, is_best: np.ndarray, share: Fraction) -> bool:
    """Do the work of :func:`_is_named` for one target, in fractions."""
    in_file = sum((int(k) / exact(d) for k, d in zip(c, divisors, strict=True) if k), Fraction(0))
    return share * _score(is_best, divisors) >= len(c) - share * in_file
