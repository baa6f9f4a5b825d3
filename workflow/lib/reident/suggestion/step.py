"""The settings of the steps of the search for coarser values, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.linkage.step import attacking, coarsened
from reident.sections.base import required
from reident.suggestion.settings import SuggestionSettings
from reident.utility.section import Utility
from reident.utility.step import measuring
from reident.why.section import Why

if TYPE_CHECKING:
    from reident.study.model import Study


def suggesting(study: Study) -> SuggestionSettings:
    """Return the settings of the step `try_recodings`."""
    options, why = study.utility or Utility(), study.why or Why()
    # A regression cannot be compared without its variables, and pMSE tells any file without one of them apart.
    update = {"regression": None, "loss": "univariate"}
    measured = study.model_copy(update={"utility": options.model_copy(update=update)})
    return SuggestionSettings(
        attacking(study), why.recodings, coarsened(study), required(study.decision, "decision"), measuring(measured)
    )


def is_limited(study: Study) -> bool:
    """Return whether the study has limits on rates, which coarser values may meet."""
    return study.metrics is not None and study.decision is not None and bool(study.decision.given("metrics"))


def is_asked(study: Study) -> bool:
    """Return whether every run of the study searches for coarser values, not `snakemake suggest` alone."""
    return study.why is not None and study.why.suggest
