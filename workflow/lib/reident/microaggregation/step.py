"""The settings of the steps of masking, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.intake.step import unlabelled
from reident.microaggregation.settings import MaskingSettings
from reident.sections.base import required

if TYPE_CHECKING:
    from reident.study.model import Study


def masking(study: Study) -> MaskingSettings:
    """Return the settings of the step `microaggregate`."""
    variables_ = tuple(variable.model_copy(update={"coarsen": None}) for variable in study.linking_variables)
    options = required(study.microaggregate, "microaggregate")
    return MaskingSettings(options, unlabelled((*study.strata, *variables_)))
