"""The lines of the terminal at the end of a run: the verdict, and the warnings that bear on it."""

from __future__ import annotations

import pandas as pd

from reident.challenge.limits import is_own
from reident.intake.severity import INVALIDATES, NOTABLE, UNDERSTATES
from reident.outcomes import ABOVE, NONE, OPEN, RESERVED, UNKNOWN, WITHIN, undecided

VERDICTS = {
    ABOVE: "above the limit",
    WITHIN: "within the limit",
    RESERVED: "within the limit, with reservations",
    UNKNOWN: "no verdict",
    OPEN: "the study sets no limit",
}
SEVERITY = {INVALIDATES: "may invalidate the results", UNDERSTATES: "may understate the risk", NOTABLE: "notable"}
REASONS = {
    "invalid": "a warning may invalidate the results",
    "unbreakable": "no result can break the limits",
    "undecided": "an interval reaches to both sides of a limit",
    "unjudged": "the results have nothing that a limit could judge",
}
"""Why a study has no verdict."""


def reason(verdict: pd.DataFrame, limits: pd.DataFrame) -> str:
    """Return why a study has no verdict, one of :data:`REASONS`; empty if it has one, or sets no limit.

    Parameters
    ----------
    verdict, limits : pandas.DataFrame
        The tables of :class:`reident.verdict.limits.Judged`.
    """
    if verdict["verdict"].iloc[0] != UNKNOWN:
        return ""
    without = verdict.loc[verdict["verdict"] == UNKNOWN, "scope"]
    lines = limits[limits["about"].isin(without) & is_own(limits, {})]
    if undecided(lines).any():
        return "undecided"
    if NONE not in set(lines["outcome"]):
        return "unbreakable"
    return "invalid" if verdict[INVALIDATES].iloc[0] else "unjudged"


def lines(name: str, verdict: pd.DataFrame, limits: pd.DataFrame, warning_lines: pd.DataFrame, file: str) -> list[str]:
    """Return the lines on one study.

    Parameters
    ----------
    name : str
        The study's id.
    verdict, limits, warning_lines : pandas.DataFrame
        The tables of :class:`reident.verdict.limits.Judged`.
    file : str
        Where the warnings are.
    """
    whole, why = verdict.iloc[0], reason(verdict, limits)
    broken = f" ({whole['broken']})" if whole["broken"] else ""
    texts = [f"{name}: {VERDICTS[whole['verdict']]}{f', since {REASONS[why]}' if why else broken}"]
    texts += [
        f"{name}: warning, {SEVERITY[row.severity]}: {row.warning}"
        for row in warning_lines.itertuples()
        if row.severity != NOTABLE
    ]
    if n := int((warning_lines["severity"] == NOTABLE).sum()):
        texts.append(f"{name}: {n} notable warning{'' if n == 1 else 's'} in {file}")
    return texts


def log_lines(warning_lines: pd.DataFrame) -> list[str]:
    """Return every warning as a line of the step's log."""
    return [f"{SEVERITY[row.severity]}: {row.warning}" for row in warning_lines.itertuples()]
