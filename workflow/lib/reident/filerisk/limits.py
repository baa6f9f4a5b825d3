"""Judge one file: its cells, DIS, scenarios and sensitive variables, of records and of units (METHODS §7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from reident.filerisk.risks import beyond_of, compare, have_members, of_risks
from reident.filerisk.settings import BELOW, UNITS, of_units
from reident.intake.severity import UNDERSTATES, StudyWarning
from reident.language.messages import Fields
from reident.outcomes import BREAKS, FILE, NONE, PASSES, UNBREAKABLE, UNSURE, Outcome, is_beyond
from reident.sections.decision import LIMITS

if TYPE_CHECKING:
    from reident.sections.decision import Decision

NAN = float("nan")

OF_UNITS = ("file_risk", "file_risk.risks", "file_risk.scenarios")
"""The sections whose limits are judged for units too."""


def of_one_file(decision: Decision, tables: Mapping[str, pd.DataFrame], *, units: bool) -> Iterator[Outcome]:
    """Yield the limits for the risk of one file; a bag of an earlier release has not all of the tables."""
    values = tables["filerisk/summary.csv"].set_index("quantity")["value"]
    complete = float(values.get("f") or NAN) == 1
    for row in _by_convention(decision, tables, units=units, complete=complete):
        outcome = _of_every_record(decision, tables, row, complete=complete)
        n = _of_units_alone(tables, "n_units") if is_of_units(row) else float(values.get("records") or NAN)
        yield outcome._replace(outcome=UNBREAKABLE) if cannot_break(decision, row.limit, row.bound, n) else outcome


def _of_units_alone(tables: Mapping[str, pd.DataFrame], column: str) -> float:
    units = tables.get("filerisk/units.csv")
    return NAN if units is None else float(units[column].iloc[0])


def _by_convention(
    decision: Decision, tables: Mapping[str, pd.DataFrame], *, units: bool, complete: bool
) -> Iterator[Outcome]:
    """Yield the limits by what a missing value means in the study."""
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
        yield from _of_units(decision, tables.get("filerisk/units.csv"), complete=complete)


def is_of_units(row: Outcome) -> bool:
    """Return whether a limit was judged for units instead of records."""
    if row.limit == "unique_share_at_most":
        return row.metric.startswith(of_units(" ").rstrip())
    return row.metric == UNITS and row.limit not in LIMITS["file_risk.sensitive"]


SHARES = (
    "dis_at_most", "largest_risk_at_most", "average_risk_at_most", "share_above", "delta_presence_at_most",
    "unique_share_at_most", "t_closeness_at_most",
)  # fmt: skip
"""The limits on what is never above 1."""

COUNTS = ("expected_reidentifications_at_most", "population_uniques_at_most")
"""The limits on what is never above the number of records."""


def cannot_break(decision: Decision, limit: str, bound: float, n: float) -> bool:
    """Return whether no file of n records, or units, can break a limit on one file."""
    if limit == "k_anonymity_at_least":
        return decision.records_below_k_at_most >= 1
    if limit == "share_above" and decision.share_above is not None and decision.share_above.risk >= 1:
        return True
    return (
        (limit in SHARES and bound >= 1)
        or (limit in COUNTS and bound >= n)
        or (limit == "l_diversity_at_least" and bound <= 1)
    )


GRAVITY = (BREAKS, NONE, UNSURE, PASSES)
"""Outcomes of a limit by the conventions for missing values, the worst first."""


def _of_every_record(
    decision: Decision, tables: Mapping[str, pd.DataFrame], row: Outcome, *, complete: bool
) -> Outcome:
    """Return the outcome of a limit for all records, where some miss a value (METHODS §7.8).

    It is the worse one of the convention of the study and of `wildcard`; if it is met but not by the sure matches
    alone, it is unsure.
    """
    judged = tables.get("filerisk/judged.csv")
    if judged is None:
        return row
    has_name = row.limit in (*LIMITS["file_risk.scenarios"], *LIMITS["file_risk.sensitive"]) or is_of_units(row)
    judged = judged[judged["metric"].fillna("") == (row.metric if has_name else "")]
    lines = judged[judged["limit"] == row.limit]
    if lines.empty:
        return row
    possible, sure = (
        _of_all(decision, tables, row, lines.assign(basis=lines["basis"].fillna("")), judged, column, complete=complete)
        for column in ("wildcard", "sure")
    )
    if pd.isna(row.value) and row.outcome == NONE:
        worse = possible
    else:
        sign = 1 if row.limit.endswith("_at_least") else -1
        worse = min(row, possible, key=lambda one: (GRAVITY.index(one.outcome), sign * one.value))
    return worse._replace(outcome=UNSURE) if worse.outcome == PASSES and sure.outcome != PASSES else worse


def _of_all(
    decision: Decision,
    tables: Mapping[str, pd.DataFrame],
    row: Outcome,
    lines: pd.DataFrame,
    judged: pd.DataFrame,
    column: str,
    *,
    complete: bool,
) -> Outcome:
    """Return the outcome of a limit by the values of one column of `filerisk/judged.csv`."""
    values = {str(basis): float(value) for basis, value in lines.set_index("basis")[column].items()}
    if row.limit == "k_anonymity_at_least":
        below = float(judged.loc[judged["limit"] == BELOW, column].iloc[0])
        outcome = BREAKS if below > decision.records_below_k_at_most else PASSES
        return row._replace(value=values[""], outcome=outcome)
    if row.limit in LIMITS["file_risk.risks"] + LIMITS["file_risk.population"] and not is_of_units(row):
        return compare(row.limit, row.bound, values, tables)
    if row.limit in LIMITS["file_risk.risks"]:
        return row._replace(value=values[""], outcome=_of_the_file(row.limit, values[""], row.bound, complete=complete))
    is_broken = (
        values[""] > row.bound if row.limit == "unique_share_at_most" else is_beyond(row.limit, values[""], row.bound)
    )
    return row._replace(value=values[""], outcome=BREAKS if is_broken else PASSES)


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


def warnings(decision: Decision | None, tables: Mapping[str, pd.DataFrame], *, units: bool) -> list[StudyWarning]:
    """Return the warnings of one file that only its results show; `units` is whether the study declares them."""
    return [*_of_records_alone(decision, tables, units=units), *_absent(tables)]


def _of_records_alone(
    decision: Decision | None, tables: Mapping[str, pd.DataFrame], *, units: bool
) -> list[StudyWarning]:
    """Warn of limits that only records are compared with, where an intruder may know all members of a unit."""
    members = tables.get("filerisk/units.csv")
    if decision is None or not units or (members is not None and not have_members(members)):
        return []
    limits = [*decision.given("file_risk.sensitive"), *decision.given("file_risk.population")]
    fields: Fields = {"limits": ", ".join(f"`{limit}`" for limit in limits)}
    return [StudyWarning(UNDERSTATES, "records_alone", fields)] if limits else []


def _absent(tables: Mapping[str, pd.DataFrame]) -> list[StudyWarning]:
    """Warn of records that the population file cannot hold: their risk is taken to be that in the file alone."""
    if not (n := beyond_of(tables)):
        return []
    total = int(tables["filerisk/summary.csv"].set_index("quantity").at["records", "value"])
    fields: Fields = {"n": n, "total": total, "share": n / total}
    return [StudyWarning(UNDERSTATES, "not_in_the_population", fields, n, n / total)]
