"""The rates before and after protection: by metric, by stratum and by variant (METHODS §6.1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.settings import SIDES, WHOLE
from reident.page import style
from reident.page.common import limit_line, top_of
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.strata import shown_strata, with_strata_note
from reident.page.style import Figure
from reident.page.terms import metric_cells, title
from reident.page.variants import (
    RATES,
    changed_metrics,
    distinct_lines,
    is_reference,
    label,
    lines_of,
    relevant_settings,
    set_columns,
    shown_lines,
)
from reident.page.wording import UNDEFINED, count, count_cells, defined, escape, inside, label_cells, percent, rates

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("protection")
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


@block(PROTECTION)
def protection_front(results: Results) -> str:
    """Report for the brief the effect of protection on the metric that confirmed most before it."""
    whole = whole_of(results)
    metric = str(whole["n_confirmed_before"].astype(float).idxmax())
    return box("findings", TEXT("metric", metric=title(metric), text=_found(whole.loc[metric])))


def _found(line: pd.Series) -> str:
    n, after = round(line["n_confirmed_before"]), round(line["n_confirmed_after"])
    shares = {f"{side}_share": percent(line[f"confirmed_rate_{side}"]) for side in SIDES}
    text = TEXT("found", n=n, after=after, change=_change(n, after), **shares)
    if not any(defined(line[f"conditional_rate_{side}"]) for side in SIDES):
        return text
    ends = {side: percent(line[f"conditional_rate_{side}"]) for side in SIDES}
    return f"{text} {TEXT('conditional', **ends)}"


@block(PROTECTION)
def protection_findings(results: Results) -> str:
    """Say how many records each metric confirms before and after protection."""
    findings = [
        TEXT("metric", metric=title(str(metric)), text=_found(line)) for metric, line in whole_of(results).iterrows()
    ]
    return paragraphs(TEXT("text"), items(findings))


def _change(before: int, after: int) -> str:
    """Return the relative change of a number of records; empty where it does not change, or where there was none."""
    if before in {0, after}:
        return ""
    return TEXT("fewer" if after < before else "more", share=percent(abs(after - before) / before))


@block(PROTECTION)
def protection_by_metric(results: Results) -> str:
    """Return the rates of the whole study before and after protection."""
    whole = whole_of(results)
    columns = [ReportColumn(HEADING("metric"), metric_cells(results.metrics), "l", "1fr")]
    columns += [ReportColumn(heading(), _changes(whole, column)) for column, heading in SHARES.items()]
    counts = [
        TEXT("change", **{side: count(line[f"n_confirmed_{side}"]) for side in SIDES}) for _, line in whole.iterrows()
    ]
    columns.insert(2, ReportColumn(HEADING("confirmed_records"), counts))
    sizes = {side: round(whole[f"n_puf_{side}"].iloc[0]) for side in SIDES}
    undefined = whole[[f"conditional_rate_{side}" for side in SIDES]].isna().any(axis=None)
    note = box("note", TEXT("undefined", undefined=UNDEFINED)) if undefined else None
    return paragraphs(table(TEXT("by_metric", **sizes), *columns), note)


def _changes(lines: pd.DataFrame, name: str) -> list[str]:
    ends = zip(*(rates(lines[f"{name}_{side}"]) for side in SIDES), strict=True)
    return [TEXT("change", before=before, after=after) for before, after in ends]


@block(PROTECTION, "strata/manifest.csv")
def protection_by_stratum(results: Results) -> str | None:
    """Return the rates by stratum before and after protection, one table for each metric."""
    if not results.strata_names:
        return None
    strata, lines = shown_strata(results), results.table(PROTECTION)
    tables: list[str | None] = []
    for metric in results.metrics:
        rows = lines[lines["metric"] == metric]
        by_stratum = rows.set_index("stratum").reindex(strata["stratum"])
        tables.append(
            table(
                with_strata_note(results, TEXT("by_stratum", metric=title(metric))),
                ReportColumn(escape(results.strata_heading), label_cells(strata["label"]), "l", "1fr"),
                *(ReportColumn(heading(), _changes(by_stratum, column)) for column, heading in SHARES.items()),
                kind="compact strata sortable",
            )
        )
    n = lines.loc[lines["stratum"] == "", "stratum_before"].nunique()
    return paragraphs(*tables, TEXT("one_side", n=n) if n else None)


@block(PROTECTION, RATES)
def protection_by_variant(results: Results) -> str:
    """Return the rates before protection beside those of every variant, one table for each metric."""
    tables = [_by_variant(results, metric) for metric in changed_metrics(results) if metric in results.metrics]
    return paragraphs(TEXT("variants.text"), *tables)


def _by_variant(results: Results, metric: str) -> str:
    names, before = relevant_settings(results, metric), before_line(results, metric)
    rows = shown_lines(distinct_lines(results, metric), "confirmed_rate")
    columns: list[ReportColumn] = []
    for at, column in enumerate(set_columns(rows, names)):
        first = f"*{TEXT('variants.before')}*" if at == 0 else ""
        columns.append(column._replace(cells=[first, *column.cells]))
    counts = count_cells((before["n_confirmed"], *rows["n_confirmed"]))
    columns.append(ReportColumn(HEADING("confirmed_records"), counts))
    shares = (ReportColumn(heading(), rates([before[column], *rows[column]])) for column, heading in SHARES.items())
    return table(TEXT("variants.table", metric=title(metric)), *columns, *shares, kind="compact")


def before_line(results: Results, metric: str) -> dict[str, Any]:
    """Return the rates of the whole study before protection, by their names in the rates."""
    line = whole_of(results).loc[metric]
    return {name.removesuffix("_before"): line[name] for name in line.index if name.endswith("_before")}


MAX_METRICS = 3
"""Panels of the figure by variant."""


@block(PROTECTION)
def protection_figure(results: Results) -> Figure | None:
    """Draw the three rates before and after protection, one row per metric."""
    whole = whole_of(results)
    if not whole[["n_suspected_before", "n_suspected_after"]].any(axis=None):
        return None

    def draw(column: str, axes: Axes) -> None:
        before, after = whole[f"{column}_before"], whole[f"{column}_after"]
        at, limit = range(len(whole)), results.limit if column == "conditional_rate" else None
        axes.hlines(at, before, after, color=style.RULE, linewidth=2.4, zorder=1)
        axes.plot(before, at, "o", label=TEXT("figure.before"), **style.hollow(5, 2, clip_on=False))
        axes.plot(after, at, "o", label=TEXT("figure.after"), **style.full(5, clip_on=False))
        style.percent_axis(axes, top_of([*before, *after], limit), 3)
        limit_line(axes, limit)

    about: dict[str, Any] = {"alt": _alt(whole), "caption": TEXT("figure.caption"), "pad": 7}
    if results.limit is not None:
        about |= {"caption": f"{about['caption']} {TEXT('figure.limit')}", "pad": 14}
    names = [title(metric) for metric in results.metrics]
    panels = {name: partial(draw, column) for column, name in _panels().items()}
    return style.row_figure(panels, names, extra=0.8, between=0.06, **about)


def _panels() -> dict[str, str]:
    return TEXT.group("figure.panels")


def _alt(whole: pd.DataFrame) -> str:
    texts = [TEXT("figure.alt.start")]
    for metric, line in whole.iterrows():
        cells = []
        for column, name in _panels().items():
            ends = {side: percent(line[f"{column}_{side}"]) for side in SIDES}
            cells.append(TEXT("figure.alt.cell", rate=inside(name), **ends))
        texts.append(TEXT("figure.alt.line", metric=title(str(metric)), cells=", ".join(cells)))
    return " ".join(texts)


@block(PROTECTION, RATES)
def protection_by_variant_figure(results: Results) -> Figure | None:
    """Draw the confirmed rate before protection and of every variant, one panel per metric."""
    metrics = [metric for metric in changed_metrics(results) if metric in results.metrics][:MAX_METRICS]
    by_metric = {metric: shown_lines(lines_of(results, metric), "confirmed_rate") for metric in metrics}
    first = by_metric[metrics[0]]
    before = {metric: before_line(results, metric)["confirmed_rate"] for metric in metrics}
    names = [TEXT("variants.before"), *(label(results, line) for _, line in first.iterrows())]

    shares = {
        metric: lines.set_index("variant")["confirmed_rate"].reindex(first["variant"])
        for metric, lines in by_metric.items()
    }

    def draw(metric: str, axes: Axes) -> None:
        for place in [at for at, marked in enumerate(is_reference(first), start=1) if marked]:
            style.stripe(axes.axhspan, place, 0.45)
        axes.hlines(range(len(names)), 0, 1, color=style.RULE, linewidth=0.6, zorder=1)
        colour, _ = style.LINES.get(metric, (style.CONFIRMED, "o"))
        axes.plot(before[metric], 0, "o", **style.hollow(5))
        axes.plot(shares[metric], range(1, len(names)), "o", **style.full(4.4, clip_on=False) | {"color": colour})
        style.percent_axis(axes, top_of([before[metric], *shares[metric]], None), 3)

    texts = [
        TEXT("figure.variants_alt.line", metric=title(metric), variant=name, share=percent(share))
        for metric in metrics
        for name, share in zip(names, [before[metric], *shares[metric]], strict=True)
    ]
    panels = {title(metric): partial(draw, metric) for metric in metrics}
    alt, caption = " ".join([TEXT("figure.variants_alt.start"), *texts]), TEXT("figure.variants")
    return style.row_figure(panels, names, extra=0.45, key=False, between=0.05, alt=alt, caption=caption)
