"""Judge matching with synthetic files (METHODS §8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reident.outcomes import BREAKS, MATCHING, NOTHING, PASSES, Outcome

if TYPE_CHECKING:
    from reident.sections.decision import Decision


def outcomes(decision: Decision, scenarios: pd.DataFrame, pooled: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for every intruder that the study lists."""
    lines = worst(scenarios, pooled).reset_index()
    for limit, bound in decision.given("matching").items():
        column, most = limit.removesuffix("_at_most").removesuffix("_at_least"), limit.endswith("_at_most")
        for row in lines.to_dict("records"):
            value = float(row[column])
            broken = value > bound if most else value < bound
            outcome = BREAKS if broken else NOTHING if pd.isna(value) else PASSES
            yield Outcome(MATCHING, limit, str(row["scenario"]), value, bound, outcome)


def worst(scenarios: pd.DataFrame, pooled: pd.DataFrame) -> pd.DataFrame:
    """Return the summaries of matching that limits apply to, by the name of the intruder (METHODS §8).

    Each is that of the mean over the synthetic files or of an intruder who uses all of them, whichever is worse.
    """
    lines = scenarios[scenarios["file"] == "mean"].set_index("scenario")
    lines = lines[lines["listed"]].copy() if lines["listed"].any() else lines.copy()
    together = pooled[pooled["membership"] == "certain"].set_index("scenario").reindex(lines.index)
    for column in ("expected_match_risk", "true_match_rate"):
        lines[column] = np.fmax(lines[column], together[column])
    lines["false_match_rate"] = np.fmin(lines["false_match_rate"], together["false_match_rate"])
    return lines
