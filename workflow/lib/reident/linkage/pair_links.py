"""The EM algorithm on pairs, each with its own rivals, and what it finds (METHODS §4.6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

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

HELD, HELD_ROUNDS = 1 / 2, 25
"""While the probabilities among links are learnt, so many rounds, the links are held at this share of their largest
number: where the evidence is weak, EM would otherwise lower both until nobody is found."""

FIRST_ROUNDS = 20
"""The first of these may go over few records: the last ones lead from there to where EM ends with more records."""

FEW_HELD, MORE = 1 / 10, 1.15
"""Where fewer links than this share come out, they are held at it instead, if that many times more are then expected:
where few records have a link, many that are held would blur what is learnt of them."""

CLOSE, MAX_ROUNDS = 1e-6, 200
"""The number of links is learnt when it changes by no more than this share of itself; or after so many rounds."""


LEAST_TOTAL, LEAST_PRIOR, FARTHEST = 1e-9, 1e-12, 3.0
"""What keeps divisions and jumps within bounds: links in all, the prior while links are held, a jump as a logarithm."""


class Probabilities(NamedTuple):
    """The probabilities of all levels among links and among other pairs, and the share of links among all pairs."""

    m: np.ndarray
    u: np.ndarray
    prior: float

    @property
    def prior_odds(self) -> float:
        """The odds of a pair of which nothing is known."""
        return self.prior / (1 - self.prior)


class Expectation(Protocol):
    """Takes probabilities to the links that are expected at each level, float64 (n_levels,), and in all.

    Without `by_level` the links at each level may be anything: m and u stay.
    """

    def __call__(self, found: Probabilities, *, by_level: bool = True) -> tuple[np.ndarray, float]:
        """Return the links."""


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
        return Probabilities(m, u, self._prior(float(links[-1])))

    def maximise(self, first: Expectation, expect: Expectation, progress: Progress | None = None) -> LinkModel:
        """Estimate the links by the EM algorithm: first m and u with the number of links held, then this alone.

        Parameters
        ----------
        first, expect : callable
            Take probabilities to the links that are expected at each level, and in all: in the first rounds and then.
        """
        found, number, total = self._held_at(HELD, first, expect, progress)
        if number < FEW_HELD * self._most:
            fewer, _, total_of_fewer = self._held_at(FEW_HELD, first, expect, None)
            if total_of_fewer >= MORE * total:
                found = fewer
        return found

    def _held_at(
        self, share: float, first: Expectation, expect: Expectation, progress: Progress | None
    ) -> tuple[LinkModel, float, float]:
        """Return the model that is learnt with links held at a share, its links, and these without a bound."""
        held = share * self._most
        links, prior = self.start, held / max(self._n_pairs, 1)
        for done in range(HELD_ROUNDS):
            round_of = first if done < FIRST_ROUNDS else expect
            by_level, total = round_of(self.probabilities(links)._replace(prior=prior))
            factor = held / max(total, LEAST_TOTAL)
            links, prior = np.append(by_level * factor, held), min(max(prior * factor, LEAST_PRIOR), 1 / 2)
            if progress is not None:
                progress((done + 1) / (HELD_ROUNDS + 10))
        found = self.probabilities(links)
        number, unbounded, rounds, converged = self.number_of_links(expect, found, held)
        largest = (self._most + 0.5) / (self._n_pairs + 1)
        prior = self._prior(number)
        model = LinkModel(links[:-1], found.m, prior, largest, HELD_ROUNDS + rounds, converged, held=held)
        return model, number, unbounded

    def number_of_links(
        self, expect: Expectation, found: Probabilities, start: float
    ) -> tuple[float, float, int, bool]:
        """Return the links that EM ends with where m and u stay, these without a bound, the rounds, if it converged.

        After every second round it is taken where both lead if each moves by the same share of the one before (Aitken).
        """
        numbers, total = [start], start
        for rounds in range(1, MAX_ROUNDS + 1):
            _, total = expect(found._replace(prior=self._prior(numbers[-1])), by_level=False)
            numbers.append(self._held(total))
            if abs(numbers[-1] - numbers[-2]) <= CLOSE * numbers[-1]:
                return numbers[-1], total, rounds, True
            if len(numbers) == 3:
                numbers = [self._held(_limit(*numbers))]
        return numbers[-1], total, MAX_ROUNDS, False

    def _held(self, number: float) -> float:
        return min(max(number, LEAST_HELD * self._most), float(self._most))

    def _prior(self, number: float) -> float:
        return (self._held(number) + 0.5) / (self._n_pairs + 1)


def _limit(first: float, second: float, third: float) -> float:
    """Return where three numbers lead to on the scale of logarithms; the last one if their steps do not shrink."""
    one, two = math.log(second / first), math.log(third / second)
    share = two / one if one else 1.0
    return third * math.exp(min(two * share / (1 - share), FARTHEST)) if 0 < share < 1 else third


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
