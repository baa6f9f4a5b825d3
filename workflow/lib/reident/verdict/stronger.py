"""Judge a join on exact values as a metric, and warn of a variable without which more is found (METHODS §1.1, §6).

The join is judged as a metric is. A variable that only adds noise, and pairs that several metrics suspect, put a
verdict under reservation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from reident.intake.severity import UNDERSTATES, StudyWarning
from reident.language.messages import Fields
from reident.linkage.intervals import interval
from reident.linkage.settings import WHOLE
from reident.plausibility.findings import MIN_LINKS as MIN_CLAIMS
from reident.plausibility.warnings import in_words

if TYPE_CHECKING:
    from reident.sections.decision import Decision

EXACT = "exact_values"
"""The join on exact values of one variable or of two, where tables have the name of a metric."""

CLAIMS = {
    "conditional_rate_at_most": ("n_confirmed", "n_suspected"),
    "single_rate_at_most": ("n_single_confirmed", "n_single"),
    "expected_correct_rate_at_most": ("expected_correct", "n_suspected"),
}
"""The limits on rates of claims, with the counts of each."""

OF_RECORDS = {"confirmed_rate_at_most": "n_puf", "reach_at_most": "n_linked"}
"""The limits on rates of records, with the number of these."""

CONDITIONAL = "conditional_rate_at_most"
"""The limit that the agreement of metrics is compared with: the only rate that has an interval."""


def bounds(decision: Decision, metrics: Iterable[str]) -> dict[str, float]:
    """Return the limits for the join on exact values: those of all metrics, the largest where they differ."""
    by_metric = [decision.given("metrics", metric) for metric in metrics]
    common = [limit for limit in decision.given("metrics") if all(limit in given for given in by_metric)]
    return {limit: max(given[limit] for given in by_metric) for limit in common}


def exact_rates(exact: pd.DataFrame) -> pd.DataFrame:
    """Return the sets of variables of the join as lines of rates, the one that names most people first.

    Each claim has one candidate, so that all rates of claims are the same.
    """
    rate = exact["n_confirmed"] / exact["n_suspected"].where(exact["n_suspected"] > 0)
    return exact.assign(
        metric=EXACT,
        tolerance=0.0,
        conditional_rate=rate,
        conditional_low=exact["low"],
        conditional_high=exact["high"],
        expected_correct_rate=rate,
        single_rate=rate,
        n_single=exact["n_suspected"],
        n_single_confirmed=exact["n_confirmed"],
        confirmed_rate=exact["n_confirmed"] / exact["n_puf"],
        reach=exact["n_confirmed"] / exact["n_linked"].where(exact["n_linked"] > 0),
    )


def judged_set(exact: pd.DataFrame, limit: str, bound: float) -> pd.Series:
    """Return the line of :func:`exact_rates` that a limit is compared with.

    It is the set that names most people. For a limit on a rate of claims, one whose interval lies above it comes first;
    other sets do not count, since the best of many rates of few claims is often high by chance.
    """
    lines = exact_rates(exact)
    surely = lines[(lines["conditional_low"] > bound) & (limit in CLAIMS)]
    return (lines if surely.empty else surely).iloc[0]


def is_few(line: pd.Series, limit: str, bound: float) -> bool:
    """Return whether a set makes too few claims to judge a rate of them."""
    return limit in CLAIMS and line["n_suspected"] < MIN_CLAIMS and not line["conditional_low"] > bound


def lines(decision: Decision, tables: Mapping[str, pd.DataFrame], met: pd.Series) -> Iterator[StudyWarning]:
    """Yield a warning for each limit that a metric meets, and breaks without a variable or where several metrics agree.

    Parameters
    ----------
    tables : mapping
        As :func:`reident.verdict.limits.judge` takes them.
    met : pandas.Series
        Whether a metric meets a limit, by limit and metric; one without a verdict does not.
    """
    yield from _agreement(decision, tables, met)
    if (without := tables.get("description/without.csv")) is None:
        return
    without, rates = without.sort_values("n_confirmed", ascending=False, kind="stable"), tables["rates.csv"]
    for metric in rates.loc[rates["stratum"] == WHOLE, "metric"]:
        rows = without[without["metric"] == metric]
        for limit, bound in decision.given("metrics", metric).items():
            above = (row for row in rows.to_dict("records") if exceeds(limit, bound, row))
            if met.get((limit, metric), False) and (row := next(above, None)) is not None:
                yield _warning("without", row, limit, {"variable": row["variable"], "metric": in_words(metric)})


def _agreement(decision: Decision, tables: Mapping[str, pd.DataFrame], met: pd.Series) -> Iterator[StudyWarning]:
    """Yield a warning where every metric meets the limit and the interval of pairs that several suspect is above it."""
    lines, bound = (
        tables.get("agreement/rates.csv"),
        bounds(decision, tables["rates.csv"]["metric"].unique()).get(CONDITIONAL),
    )
    if lines is None or bound is None or not met.groupby(level="limit").all().get(CONDITIONAL, False):
        return
    lines = lines[(lines["stratum"] == WHOLE) & (lines["conditional_low"] > bound)]
    for row in lines.sort_values("conditional_low", ascending=False, kind="stable").head(1).to_dict("records"):
        yield _warning("agreement", row, CONDITIONAL, {"metrics": int(row["metrics"])})


def exceeds(limit: str, bound: float, row: Mapping[str, Any]) -> bool:
    """Return whether an attack that was chosen among several is above a limit.

    Rates of claims are judged by the lower end of their interval, since the best of several rates of few claims is
    often high by chance; counts, and rates of records, are as they are.
    """
    if limit in CLAIMS:
        part, whole = (row[column] for column in CLAIMS[limit])
        return (interval(part, whole).low or 0) > bound
    return row["n_confirmed"] > bound * (row[OF_RECORDS[limit]] if limit in OF_RECORDS else 1)


def _warning(code: str, row: Mapping[str, Any], limit: str, fields: Fields) -> StudyWarning:
    n = int(row["n_confirmed"])
    fields = {**fields, "n": n, "claims": int(row["n_suspected"]), "limit": limit}
    return StudyWarning(UNDERSTATES, code, fields, n)
