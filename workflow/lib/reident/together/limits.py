"""Judge an intruder with several files (METHODS §6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from reident.linkage.limits import is_silent
from reident.linkage.settings import ANY, WHOLE
from reident.outcomes import BREAKS, DECIMALS, NONE, NOTHING, PASSES, TOGETHER, Outcome

if TYPE_CHECKING:
    from reident.sections.decision import Decision


def outcomes(decision: Decision, together: pd.DataFrame, rates: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for an intruder with several files, on records that any of them finds in the whole study."""
    lines = together[(together["stratum"] == WHOLE) & (together["files"] == ANY)]
    silent = {one["metric"]: is_silent(one) for one in rates[rates["stratum"] == WHOLE].to_dict("records")}
    for line in lines[lines["metric"].isin(silent)].to_dict("records"):
        for limit, bound in decision.given("together", line["metric"]).items():
            column = limit.removeprefix("together_").removesuffix("_at_most")
            value = float(line[column])
            compared = value if column == "confirmed_rate" else round(value, DECIMALS)
            outcome = BREAKS if compared > bound else NOTHING if pd.isna(value) else PASSES
            outcome = NONE if silent[line["metric"]] else outcome
            yield Outcome(TOGETHER, limit, str(line["metric"]), value, bound, outcome)
