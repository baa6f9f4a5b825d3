"""Judge confirmation by values (METHODS §14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from reident.linkage.settings import WHOLE
from reident.outcomes import BREAKS, DECIMALS, NONE, NOTHING, PASSES, UNSURE, VALUES, Outcome

if TYPE_CHECKING:
    from reident.sections.decision import Decision

MIN_CLAIMS = 10
"""The excess of fewer claims is judged by its interval."""


GRAVER = (NONE, NOTHING, PASSES, UNSURE, BREAKS)
"""The outcomes of which a later one is told of a metric, whichever group of people it is about."""


def outcomes(decision: Decision, rates: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for every metric, by the group of people with the graver outcome, then the larger excess."""
    for metric, lines in rates[rates["stratum"] == WHOLE].groupby("metric", sort=False):
        for limit, bound in decision.given("confirm", str(metric)).items():
            judged = [
                Outcome(VALUES, limit, str(metric), value, bound, _outcome(line, value, bound))
                for value, (_, line) in zip(lines["excess"].astype(float), lines.iterrows(), strict=True)
            ]
            yield max(judged, key=lambda one: (GRAVER.index(one.outcome), -2.0 if pd.isna(one.value) else one.value))


def _outcome(line: pd.Series, value: float, bound: float) -> str:
    """Return the outcome: an excess beyond the limit that chance explains, or one of few claims, breaks no limit."""
    if not line["n_persons"]:
        return NONE
    if pd.isna(value):
        return NOTHING
    few, known = line["putative"] < MIN_CLAIMS, pd.notna(line["excess_low"])
    low = float(line["excess_low"]) if known else -1.0 if few else value
    high = float(line["excess_high"]) if known else 1.0 if few else value
    if round(value, DECIMALS) > bound:
        return BREAKS if low > (bound if few else 0) else UNSURE
    return UNSURE if high > bound else PASSES
