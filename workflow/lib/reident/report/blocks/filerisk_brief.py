"""The brief of a study of one file alone: its limits as a table, and who is most at risk (METHODS §6.9, §7)."""

from __future__ import annotations

from datetime import date as Date
from typing import TYPE_CHECKING, Any

from reident.filerisk.limits import is_of_units
from reident.filerisk.report import (
    LEVELS,
    SUMMARY,
    VARIABLES,
    by_contribution,
    by_excluded,
    interval,
    is_alone,
    level_label,
    quantity,
    unique_records,
)
from reident.filerisk.report_scenarios import SCENARIOS, named
from reident.filerisk.report_thresholds import (
    RISKS,
    UNITS_TABLE,
    basis_of,
    is_unsure_by_values,
    judged_value,
    limit_name,
    shown,
)
from reident.filerisk.settings import BELOW, UNITS
from reident.outcomes import BREAKS, FILE, LIMITS, NONE, UNBREAKABLE, UNSURE, undecided
from reident.page.common import FEW, keys_in_words, portion
from reident.page.layout import ReportColumn, block, items, table
from reident.page.sentences import Sentences
from reident.page.terms import some
from reident.page.wording import count, day, declared, defined, escape, listed, percent, without_repeats
from reident.report.blocks.brief import unseen_without_attack
from reident.sections.decision import LIMITS as SECTIONS

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk_brief")
MAX_NAMES = 3
"""Variables, and values, that are named as those which make most records unique."""


@block(SUMMARY, LIMITS)
def limits_of_file(results: Results) -> str | None:
    """Show the limits of a study of one file alone: what was found, the limit, its outcome, and whose it is."""
    lines = results.limits(FILE)
    if not is_alone(results) or lines.empty:
        return None
    lines = lines.assign(undecided=undecided(lines))
    rows = list(lines.itertuples())
    columns = {
        "limit": [f"**{_name(results, row)}**" for row in rows],
        "found": [_found(results, row) for row in rows],
        "bound": [_bound(results, row) for row in rows],
        "outcome": [_outcome(results, row) for row in rows],
        "set_by": without_repeats([_set_by(results)] * len(rows)),
    }
    widths = {"limit": "1.5fr", "found": "1.5fr", "outcome": "1.1fr", "bound": "0.8fr", "set_by": "0.9fr"}
    return table(
        TEXT("limits.caption"),
        *(ReportColumn(TEXT(f"limits.columns.{name}"), cells, "l", widths[name]) for name, cells in columns.items()),
        kind="cards",
    )


def _is_share_below_k(results: Results, row: Any) -> bool:
    return row.limit == "k_anonymity_at_least" and bool(results.decision.get("records_below_k_at_most"))


def _name(results: Results, row: Any) -> str:
    return limit_name(results, row._replace(limit=BELOW) if _is_share_below_k(results, row) else row)


def _found(results: Results, row: Any) -> str:
    """Return the value that was found, with what it was judged by below it."""
    limit, value = row.limit, row.value
    if _is_share_below_k(results, row):
        limit, value = BELOW, _below(results, row)
    below = ""
    if row.limit in SECTIONS["file_risk.risks"] + SECTIONS["file_risk.population"] and not is_of_units(row):
        below = basis_of(results, row)
    elif row.limit == "k_anonymity_at_least" and limit != BELOW and defined(value):
        below = TEXT("found.below_k", share=percent(_below(results, row)), k=count(row.bound))
    elif row.limit == "dis_at_most" and not is_of_units(row):
        below = TEXT("found.interval", interval=interval(results))
    if is_unsure_by_values(row):
        name = row.metric if row.limit in SECTIONS["file_risk.scenarios"] + SECTIONS["file_risk.sensitive"] else ""
        sure = judged_value(results, limit, name, "sample" if row.metric == "sample" else "", "sure")
        below = TEXT("found.sure", value=shown(limit, sure))
    text = shown(limit, value)
    text = f"[▲ {text}]{{.above}}" if row.outcome == BREAKS else text
    return f"{text} [{below}]{{.below}}" if below else text


def _below(results: Results, row: Any) -> float:
    """Return the share of the records, or units, in cells smaller than k, by the convention that has more of them."""
    metric = UNITS if is_of_units(row) else ""
    judged = judged_value(results, BELOW, metric)
    if metric:
        line = results.table(UNITS_TABLE).iloc[0]
        part, whole = line["below_k"], line["n_compared"]
    else:
        cells = results.table("filerisk/cells.csv")
        part, whole = cells.loc[cells["cell_size"] < row.bound, "n_records"].sum(), cells["n_records"].sum()
    return max((share for share in (part / whole if whole else float("nan"), judged) if defined(share)), default=0.0)


