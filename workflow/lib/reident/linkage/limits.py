"""Compare the rates of one attack with a limit (METHODS §6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reident.linkage.intervals import interval
from reident.outcomes import ATTACK, BREAKS, DECIMALS, NONE, NOTHING, PASSES, UNSURE, Outcome

MIN_CLAIMS = 10
"""A rate of fewer claims is judged by its interval."""

CONDITIONAL = "conditional_rate_at_most"
"""The limit on the only rate that has an interval of its own."""

COLUMNS = {
    CONDITIONAL: "conditional_rate",
    "expected_correct_rate_at_most": "best_rank_correct_rate",
    "single_rate_at_most": "single_rate",
    "confirmed_rate_at_most": "confirmed_rate",
    "reach_at_most": "reach",
    "confirmed_at_most": "n_confirmed",
}
"""The column of the rates that a limit is compared with."""

CLAIMS = {
    CONDITIONAL: ("n_confirmed", "n_suspected"),
    "expected_correct_rate_at_most": ("best_rank_correct", "n_suspected"),
    "single_rate_at_most": ("n_single_confirmed", "n_single"),
}
"""The limits on rates of claims, with the counts of each."""


def judge_metric(line: pd.Series, limit: str, bound: float, by: str = "estimate") -> Outcome:
    """Return the outcome of a limit for one metric.

    Parameters
    ----------
    line : pandas.Series
        The rates of the metric for the whole study.
    limit : str
        One of :data:`COLUMNS`.
    bound : float
    by : {'estimate', 'upper'}
        What the conditional rate is judged by.
    """
    upper = by == "upper" and limit == CONDITIONAL
    value = float(line["conditional_high" if upper else COLUMNS[limit]])
    if is_silent(line):
        outcome = NONE
    elif pd.isna(value):
        outcome = NOTHING
    elif limit in CLAIMS and line[CLAIMS[limit][1]] < MIN_CLAIMS and not upper:
        low, high = ends(line, limit)
        outcome = BREAKS if low > bound else UNSURE if high > bound else PASSES
    elif (round(value, DECIMALS) if limit == "expected_correct_rate_at_most" else value) > bound:
        outcome = BREAKS
    else:
        outcome = UNSURE if limit == CONDITIONAL and line["conditional_high"] > bound else PASSES
    return Outcome(ATTACK, limit, str(line["metric"]), value, bound, outcome)


def is_silent(line: Mapping[str, Any] | pd.Series) -> bool:
    """Return whether a metric can suspect nothing, so that it has no verdict.

    Where all variables count for less than rare values do, a pair may be suspected although the tolerance is below 0.
    """
    return bool(line["tolerance"] < 0 and not line["n_suspected"])


def ends(line: Mapping[str, Any] | pd.Series, limit: str) -> tuple[float, float]:
    """Return the interval of a rate of claims: that of the study, where there is one; from 0 to 1 without claims."""
    if limit == CONDITIONAL and not pd.isna(line["conditional_low"]):
        return float(line["conditional_low"]), float(line["conditional_high"])
    part, whole = (line[column] for column in CLAIMS[limit])
    low, high = interval(min(part, whole), int(whole))
    return (0.0, 1.0) if low is None or high is None else (low, high)


def is_out_of_reach(limit: str, bound: float, line: Mapping[str, Any] | pd.Series, n_linked: float) -> bool:
    """Return whether no result can break a limit: no attack confirms more records than have a link in their stratum.

    Parameters
    ----------
    line : mapping
        The rates of any attack on the files.
    n_linked : float
        The PUF records with at least one link; NaN where this is not known.
    """
    unknown = float("nan")  # a bag of an earlier release may not have all columns
    n = float(line.get("n_findable", unknown))
    if not n:  # without a link nothing is known
        return False
    if limit in CLAIMS:
        return bound >= 1
    whole = {"confirmed_rate_at_most": float(line.get("n_puf", unknown)), "reach_at_most": n_linked}.get(limit, 1.0)
    return n / whole <= bound
