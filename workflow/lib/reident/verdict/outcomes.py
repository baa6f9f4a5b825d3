"""The outcome of a limit (METHODS §6.2)."""

from __future__ import annotations

from typing import NamedTuple

BREAKS, PASSES, UNSURE, NOTHING, NONE = "breaks", "passes", "unsure", "nothing", "none"
UNBREAKABLE, EXCEEDS = "unbreakable", "exceeds"
"""Outcomes of a limit: broken; met; undecided by the interval; nothing to judge; no verdict; no result can break it, so
that it counts for no verdict; beyond it by an attack at hand that the study does not limit itself."""

UNBREAKABLE = "unbreakable"
"""The outcome of a limit that no result can break: it counts for no verdict."""

DECIMALS = 12
"""Decimals to which a sum of fractions is compared; rates of counts are compared as they are, which is exact."""


class Outcome(NamedTuple):
    """A limit and the value that was compared with it.

    Attributes
    ----------
    about : str
        One of :data:`reident.verdict.warnings.ABOUT`.
    limit : str
        The key of the study file.
    metric : str
        The metric, another attack at hand (:func:`reident.verdict.attacks.name`) or
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
