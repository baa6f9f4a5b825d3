"""Show the rates before and after protection: by metric, by stratum and by variant (METHODS §6.1)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.linkage.parts import SIDES
from reident.pipeline.tables import WHOLE
from reident.report.layout import Column, block, items, paragraphs, part, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.attack import shown_strata, with_strata_note
from reident.report.tables.variants import (
    RATES,
    changed_metrics,
    distinct_lines,
    relevant_settings,
    set_columns,
    shown_lines,
)
from reident.report.titles import title
from reident.report.wording import UNDEFINED, count, defined, escape, percent, rates

TEXT = Sentences("protection")
HEADING = Sentences("headings")
PROTECTION = "protection/rates.csv"
SHARES = {
    "suspected_rate": lambda: HEADING("suspected_rate"),
    "confirmed_rate": lambda: HEADING("confirmed_rate"),
    "conditional_rate": lambda: HEADING("conditional_rate"),
    "expected_correct_rate": lambda: HEADING("expected_correct"),
}
"""The rates that are shown, each with what returns its heading."""


def whole_of(results: Results) -> pd.DataFrame:
    """Return the lines of the whole study, indexed by metric."""
    lines = results.table(PROTECTION)
    return lines[lines["stratum"] == WHOLE].set_index("metric").loc[results.metrics]


@part(PROTECTION)
def protection_findings(results: Results) -> str:
    """Say how many records each metric confirms before and after protection."""
    found = []
    for metric, line in whole_of(results).iterrows():
        n, after = round(line["n_confirmed_before"]), round(line["n_confirmed_after"])
        shares = {f"{side}_share": percent(line[f"confirmed_rate_{side}"]) for side in SIDES}
        text = TEXT("found", n=n, after=after, change=_change(n, after), **shares)
        if any(defined(line[f"conditional_rate_{side}"]) for side in SIDES):
            ends = {side: percent(line[f"conditional_rate_{side}"]) for side in SIDES}
            text += " " + TEXT("conditional", **ends)
        found.append(TEXT("metric", metric=title(str(metric)), text=text))
    return paragraphs(TEXT("text"), items(found))


def _change(before: int, after: int) -> str:
    """Return by what share a number of records changes; empty where it does not, or where there was none."""
    if before in {0, after}:
        return ""
    return TEXT("fewer" if after < before else "more", share=percent(abs(after - before) / before))


@part(PROTECTION)
def protection_by_metric(results: Results) -> str:
    """Return the rates of the whole study before and after protection."""
    whole = whole_of(results)
    columns = [Column(HEADING("metric"), [f"**{title(metric)}**" for metric in results.metrics], "l", "1fr")]
    columns += [Column(heading(), _changes(whole, column)) for column, heading in SHARES.items()]
    counts = [
        TEXT("change", **{side: count(line[f"n_confirmed_{side}"]) for side in SIDES})
        for _, line in whole.iterrows()
    ]
    columns.insert(2, Column(HEADING("confirmed_records"), counts))
    sizes = {side: round(whole[f"n_puf_{side}"].iloc[0]) for side in SIDES}
    undefined = whole[[f"conditional_rate_{side}" for side in SIDES]].isna().any(axis=None)
    note = block("note", TEXT("undefined", undefined=UNDEFINED)) if undefined else None
    return paragraphs(table(TEXT("by_metric", **sizes), *columns, kind="own-limit"), note)


def _changes(lines: pd.DataFrame, name: str) -> list[str]:
    """Return the cells of a rate before and after protection."""
    ends = zip(*(rates(lines[f"{name}_{side}"]) for side in SIDES), strict=True)
    return [TEXT("change", before=before, after=after) for before, after in ends]


@part(PROTECTION, "strata/manifest.csv")
def protection_by_stratum(results: Results) -> str | None:
    """Return the rates by stratum before and after protection, one table for each metric."""
    if not results.strata_names:
        return None
    strata, lines = shown_strata(results), results.table(PROTECTION)
    tables: list[str | None] = []
    for metric in results.metrics:
        own = lines[lines["metric"] == metric]
        by_stratum = own.set_index("stratum").reindex(strata["stratum"])
        tables.append(
            table(
                with_strata_note(results, TEXT("by_stratum", metric=title(metric))),
                Column(
                    escape(results.strata_heading), [escape(name) for name in strata["label"]], "l", "1fr"
                ),
                *(Column(heading(), _changes(by_stratum, column)) for column, heading in SHARES.items()),
                kind="compact strata sortable own-limit",
            )
        )
    only = lines.loc[lines["stratum"] == "", "stratum_before"].nunique()
    return paragraphs(*tables, TEXT("one_side", n=only) if only else None)


@part(PROTECTION, RATES)
def protection_by_variant(results: Results) -> str:
    """Return the rates before protection beside those of every variant, one table for each metric."""
    tables = [
        _by_variant(results, metric) for metric in changed_metrics(results) if metric in results.metrics
    ]
    return paragraphs(TEXT("variants.text"), *tables)


def _by_variant(results: Results, metric: str) -> str:
    names, before = relevant_settings(results, metric), before_line(results, metric)
    rows = shown_lines(distinct_lines(results, metric), "confirmed_rate")
    columns: list[Column] = []
    for at, column in enumerate(set_columns(rows, names)):
        first = f"*{TEXT('variants.before')}*" if at == 0 else ""
        columns.append(column._replace(cells=[first, *column.cells]))
    counts = [count(n) for n in (before["n_confirmed"], *rows["n_confirmed"])]
    columns.append(Column(HEADING("confirmed_records"), counts))
    shares = (Column(heading(), rates([before[column], *rows[column]])) for column, heading in SHARES.items())
    return table(TEXT("variants.table", metric=title(metric)), *columns, *shares, kind="compact")


def before_line(results: Results, metric: str) -> dict[str, Any]:
    """Return the rates of the whole study before protection, by their names in the rates."""
    line = whole_of(results).loc[metric]
    return {name.removesuffix("_before"): line[name] for name in line.index if name.endswith("_before")}
