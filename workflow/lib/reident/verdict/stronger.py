"""Stronger intruders than the metrics, who exceed a limit that these meet (METHODS §1.1, §6).

He joins on exact values, or leaves a variable out that only adds noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from reident.intake.severity import UNDERSTATES, StudyWarning
from reident.language.messages import Fields
from reident.linkage.intervals import interval
from reident.linkage.settings import WHOLE
from reident.plausibility.warnings import in_words

if TYPE_CHECKING:
    from reident.sections.decision import Decision

EXACT = "exact"
"""Stands for the join on exact values where limits differ by metric: a limit of some metrics is not its own."""


def exceeds(limit: str, bound: float, n_puf: int, n_suspected: int, n_confirmed: int, n_linked: int) -> bool:
    """Return whether an attack that was chosen among several is above a limit.

    Rates of claims are judged by the lower end of their interval, since the best of several rates of few claims is
    often high by chance; counts, and rates of records, are as they are.
    """
    match limit:
        case "confirmed_at_most":
            return n_confirmed > bound
        case "confirmed_rate_at_most":
            return n_confirmed > bound * n_puf
        case "reach_at_most":
            return n_confirmed > bound * n_linked
        case "conditional_rate_at_most":
            return (interval(n_confirmed, n_suspected).low or 0) > bound
        case _:
            return False


def lines(decision: Decision, tables: Mapping[str, pd.DataFrame], met: pd.Series) -> Iterator[StudyWarning]:
    """Yield a warning for each limit that every metric meets and that a stronger intruder breaks.

    Parameters
    ----------
    tables : mapping
        ``rates``, and of ``exact`` and ``without`` those that the study has.
    met : pandas.Series
        Whether a metric meets a limit, by limit and metric; one without a verdict does not.
    """
    whole = tables["rates"][tables["rates"]["stratum"] == WHOLE]
    by_all = met.groupby(level="limit").all()
    if "exact" in tables:
        rows = tables["exact"].sort_values(["n_variables", "n_confirmed"], ascending=[True, False], kind="stable")
        for limit, bound in decision.given("metrics", EXACT).items():
            if by_all.get(limit, False) and (row := _first(rows, limit, bound)) is not None:
                yield _warning("exact_values", row, limit, {"variable": row.variables.replace("+", " + ")})
    if "without" in tables:
        for metric in whole["metric"]:
            rows = tables["without"][tables["without"]["metric"] == metric]
            rows = rows.sort_values("n_confirmed", ascending=False, kind="stable")
            for limit, bound in decision.given("metrics", metric).items():
                if met.get((limit, metric), False) and (row := _first(rows, limit, bound)) is not None:
                    fields = {"variable": row.variable, "metric": in_words(metric)}
                    yield _warning("without", row, limit, fields)


def _warning(code: str, row: Any, limit: str, fields: Fields) -> StudyWarning:
    counts = {"n": int(row.n_confirmed), "claims": int(row.n_suspected), "limit": limit}
    return StudyWarning(UNDERSTATES, code, {**fields, **counts}, int(row.n_confirmed))


def _first(rows: pd.DataFrame, limit: str, bound: float) -> Any:
    """Return the first attack that is above a limit; None if none is."""
    for row in rows.itertuples():
        if exceeds(limit, bound, row.n_puf, row.n_suspected, row.n_confirmed, row.n_linked):
            return row
    return None
