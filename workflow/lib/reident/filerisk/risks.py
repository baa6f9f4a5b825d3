"""Judge the risk of the records of one file by the limits of regulators (METHODS §7.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from reident.filerisk.estimates import IN_SAMPLE, INDIVIDUAL
from reident.filerisk.settings import BEYOND, INCOMPLETE, POPULATION, SAMPLE
from reident.outcomes import BREAKS, FILE, NONE, PASSES, UNSURE, Outcome, is_beyond

if TYPE_CHECKING:
    from reident.sections.decision import Decision

NAN = float("nan")

COLUMNS = {
    "largest_risk_at_most": "largest",
    "average_risk_at_most": "mean",
    "expected_reidentifications_at_most": "expected",
    "population_uniques_at_most": "n_unique",
    "k_map_at_least": "smallest",
    "delta_presence_at_most": "largest_presence",
}
"""The column of `filerisk/risks.csv` that a limit is compared with; `share_above` is in `filerisk/thresholds.csv`."""


def of_risks(decision: Decision, tables: Mapping[str, pd.DataFrame]) -> Iterator[Outcome]:
    """Yield the limits on risks of records, with what each was judged by in the place of a metric."""
    risks = tables["filerisk/risks.csv"].set_index("basis")
    for limit, given in {**decision.given("file_risk.risks"), **decision.given("file_risk.population")}.items():
        bound = float(given.at_most if limit == "share_above" else given)
        values = _values(limit, risks, tables["filerisk/thresholds.csv"], getattr(given, "risk", NAN))
        if risks["n_records"].any():
            yield compare(limit, bound, values, tables)
        else:
            yield Outcome(FILE, limit, SAMPLE, NAN, bound, NONE)


def compare(limit: str, bound: float, values: Mapping[str, float], tables: Mapping[str, pd.DataFrame]) -> Outcome:
    """Return the outcome of a limit on risks of records by its values on each basis.

    A risk in the population is never above that in the file alone, which therefore decides where it meets the limit.
    """
    if POPULATION in values:
        return Outcome(FILE, limit, POPULATION, *_known(limit, values[POPULATION], bound, beyond=beyond_of(tables)))
    if not is_beyond(limit, values[SAMPLE], bound):
        return Outcome(FILE, limit, SAMPLE, values[SAMPLE], bound, PASSES)
    if limit == "population_uniques_at_most":
        return _modelled(limit, bound, values, tables)
    return Outcome(FILE, limit, *_estimated(limit, values, bound))


def _values(limit: str, risks: pd.DataFrame, thresholds: pd.DataFrame, risk: float) -> dict[str, float]:
    """Return the value that a limit is compared with, by basis."""
    if limit == "share_above":
        risks = thresholds[thresholds["risk"] == risk].set_index("basis")
    column = risks[COLUMNS.get(limit, "share_above")].astype(float)  # a whole number may be absent
    return {str(basis): float(value) for basis, value in column.items()}


def _known(limit: str, value: float, bound: float, *, beyond: int) -> tuple[float, float, str]:
    """Return value, bound and outcome by the population; unsure where the population lacks people of the file."""
    if pd.isna(value):
        return value, bound, NONE
    return value, bound, BREAKS if is_beyond(limit, value, bound) else UNSURE if beyond else PASSES


def _estimated(limit: str, values: Mapping[str, float], bound: float) -> tuple[str, float, float, str]:
    """Return basis, value, bound and outcome by the individual risk, which is an estimate that is often too low."""
    value = values.get(INDIVIDUAL, NAN)
    if pd.isna(value):  # k-map has no estimate
        return SAMPLE, values[SAMPLE], bound, NONE
    return INDIVIDUAL, value, bound, BREAKS if is_beyond(limit, value, bound) else UNSURE


def _modelled(limit: str, bound: float, values: Mapping[str, float], tables: Mapping[str, pd.DataFrame]) -> Outcome:
    """Return the outcome by the recommended model of population uniques; without one there is no verdict.

    The model leaves out records that miss a value; of these, each one that matches no other counts.
    """
    models = tables.get("filerisk/population.csv", pd.DataFrame(columns=["quantity", "recommended"]))
    models = models[(models["quantity"] == IN_SAMPLE) & models["recommended"].astype(bool)]
    if models.empty:
        return Outcome(FILE, limit, SAMPLE, values[SAMPLE], bound, NONE)
    line, more = models.iloc[0], values.get(INCOMPLETE, 0.0)
    outcome = BREAKS if line["low"] > bound else PASSES if line["high"] + more <= bound else UNSURE
    return Outcome(FILE, limit, str(line["model"]), float(line["estimate"]) + more, bound, outcome)


def beyond_of(tables: Mapping[str, pd.DataFrame]) -> int:
    """Return how many records the population cannot hold: more records than people have their values."""
    judged = tables.get("filerisk/judged.csv", pd.DataFrame(columns=["limit"]))
    lines = judged[judged["limit"] == BEYOND]
    if len(lines):
        return int(lines["wildcard"].iloc[0])
    risks = tables.get("filerisk/risks.csv", pd.DataFrame(columns=["basis"])).set_index("basis")
    return int(risks.at[POPULATION, "n_beyond"]) if POPULATION in risks.index else 0


def have_members(units: pd.DataFrame) -> bool:
    """Return whether a unit of `filerisk/units.csv` has several records; otherwise units are records."""
    return bool((units["n_members"] > units["n_units"]).any())
