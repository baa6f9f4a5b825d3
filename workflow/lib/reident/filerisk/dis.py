"""Data intrusion simulation: how probable a correct match is, given a unique match (METHODS §7).

Source: Elliot and Manning 2003; Skinner and Elliot 2002.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import betainccinv, betaincinv

from reident.filerisk.matches import Matches

MIN_ROUNDS, MAX_ROUNDS = 100, 100_000
"""Rounds of the special form at least, and at most, whatever its standard error."""
LEVEL = 0.95
"""The level of the interval."""

Ended = Literal["", "exact", "standard error", "rounds"]


class Special(NamedTuple):
    """The special form of DIS.

    Attributes
    ----------
    estimate : float
        Correct unique matches / unique matches; NaN if no match was unique.
    standard_error : float
        Of the ratio, over rounds; NaN with fewer than two rounds, no unique match, or where it ended as ``exact``.
        Where the rounds do not differ by chance, as if all matches are right, that with one of the other kind added.
    rounds : int
    unique_matches, correct_matches : int
    general : float
        The general form for the same file.
    ended : str
        What ended the rounds: ``standard error``, when it was not above the tolerance; ``rounds``, their limit, with
        a standard error above it; ``exact``, since in this file every unique match is right, or every one wrong,
        whatever is removed. Empty without a round.
    """

    estimate: float
    standard_error: float
    rounds: int
    unique_matches: int
    correct_matches: int
    general: float
    ended: Ended

    @property
    def difference(self) -> float:
        """Special minus general form, in standard errors; NaN if either is undefined."""
        return (self.estimate - self.general) / self.standard_error


def sampling_fraction(weights: np.ndarray) -> float:
    """1 / mean weight.

    Raises
    ------
    ValueError
        If there is no weight, one is missing or negative, or their mean is below 1.
    """
    weights = np.asarray(weights, np.float64)
    if not len(weights) or not np.isfinite(weights).all() or (weights < 0).any() or weights.mean() < 1:
        raise ValueError("weights must be there, finite, not negative, and 1 or more on average")
    return float(1 / weights.mean())


def of_cells(fraction: float, complete: float, population_complete: float = 1.0) -> float:
    """Return the sampling fraction of the cells of the key: the share of the people in them that is in the file.

    Parameters
    ----------
    fraction : float
        f, in (0, 1].
    complete : float
        The share of the records that have a value of every key variable.
    population_complete : float
        The same share of the population, where people without a value do not count either.

    Returns
    -------
    float
        In (0, 1]; f where no record is complete, since nothing depends on it then.
    """
    _check(fraction)
    if not (complete and population_complete):
        return fraction
    return min(1.0, fraction * (complete / population_complete))


def general(n_unique: int, n_in_pairs: int, fraction: float, n_wrong: int = 0) -> float:
    """pr(cm|um) = U·f / (U·f + P·(1 − f) + W·f), in [0, 1].

    The expectation of the special form with one record removed: it matches uniquely and rightly if it is a unique
    and comes back, wrongly if it is in a pair and does not. In a perturbed file a record may also match another
    record alone, whether or not it comes back.

    Parameters
    ----------
    n_unique : int
        U, sample uniques: records that match themselves alone.
    n_in_pairs : int
        P, records in cells of size two: those that match exactly one other record. If the file is perturbed, this
        includes the W records.
    n_wrong : int
        W, records that match exactly one record, which is not their own; 0 unless the file is perturbed.

    Returns
    -------
    float
        NaN if no match can be unique: U = P = W = 0, or U = W = 0 and f = 1.
    """
    _check(fraction)
    correct, false = n_unique * fraction, n_in_pairs * (1 - fraction) + n_wrong * fraction
    return correct / (correct + false) if correct + false > 0 else float("nan")


def of_file(codes: np.ndarray, sizes: np.ndarray, fraction: float) -> float:
    """Return the general form for a file: of its records with a complete key, as an intruder has a complete key."""
    complete = sizes[(codes >= 0).all(axis=1)]
    return general(int((complete == 1).sum()), int((complete == 2).sum()), fraction)


def sampling_error(n_unique: int, n_in_pairs: int, n_in_triples: int, fraction: float) -> float:
    """Return the standard error of DIS as an estimate of the probability that a unique match is correct.

    Parameters
    ----------
    n_unique, n_in_pairs, n_in_triples : int
        Records in cells of size one, two and three.

    Returns
    -------
    float
        0 where f = 1. NaN without a unique or, for f < 1, without a pair: then DIS is 0, 1 or undefined, and says
        nothing of its error.

    Notes
    -----
    The truth is θ = n₁ / (n₁ + D), where D = Σ (F − 1) over the uniques and F is the number of people in a cell. DIS
    puts D̂ = 2·n₂·(1 − f)/f in the place of D. In a Bernoulli sample D̂ − D has the mean 0 and, since
    2·(1 − f)/f·n₂ and 6·(1 − f)²/f²·n₃ have the expectations of Σ (F − 1) and Σ (F − 1)·(F − 2) over the uniques, a
    variance that {2·(1 − f)·(2 − f)·n₂ + 6·(1 − f)²·n₃}/f² estimates without bias. The derivative of θ is
    −n₁/(n₁ + D)². Source: METHODS §7; Skinner and Elliot 2002.
    """
    _check(fraction)
    n1, n2, n3 = n_unique, n_in_pairs / 2, n_in_triples / 3
    if not n1 or (fraction < 1 and not n2):
        return float("nan")
    variance = 2 * (1 - fraction) * (2 - fraction) * n2 + 6 * (1 - fraction) ** 2 * n3
    return fraction * n1 * math.sqrt(variance) / (fraction * n1 + 2 * (1 - fraction) * n2) ** 2


def interval(n_unique: int, n_in_pairs: int, fraction: float, n_pairs: float | None = None) -> tuple[float, float]:
    """Return the interval of 95 % of the general form for its sampling error; NaN where that is not defined.

    Parameters
    ----------
    n_unique, n_in_pairs : int
        U and P, as `general` takes them.
    fraction : float
        f, in (0, 1].
    n_pairs : float, optional
        How many independent events P is made of; by default P / 2, since a pair is a cell of two records.

    Notes
    -----
    Numbers of cells of one and of two records are nearly independent Poisson variables. Given their sum, the former is
    binomial with p = E U / (E U + E P/2), whose interval is that of Clopper and Pearson, with or without a pair. DIS
    increases with p. Source: METHODS §7.
    """
    if math.isnan(general(n_unique, n_in_pairs, fraction)):
        return float("nan"), float("nan")
    pairs = n_in_pairs / 2 if n_pairs is None else n_pairs
    records = n_in_pairs / pairs if pairs else 2.0
    tail = (1 - LEVEL) / 2
    low = float(betaincinv(n_unique, pairs + 1, tail)) if n_unique else 0.0
    high = float(betainccinv(n_unique + 1, pairs, tail)) if pairs else 1.0
    ends = (p * fraction / (p * fraction + (1 - p) * records * (1 - fraction)) for p in (low, high))
    return next(ends), next(ends)


def special(
    matches: Matches, fraction: float, rng: np.random.Generator, *, tolerance: float = 0.005, removed: int | None = None
) -> Special:
    """Simulate the method: remove records, copy some back, match those removed against the file, until it is stable.

    Parameters
    ----------
    matches : Matches
        The records that may be removed, and what they match.
    fraction : float
        f, in (0, 1]: probability that a removed record is copied back.
    tolerance : float
        Rounds go on until the standard error is not above it, or to :data:`MAX_ROUNDS`.
    removed : int, optional
        Records removed in a round; 1 % of those that may be, at least 1. The general form is the limit of few.

    Returns
    -------
    Special
        Of no round, and undefined, where no match can be unique.
    """
    n_unique, n_in_pairs, n_wrong = matches.counts
    formula = general(n_unique, n_in_pairs, fraction, n_wrong)
    n = len(matches.sizes)
    batch = min(n, removed or max(1, n // 100))
    if batch == 0 or np.isnan(formula):
        return Special(float("nan"), float("nan"), 0, 0, 0, formula, "")
    exact = not all(_possible(matches, fraction, batch))
    unique, correct = np.zeros(MAX_ROUNDS), np.zeros(MAX_ROUNDS)
    rounds, error = 0, float("nan")
    ended: Ended = "rounds"
    while rounds < MAX_ROUNDS and ended == "rounds":
        unique[rounds], correct[rounds] = _round(matches, fraction, batch, rng)
        rounds += 1
        if (rounds >= MIN_ROUNDS and rounds % 50 == 0) or rounds == MAX_ROUNDS:
            if exact:
                ended = "exact" if unique[:rounds].any() else "rounds"
                continue
            error, by_chance = _error(unique[:rounds], correct[:rounds])
            if error <= tolerance and (rounds >= 10 * MIN_ROUNDS or not by_chance):
                ended = "standard error"
    n_matches, n_correct = int(unique[:rounds].sum()), int(correct[:rounds].sum())
    return Special(
        n_correct / n_matches if n_matches else float("nan"), error, rounds, n_matches, n_correct, formula, ended
    )


def _possible(matches: Matches, fraction: float, batch: int) -> tuple[bool, bool]:
    """Return whether a unique match can be right, and whether it can be wrong, when a number of records is removed.

    It is right where the record comes back and all others that it matches are removed, wrong where one of the others
    alone is left, and its own record does not match or does not come back.
    """
    sizes, has_own = matches.sizes, matches.includes_own
    others = sizes - has_own
    n_removed = np.minimum(matches.removable - has_own, batch - 1) if fraction < 1 else 0
    right = has_own & (others <= n_removed)
    wrong = (~has_own | (fraction < 1)) & (others >= 1) & (others - n_removed <= 1)
    return bool(right.any()), bool(wrong.any())


def _round(matches: Matches, fraction: float, batch: int, rng: np.random.Generator) -> tuple[int, int]:
    """Unique matches and correct ones among them, of one removed fragment."""
    at = rng.choice(len(matches.sizes), batch, replace=False)
    back = rng.random(batch) < fraction
    unique = matches.remaining(at, back) == 1
    return int(unique.sum()), int((unique & back & matches.includes_own[at]).sum())


def _error(unique: np.ndarray, correct: np.ndarray) -> tuple[float, bool]:
    """Return the standard error of the estimate, and whether the rounds leave none.

    Rounds that do not differ, as those whose matches are all right, would have the error 0, however few the matches
    are; then it is that with a match of the other kind.
    """
    error = _ratio_error(unique, correct)
    if error != 0:
        return error, False
    return _ratio_error(np.append(unique, 1), np.append(correct, correct.sum() == 0)), True


def _ratio_error(unique: np.ndarray, correct: np.ndarray) -> float:
    """Standard error of Σ correct / Σ unique over independent rounds (linearised)."""
    rounds, matches = len(unique), unique.sum()
    if rounds < 2 or matches == 0:
        return float("nan")
    residual = correct - correct.sum() / matches * unique
    return float(np.sqrt(rounds / (rounds - 1) * (residual**2).sum()) / matches)


def _check(fraction: float) -> None:
    if not 0 < fraction <= 1:
        raise ValueError(f"sampling fraction {fraction}: it must be above 0 and at most 1")
