"""Adhoc: the best pairs by the sum of scores that the study defines for each variable (METHODS §4.4, §5).

Scores are integers: multiples of 10^-12, so that sums are exact and ties are ties. Scans count down from
the largest possible sum: the cost of a pair is that sum less its score, and low is best.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit
from reident.kernels.toplist import Best, empty_best, in_threads, listed, offer, settle

SCALE = 10**12
"""A score of 1."""

HIGHEST = 5 * SCALE
"""The highest score of a variable."""


@dataclass(frozen=True)
class Exact:
    """5 where the two codes are equal, otherwise 0; compares ``codes``."""


@dataclass(frozen=True)
class Table:
    """The score by pair of categories; compares ``codes``.

    Attributes
    ----------
    scores : int64 (n_codes, n_codes)
        Row: the PUF record's code, column: the EIF record's; 0 to 5·10^12.
    """

    scores: np.ndarray


@dataclass(frozen=True)
class Bands:
    """The score of the first band that holds the difference of the two ``values``.

    Attributes
    ----------
    within : float64 (b,)
        A band holds a pair if ``|e − p| <= within``, or ``|e − p| <= within·|p|`` where it is relative.
    relative : bool (b,)
    score : int64 (b,)
    beyond : int
        The score where no band holds the pair.
    """

    within: np.ndarray
    relative: np.ndarray
    score: np.ndarray
    beyond: int = 0


Rule = Exact | Table | Bands


EXACT, TABLE, BANDS = 0, 1, 2


class Flat(NamedTuple):
    """All rules in plain arrays; a cost is the variable's highest score less the score."""

    kind: np.ndarray  # int64 (v,): EXACT, TABLE or BANDS
    start: np.ndarray  # int64 (v,): where the variable's table or bands begin
    width: np.ndarray  # int64 (v,): number of codes of its table, number of its bands
    table: np.ndarray  # int64: the costs of all tables, row by row
    within: np.ndarray  # float64 (b,), of the bands of all variables
    relative: np.ndarray  # bool (b,)
    cost: np.ndarray  # int64 (b,)
    beyond: np.ndarray  # int64 (v,)
    highest: np.ndarray  # int64 (v,): the highest score, which is the cost of a missing value


def _scores(rule: Rule) -> np.ndarray:
    """Every score that a rule can give, checked."""
    if isinstance(rule, Exact):
        return np.array([0, HIGHEST])
    if isinstance(rule, Table):
        scores = np.asarray(rule.scores)
        if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
            raise ValueError("a table needs as many rows as columns, one per code.")
    else:
        if not len(rule.within) == len(rule.relative) == len(rule.score):
            raise ValueError("bands need as many scores and relative flags as limits.")
        scores = np.append(rule.score, rule.beyond)
    if scores.size and not 0 <= scores.min() <= scores.max() <= HIGHEST:
        raise ValueError("scores lie between 0 and 5·10^12.")
    return scores


def flatten(rules: Sequence[Rule]) -> Flat:
    """Lay the rules out in plain arrays."""
    v = len(rules)
    kind, start, width, beyond, highest = (np.zeros(v, np.int64) for _ in range(5))
    tables, within = [np.zeros(0, np.int64)], [np.zeros(0)]
    relative, costs = [np.zeros(0, np.bool_)], [np.zeros(0, np.int64)]
    for j, rule in enumerate(rules):
        highest[j] = _scores(rule).max(initial=0)
        if isinstance(rule, Table):
            kind[j], start[j], width[j] = TABLE, sum(map(len, tables)), len(rule.scores)
            tables.append(highest[j] - np.asarray(rule.scores, np.int64).ravel())
        elif isinstance(rule, Bands):
            kind[j], start[j], width[j] = BANDS, sum(map(len, within)), len(rule.within)
            within.append(np.asarray(rule.within, np.float64))
            relative.append(np.asarray(rule.relative, np.bool_))
            costs.append(highest[j] - np.asarray(rule.score, np.int64))
            beyond[j] = highest[j] - rule.beyond
    table, limit, flag, cost = (np.concatenate(parts) for parts in (tables, within, relative, costs))
    return Flat(kind, start, width, table, limit, flag, cost, beyond, highest)


@jit
def exact_cost(i, r, pc, ec, pv, ev, rules, bound):
    """The cost of the pair (i, r) by the definition, or some number from ``bound`` on if that is what it reaches."""
    total = 0
    for j in range(pc.shape[1]):
        if total >= bound:
            break
        if rules.kind[j] == BANDS:
            p, e = pv[i, j], ev[r, j]
            if p != p or e != e:
                total += rules.highest[j]
                continue
            difference = 0.0 if p == e else abs(e - p)
            cost = rules.beyond[j]
            for b in range(rules.start[j], rules.start[j] + rules.width[j]):
                within = rules.within[b] * abs(p) if rules.relative[b] else rules.within[b]
                if difference <= within:
                    cost = rules.cost[b]
                    break
            total += cost
            continue
        p, e = pc[i, j], ec[r, j]
        if p < 0 or e < 0:
            total += rules.highest[j]
        elif rules.kind[j] == TABLE:
            total += rules.table[rules.start[j] + p * rules.width[j] + e]
        elif p != e:
            total += rules.highest[j]
    return total


