"""The settings of the steps of matching, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.matching.section import Matching
from reident.matching.settings import MatchingFileSettings, MatchingSettings

if TYPE_CHECKING:
    from reident.study.model import Study


def matched_files(matching: Matching) -> MatchingFileSettings:
    """Return the settings of the step `prepare_matching`."""
    if matching.confidential is None:
        raise ValueError("the files of this section are simulated")
    return MatchingFileSettings(
        matching.confidential,
        matching.synthetic,
        tuple(matching.variables.values()),
        frozenset(matching.radius),
        tuple(variable.name for variable in matching.synthesized),
        matching.targets,
        matching.population_count,
        matching.holdout,
        matching.closest_variables,
    )


def match_rules(matching: Matching) -> MatchingSettings:
    """Return the settings of the step `match`."""
    return MatchingSettings(
        tuple(matching.variables),
        tuple(variable.name for variable in matching.synthesized),
        tuple(matching.sets),
        matching.radius,
        matching.interval,
        matching.missing,
        matching.key(),
        matching.uncertain_targets,
    )


def reading(study: Study) -> MatchingFileSettings:
    """Return the settings of the step `prepare_matching` of a study."""
    return matched_files(study.matched)


def comparing(study: Study) -> MatchingSettings:
    """Return the settings of the step `match` of a study."""
    return match_rules(study.matched)
