"""The risk of the records beside the thresholds that regulators use, and the limits on it (METHODS §7.6)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.filerisk.estimates import INDIVIDUAL
from reident.filerisk.settings import POPULATION, SAMPLE, UNITS, of_units
from reident.report.columns import columns
from reident.report.layout import ReportColumn, block, paragraphs, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.terms import some
from reident.report.wording import UNDEFINED, apart, declared, defined, escape, number, percent, span
from reident.sections.decision import LIMITS
from reident.verdict.limits import UNSURE

TEXT = Sentences("filerisk_thresholds")
OF_UNITS = Sentences("filerisk_units")
RISKS, THRESHOLDS, UNITS_TABLE = "filerisk/risks.csv", "filerisk/thresholds.csv", "filerisk/units.csv"

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
    return TEXT(f"limits.{row.limit}", basis=_basis(results, row), **fields)


def is_of_units(row: Any) -> bool:
    """Return whether a limit was judged for units instead of records."""
    if row.limit == "unique_share_at_most":
        return str(row.metric).startswith(of_units(" ").rstrip())
    return row.metric == UNITS and row.limit not in LIMITS["file_risk.sensitive"]


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


def _basis(results: Results, row: Any) -> str:
    """Return what a limit was judged by, and why that leaves a doubt."""
    unsure = "_unsure" if row.outcome == UNSURE else ""
    if not defined(row.value):
        return TEXT("basis.undefined")
    if row.metric == POPULATION and unsure:
        return TEXT("basis.population_unsure", n=int(_risks(results).at[POPULATION, "n_beyond"]))
    if row.metric == SAMPLE:
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
    return paragraphs(
        TEXT("text"),
        *(_summary(str(line.Index), line) for line in lines.itertuples()),
        table(TEXT("caption", file=THRESHOLDS), *table_columns),
    )


def _summary(basis: str, line: Any) -> str:
    """Return the sentences on the risks of one basis."""
    fields = {
        "largest": percent(line.largest),
        "mean": percent(line.mean),
        "expected": number(round(line.expected, 1)),
        "records": some(int(line.n_records), "record"),
    }
    texts = [TEXT(f"summary.{basis}", **fields)]
    if basis == POPULATION:
        if defined(line.smallest):
            presence = {"largest": percent(line.largest_presence), "mean": percent(line.mean_presence)}
            texts.append(TEXT("summary.presence", n=int(line.smallest), **presence))
        if line.n_beyond:
            texts.append(TEXT("summary.beyond", n=int(line.n_beyond)))
    return " ".join(texts)
