"""Simulated study files: the section `simulate` of a study, and what draws the files from it."""

from reident.simulation.options import Simulation
from reident.simulation.survey import simulate

__all__ = ["Simulation", "simulate"]
