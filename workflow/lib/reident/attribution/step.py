"""The settings of the steps of attribute disclosure, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.attribution.section import SYNTHETIC
from reident.attribution.settings import AttributionFileSettings, AttributionSettings
from reident.intake.step import unlabelled

if TYPE_CHECKING:
    from reident.study.model import Study


def attribution_files(study: Study) -> AttributionFileSettings:
    """Return the settings of the step `prepare_attribution`."""
    options, files = study.attributed, study.attribution_sources
    keys, targets = study.attribution_variables
    behind = list(files)[1:]
    return AttributionFileSettings(
        files=files,
        released=tuple(behind[:-1] if options.holdout else behind),
        ids=study.attribution_ids,
        by_order=options.released == SYNTHETIC,
        keys=unlabelled(keys),
        targets=unlabelled(targets),
        missing=options.missing,
        bins=study.binning.bins,
        ranks=study.binning.ranks,
    )


def attribution_rules(study: Study) -> AttributionSettings:
    """Return the settings of the step `assess_attribution`."""
    _, targets = study.attribution_variables
    original = next(iter(study.attribution_sources))
    return AttributionSettings(
        id=study.attribution_ids.get(original, ()),
        sets=tuple(study.attributed.key_sets),
        targets={target.name: target.within for target in targets},
        category=study.attributed.missing == "category",
    )
