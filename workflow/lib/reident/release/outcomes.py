"""The limits of a study whose outcome is published, which is then a relation between counts (METHODS §11.2)."""

from __future__ import annotations

from collections.abc import Container
from typing import Literal, NamedTuple

import pandas as pd

from reident.linkage.rates import WHOLE
from reident.release.cells import Cell
from reident.release.facts import Limit

WITHHELD = "withheld"
"""What is published instead of an outcome that is no linear relation between published counts."""


class _Rate(NamedTuple):
    """The counts of a rate with a limit."""

    part: str
    whole: str | None


_RATES = {
    "conditional_rate_at_most": _Rate("n_confirmed", "n_suspected"),
    "single_rate_at_most": _Rate("n_single_confirmed", "n_single"),
    "confirmed_rate_at_most": _Rate("n_confirmed", "n_puf"),
    "confirmed_at_most": _Rate("n_confirmed", None),
}
_WORDS: dict[str, Literal["passes", "breaks"]] = {
    "breaks": "breaks",
    "passes": "passes",
    "unsure": "passes",
    "nothing": "passes",
}
"""What is published of an outcome: not that an interval reaches above a limit, nor that there is nothing to judge."""


def of(
    limits: pd.DataFrame, cells: Container[Cell], rank_limits: dict[str, int], *, by_estimate: bool
) -> list[Limit]:
    """Return the limits whose outcome is published.

    Parameters
    ----------
    limits : pandas.DataFrame
        The limits of the study with their outcomes.
    cells : container of Cell
        The counts of the edition.
    rank_limits : dict of int
        The rank limit in force by metric; 0 for a metric without ranks.
    by_estimate : bool
        Whether the conditional rate itself is compared with its limit, and not the end of its interval.
    """
    found = []
    for line in limits.to_dict("records"):
        rate, outcome = _RATES.get(line["limit"]), _WORDS.get(line["outcome"])
        if (
            rate is None
            or outcome is None
            or (rate == _RATES["conditional_rate_at_most"] and not by_estimate)
        ):
            continue
        metric = line["metric"]
        part = Cell(rate.part, metric=metric, rank_limit=rank_limits[metric])
        whole = None if rate.whole is None else _whole(rate.whole, part)
        if part in cells and (whole is None or whole in cells):
            found.append(Limit(part, whole, float(line["bound"]), outcome))
    return found


def _whole(quantity: str, part: Cell) -> Cell:
    return Cell(quantity) if quantity == "n_puf" else part._replace(quantity=quantity, stratum=WHOLE)


def table(limits: pd.DataFrame, published: list[Limit]) -> pd.DataFrame:
    """Return the limits with their outcomes, where these are published.

    Parameters
    ----------
    limits : pandas.DataFrame
    published : list of Limit
        As :func:`of` returns them.
    """
    outcomes = {(limit.part, limit.whole, limit.bound): limit.outcome for limit in published}
    lines = []
    for line in limits.to_dict("records"):
        shown = WITHHELD
        if (rate := _RATES.get(line["limit"])) is not None:
            own = {
                outcome
                for (part, whole, bound), outcome in outcomes.items()
                if part.metric == line["metric"]
                and (part.quantity, whole and whole.quantity) == rate
                and bound == float(line["bound"])
            }
            shown = own.pop() if own else WITHHELD
        lines.append(
            {name: line[name] for name in ("about", "limit", "metric", "bound")} | {"outcome": shown}
        )
    return pd.DataFrame(lines, columns=["about", "limit", "metric", "bound", "outcome"])
