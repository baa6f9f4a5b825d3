"""The settings of masking."""

from __future__ import annotations

from dataclasses import dataclass

from reident.microaggregation.section import Microaggregate
from reident.sections.linkage import StudyColumn


@dataclass(frozen=True)
class MaskingSettings:
    """The settings of the step `microaggregate`.

    Attributes
    ----------
    options : the section `microaggregate`
    columns : the strata variables and the linking variables, which read the files that masking makes
    """

    options: Microaggregate
    columns: tuple[StudyColumn, ...]
