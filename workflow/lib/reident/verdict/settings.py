"""The settings of the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reident.sections.decision import Decision


@dataclass(frozen=True)
class VerdictSettings:
    """The settings of the step `judge`.

    Attributes
    ----------
    decision : the limits, if the study has any
    n_variables : the number of linking variables
    default_scores : the linking variables that the metric `adhoc` scores by its default rules
    """

    decision: Decision | None
    n_variables: int
    default_scores: tuple[str, ...]
