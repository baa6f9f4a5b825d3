"""The claims that a metric leads to: the candidates of each record at its best rank, and what follows (METHODS §6.7).

They do not depend on how many pairs the rank filter keeps: a kernel counts the pairs at the next rank that it drops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.linkage.batches import is_new
from reident.linkage.metrics.contract import Scored
from reident.sections.linkage import MAX_CANDIDATES


class Claims(NamedTuple):
    """The candidates of the claims, one line for each, sorted by PUF record.

    Attributes
    ----------
    puf, eif : int64 (m,)
    score : float64 (m,)
        That of the best rank, for each of its candidates.
    next_score : float64 (m,)
        That of the next rank; NaN if there is none.
    n_next : int64 (m,)
        How many pairs it has, kept or not.
    """

    puf: np.ndarray
    eif: np.ndarray
    score: np.ndarray
    next_score: np.ndarray
    n_next: np.ndarray


def claims(scored: Scored, *, ranked: bool) -> Claims:
    """Return the claims of scored records, by their positions; `ranked` as in :class:`Metric`.

    A metric without a rank filter has no limit on candidates.
    """
    puf, score = scored.puf, scored.score
    new = is_new(puf)
    start = np.flatnonzero(new | is_new(score))
    size, first = np.diff(start, append=len(puf)), new[start]
    best = np.flatnonzero(first)
    if scored.following is None:
        has_next = ~np.append(first, True)[best + 1]
        after = np.minimum(best + 1, len(start) - 1)
        n_next, next_score = np.where(has_next, size[after], 0), score[start[after]]
    else:
        record = puf[start[best]]
        n_next, next_score = scored.following.number[record], scored.following.score[record]
    chosen = size[best] <= MAX_CANDIDATES if ranked else np.ones(len(best), bool)
    best, n_next, next_score = best[chosen], n_next[chosen], next_score[chosen]
    number = size[best]
    rows = np.repeat(start[best] - np.cumsum(number) + number, number) + np.arange(number.sum())
    following = np.where(n_next > 0, next_score, np.nan)
    return Claims(puf[rows], scored.eif[rows], score[rows], np.repeat(following, number), np.repeat(n_next, number))


def table(made: Claims) -> pa.Table:
    """Return claims as a table; next_score is null without a next rank."""
    columns = {name: pa.array(column) for name, column in made._asdict().items()}
    return pa.table(columns | {"next_score": pa.array(made.next_score, from_pandas=True)})


def of_pairs(pairs: pa.Table) -> pa.Table:
    """Return the claims of pairs with a score, all of each record and its best first, as a table."""
    puf, eif, score = (pairs[name].to_numpy() for name in ("puf", "eif", "score"))
    nobody = np.empty(0, bool)
    return table(claims(Scored(puf, eif, score.astype(np.float64), nobody), ranked=False))
