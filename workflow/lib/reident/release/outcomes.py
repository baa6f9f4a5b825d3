"""The limits of a study whose outcome is published, which is then a relation between counts (METHODS §11.2)."""

from __future__ import annotations

from collections.abc import Container
from typing import Literal

import pandas as pd

from reident.filerisk.settings import UNITS
from reident.linkage.settings import WHOLE
from reident.release.cells import Cell
from reident.release.facts import LimitOutcome
from reident.sections.decision import LIMITS
from reident.verdict.attacks import is_own

WITHHELD = "withheld"
"""What is published instead of an outcome that is no linear relation between published counts."""


_RATES: dict[str, tuple[str, str | None]] = {
    "conditional_rate_at_most": ("n_confirmed", "n_suspected"),
    "single_rate_at_most": ("n_single_confirmed", "n_single"),
    "confirmed_rate_at_most": ("n_confirmed", "n_puf"),
    "confirmed_at_most": ("n_confirmed", None),
}
"""The counts of a rate with a limit."""

_BY_BASIS = (*LIMITS["file_risk.risks"], *LIMITS["file_risk.population"])

_WORDS: dict[str, Literal["passes", "breaks"]] = {
    "breaks": "breaks",
    "passes": "passes",
    "unsure": "passes",
    "nothing": "passes",
}
"""What is published of an outcome: not that an interval reaches above a limit, nor that there is nothing to judge."""


def publish(
    limits: pd.DataFrame, cells: Container[Cell], rank_limits: dict[str, int], *, by_estimate: bool
) -> list[LimitOutcome]:
    """Return the limits whose outcome is published.

    `limits` are those of the study with their outcomes, `cells` the counts of the edition, `rank_limits` the rank limit
    in force by metric, 0 for a metric without ranks. With `by_estimate`, the conditional rate itself is compared with
    its limit, and not the end of its interval.
    """
    published = []
    for line in limits.to_dict("records"):
        rate, outcome, metric = _RATES.get(line["limit"]), _WORDS.get(line["outcome"]), line["metric"]
        if rate is None or outcome is None or (line["limit"] == "conditional_rate_at_most" and not by_estimate):
            continue
        if metric not in rank_limits:  # another attack at hand, of which no count is published
            continue
        numerator = Cell(rate[0], metric=metric, rank_limit=rank_limits[metric])
        denominator = None if rate[1] is None else _denominator(rate[1], numerator)
        if numerator in cells and (denominator is None or denominator in cells):
            published.append(LimitOutcome(numerator, denominator, float(line["bound"]), outcome))
    return published


def _denominator(quantity: str, numerator: Cell) -> Cell:
    return Cell(quantity) if quantity == "n_puf" else numerator._replace(quantity=quantity, stratum=WHOLE)


def table(limits: pd.DataFrame, published: list[LimitOutcome]) -> pd.DataFrame:
    """Return the limits with the outcomes that are published, and :data:`WITHHELD` in the place of others."""
    outcomes: dict[tuple[str, tuple[str, str | None] | None, float], str] = {}
    for limit in published:
        rate = limit.numerator.quantity, limit.denominator.quantity if limit.denominator else None
        outcomes[limit.numerator.metric, rate, limit.bound] = limit.outcome
    names = ["about", "limit", "metric", "bound"]
    lines = []
    for line in (limits[is_own(limits, {})] if len(limits) else limits).to_dict("records"):
        key = line["metric"], _RATES.get(line["limit"]), float(line["bound"])
        # What a limit on risks was judged by tells on which side of it the file is.
        judged_by = {"metric": ""} if line["limit"] in _BY_BASIS and line["metric"] != UNITS else {}
        lines.append({name: line[name] for name in names} | judged_by | {"outcome": outcomes.get(key, WITHHELD)})
    return pd.DataFrame(lines, columns=[*names, "outcome"])
