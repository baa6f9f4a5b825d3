"""The settings of the steps of closest records, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.matching.settings import ClosestSettings

if TYPE_CHECKING:
    from reident.study.model import Study


def closest_rules(study: Study) -> ClosestSettings:
    """Return the settings of the step `measure_distances`."""
    matching = study.matched
    names = matching.closest_variables
    return ClosestSettings(names, frozenset(matching.radius) & set(names), matching.key(), study.rates.level)


def has_distances(study: Study) -> bool:
    """Return whether the closest records are searched for."""
    return study.matching is not None and study.matching.closest is not None
