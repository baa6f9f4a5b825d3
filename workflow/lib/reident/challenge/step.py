"""The settings of the steps of the attacks at hand, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.challenge.settings import ChallengeSettings
from reident.challenge.standard import standard
from reident.linkage.step import attacking, comparing_metrics

if TYPE_CHECKING:
    from reident.study.model import Study


def challenging(study: Study) -> ChallengeSettings:
    """Return the settings of the step `challenge`."""
    declared = attacking(study)
    return ChallengeSettings(declared, standard(declared), comparing_metrics(study).right, study.challenge.work)
