"""The settings of the steps of simulations, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.sections.base import Section, required
from reident.simulation.section import LocalAuthorities, SkewedAmounts, SyntheticSurvey

if TYPE_CHECKING:
    from reident.study.model import Study


def simulating(study: Study) -> Section:
    """Return the section `simulate`."""
    return required(study.simulate, "simulate")


def is_survey(study: Study) -> bool:
    """Return whether linked files are simulated."""
    return hasattr(study.simulate, "files")


def is_synthetic(study: Study) -> bool:
    """Return whether synthetic files are simulated."""
    return isinstance(study.simulate, SyntheticSurvey)


def is_of_amounts(study: Study) -> bool:
    """Return whether a file of amounts is simulated."""
    return isinstance(study.simulate, SkewedAmounts)


def is_of_authorities(study: Study) -> bool:
    """Return whether a population of local authorities is simulated."""
    return isinstance(study.simulate, LocalAuthorities)
