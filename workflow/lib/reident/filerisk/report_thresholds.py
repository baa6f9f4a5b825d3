"""The risk of the records beside the thresholds that regulators use, and the limits on it (METHODS §7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from reident.filerisk.estimates import INDIVIDUAL
from reident.filerisk.limits import is_of_units
from reident.filerisk.risks import beyond_of
from reident.filerisk.settings import BELOW, POPULATION, SAMPLE
from reident.outcomes import UNSURE
from reident.page.columns import columns
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.terms import some
from reident.page.wording import UNDEFINED, apart, declared, defined, escape, number, percent, span
from reident.sections.decision import LIMITS

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk_thresholds")
OF_UNITS = Sentences("filerisk_units")
RISKS, THRESHOLDS, UNITS_TABLE = "filerisk/risks.csv", "filerisk/thresholds.csv", "filerisk/units.csv"
JUDGED = "filerisk/judged.csv"

NUMBERS = (
    "expected_reidentifications_at_most", "population_uniques_at_most", "k_map_at_least", "l_diversity_at_least",
)  # fmt: skip
"""The limits that are no shares."""


def limit_text(results: Results, row: Any) -> str:
    """Return a limit on the risk of records or on a sensitive variable in words, with what it was judged by."""
    fields = {"limit": number(row.bound), "value": number(round(row.value, 2) if defined(row.value) else None)}
    if row.limit not in NUMBERS:
        value = apart(row.value, row.bound)[0] if defined(row.value) else UNDEFINED
        fields = {"limit": declared(row.bound), "value": value}
    if row.limit in ("l_diversity_at_least", "t_closeness_at_most"):
        return TEXT(f"limits.{row.limit}", target=escape(row.metric), **fields)
    if row.limit == "share_above":
        fields["risk"] = declared(results.decision["share_above"]["risk"])
    return TEXT(f"limits.{row.limit}", basis=basis_of(results, row), **fields)


def judged_value(results: Results, limit: str, metric: str, basis: str = "", column: str = "wildcard") -> float:
    """Return what a limit is compared with where records miss a value; NaN where none does (METHODS §7.8)."""
    if not results.has(JUDGED):
        return float("nan")
    lines = results.table(JUDGED).fillna({"metric": "", "basis": ""})
    lines = lines[(lines["limit"] == limit) & (lines["metric"] == metric) & (lines["basis"] == basis)]
    return float(lines[column].iloc[0]) if len(lines) else float("nan")


def limit_of_units(results: Results, row: Any) -> str:
    """Return a limit in words that was judged for units (METHODS §7.7)."""
    if row.limit == "k_anonymity_at_least":
        return _anonymity_of_units(results, row)
    if row.limit in NUMBERS:
        fields = {"limit": number(row.bound), "value": number(row.value)}
    else:
        value = apart(row.value, row.bound)[0] if defined(row.value) else UNDEFINED
        fields = {"limit": declared(row.bound), "value": value}
    if row.limit == "dis_at_most":
        if row.outcome != UNSURE:
            return OF_UNITS("limits.dis_at_most", **fields)
        line = results.table(UNITS_TABLE).iloc[0]
        return OF_UNITS("limits.dis_unsure", interval=span(line["dis_low"], line["dis_high"]), **fields)
    if row.limit == "unique_share_at_most":
        return OF_UNITS("limits.unique_share_at_most", scenario=escape(row.metric.partition(": ")[2]), **fields)
    if row.limit == "share_above":
        fields["risk"] = declared(results.decision["share_above"]["risk"])
    return OF_UNITS(f"limits.{row.limit}", basis=OF_UNITS(f"basis.{row.outcome}"), **fields)


def _anonymity_of_units(results: Results, row: Any) -> str:
    """Return the limit on the smallest cell of units in words."""
    if not defined(row.value):
        return OF_UNITS("limits.k_undefined", k=round(row.bound))
    line, allowed = results.table(UNITS_TABLE).iloc[0], results.decision.get("records_below_k_at_most") or 0
    share = percent(line["below_k"] / line["n_compared"])
    fields = {"k": round(row.bound), "smallest": some(round(row.value), "unit"), "share": share}
    return (
        OF_UNITS("limits.share_below_k", limit=declared(allowed), **fields)
        if allowed
        else OF_UNITS("limits.k", **fields)
    )


def is_unsure_by_values(row: Any) -> bool:
    """Return whether a limit is met, but only if values that are missing are equal (METHODS §7.8)."""
    decided_by_file = row.metric in ("", SAMPLE) or row.limit in OF_VALUES
    return bool(row.outcome == UNSURE and decided_by_file and row.limit != "dis_at_most")


OF_VALUES = (*LIMITS["file_risk.scenarios"], *LIMITS["file_risk.sensitive"])
"""The limits that nothing but missing values leaves unsure."""


def basis_of(results: Results, row: Any) -> str:
    """Return what a limit on the risk of records was judged by, and why that leaves a doubt."""
    unsure = "_unsure" if row.outcome == UNSURE else ""
    if not defined(row.value):
        return TEXT("basis.undefined")
    if row.metric == POPULATION and unsure:
        n = beyond_of({name: results.table(name) for name in (RISKS, JUDGED) if results.has(name)})
        return TEXT("basis.population_unsure", n=n) if n else TEXT("basis.population_values")
    if row.metric == SAMPLE:
        if unsure:
            return TEXT("basis.sample_values")
        return TEXT("basis.undecided" if row.outcome == "none" else "basis.sample")
    if row.metric in (POPULATION, INDIVIDUAL):
        return TEXT(f"basis.{row.metric}{unsure}")
    return TEXT(f"basis.model{unsure}", model=escape(row.metric))


def _risks(results: Results) -> pd.DataFrame:
    return results.table(RISKS).set_index("basis")


@block(RISKS, THRESHOLDS)
def risk_thresholds(results: Results) -> str | None:
    """Show the records above each threshold, by the file alone and in the population or as estimated."""
    lines = _risks(results)
    if not lines["n_records"].any():
        return None
    by_basis = dict(list(results.table(THRESHOLDS).groupby("basis", sort=False)))
    risks = next(iter(by_basis.values()))["risk"]
    table_columns = [ReportColumn(TEXT("columns.risk"), [declared(risk) for risk in risks], "r")]
    for basis, rows in by_basis.items():
        table_columns += columns(rows, TEXT, "n_above share_above", "1fr", group=f"columns.{basis}")
    n = beyond_of({name: results.table(name) for name in (RISKS, JUDGED) if results.has(name)})
    return paragraphs(
        TEXT("text"),
        *(_summary(str(line.Index), line) for line in lines.itertuples()),
        TEXT("summary.beyond", n=n) if n else None,
        table(TEXT("caption", file=THRESHOLDS), *table_columns),
    )


@block(JUDGED)
def risk_judged(results: Results) -> str | None:
    """Show what the limits are compared with where records miss a value; nothing where none does."""
    lines = results.table(JUDGED).fillna({"metric": "", "basis": ""})
    lines = lines[lines["limit"].isin([*results.decision, BELOW])]
    if lines.empty or not results.decision:
        return None
    cells = {
        name: [shown(limit, value) for limit, value in zip(lines["limit"], lines[name], strict=True)]
        for name in ("wildcard", "sure")
    }
    names = [limit_name(results, row) for row in lines.itertuples()]
    bases = [TEXT(f"judged.basis.{basis}") if basis else "" for basis in lines["basis"]]
    return paragraphs(
        TEXT("judged.text"),
        table(
            TEXT("judged.caption", file=JUDGED),
            ReportColumn(TEXT("judged.columns.limit"), names, "l", "2fr"),
            ReportColumn(TEXT("judged.columns.basis"), bases, "l", "1fr"),
            *(ReportColumn(TEXT(f"judged.columns.{name}"), texts) for name, texts in cells.items()),
            kind="compact",
        ),
    )


def shown(limit: str, value: float) -> str:
    """Return what a limit is compared with: a share as a percentage, or a number."""
    if not defined(value):
        return UNDEFINED
    return number(round(value, 2)) if limit in (*NUMBERS, "k_anonymity_at_least") else percent(value)


def limit_name(results: Results, row: Any) -> str:
    """Return what a limit on one file is on, in a few words; for units with their name."""
    fields: dict[str, str] = {}
    if row.limit == "share_above":
        fields = {"risk": declared(results.decision["share_above"]["risk"])}
    elif row.limit == BELOW:
        fields = {"k": str(results.decision["k_anonymity_at_least"])}
    elif row.limit in LIMITS["file_risk.sensitive"]:
        fields = {"target": escape(row.metric)}
    elif row.limit in LIMITS["file_risk.scenarios"]:
        fields = {"scenario": escape(row.metric.partition(": ")[2] if is_of_units(row) else row.metric)}
    name = TEXT(f"names.{row.limit}", **fields)
    return TEXT("names.of_units", name=name) if is_of_units(row) else name


def _summary(basis: str, line: Any) -> str:
    """Return the sentences on the risks of one basis."""
    fields = {
        "largest": percent(line.largest),
        "mean": percent(line.mean),
        "expected": number(round(line.expected, 1)),
        "records": some(int(line.n_records), "record"),
    }
    texts = [TEXT(f"summary.{basis}", **fields)]
    if basis == POPULATION and defined(line.smallest):
        presence = {"largest": percent(line.largest_presence), "mean": percent(line.mean_presence)}
        texts.append(TEXT("summary.presence", n=int(line.smallest), **presence))
    return " ".join(texts)
