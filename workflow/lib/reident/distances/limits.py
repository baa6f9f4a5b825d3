"""Judge the closest records of synthetic data (METHODS §8.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from reident.outcomes import BREAKS, CLOSEST, DECIMALS, PASSES, Outcome

if TYPE_CHECKING:
    from reident.sections.decision import Decision


def outcomes(decision: Decision, lines: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limit on how often a synthetic record is nearer to a confidential one than to the holdout."""
    if (bound := decision.nearer_excess_at_most) is None:
        return
    value = float((lines["share"] - lines["expected"]).max())
    outcome = BREAKS if round(value, DECIMALS) > bound else PASSES
    yield Outcome(CLOSEST, "nearer_excess_at_most", "", value, bound, outcome)
