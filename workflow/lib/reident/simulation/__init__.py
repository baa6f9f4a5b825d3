"""Simulated study files: the section `simulate` of a study, and what draws the files from it."""

from reident.simulation.authorities import populate
from reident.simulation.options import (
    HouseholdSurvey,
    LocalAuthorities,
    Simulation,
    SkewedAmounts,
    SyntheticSurvey,
)
from reident.simulation.skewed import draw_skewed
from reident.simulation.survey import simulate
from reident.simulation.synthesis import synthesize

__all__ = [
    "HouseholdSurvey",
    "LocalAuthorities",
    "Simulation",
    "SkewedAmounts",
    "SyntheticSurvey",
    "draw_skewed",
    "populate",
    "simulate",
    "synthesize",
]
