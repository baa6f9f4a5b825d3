"""Data intrusion simulation: how probable a correct match is, given a unique match (METHODS §7).

Source: Elliot and Manning 2003; Skinner and Elliot 2002.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

MOST_ROUNDS = 100_000
"""Rounds of the special form at most, whatever its standard error."""

Ended = Literal["", "exact", "standard error", "rounds"]


class Special(NamedTuple):
    """The special form of DIS.

    Attributes
    ----------
    estimate : float
        Correct unique matches / unique matches; NaN if no match was unique.
    standard_error : float
        Of the ratio, over rounds; NaN with fewer than two rounds or no unique match. Where all matches were right by
        chance, or all wrong, that with one of the other kind added.
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
        """Special minus general form, in standard errors; NaN if either is undefined or the error is 0."""
        if not self.standard_error > 0:
            return float("nan")
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


def general(n_unique: int, n_in_pairs: int, fraction: float) -> float:
    """pr(cm|um) = U·f / (U·f + P·(1 − f)), in [0, 1].

    Parameters
    ----------
    n_unique : int
        U, sample uniques.
    n_in_pairs : int
        P, records in cells of size two.
    fraction : float
        f, in (0, 1].

    Returns
    -------
    float
        NaN if no match can be unique: U = P = 0, or U = 0 and f = 1.
    """
    _check(fraction)
    correct, false = n_unique * fraction, n_in_pairs * (1 - fraction)
    return correct / (correct + false) if correct + false > 0 else float("nan")


def special(
    cells: np.ndarray,
    fraction: float,
    rng: np.random.Generator,
    *,
    tolerance: float = 0.005,
    removed: int | None = None,
    least_rounds: int = 100,
    most_rounds: int = MOST_ROUNDS,
) -> Special:
    """Simulate the method: remove records, copy some back, match those removed against the file, until it is stable.

    Parameters
    ----------
    cells : int64 (n,)
        Cell numbers; a negative one is a record that misses a value, which takes no part.
    fraction : float
        f, in (0, 1]: probability that a removed record is copied back.
    rng : Generator
    tolerance : float
        Rounds go on until the standard error is not above it, or to ``most_rounds``.
    removed : int, optional
        Records removed in a round; 1 % of the file, at least 1. The general form is the limit of few.
    least_rounds, most_rounds : int

    Returns
    -------
    Special
        Of no round, and undefined, where no record is unique or in a pair.
    """
    _check(fraction)
    cells = np.unique(cells[cells >= 0], return_inverse=True)[1]
    n, sizes = len(cells), np.bincount(cells, minlength=1)
    by_record = sizes[cells] if n else sizes[:0]
    formula = general(int((by_record == 1).sum()), int((by_record == 2).sum()), fraction)
    batch = min(n, removed or max(1, n // 100))
    if batch == 0 or np.isnan(formula):
        return Special(float("nan"), float("nan"), 0, 0, 0, formula, "")
    exact = not all(_possible(sizes, fraction, batch))
    unique, correct = np.zeros(most_rounds), np.zeros(most_rounds)
    rounds, error = 0, float("nan")
    ended: Ended = "rounds"
    while rounds < most_rounds:
        unique[rounds], correct[rounds] = _round(cells, sizes, fraction, batch, rng)
        rounds += 1
        if (rounds >= least_rounds and rounds % 50 == 0) or rounds == most_rounds:
            one_kind = correct[:rounds].sum() in {0, unique[:rounds].sum()}
            error = _error(unique[:rounds], correct[:rounds], by_chance=one_kind and not exact)
            enough = exact or not one_kind or rounds >= 10 * least_rounds
            if error <= tolerance and enough:
                ended = "exact" if exact else "standard error"
                break
    matches, right = int(unique[:rounds].sum()), int(correct[:rounds].sum())
    return Special(
        right / matches if matches else float("nan"), error, rounds, matches, right, formula, ended
    )


def _possible(sizes: np.ndarray, fraction: float, batch: int) -> tuple[bool, bool]:
    """Return whether a unique match can be right, and whether it can be wrong, when a number of records is removed.

    It is right where the whole cell is removed and the record alone comes back, wrong where one of the others alone
    is left or comes back.
    """
    alone, shared = bool((sizes == 1).any()), sizes[sizes > 1]
    least = int(shared.min()) if len(shared) and fraction < 1 else batch + 2
    return alone or least <= batch, least <= batch + 1


def _round(
    cells: np.ndarray, sizes: np.ndarray, fraction: float, batch: int, rng: np.random.Generator
) -> tuple[int, int]:
    """Unique matches and correct ones among them, of one removed fragment."""
    fragment = cells[rng.choice(len(cells), batch, replace=False)]
    back = rng.random(batch) < fraction
    touched, place = np.unique(fragment, return_inverse=True)
    left = sizes[touched] - np.bincount(place) + np.bincount(place, weights=back).astype(np.int64)
    unique = left[place] == 1
    return int(unique.sum()), int((unique & back).sum())


def _error(unique: np.ndarray, correct: np.ndarray, *, by_chance: bool) -> float:
    """Standard error of the estimate; where its matches are of one kind by chance, with one of the other kind.

    Without that one the error would be 0, however few the matches are.
    """
    matches = unique.sum()
    if not (by_chance and matches):
        return _ratio_error(unique, correct)
    return _ratio_error(np.append(unique, 1), np.append(correct, correct.sum() == 0))


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
