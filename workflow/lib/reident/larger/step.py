"""The settings of the steps of a larger intruder, from the study."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reident.larger.settings import ExtrapolationSettings, ThinningSettings
from reident.linkage.metrics import REGISTRY
from reident.linkage.step import attacking
from reident.sections.base import required

if TYPE_CHECKING:
    from reident.study.model import Study


def thinning(study: Study, metric: str) -> ThinningSettings:
    """Return the settings of the step `thin` for a metric."""
    attack = attacking(study).search(metric)
    if not REGISTRY[metric].weighs:  # the order of categories counts for weights alone
        plain = tuple(dataclasses.replace(variable, order=()) for variable in attack.variables)
        attack = dataclasses.replace(attack, variables=plain)
    return ThinningSettings(attack, required(study.larger_intruder, "larger_intruder").seed)


def extrapolating(study: Study) -> ExtrapolationSettings:
    """Return the settings of the step `extrapolate`."""
    options = required(study.larger_intruder, "larger_intruder")
    limits = {name: study.rank_filter.max_pairs if REGISTRY[name].ranked else None for name in study.chosen}
    fixed = tuple(name for name, metric in study.chosen.items() if REGISTRY[name].depends_on_size(metric))
    return ExtrapolationSettings(
        tuple(study.chosen), limits, fixed, study.rank_filter.kept, options.times, options.population, study.rates.level
    )
