"""The settings of an attack, each once, and the slices of them that its stages take (METHODS §3 to §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from reident.linkage.metrics import REGISTRY
from reident.linkage.settings import (
    AssignmentSettings,
    BinningSettings,
    ClaimSettings,
    ConfirmationSettings,
    MemberSettings,
    OrderedVariable,
    RatingSettings,
    ScoringSettings,
    Variable,
    WeighingSettings,
)

if TYPE_CHECKING:
    from reident.sections.base import Section
    from reident.sections.coarsening import NamedCoarsening
    from reident.sections.linkage import Binning, Rates


@dataclass(frozen=True)
class SearchSettings:
    """The settings that decide which pairs are suspected.

    Attributes
    ----------
    variables : the linking variables
    binning : how numeric ones are cut, and where standard deviations are taken
    metrics : by name, in the order of the registry, the options of each metric
    max_pairs : the rank limit
    keep : the largest rank limit to report on
    members : of units, whether the intruder knows all members or some; None where records are compared
    """

    variables: tuple[OrderedVariable, ...]
    binning: Binning
    metrics: Mapping[str, Section]
    max_pairs: int
    keep: int
    members: Literal["all", "some"] | None = field(default=None, kw_only=True)

    @property
    def tables(self) -> dict[str, str]:
        """The table that each metric compares, ``binned`` or ``prepared``."""
        return {name: REGISTRY[name].table(options) for name, options in self.metrics.items()}

    @property
    def cutting(self) -> BinningSettings:
        """The slice of binning."""
        return BinningSettings(self._unordered, self.binning)

    @property
    def weighing(self) -> WeighingSettings | None:
        """The slice of the estimation of weights; None if no metric weighs."""
        for name, section in self.metrics.items():
            if REGISTRY[name].weighs:
                options: Any = section
                limit, rules = options.threshold, options.rules
                return WeighingSettings(
                    self.variables,
                    limit.probability,
                    limit.weight,
                    options.m == "informed",
                    rules.partial,
                    rules.differences,
                    rules.bands,
                    options.competition,
                    options.frequency,
                )
        return None

    def scoring(self, metric: str) -> ScoringSettings:
        """Return the slice of scoring with a metric."""
        variables = self.variables if REGISTRY[metric].weighs else self._unordered
        return ScoringSettings(variables, self.binning.scope, self.keep, self.metrics[metric], self.members)

    @property
    def counting_members(self) -> MemberSettings:
        """The slice of the counts of members of units."""
        return MemberSettings({name: self.scoring(name) for name in self.metrics}, self.tables)

    def assigning(self, metric: str) -> AssignmentSettings | None:
        """Return the slice of ranking: none unless a metric's pairs are assigned one to one."""
        one_to_one = getattr(self.metrics[metric], "one_to_one", False)
        return AssignmentSettings(self.max_pairs) if one_to_one else None

    @property
    def _unordered(self) -> tuple[Variable, ...]:
        return tuple(Variable(one.name, one.type, one.integer_coded) for one in self.variables)


@dataclass(frozen=True)
class AttackSettings(SearchSettings):
    """The settings of an attack, from bins to rates.

    Attributes
    ----------
    keys : the key columns of ``puf`` and ``eif`` in the prepared tables
    rates : the intervals
    """

    keys: Mapping[str, tuple[str, ...]]
    rates: Rates

    def search(self, metric: str) -> SearchSettings:
        """Return the settings of the search for the suspected pairs of one metric."""
        options = {metric: self.metrics[metric]}
        return SearchSettings(self.variables, self.binning, options, self.max_pairs, self.keep, members=self.members)

    @property
    def confirming(self) -> ConfirmationSettings:
        """The slice of confirmation."""
        return ConfirmationSettings(self.keys, self.max_pairs, self.keep)

    def claiming(self, metric: str) -> ClaimSettings:
        """Return the slice of the order of the claims of a metric."""
        return ClaimSettings(REGISTRY[metric].low_is_best(self.metrics[metric]), self.rates)

    @property
    def rating(self) -> RatingSettings:
        """The slice of the rates."""
        tolerances = {}
        for name, options in self.metrics.items():
            if not REGISTRY[name].weighs:
                tolerance = partial(REGISTRY[name].tolerance, options, self.variables)
                tolerances[name] = tolerance(False), tolerance(True)
        names = tuple(variable.name for variable in self.variables)
        return RatingSettings(tuple(self.metrics), tolerances, names, self.max_pairs, self.rates)


@dataclass(frozen=True)
class ExplanationSettings:
    """The settings of the explanation of confirmed records.

    Attributes
    ----------
    attack : that with the metric whose pairs are explained; no rank limit above the one in force counts
    keys : the key columns of ``puf`` and ``eif`` in the prepared tables
    metrics : the names of all metrics
    recodings : the coarser values to try; None for the usual ones
    coarsened : the linking variables that have coarser values already, which are only left out
    max_size : the largest set that is searched for uniques
    """

    attack: SearchSettings
    keys: Mapping[str, tuple[str, ...]]
    metrics: tuple[str, ...]
    recodings: tuple[NamedCoarsening, ...] | None
    coarsened: tuple[str, ...]
    max_size: int
