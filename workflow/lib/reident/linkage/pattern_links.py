"""The EM algorithm on comparison patterns, and what it finds (METHODS §4.6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reident.linkage.metrics.levels import LEVELS

START = 0.9
"""The probability of agreement among links with which EM starts; the other levels share the rest."""

TOLERANCE = 1e-10
"""EM ends when no probability changes by more than this, and the prior by no more than this share of itself."""

MAX_ROUNDS = 10_000
"""EM ends after this number of rounds, whether it has converged or not."""

PRESENT = len(LEVELS) - 1
"""The levels of values that are present come first."""


class LinkModel(NamedTuple):
    """The links at each level, their shares by variable, and the prior, as known or as EM expects them.

    The prior is the share of links among all pairs, and `largest_prior` its bound in EM, NaN without EM. `left_out`
    is a bound on the links among pairs that were not weighed, NaN where none is known. `held` is the number of links
    while m was learnt, NaN where it was not held.
    """

    links: np.ndarray
    m: np.ndarray
    prior: float
    largest_prior: float = math.nan
    rounds: int = 0
    converged: bool = True
    left_out: float = 0.0
    held: float = math.nan


def maximise(counts: np.ndarray, near: Sequence[bool], incomplete: Sequence[bool], most: float) -> LinkModel:
    """Estimate the links among all pairs by the EM algorithm, with levels that are independent given the status.

    Parameters
    ----------
    counts : int64, one axis per variable
        Pairs by comparison pattern, see :class:`reident.kernels.patterns.Tally`.
    near, incomplete : sequence of bool
        The variables with partial agreement, and those that may be missing.
    most : float
        The largest prior: the pairs if every record of the smaller file of each stratum had a link, as a share.

    Returns
    -------
    LinkModel
        The expected links and the prior.

    Notes
    -----
    Source: METHODS §4.6; Winkler 1988. A round gives each pattern the probability g that its pairs are links, then the
    levels their shares of Σ g (m) and of Σ (1 − g) (u), and the prior the mean of g, at most ``most``.
    """
    pairs, level = _occurring(counts, near, incomplete)
    n_pairs = math.fsum(pairs.tolist())
    m, u, prior = _start_of_levels(near), _shares(level, pairs, None), most / 2
    links, converged, rounds = np.zeros_like(pairs), False, 0
    while rounds < MAX_ROUNDS and not converged:
        rounds += 1
        links = pairs * _probability(level, m, u, prior)
        before = m, u, prior
        m, u = _shares(level, links, m), _shares(level, pairs - links, u)
        prior = min(float(links.sum()) / n_pairs, most)
        changes = [float(np.abs(now - then).max(initial=0)) for now, then in zip((m, u), before[:2], strict=True)]
        converged = max(changes) <= TOLERANCE and abs(prior - before[2]) <= TOLERANCE * prior
    links = pairs * _probability(level, m, u, prior)
    return LinkModel(_sums(level, links), m, prior, most, rounds, converged)


def _occurring(counts: np.ndarray, near: Sequence[bool], incomplete: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of each pattern that occurs, and the level of each variable in it, int8 (v, patterns)."""
    pattern = np.flatnonzero(counts)
    states = np.unravel_index(pattern, counts.shape)
    level = np.empty((len(near), len(pattern)), np.int8)
    for at, state in enumerate(states):
        names = ["agree", "differ", *(["partial"] if near[at] else []), *(["missing"] if incomplete[at] else [])]
        level[at] = np.array([LEVELS.index(name) for name in names], np.int8)[state]
    return counts.ravel()[pattern].astype(np.float64), level


def _start_of_levels(near: Sequence[bool]) -> np.ndarray:
    """Return the probabilities among links with which EM starts; float64 (v, 4)."""
    m = np.ones((len(near), len(LEVELS)))
    for at, partly in enumerate(near):
        share = (1 - START) / (1 + bool(partly))
        m[at, :PRESENT] = START, share if partly else 0.0, share
    return m


def _sums(level: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Add up an amount of each pattern by variable and level; float64 (v, 4)."""
    return np.stack([np.bincount(row, amounts, minlength=len(LEVELS)) for row in level])


def _shares(level: np.ndarray, amounts: np.ndarray, otherwise: np.ndarray | None) -> np.ndarray:
    """Return the share of each level of a variable, 1 for missing; as before where no amount has the variable."""
    sums = _sums(level, amounts)
    present = sums[:, :PRESENT].sum(axis=1, keepdims=True)
    shares = np.ones_like(sums)
    with np.errstate(invalid="ignore"):
        of_present = sums[:, :PRESENT] / present
    shares_before = np.full_like(of_present, 1 / PRESENT) if otherwise is None else otherwise[:, :PRESENT]
    shares[:, :PRESENT] = np.where(present > 0, of_present, shares_before)
    return shares


def _probability(level: np.ndarray, m: np.ndarray, u: np.ndarray, prior: float) -> np.ndarray:
    """Return the probability of each pattern's pairs of being links."""
    with np.errstate(divide="ignore", invalid="ignore"):  # levels that no link has, or that a variable has not
        evidence = np.log(m) - np.log(u)
        total = np.full(level.shape[1], np.log(prior) - np.log1p(-prior))
    for at, row in enumerate(level):
        total += evidence[at][row]
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-total))
