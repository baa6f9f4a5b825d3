"""Simulated study files: the section `simulate` of a study, and what draws the files from it."""

from reident.simulation.authorities import populate
from reident.simulation.options import HouseholdSurvey, LocalAuthorities, Simulation, SyntheticSurvey
from reident.simulation.survey import simulate
from reident.simulation.synthesis import synthesize

__all__ = [
    "HouseholdSurvey",
    "LocalAuthorities",
    "Simulation",
    "SyntheticSurvey",
    "populate",
    "simulate",
    "synthesize",
]
