"""The search for sets of coarser values that meet the limits, best first (METHODS §6.4).

A set has at most one change of each variable. The search is deterministic: it depends on the study and its results
alone, never on time or on the number of threads. Sets that meet the limits come first, by their loss; then the others
by excess, loss, fewer changes, the order of the study. Each step follows the first set that was not followed before:

- one that does not meet the limits by one more or one coarser change, in the order of p/k: p is the share of confirmed
  records that the change alone prevents (added up over the metrics with limits), k its place from fine to coarse. It is
  not followed if it loses as much as a set that meets the limits;
- one that does by one change less, then by one finer change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from reident.linkage.limits import judge_metric
from reident.linkage.recodings import Change
from reident.outcomes import NONE, UNSURE, is_beyond
from reident.sections.decision import Decision

MAX_RUNS = 50
"""The largest number of runs of the attack with coarser values."""

BREADTH = 8
"""The largest number of sets that follow one set directly."""

Chosen = tuple[tuple[str, int], ...]
"""A set: for each changed variable, in the order of the study, the place of its change among those of the variable."""


class Result(NamedTuple):
    """The outcome of a set: its rates, one line per metric, and its loss by each measure; ``loss`` counts."""

    rates: pd.DataFrame
    losses: dict[str, float]


class Tried(NamedTuple):
    """A set with its result.

    Attributes
    ----------
    n_broken : int
        How many limits are broken.
    n_open : int
        How many limits cannot be judged: no pair could be suspected, or there are too few claims.
    excess : float
        How far above the limits the rates are: Σ (value − limit) / value over the broken limits.
    """

    chosen: Chosen
    result: Result
    n_broken: int
    n_open: int
    excess: float

    @property
    def meets(self) -> bool:
        """Whether all limits are met."""
        return not (self.n_broken or self.n_open)

    @property
    def loss(self) -> float:
        """The loss by the measure that counts."""
        return self.result.losses["loss"]

    @property
    def order(self) -> tuple[bool, float, float, int, Chosen]:
        """The sort key of sets: first those that meet the limits, by loss; then others, by their excess."""
        distance = 0.0 if self.meets else self.excess
        return not self.meets, distance, self.loss, len(self.chosen), self.chosen


def judged(chosen: Chosen, result: Result, decision: Decision) -> Tried:
    """Compare the rates of a set with the limits of the study."""
    outcomes = [
        judge_metric(line, name, bound, decision.by)
        for _, line in result.rates.iterrows()
        for name, bound in decision.given("metrics", str(line["metric"])).items()
    ]
    broken = [one for one in outcomes if one.is_broken]
    excess = sum((one.value - one.bound) / one.value for one in broken)
    undecided = [one for one in outcomes if one.outcome == UNSURE and is_beyond(one.limit, one.value, one.bound)]
    n_open = len(undecided) + sum(one.outcome == NONE for one in outcomes)
    return Tried(chosen, result, len(broken), n_open, round(excess, 12))


class Search:
    """The sets that were tried, and which to try next.

    Parameters
    ----------
    changes : mapping
        By variable, its changes from fine to coarse; leaving it out is the last.
    prevented : mapping
        By variable and place of a change, the share of confirmed records that it alone prevents.
    run : callable
        ``run(chosen)`` gives the result of a set; None if a variant with it would be refused.
    """

    def __init__(
        self,
        changes: Mapping[str, Sequence[Change]],
        prevented: Mapping[tuple[str, int], float],
        decision: Decision,
        run: Callable[[Chosen], Result | None],
    ) -> None:
        self._changes, self._prevented, self._decision, self._run = changes, prevented, decision, run
        self._seen: set[Chosen] = set()
        self.tried: list[Tried] = []
        self.n_runs = -1  # the study itself, without a change, does not count

    def search(self, most: int = MAX_RUNS) -> list[Tried]:
        """Try sets until all promising ones are tried, or `most` with a change; return them, the best first."""
        self._try(())
        expanded: set[Chosen] = set()
        while self.n_runs < most:
            following = next((one for one in self._promising() if one.chosen not in expanded), None)
            if following is None:
                break
            expanded.add(following.chosen)
            moves = self._finer(following) if following.meets else self._coarser(following)
            for chosen in [one for one in moves if one not in self._seen][:BREADTH]:
                if self.n_runs < most:
                    self._try(chosen)
        return sorted(self.tried, key=lambda one: one.order)

    def _try(self, chosen: Chosen) -> None:
        self._seen.add(chosen)
        if (result := self._run(chosen)) is not None:
            self.tried.append(judged(chosen, result, self._decision))
            self.n_runs += 1

    def _promising(self) -> list[Tried]:
        """Return the sets to follow, the best first; none that loses as much as one that meets the limits."""
        ordered = sorted(self.tried, key=lambda one: one.order)
        least = min((one.loss for one in ordered if one.meets), default=float("inf"))
        return [one for one in ordered if one.meets or one.loss < least]

    def _coarser(self, tried: Tried) -> list[Chosen]:
        """Return the sets with one more or a coarser change, first those that prevent most for their coarseness."""
        places, moves = dict(tried.chosen), []
        for variable, changes in self._changes.items():
            for place in range(places.get(variable, -1) + 1, len(changes)):
                worth = self._prevented.get((variable, place), 0.0)
                moves.append((-worth / (place + 1), -place, self._with(places, variable, place)))
        return [chosen for *_, chosen in sorted(moves)]

    def _finer(self, tried: Tried) -> Iterator[Chosen]:
        """Yield the sets with one change less, or the next finer one."""
        places = dict(tried.chosen)
        for variable in places:
            yield self._with(places, variable, None)
        for variable, place in places.items():
            if place:
                yield self._with(places, variable, place - 1)

    def _with(self, places: Mapping[str, int], variable: str, place: int | None) -> Chosen:
        """Return a set with another change of one variable; None for no change."""
        new_places = {**places, variable: place}
        pairs = [(name, new_places.get(name)) for name in self._changes]
        return tuple((name, at) for name, at in pairs if at is not None)
