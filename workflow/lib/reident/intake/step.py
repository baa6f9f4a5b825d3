"""The settings of the steps of reading the linked files, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.intake.settings import PreparationSettings
from reident.sections.base import SectionT

if TYPE_CHECKING:
    from reident.study.model import Study


def unlabelled(variables: tuple[SectionT, ...]) -> tuple[SectionT, ...]:
    """Return variables without the labels of their codes, which change no number."""
    return tuple(variable.model_copy(update={"labels": {}}) for variable in variables)


def preparing(study: Study) -> PreparationSettings:
    """Return the settings of the step `prepare`."""
    strata, variables_ = unlabelled(study.strata), unlabelled(study.linking_variables)
    units = study.units and study.units.model_copy(update={"kind": None})  # a word of the report
    return PreparationSettings(study.linked_files, strata, variables_, study.rates.cluster or (), units)
