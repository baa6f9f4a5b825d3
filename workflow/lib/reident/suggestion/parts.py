"""What the search for coarser values takes from the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reident.linkage.parts import Confirming, Explaining
from reident.sections.decision import Decision
from reident.sections.linkage import Rates
from reident.utility.parts import Measuring


@dataclass(frozen=True)
class Suggesting:
    """What the search takes from the study.

    Attributes
    ----------
    attacks : by metric, in their order, what its attack takes
    measuring : how the loss is measured
    """

    attacks: Mapping[str, Explaining]
    confirming: Confirming
    rates: Rates
    decision: Decision
    measuring: Measuring
