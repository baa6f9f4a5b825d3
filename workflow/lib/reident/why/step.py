"""The settings of the steps of why records are confirmed, from the study."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reident.linkage.attack_settings import ExplanationSettings
from reident.linkage.step import attacking, coarsened
from reident.sections.base import required

if TYPE_CHECKING:
    from reident.study.model import Study


def explaining(study: Study, metric: str) -> ExplanationSettings:
    """Return the settings of the step `explain` for a metric."""
    why = required(study.why, "why")
    # Pairs beyond the rank limit in force do not count.
    attack = dataclasses.replace(attacking(study).search(metric), keep=study.rank_filter.max_pairs)
    names = tuple(study.chosen)
    return ExplanationSettings(attack, study.keys, names, why.recodings, coarsened(study), why.max_size)


def is_exported(study: Study) -> bool:
    """Return whether what carries each pair is written as CSV, too."""
    return study.confirmed_csv and study.why is not None
