"""The rules of adhoc in plain arrays, and the cost of a pair by them as they are (METHODS §4.4).

Scores are integers, multiples of 1/scale, so that sums are exact and equal sums are ties.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reident.kernels import strata
from reident.kernels.compiling import lean_jit

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


def widths_of_strata(flat: Flat, n_strata: int, widths: Mapping[int, np.ndarray]) -> np.ndarray:
    """Return the ``within`` of all bands by stratum, float64 (n_strata, b); ``widths`` has that of some variables."""
    within = np.tile(flat.within, (n_strata, 1))
    for at, width in widths.items():
        within[:, flat.start[at] : flat.start[at] + flat.width[at]] = width
    return within


class Definition(NamedTuple):
    """The rules, and the widths of their bands in each stratum."""

    rules: Flat
    within: np.ndarray  # float64 (n_strata, b), in place of that of the rules


@lean_jit
def reach(within, share, p):
    """Return the largest difference from a PUF value that a band holds; without a share it may be infinite."""
    return within + (share * abs(p) if share > 0 else 0.0)


@lean_jit
def difference(p, e):
    """Return the difference that the limits of bands are compared with."""
    return 0.0 if p == e else abs(e - p)


@strata.implements(Definition)
def _level_in(metric, _scratch, files, s, i, r, bound):
    """Return the cost of the pair (i, r) of stratum s, or a number of at least ``bound`` if it reaches that."""
    rules, within, total = metric.rules, metric.within[s], 0
    for j in range(rules.kind.size):
        if total >= bound:
            break
        if rules.kind[j] == BANDS:
            p, e = files.puf_values[i, j], files.eif_values[r, j]
            if np.isnan(p) or np.isnan(e):
                total += rules.highest[j]
                continue
            cost = rules.beyond[j]
            for b in range(rules.start[j], rules.start[j] + rules.width[j]):
                if difference(p, e) <= reach(within[b], rules.share[b], p):
                    cost = rules.cost[b]
                    break
            total += cost
            continue
        p, e = files.puf_codes[i, j], files.eif_codes[r, j]
        if p < 0 or e < 0:
            total += rules.highest[j]
        elif rules.kind[j] == TABLE:
            total += rules.table[rules.start[j] + p * rules.width[j] + e]
        elif p != e:
            total += rules.highest[j]
    return total
