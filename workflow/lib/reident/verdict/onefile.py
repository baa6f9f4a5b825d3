"""Judge one file: its cells, DIS, scenarios and sensitive variables, of records and of units (METHODS §7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from reident.filerisk.settings import UNITS, of_units
from reident.verdict.outcomes import BREAKS, NONE, PASSES, UNSURE, Outcome, is_beyond
from reident.verdict.risks import of_risks
from reident.verdict.warnings import FILE, have_members

if TYPE_CHECKING:
    from reident.sections.decision import Decision

NAN = float("nan")

OF_UNITS = ("file_risk", "file_risk.risks", "file_risk.scenarios")
"""The sections whose limits are judged for units too."""


def of_one_file(decision: Decision, tables: Mapping[str, pd.DataFrame], *, units: bool) -> Iterator[Outcome]:
    """Yield the limits for the risk of one file; a bag of an earlier release has not all of the tables."""
    cells, values = tables["filerisk/cells.csv"], tables["filerisk/summary.csv"].set_index("quantity")["value"]
    records = int(cells["n_records"].sum())
    if (k := decision.k_anonymity_at_least) is not None:
        below = int(cells.loc[cells["cell_size"] < k, "n_records"].sum())
        yield _anonymity(decision, k, "", float(cells["cell_size"].min()) if records else NAN, below, records)
    if (bound := decision.dis_at_most) is not None:
        yield _dis("", bound, *(float(values[name] or "nan") for name in ("dis", "dis_low", "dis_high")))
    if "filerisk/risks.csv" in tables:
        yield from of_risks(decision, tables)
    if "filerisk/diversity.csv" in tables:
        yield from _of_diversity(decision, tables["filerisk/diversity.csv"])
    if "filerisk/scenarios.csv" in tables:
        yield from _of_scenarios(decision, tables["filerisk/scenarios.csv"])
    if units:
        yield from _of_units(decision, tables.get("filerisk/units.csv"), complete=float(values.get("f") or NAN) == 1)


def _anonymity(decision: Decision, k: int, basis: str, smallest: float, below: int, compared: int) -> Outcome:
    """Return the limit on the smallest cell; without a record or a unit in a cell there is no verdict."""
    outcome = NONE
    if compared:
        outcome = BREAKS if below / compared > decision.records_below_k_at_most else PASSES
    return Outcome(FILE, "k_anonymity_at_least", basis, smallest, k, outcome)


def _dis(basis: str, bound: float, value: float, low: float, high: float) -> Outcome:
    """Return the limit on DIS; without a DIS there is no verdict."""
    outcome = BREAKS if value > bound else NONE if pd.isna(value) else PASSES
    return Outcome(FILE, "dis_at_most", basis, value, bound, UNSURE if low <= bound < high else outcome)


def _of_scenarios(decision: Decision, scenarios: pd.DataFrame, named: Callable[[str], str] = str) -> Iterator[Outcome]:
    """Yield the limits for every scenario of the risk of one file; without a record in a cell there is no verdict."""
    for row in scenarios[scenarios["scenario"].fillna("") != ""].to_dict("records"):
        compared = int(row["n_compared"])
        value = int(row["n_unique"]) / compared if compared else NAN
        for limit, bound in decision.given("file_risk.scenarios", row["scenario"]).items():
            outcome = BREAKS if value > bound else PASSES if compared else NONE
            yield Outcome(FILE, limit, named(row["scenario"]), value, bound, outcome)


def _of_diversity(decision: Decision, diversity: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for every sensitive variable, of its worst scenario or set; none without a cell."""
    for target, lines in diversity.groupby("target", sort=False):
        worst_of = {"l_diversity_at_least": lines["distinct_l"].min(), "t_closeness_at_most": lines["t"].max()}
        for limit, bound in decision.given("file_risk.sensitive", str(target)).items():
            value = float(worst_of[limit])
            outcome = NONE if pd.isna(value) else BREAKS if is_beyond(limit, value, bound) else PASSES
            yield Outcome(FILE, limit, str(target), value, bound, outcome)


def _of_units(decision: Decision, units: pd.DataFrame | None, *, complete: bool) -> Iterator[Outcome]:
    """Yield the limits for units with several members; `complete` tells that the file is its own population."""
    if units is None:  # they are not measured with `missing: wildcard`
        for key, name, limit in (one for section in OF_UNITS for one in decision.each(section, ())):
            yield Outcome(FILE, key, of_units(name), NAN, getattr(limit, "at_most", limit), NONE)
        return
    if not have_members(units):
        return
    line = units.iloc[0].to_dict()
    compared = int(line["n_compared"])
    if (k := decision.k_anonymity_at_least) is not None:
        yield _anonymity(decision, k, UNITS, float(line["smallest"]), int(line["below_k"]), compared)
    if (bound := decision.dis_at_most) is not None:
        yield _dis(UNITS, bound, *(float(line[name]) for name in ("dis", "dis_low", "dis_high")))
    for limit, given in decision.given("file_risk.risks").items():
        bound = float(given.at_most if limit == "share_above" else given)
        value = _in_the_file(limit, line) if compared else NAN
        yield Outcome(FILE, limit, UNITS, value, bound, _of_the_file(limit, value, bound, complete=complete))
    yield from _of_scenarios(decision, units, of_units)


def _in_the_file(limit: str, line: Mapping[str, float]) -> float:
    """Return the value of a limit on risks for the units of the file alone."""
    n = line["n_compared"]
    return float(
        {
            "largest_risk_at_most": 1 / line["smallest"],
            "average_risk_at_most": line["n_cells"] / n,
            "share_above": line["above_risk"] / n,
            "expected_reidentifications_at_most": line["n_cells"],
            "population_uniques_at_most": line["n_unique"],
            "k_map_at_least": line["smallest"],
        }[limit]
    )


def _of_the_file(limit: str, value: float, bound: float, *, complete: bool) -> str:
    """Return the outcome by the file alone: a unit has no larger risk in the population, of which nothing is known."""
    if pd.isna(value):
        return NONE
    return PASSES if not is_beyond(limit, value, bound) else BREAKS if complete else UNSURE
