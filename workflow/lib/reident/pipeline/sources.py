"""The files that a study draws itself, in memory."""

from __future__ import annotations

import pandas as pd

from reident import simulation
from reident.sections.files import ORIGINAL
from reident.simulation.section import Linked, LocalAuthorities, SkewedAmounts, SyntheticSurvey
from reident.study.model import Study


def drawn_files(study: Study) -> dict[str, pd.DataFrame]:
    """Return the files that the section `simulate` of a study draws, by side, every cell as text."""
    spec = study.simulate
    if isinstance(spec, Linked):
        return simulation.simulate(spec)
    if isinstance(spec, LocalAuthorities):
        return simulation.populate(spec)
    if isinstance(spec, SkewedAmounts):
        return {ORIGINAL: simulation.draw_skewed(spec)}
    if isinstance(spec, SyntheticSurvey):
        sides = {**study.matched_sources, **study.holdout_sources}
        return {side: simulation.synthesize(spec, side) for side in sides}
    return {}
