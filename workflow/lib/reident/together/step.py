"""The settings of the steps of an intruder with several files, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.linkage.settings import JoiningSettings
from reident.linkage.step import directions, strata_names

if TYPE_CHECKING:
    from reident.study.model import Study


def joining(study: Study) -> JoiningSettings:
    """Return the settings of the step `join_files`."""
    return JoiningSettings(
        tuple(study.intruders.labelled),
        directions(study),
        (*study.keys["puf"], *strata_names(study)),
        study.linked_files.eif.person is not None,
        study.rates,
    )