def _bound(results: Results, row: Any) -> str:
    if _is_share_below_k(results, row):
        return TEXT("bound.at_most", bound=declared(results.decision["records_below_k_at_most"]))
    bound = shown(row.limit, row.bound)
    if bound.endswith("%"):
        bound = declared(row.bound)
    return TEXT("bound.at_least" if row.limit.endswith("_at_least") else "bound.at_most", bound=bound)


def _outcome(results: Results, row: Any) -> str:
    """Return the outcome of a limit in words; of one that nothing can break also why."""
    if row.outcome == UNBREAKABLE:
        return f"{TEXT('outcome.unbreakable')} [{_why(results, row)}]{{.below}}"
    if row.outcome == NONE or row.undecided:
        return TEXT("outcome.undecided")
    if row.outcome == BREAKS:
        return f"[▲ {TEXT('outcome.broken')}]{{.above}}"
    return TEXT("outcome.unsure" if row.outcome == UNSURE else "outcome.met")


def _why(results: Results, row: Any) -> str:
    if row.limit in ("expected_reidentifications_at_most", "population_uniques_at_most"):
        n = results.table(UNITS_TABLE)["n_units"].iloc[0] if is_of_units(row) else quantity(results, "records")
        return TEXT("why.count", n=count(n))
    if row.limit in ("l_diversity_at_least", "k_anonymity_at_least"):
        return TEXT(f"why.{row.limit}")
    return TEXT("why.share")


def _set_by(results: Results) -> str:
    """Return who set the limits, and when."""
    name, on = results.decision.get("set_by"), results.decision.get("set_on")
    texts = [escape(name)] if name else []
    texts += [day(Date.fromisoformat(str(on)))] if on else []
    return ", ".join(texts) or TEXT("not_stated")


@block(SUMMARY)
def unseen_of_file(results: Results) -> str | None:
    """Say what a study of one file alone cannot show."""
    return unseen_without_attack() if is_alone(results) else None


@block(SUMMARY, VARIABLES, LEVELS)
def file_at_risk(results: Results) -> str | None:
    """Say which records of a file alone are most at risk: the unique ones, by which variable, value and intruder."""
    if not is_alone(results):
        return None
    unique = round(quantity(results, "U"))
    first = unique_records(results)
    if unique:
        n = round(quantity(results, "n_special"))
        first = f"{first} {TEXT('at_risk.special_all') if n == unique > 1 else TEXT('at_risk.special', n=n)}"
    texts = [first, _variables(results), _values(results), _scenario(results), _units(results), _population(results)]
    return items([text for text in texts if text])


def _variables(results: Results) -> str:
    lines = by_contribution(results).dropna(subset="contribution")
    lines = lines[lines["contribution"] > 0].head(MAX_NAMES)
    names = [
        TEXT("at_risk.part", variable=escape(row.variable), share=percent(row.contribution, 0))
        for row in lines.itertuples()
    ]
    return by_excluded(results, TEXT("at_risk.variables", names=listed(names))) if names else ""


def _values(results: Results) -> str:
    """Return the sentence on the values that some records have and that make most of them unique."""
    lines = by_contribution(results, LEVELS)
    lines = lines[(lines["n_msu"] > 0) & (lines["contribution"] > 0) & (lines["n_records"] >= FEW)].head(MAX_NAMES)
    names = []
    for row in lines.itertuples():
        fields = {"variable": escape(row.variable), "records": some(int(row.n_records), "record")}
        names.append(TEXT("at_risk.value", value=escape(level_label(results, row.variable, row.level)), **fields))
    return TEXT("at_risk.values", names=listed(names)) if names else ""


def _scenario(results: Results) -> str:
    if not results.has(SCENARIOS):
        return ""
    lines = named(results).dropna(subset="unique_share")
    if lines.empty or not lines["n_unique"].any():
        return ""
    line = lines.loc[lines["unique_share"].idxmax()]
    records = some(int(line["n_compared"]), "record")
    found = portion(count(line["n_unique"]), line["unique_share"], line["n_compared"], records)
    return TEXT("at_risk.scenario", scenario=escape(line["scenario"]), known=keys_in_words(line["keys"]), found=found)


def _units(results: Results) -> str:
    if not results.has(UNITS_TABLE):
        return ""
    line = results.table(UNITS_TABLE).iloc[0]
    n = int(line["n_compared"])
    if not n:
        return ""
    return TEXT("at_risk.units", found=portion(count(line["n_unique"]), line["n_unique"] / n, n, some(n, "unit")))


def _population(results: Results) -> str:
    if results.model.risk.population is None or not results.has(RISKS):
        return ""
    n = results.table(RISKS).set_index("basis").at["population", "n_unique"]
    return TEXT("at_risk.population", n=int(n))
