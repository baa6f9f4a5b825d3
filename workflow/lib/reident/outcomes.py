"""The words of a verdict: what limits and warnings are about, outcomes of limits, and verdicts (METHODS §6.2)."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

ATTACK, SUREST, TOGETHER, FILE, MATCHING, CLOSEST, ATTRIBUTES, VALUES = (
    "attack", "surest", "together", "file_risk", "matching", "closest", "attribute_disclosure", "confirm",
)  # fmt: skip
ABOUT = (ATTACK, SUREST, TOGETHER, FILE, MATCHING, CLOSEST, ATTRIBUTES, VALUES)
"""What warnings and limits are about."""

BREAKS, PASSES, UNSURE, NOTHING, NONE = "breaks", "passes", "unsure", "nothing", "none"
UNBREAKABLE, EXCEEDS = "unbreakable", "exceeds"
"""Outcomes of a limit: broken; met; undecided by the interval; nothing to judge; no verdict; no result can break it, so
that it counts for no verdict; beyond it by an attack at hand that the study does not limit itself."""

ABOVE, WITHIN, RESERVED, UNKNOWN, OPEN = "above", "within", "reservations", "none", "open"
VERDICTS = (ABOVE, UNKNOWN, RESERVED, WITHIN, OPEN)
"""Every verdict; that of a study is the first of those on its analyses."""

WARNINGS, LIMITS, VERDICT = "verdict/warnings.csv", "verdict/limits.csv", "verdict/summary.csv"
"""The tables of the step `judge`."""

DECIMALS = 12
"""Decimals to which a sum of fractions is compared; rates of counts are compared as they are, which is exact."""


class Outcome(NamedTuple):
    """A limit and the value that was compared with it.

    Attributes
    ----------
    about : str
        One of :data:`ABOUT`.
    limit : str
        The key of the study file.
    metric : str
        The metric, another attack at hand (:func:`reident.challenge.limits.name`) or
        :data:`reident.linkage.settings.ANY`; for matching and several keys the scenario, for sensitive variables and
        attribute disclosure the target; for risks of one file what they were judged by (METHODS §7.6); empty for the
        other limits on the whole key.
    value : float
        NaN where it is not defined.
    bound : float
    outcome : str
    """

    about: str
    limit: str
    metric: str
    value: float
    bound: float
    outcome: str

    @property
    def is_broken(self) -> bool:
        """Whether the limit is broken."""
        return self.outcome == BREAKS


def is_beyond(limit: str, value: float, bound: float) -> bool:
    """Return whether a value breaks a limit, by whether the key of the limit says at least or at most."""
    value, bound = round(value, DECIMALS), round(bound, DECIMALS)
    return value < bound if limit.endswith("_at_least") else value > bound


def undecided(limits: pd.DataFrame) -> pd.Series:
    """Return which limits are unsure with a value on their wrong side."""
    values = zip(limits["limit"], limits["value"], limits["bound"], limits["outcome"], strict=True)
    sides = [outcome == UNSURE and is_beyond(limit, value, bound) for limit, value, bound, outcome in values]
    return pd.Series(sides, limits.index, dtype=bool)
