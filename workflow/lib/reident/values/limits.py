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


def worst(rates: pd.DataFrame) -> pd.DataFrame:
    """Return, by metric, the line of the whole study with the larger excess: of all people or of unusual ones."""
    whole = rates[rates["stratum"] == WHOLE]
    order = whole["excess"].fillna(-2.0).sort_values(ascending=False, kind="stable").index
    return whole.loc[order].drop_duplicates("metric").sort_index().set_index("metric")


def outcomes(decision: Decision, rates: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for every metric, on the larger excess: that of all people, or of unusual ones."""
    for metric, line in worst(rates).iterrows():
        value = float(line["excess"])
        for limit, bound in decision.given("confirm", str(metric)).items():
            yield Outcome(VALUES, limit, str(metric), value, bound, _outcome(line, value, bound))


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
