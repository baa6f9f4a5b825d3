"""Show the join on exact values as one more attack beside the metrics (METHODS §1.1, §6)."""

from __future__ import annotations

import pandas as pd

from reident.linkage import intervals
from reident.report.results import Results
from reident.report.wording import escape, listed
from reident.verdict.stronger import EXACT, judged_set

EXACT_TABLE = "description/exact.csv"


def is_exact(limits: pd.DataFrame) -> pd.Series:
    """Return whether lines of the limits are about the join on exact values."""
    return limits["metric"] == EXACT


def exact_line(results: Results, limit: str, bound: float) -> pd.Series:
    """Return the join that a limit is compared with as a line of rates, with the interval of the study."""
    line = judged_set(results.table(EXACT_TABLE), limit, bound)
    counts = int(line["n_confirmed"]), int(line["n_suspected"])
    ends = intervals.of_study(*counts, results.study["rates"]["interval"], results.level)
    line["conditional_low"], line["conditional_high"] = (float("nan") if end is None else end for end in ends)
    return line


def exact_names(line: pd.Series) -> str:
    """Return the variables of a join in words."""
    return listed([escape(name) for name in str(line["variables"]).split("+")])
