"""The settings of the steps of the checks of a description, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.intake.step import preparing
from reident.linkage.step import variables
from reident.plausibility.settings import DescriptionCheckSettings

if TYPE_CHECKING:
    from reident.study.model import Study


def checking(study: Study) -> DescriptionCheckSettings:
    """Return the settings of the step `check_description`."""
    return DescriptionCheckSettings(variables(study), study.keys, preparing(study))
