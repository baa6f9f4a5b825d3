"""The EM algorithm on pairs, each with its own rivals, and what it finds (METHODS §4.6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reident.linkage.metrics.levels import AGREE, Levels, begins
from reident.linkage.pattern_links import START, LinkModel

if TYPE_CHECKING:
    from reident.linkage.metrics.contract import Progress

FALL, EQUAL = 0.6, 1.5
"""Of numbers, EM starts with a share that falls by this exponent from level to level of the distance, and with so many
times that share at equality."""

BEFORE = 6
"""The links, spread as at the start, that are added to those that EM expects, in each round."""

LEAST_HELD = 1 / 50
"""EM expects at least this share of the largest number of links."""

CLOSE, MAX_ROUNDS = 1e-6, 200
"""EM ends when no probability changes by more than this, and the links by no more than this share of the largest number
of links; or after this number of rounds."""

LONGEST, FASTER = 4.0, 2.0
"""The longest step at first, in rounds, and what it is multiplied by where a step as long was a good one."""


class Probabilities(NamedTuple):
    """The probabilities of all levels among links and among other pairs, and the share of links among all pairs."""

    m: np.ndarray
    u: np.ndarray
    prior: float

    @property
    def prior_odds(self) -> float:
        """The odds of a pair of which nothing is known."""
        return self.prior / (1 - self.prior)


class PairModel:
    """The model of links among the pairs of some strata.

    Parameters
    ----------
    counts : int64 (n_levels,)
        The pairs at each level of each variable.
    most : int
        The largest number of links: one for every record of the smaller file of each stratum.
    """

    def __init__(self, levels: Sequence[Levels], counts: np.ndarray, n_pairs: int, most: int) -> None:
        self._levels, self._counts, self._n_pairs, self._most = levels, counts, n_pairs, most
        even = np.concatenate([np.full(len(found.distinct), 1 / len(found.distinct)) for found in levels])
        self._before = BEFORE * (0.9 * np.concatenate([_start_of(found) for found in levels]) + 0.1 * even)
        self.start = np.append(np.zeros(len(counts)), most / 2)

    def probabilities(self, links: np.ndarray) -> Probabilities:
        """Return the probabilities if so many links are expected at each level, and in all."""
        m = shares_of(self._levels, links[:-1] + self._before)
        u = shares_of(self._levels, np.maximum(self._counts - links[:-1], 0) + 0.5)
        held = min(max(float(links[-1]), LEAST_HELD * self._most), self._most)
        return Probabilities(m, u, (held + 0.5) / (self._n_pairs + 1))

    def maximise(
        self, expect: Callable[[Probabilities], tuple[np.ndarray, float]], progress: Progress | None = None
    ) -> LinkModel:
        """Estimate the links by the EM algorithm, with the steps of Varadhan and Roland (2008), see METHODS §4.6.

        Parameters
        ----------
        expect : callable
            Takes probabilities to the links that are expected at each level, and in all.
        """

        def advance(links: np.ndarray) -> np.ndarray:
            return np.append(*expect(self.probabilities(links)))

        now, longest, rounds = self.start, LONGEST, 1
        after = advance(now)
        while (change := self._change(now, after)) > CLOSE and rounds < MAX_ROUNDS:
            if progress is not None:
                progress(1 - math.log(change / CLOSE) / math.log(1 / CLOSE))
            before, now, after = now, after, advance(after)
            rounds += 1
            further, step = self._extrapolate(before, now, after, longest)
            if step > 1 and rounds < MAX_ROUNDS:
                tried = advance(further)
                rounds += 1
                closer = self._distance(further, tried) <= self._distance(now, after)
                if closer:
                    now, after = further, tried
                if not closer or step == longest:
                    longest = max(longest * FASTER if closer else longest / FASTER, FASTER)
        found = self.probabilities(after)
        largest = (self._most + 0.5) / (self._n_pairs + 1)
        return LinkModel(after[:-1], found.m, found.prior, largest, rounds, change <= CLOSE)

    def _change(self, now: np.ndarray, after: np.ndarray) -> float:
        """Return the largest change of a probability among links, or of the links as a share of their number."""
        a, b = self.probabilities(now), self.probabilities(after)
        return max(float(np.abs(a.m - b.m).max(initial=0)), abs(a.prior - b.prior) * (self._n_pairs + 1) / self._most)

    def _logarithms(self, links: np.ndarray) -> np.ndarray:
        return np.log(links + np.append(self._before, 0.5))

    def _distance(self, one: np.ndarray, other: np.ndarray) -> float:
        return _length(self._logarithms(other) - self._logarithms(one))

    def _extrapolate(
        self, before: np.ndarray, now: np.ndarray, after: np.ndarray, longest: float
    ) -> tuple[np.ndarray, float]:
        """Return where three rounds point to on the scale of logarithms, and the length of the step."""
        x, y, z = (self._logarithms(links) for links in (before, now, after))
        way, bend = y - x, z - 2 * y + x
        step = min(_length(way) / _length(bend), longest) if bend.any() else 1.0
        least, most = self._logarithms(np.zeros(len(x))), self._logarithms(np.append(self._counts, self._most))
        point = np.clip(x + 2 * step * way + step**2 * bend, least, most)
        return np.exp(point) - np.append(self._before, 0.5), step


def _length(values: np.ndarray) -> float:
    return math.sqrt(math.fsum((values**2).tolist()))


def _start_of(levels: Levels) -> np.ndarray:
    """Return the probabilities of the levels of a variable among links with which EM starts."""
    names = levels.distinct
    if levels.scale is None:
        return np.array([START if name == AGREE else (1 - START) / (len(names) - 1) for name in names])
    distance = np.array([0 if name == AGREE else int(name.rpartition("_")[2]) for name in names])
    shares = np.exp(-FALL * distance) * np.where(distance, 1, EQUAL)
    return shares / shares.sum()


def shares_of(levels: Sequence[Levels], amounts: np.ndarray) -> np.ndarray:
    """Return the share of each level among the amounts of its variable."""
    parts = np.split(amounts, begins(levels)[1:-1])
    return np.concatenate([part / math.fsum(part.tolist()) for part in parts])
