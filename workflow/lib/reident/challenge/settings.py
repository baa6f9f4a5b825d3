"""The settings of the attacks at hand, and the names of their kinds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reident.linkage.settings import AGREEMENT, ANY

if TYPE_CHECKING:
    from reident.linkage.attack_settings import AttackSettings

DECLARED, STANDARD, INFORMED, ORDER, JOIN, WITHOUT = "declared", "standard", "informed", "order", "join", "without"
KINDS = (DECLARED, STANDARD, ANY, INFORMED, ORDER, AGREEMENT, JOIN, WITHOUT)
"""The kinds of attacks at hand, in the order of the table."""

WEIGHED = "fellegi_sunter"
"""The metric of somebody who knows true links."""

EXACT = "exact_values"
"""Stands for the join on exact values where tables have a metric."""


@dataclass(frozen=True)
class ChallengeSettings:
    """The settings of the step `challenge`.

    Attributes
    ----------
    declared : the attack of the study
    standard : the attack with the standard metrics that the study does not declare so; None if there are none
    right : the share of right claims of `decision.surest`, where the study has it
    work : the seconds of one processor that the attacks may take by their estimate; None without a limit
    """

    declared: AttackSettings
    standard: AttackSettings | None
    right: float | None
    work: float | None

    @property
    def budget(self) -> float:
        """The seconds of one processor that the attacks may take by their estimate."""
        return math.inf if self.work is None else self.work
