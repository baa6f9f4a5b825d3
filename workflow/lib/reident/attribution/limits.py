"""Judge attribute disclosure (METHODS §9)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from reident.outcomes import ATTRIBUTES, BREAKS, DECIMALS, NONE, PASSES, UNBREAKABLE, Outcome

if TYPE_CHECKING:
    from reident.sections.decision import Decision


def outcomes(decision: Decision, learnt: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for every target of attribute disclosure: of its most dangerous set, the mean over the files."""
    for row in learnt[(learnt["danger"] == 1) & (learnt["file"].astype(str) == "mean")].to_dict("records"):
        value = float(row["disco"])
        for limit, bound in decision.given("attribute_disclosure", str(row["target"])).items():
            outcome = BREAKS if round(value, DECIMALS) > bound else NONE if pd.isna(value) else PASSES
            outcome = UNBREAKABLE if bound >= 1 else outcome
            yield Outcome(ATTRIBUTES, limit, str(row["target"]), value, bound, outcome)
