"""Draw the files of simulated studies from the section `simulate`."""

from reident.simulation.authorities import populate
from reident.simulation.skewed import draw_skewed
from reident.simulation.survey import simulate
from reident.simulation.synthesis import synthesize

__all__ = ["draw_skewed", "populate", "simulate", "synthesize"]
