"""The rules of adhoc, and all rules of a study in plain arrays (METHODS §4.4).

Scores are integers, multiples of 1/scale, so that sums are exact and equal sums are ties.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MAX_SCORE = 5
"""The highest score of a variable."""


@dataclass(frozen=True)
class Exact:
    """The score 5 where the two codes are equal, otherwise 0; compares ``codes``."""


@dataclass(frozen=True)
class Table:
    """The score by pair of categories; compares ``codes``.

    Attributes
    ----------
    scores : int64 (n_codes, n_codes)
        By the PUF record's code (row) and the EIF record's (column); 0 to 5 times the scale.
    """

    scores: np.ndarray


@dataclass(frozen=True)
class Bands:
    """The score of the first band that holds the difference of the two ``values``.

    Attributes
    ----------
    within, share : float64 (b,)
        A band holds a pair if ``|e − p| <= within + share·|p|``.
    score : int64 (b,)
    beyond : int
        The score where no band holds the pair.
    """

    within: np.ndarray
    share: np.ndarray
    score: np.ndarray
    beyond: int = 0


Rule = Exact | Table | Bands


EXACT, TABLE, BANDS = 0, 1, 2


class Flat(NamedTuple):
    """All rules in plain arrays. The cost of a pair on a variable is the variable's highest score less its score."""

    kind: np.ndarray  # int64 (v,): EXACT, TABLE or BANDS
    start: np.ndarray  # int64 (v,): where the variable's table or bands begin
    width: np.ndarray  # int64 (v,): number of codes of its table, number of its bands
    table: np.ndarray  # int64: the costs of all tables, row by row
    within: np.ndarray  # float64 (b,), of the bands of all variables
    share: np.ndarray  # float64 (b,)
    cost: np.ndarray  # int64 (b,)
    beyond: np.ndarray  # int64 (v,)
    highest: np.ndarray  # int64 (v,): the highest score, which is the cost of a missing value
    scale: int  # a score of 1


def _scores(rule: Rule, scale: int) -> np.ndarray:
    """Return every score that a rule can give, checked."""
    if isinstance(rule, Exact):
        return np.array([0, MAX_SCORE * scale])
    if isinstance(rule, Table):
        scores = np.asarray(rule.scores)
        if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
            raise ValueError("a table must have as many rows as columns, one for each code.")
    else:
        if not len(rule.within) == len(rule.share) == len(rule.score):
            raise ValueError("bands must have as many scores and shares as limits.")
        scores = np.append(rule.score, rule.beyond)
    if scores.size and not 0 <= scores.min() <= scores.max() <= MAX_SCORE * scale:
        raise ValueError(f"scores must be between 0 and {MAX_SCORE} times {scale}.")
    return scores


def flatten(rules: Sequence[Rule], scale: int) -> Flat:
    """Lay the rules out in plain arrays.

    Raises
    ------
    ValueError
        If a score is outside 0 … 5 times the scale, or the arrays of a rule disagree in shape.
    """
    v = len(rules)
    kind, start, width, beyond, highest = (np.zeros(v, np.int64) for _ in range(5))
    table = np.empty(sum(np.size(rule.scores) for rule in rules if isinstance(rule, Table)), np.int64)
    costs, at = [np.zeros(0, np.int64)], 0
    within, share = [np.zeros(0)], [np.zeros(0)]
    for j, rule in enumerate(rules):
        highest[j] = _scores(rule, scale).max(initial=0)
        if isinstance(rule, Table):
            kind[j], start[j], width[j] = TABLE, at, len(rule.scores)
            at += np.size(rule.scores)  # in place: tables may be large
            np.subtract(highest[j], np.asarray(rule.scores, np.int64).ravel(), out=table[start[j] : at])
        elif isinstance(rule, Bands):
            kind[j], start[j], width[j] = BANDS, sum(map(len, within)), len(rule.within)
            within.append(np.asarray(rule.within, np.float64))
            share.append(np.asarray(rule.share, np.float64))
            costs.append(highest[j] - np.asarray(rule.score, np.int64))
            beyond[j] = highest[j] - rule.beyond
    fixed, part, cost = (np.concatenate(parts) for parts in (within, share, costs))
    return Flat(kind, start, width, table, fixed, part, cost, beyond, highest, scale)
