"""The settings of the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reident.sections.decision import Decision


TABLES = (
    "prepared/warnings.csv",
    "strata/account.csv",
    "plausibility.csv",
    "attacks.csv",
    "rates.csv",
    "description/overlap.csv",
    "units/sizes.csv",
    "agreement/rates.csv",
    "surest/summary.csv",
    "weights/model.csv",
    "weights/calibration.csv",
    "together/rates.csv",
    "matching/warnings.csv",
    "matching/scenarios.csv",
    "matching/pooled.csv",
    "matching/closest.csv",
    "matching/premise.csv",
    "filerisk/warnings.csv",
    "filerisk/cells.csv",
    "filerisk/summary.csv",
    "filerisk/scenarios.csv",
    "filerisk/diversity.csv",
    "filerisk/population.csv",
    "filerisk/risks.csv",
    "filerisk/thresholds.csv",
    "filerisk/judged.csv",
    "filerisk/units.csv",
    "attribution/warnings.csv",
    "attribution/summary.csv",
    "values/warnings.csv",
    "values/rates.csv",
)
"""The tables that the verdict reads, as far as a study has them, by their paths in its results."""


@dataclass(frozen=True)
class VerdictSettings:
    """The settings of the step `judge`.

    Attributes
    ----------
    decision : the limits, if the study has any
    n_variables : the number of linking variables
    default_scores : the linking variables that the metric `adhoc` scores by its default rules
    names : what the limits for a section apply to, such as metrics or scenarios, by the section, where they have names
    units : whether the study declares units of the file of `file_risk`, such as households
    """

    decision: Decision | None
    n_variables: int
    default_scores: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    units: bool = False
