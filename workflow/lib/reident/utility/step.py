"""The settings of the steps of utility, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.linkage.settings import Variable
from reident.linkage.step import variables
from reident.sections.base import required
from reident.utility.settings import UtilitySettings

if TYPE_CHECKING:
    from reident.study.model import Study


def measuring(study: Study) -> UtilitySettings:
    """Return the settings of the step `measure_utility`."""
    strata = tuple(Variable(variable.name, "categorical", variable.integer_coded) for variable in study.strata)
    return UtilitySettings(
        study.keys["puf"],
        (*strata, *variables(study)),
        study.binning.bins,
        study.binning.ranks,
        study.rates.level,
        required(study.utility, "utility"),
    )
