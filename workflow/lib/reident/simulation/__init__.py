"""Draw the files of simulated studies from the section `simulate`."""

import pandas as pd

from reident.simulation import survey
from reident.simulation.authorities import populate
from reident.simulation.households import draw_households
from reident.simulation.section import Households, HouseholdSurvey, Visits
from reident.simulation.skewed import draw_skewed
from reident.simulation.synthesis import synthesize
from reident.simulation.visits import draw_visits

__all__ = ["draw_skewed", "populate", "simulate", "synthesize"]


def simulate(spec: HouseholdSurvey | Households | Visits) -> dict[str, pd.DataFrame]:
    """Draw the PUF, the EIF and the IUF of a study, every cell as text."""
    if isinstance(spec, Households):
        return draw_households(spec)
    return draw_visits(spec) if isinstance(spec, Visits) else survey.simulate(spec)
