"""The settings of the search for coarser values."""

from __future__ import annotations

from dataclasses import dataclass

from reident.linkage.attack_settings import AttackSettings
from reident.sections.coarsening import NamedCoarsening
from reident.sections.decision import Decision
from reident.utility.settings import UtilitySettings


@dataclass(frozen=True)
class SuggestionSettings:
    """The settings of the step `try_recodings`.

    Attributes
    ----------
    recodings : the coarser values to try; None for the usual ones
    coarsened : the linking variables that have coarser values already, which are only left out
    measuring : how the loss is measured
    """

    attack: AttackSettings
    recodings: tuple[NamedCoarsening, ...] | None
    coarsened: tuple[str, ...]
    decision: Decision
    measuring: UtilitySettings
