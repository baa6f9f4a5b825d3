"""The settings of each step of matching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from reident.intake.settings import Extract
from reident.matching.section import (
    HOLDOUT,
    ConfidentialFile,
    MatchedVariable,
    NamedSet,
    Radius,
    SyntheticFile,
    Target,
    UncertainTargets,
)
from reident.sections.files import SourceFile

CONFIDENTIAL = "confidential"
"""The side of the confidential file; that of the holdout is :data:`reident.matching.section.HOLDOUT`."""


def synthetic_side(place: int) -> str:
    """Return the side of a synthetic file, counted from 0."""
    return f"synthetic_{place + 1}"


@dataclass(frozen=True)
class MatchingFileSettings:
    """The settings of the step `prepare_matching`.

    Attributes
    ----------
    variables : every matched variable, as the study declares it
    numeric : names of the variables with a radius, which are read as numbers
    targets : conditions, all of which a target meets
    population_count : the column with population counts; None without one
    holdout : the file of people who had no part in the synthesis; None without one
    closest : names of the variables of the holdout
    """

    confidential: ConfidentialFile
    synthetic: tuple[SyntheticFile, ...]
    variables: tuple[MatchedVariable, ...]
    numeric: frozenset[str]
    synthesized: tuple[str, ...]
    targets: tuple[Target, ...]
    population_count: str | None = None
    holdout: SourceFile | None = None
    closest: tuple[str, ...] = ()

    def file(self, place: int | None = None) -> SourceFile:
        """Return the description of a synthetic file, counted from 0, or of the confidential one."""
        return self.confidential if place is None else self.synthetic[place]

    def key(self, place: int | None = None) -> tuple[str, ...]:
        """Return the key columns of a file; empty where rows correspond by order."""
        key = self.confidential.id or ()
        return key if place is None else (self.synthetic[place].id or key)

    @property
    def extracts(self) -> dict[str, Extract]:
        """The extract of each file for the study: ``confidential``, ``synthetic_1`` …, and perhaps ``holdout``."""
        names = [variable.name for variable in self.variables]
        others = [target.variable for target in self.targets]
        others += [self.population_count] if self.population_count else []
        extracts = {CONFIDENTIAL: Extract(self.confidential, self.key(), [*names, *others])}
        for place, file in enumerate(self.synthetic):
            extracts[synthetic_side(place)] = Extract(file, self.key(place), names)
        if self.holdout is not None:
            extracts[HOLDOUT] = Extract(self.holdout, (), self.closest)
        return extracts


@dataclass(frozen=True)
class MatchingSettings:
    """The settings of the step `match`.

    Attributes
    ----------
    radius : by variable, when two numbers are equal
    key : the key columns of the confidential file; empty where rows correspond by order
    uncertain_targets : the population of targets that may not be in the file; None where all are in it
    """

    variables: tuple[str, ...]
    synthesized: tuple[str, ...]
    sets: tuple[NamedSet, ...]
    radius: Mapping[str, Radius]
    interval: Literal["closed", "open"]
    missing: Literal["never", "each_other"]
    key: tuple[str, ...]
    uncertain_targets: UncertainTargets | None = None


@dataclass(frozen=True)
class ClosestSettings:
    """The settings of the step `measure_distances`.

    Attributes
    ----------
    variables : names of the variables that are compared
    numeric : names of those that are numbers
    key : the key columns of the confidential file; empty where rows correspond by order
    level : the confidence level of intervals, a fraction
    """

    variables: tuple[str, ...]
    numeric: frozenset[str]
    key: tuple[str, ...]
    level: float
