"""The outcome of a limit (METHODS §6.2)."""

from __future__ import annotations

from typing import NamedTuple

BREAKS, PASSES, UNSURE, NOTHING, NONE = "breaks", "passes", "unsure", "nothing", "none"
"""Outcomes of a limit: broken; met; inside the interval, for rates if the rate itself meets it; nothing to judge; no
verdict."""

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
        The metric, :data:`reident.verdict.stronger.EXACT` or :data:`reident.linkage.settings.ANY`; for matching and
        several keys the scenario, for sensitive variables and attribute disclosure the target; for risks of one file
        what they were judged by (METHODS §7.6); empty for the other limits on the whole key.
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


def is_beyond(limit: str, value: float, bound: float) -> bool:
    """Return whether a value breaks a limit, by whether the key of the limit says at least or at most."""
    value, bound = round(value, DECIMALS), round(bound, DECIMALS)
    return value < bound if limit.endswith("_at_least") else value > bound