@jit
def _scan(first, end, pc, ec, pv, ev, rules, threshold, keep, best):
    levels, eifs = np.empty(keep + 1, np.int64), np.empty(keep + 1, np.int32)
    for i in range(first, end):
        count, bound = 0, threshold
        for r in range(len(ec)):
            cost = exact_cost(i, r, pc, ec, pv, ev, rules, bound)
            if cost < bound:
                count = offer(levels, eifs, count, cost, r)
                if count == keep + 1:
                    bound = levels[keep]
        settle(levels, eifs, count, best, i)


def nearest(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    rules: Sequence[Rule],
    *,
    above: int,
    keep: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf_codes, eif_codes : int32 (n, v)
        Categories, equal in both files where the code is equal, -1 for missing; read where the rule of the
        variable is `Exact` or `Table`.
    puf_values, eif_values : float64 (n, v)
        Values, NaN for missing; read where the rule is `Bands`.
    rules : sequence of Exact, Table or Bands, one per variable
    above : int
        A pair is suspected if the sum of its scores is larger, both in units of 10^-12.
    keep : int
        The largest cumulative number of pairs of a rank that is returned, at least 1.
    threads : int
        The result does not depend on it.
    progress : callable, optional
        Called now and then with the fraction done.

    Returns
    -------
    puf, eif : int64 (m,)
        Positions, sorted by puf, level (highest first), eif.
    level : int64 (m,)
        The sum of the scores in units of 10^-12.
    crowded : bool (n_puf,)
        Records whose best level alone has more than ``keep`` pairs; they have no pair in the result.

    Raises
    ------
    ValueError
        Where shapes disagree, a score is outside 0…5, a code outside its table, or ``keep`` below 1.
    """
    _check(puf_codes, eif_codes, puf_values, eif_values, rules, keep)
    flat = flatten(rules)
    total = int(flat.highest.sum())
    best = empty_best(len(puf_codes), keep)
    if len(puf_codes) and len(eif_codes) and total > above:
        arrays = (
            np.ascontiguousarray(puf_codes, np.int32),
            np.ascontiguousarray(eif_codes, np.int32),
            np.ascontiguousarray(puf_values, np.float64),
            np.ascontiguousarray(eif_values, np.float64),
        )

        def work(first: int, end: int) -> None:
            _scan(first, end, *arrays, flat, total - above, keep, best)

        in_threads(work, len(puf_codes), block=256, threads=threads, progress=progress)
    puf, eif, cost, crowded = listed(best)
    return puf, eif, total - cost, crowded


def _check(puf_codes, eif_codes, puf_values, eif_values, rules, keep):
    v = len(rules)
    if any(a.ndim != 2 or a.shape[1] != v for a in (puf_codes, eif_codes, puf_values, eif_values)):
        raise ValueError(f"codes and values need {v} columns, one per rule.")
    if len(puf_codes) != len(puf_values) or len(eif_codes) != len(eif_values):
        raise ValueError("codes and values disagree in length.")
    if keep < 1:
        raise ValueError("keep must be at least 1.")
    for j, rule in enumerate(rules):
        if isinstance(rule, Table) and any(
            codes[:, j].max(initial=-1) >= len(rule.scores) for codes in (puf_codes, eif_codes)
        ):
            raise ValueError(f"the table of variable {j} has fewer rows than there are codes.")


@jit
def _offer_block(scores, start, threshold, levels, eifs, counts):
    keep = levels.shape[1] - 1
    for i in range(len(scores)):
        for r in range(scores.shape[1]):
            cost = -scores[i, r]
            if cost < (levels[i, keep] if counts[i] > keep else threshold):
                counts[i] = offer(levels[i], eifs[i], counts[i], cost, start + r)


@jit
def _settle_all(levels, eifs, counts, best):
    for i in range(len(counts)):
        settle(levels[i], eifs[i], counts[i], best, i)


def nearest_blocks(
    score_block: Callable[[slice, slice], np.ndarray],
    n_puf: int,
    n_eif: int,
    *,
    above: int,
    keep: int,
    block: int = 1024,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what `nearest` does, for sums of scores that a function computes by blocks of pairs.

    Parameters
    ----------
    score_block : callable
        ``score_block(puf_slice, eif_slice)`` -> int64 (PUF records, EIF records): the sums of the scores
        of all pairs of the two slices, in units of 10^-12.
    n_puf, n_eif : int
    above, keep, progress
        As for `nearest`.
    block : int
        The largest number of records of either side in a block.

    Raises
    ------
    ValueError
        Where a block comes back in another shape or not as int64.
    """
    best = empty_best(n_puf, keep)
    for first in range(0, n_puf, block):
        rows = slice(first, min(first + block, n_puf))
        n_rows = rows.stop - rows.start
        levels, eifs = np.empty((n_rows, keep + 1), np.int64), np.empty((n_rows, keep + 1), np.int32)
        counts = np.zeros(n_rows, np.int64)
        for start in range(0, n_eif, block):
            columns = slice(start, min(start + block, n_eif))
            scores = score_block(rows, columns)
            if scores.dtype != np.int64 or scores.shape != (n_rows, columns.stop - start):
                raise ValueError(
                    "score_block must return an int64 matrix, one row per PUF record of its slice."
                )
            _offer_block(np.ascontiguousarray(scores), start, -above, levels, eifs, counts)
            if progress is not None:
                progress((first * n_eif + columns.stop * n_rows) / (n_puf * n_eif))
        part = Best(*(array[rows] for array in best))
        _settle_all(levels, eifs, counts, part)
    puf, eif, cost, crowded = listed(best)
    return puf, eif, -cost, crowded
