"""The lines of the terminal at the end of a run: the verdict, and the warnings that bear on it."""

from __future__ import annotations

import pandas as pd

from reident.intake.severity import INVALIDATES, NOTABLE, UNDERSTATES
from reident.outcomes import ABOVE, OPEN, RESERVED, UNKNOWN, WITHIN

VERDICTS = {
    ABOVE: "above the limit",
    WITHIN: "within the limit",
    RESERVED: "within the limit, with reservations",
    UNKNOWN: "no verdict",
    OPEN: "the study sets no limit",
}
SEVERITY = {INVALIDATES: "may invalidate the results", UNDERSTATES: "may understate the risk", NOTABLE: "notable"}


def lines(name: str, verdict: pd.DataFrame, warning_lines: pd.DataFrame, file: str) -> list[str]:
    """Return the lines on one study.

    Parameters
    ----------
    name : str
        The study's id.
    verdict, warning_lines : pandas.DataFrame
        The tables of :class:`reident.verdict.limits.Judged`.
    file : str
        Where the warnings are.
    """
    whole = verdict.iloc[0]
    broken = f" ({whole['broken']})" if whole["broken"] else ""
    texts = [f"{name}: {VERDICTS[whole['verdict']]}{broken}"]
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
