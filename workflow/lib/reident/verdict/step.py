"""The settings of the steps of the verdict, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.verdict.settings import VerdictSettings

if TYPE_CHECKING:
    from reident.study.model import Study


def judging(study: Study) -> VerdictSettings:
    """Return the settings of the step `judge`."""
    names = [variable.name for variable in study.linking_variables]
    scores = getattr(study.chosen.get("adhoc"), "scores", None)
    default = [] if scores is None else [name for name in names if name not in scores]
    limited = {section: names for section, names in study.limited.items() if names and study.decision}
    units = study.decision is not None and study.risk_units is not None
    return VerdictSettings(study.decision, len(names), tuple(default), limited, units)
