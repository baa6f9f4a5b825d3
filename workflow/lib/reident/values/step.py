"""The settings of the steps of confirmation by values, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.intake.settings import PreparationSettings
from reident.intake.step import unlabelled
from reident.linkage.attack_settings import SearchSettings
from reident.linkage.step import ordered_variables, stratifying
from reident.sections.base import required
from reident.sections.keys import KeyVariable
from reident.values.section import ROW, exact, from_people
from reident.values.settings import ValuesSettings

if TYPE_CHECKING:
    from reident.study.model import Study

MAX_TIES = 10_000
"""Released records that share a best rank; of a person who has more, nothing is learnt (METHODS §14)."""


def confirming(study: Study) -> ValuesSettings:
    """Return the settings of the step `confirm_values`."""
    options, files = required(study.confirm, "confirm"), study.linked_files
    by_row = files.model_copy(
        update={
            "puf": files.puf.model_copy(update={"id": (ROW,)}),
            "iuf": files.iuf.model_copy(update={"puf_id": (ROW,)}),
        }
    )
    # The claims are about the external records, which take the place of the released ones in an attack.
    cut = {"puf": "eif", "eif": "puf"}.get(study.binning.cutpoints, study.binning.cutpoints)
    binning = study.binning.model_copy(update={"cutpoints": cut})
    metrics = {name: from_people(options) for name, options in study.chosen.items()}
    strata = unlabelled(study.strata)
    learnt, beside = options.variables(study)
    return ValuesSettings(
        PreparationSettings(by_row, strata, unlabelled(study.linking_variables)),
        stratifying(study),
        SearchSettings(ordered_variables(study), binning, metrics, MAX_TIES, MAX_TIES),
        files.iuf,
        tuple(
            KeyVariable(
                name=one.name,
                column=one.puf,
                missing=one.missing.puf,
                recode=one.recode.puf,
                integer_coded=one.integer_coded,
            )
            for one in strata
        ),
        unlabelled(learnt),
        unlabelled(beside),
        {name: exact(within) for name, within in options.within.items()},
        study.rates.level,
    )
