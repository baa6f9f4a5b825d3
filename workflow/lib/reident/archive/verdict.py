"""``reident verdict``: the verdict on a finished study, for people and for programs (METHODS §6.2).

It has no number of the results and no warning, which may have one: the answer may be in the log of another program.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from reident.archive.releases import Release, finished
from reident.challenge.limits import is_own
from reident.intake.severity import SEVERITIES
from reident.linkage.settings import WHOLE
from reident.outcomes import (
    ABOVE,
    BREAKS,
    EXCEEDS,
    NONE,
    NOTHING,
    OPEN,
    PASSES,
    RESERVED,
    UNBREAKABLE,
    UNKNOWN,
    UNSURE,
    WITHIN,
)
from reident.verdict.terminal import REASONS, SEVERITY, VERDICTS, reason

STATUS = {WITHIN: 0, ABOVE: 3, RESERVED: 4, UNKNOWN: 5, OPEN: 5}
"""The exit status by verdict; 1 and 2 are those of a study that cannot be read, and of a wrong command line."""

OUTCOMES = {
    BREAKS: "broken",
    PASSES: "met",
    UNSURE: "uncertain",
    NOTHING: "met, with nothing to judge",
    NONE: "not judged",
    UNBREAKABLE: "cannot be broken",
    EXCEEDS: "exceeded by an attack that the study does not limit",
}


def run(path: Path, notebook: Path, *, as_json: bool) -> tuple[list[str], int]:
    """Return the lines to print, and the exit status.

    Raises
    ------
    InputError
        If the results are not finished, or are not those of the study file, its inputs and the code.
    """
    facts = describe(finished(path, notebook))
    return [json.dumps(facts, ensure_ascii=False, indent=1)] if as_json else _lines(facts), facts["status"]


def describe(release: Release) -> dict[str, Any]:
    """Return the verdict on a study and on each thing that a limit is about, the limits, and the number of warnings."""
    summary, limits = release.table("verdict/summary.csv"), release.table("verdict/limits.csv")
    if summary is None or limits is None:
        raise ValueError("a finished study has a verdict")
    verdicts = {str(line["scope"]): str(line["verdict"]) for line in summary.to_dict("records")}
    whole = summary.set_index("scope").loc[WHOLE]
    verdict = verdicts.pop(WHOLE)
    lines = limits[["about", "limit", "metric", "bound", "outcome"]].fillna("")
    return {
        "study": release.name,
        "verdict": verdict,
        "status": STATUS[verdict],
        "reason": reason(summary, limits),
        "analyses": verdicts,
        "limits": lines.to_dict("records"),
        "warnings": {severity: int(whole[severity]) for severity in SEVERITIES},
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    """Return the verdict, the outcome of each limit, and the number of warnings, one on each line.

    Of the attacks at hand that the study does not limit, those beyond a limit have a line, the others their number.
    """
    why = f", since {REASONS[facts['reason']]}" if facts["reason"] else ""
    lines = [f"{facts['study']}: {VERDICTS[facts['verdict']]}{why}"]
    limits = pd.DataFrame(facts["limits"], columns=["about", "limit", "metric", "bound", "outcome"])
    own = is_own(limits, {}) & (limits["outcome"] != EXCEEDS)
    for limit in limits[own | (limits["outcome"] == EXCEEDS)].to_dict("records"):
        name = f" ({limit['metric']})" if limit["metric"] else ""
        lines.append(f"  {limit['about']}: {limit['limit']} {limit['bound']:.12g}{name}: {OUTCOMES[limit['outcome']]}")
    others = limits[~own]
    if n := others["metric"].nunique():
        beyond = others.loc[others["outcome"] == EXCEEDS, "metric"].nunique()
        lines.append(f"  other attacks at hand: {n}, beyond a limit: {beyond}")
    lines += [f"  warnings, {SEVERITY[severity]}: {n}" for severity, n in facts["warnings"].items() if n]
    return lines
