"""Show rates by metric and by stratum (METHODS §6)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.results import Results, title
from reident.report.sentences import Sentences
from reident.report.tables.attack import shown_strata, with_strata_note
from reident.report.tables.front import interval_column, unconfirmable
from reident.report.wording import (
    NO_BREAK,
    UNDEFINED,
    count,
    declared,
    defined,
    escape,
    listed,
    percent,
    rates,
    times,
)

TEXT = Sentences("rates")
HEADING = Sentences("headings")
INTERVALS = {"clopper-pearson": "Clopper–Pearson", "wilson": "Wilson"}


@part("rates.csv")
def rates_by_metric(results: Results) -> str:
    """Return the table of suspected, confirmed and conditional rates of the whole study, with its notes."""
    whole = results.whole
    ratios = zip(whole["conditional_rate"], whole["baseline_rate"], strict=True)
    return paragraphs(
        table(
            TEXT("by_metric.caption", n=round(whole["n_puf"].iloc[0])),
            Column(HEADING("metric"), [f"**{title(metric)}**" for metric in results.metrics], "l", "1.35fr"),
            Column(HEADING("suspected_records"), [count(n) for n in whole["n_suspected"]], "r", "1.1fr"),
            Column(HEADING("suspected_rate"), rates(whole["suspected_rate"]), "r", "1.1fr"),
            Column(HEADING("confirmed_records"), [count(n) for n in whole["n_confirmed"]], "r", "1.1fr"),
            Column(HEADING("confirmed_rate"), rates(whole["confirmed_rate"]), "r", "1.1fr"),
            Column(HEADING("conditional_rate"), rates(whole["conditional_rate"]), "r", "1.15fr"),
            interval_column(results, whole, "1.45fr"),
            Column(HEADING("baseline"), rates(whole["baseline_rate"]), "r", "1fr"),
            Column(HEADING("rate_to_baseline"), [times(*pair) for pair in ratios], "r", "1fr"),
        ),
        _bounds(results, whole),
        _reading(results),
    )


def _bounds(results: Results, whole: pd.DataFrame) -> str | None:
    """Return what is known of metrics without a suspected or a confirmed record."""
    level = declared(results.level)
    texts = [] if results.confirmable else [unconfirmable(results)]
    for metric, line in whole.iterrows():
        name, suspected = title(str(metric)), round(line["n_suspected"])
        if suspected == 0:
            texts.append(TEXT("by_metric.nothing_suspected", metric=name, undefined=UNDEFINED))
        elif line["n_confirmed"] == 0 and results.confirmable:
            high = percent(line["conditional_high"])
            texts.append(
                TEXT("by_metric.nothing_confirmed", metric=name, suspected=suspected, level=level, high=high)
            )
    return block("note", *texts) if texts else None


def _reading(results: Results) -> str:
    """Return the meaning of each rate."""
    method = INTERVALS[results.study["rates"]["interval"]]
    return block(
        "reading",
        TEXT("by_metric.reading.suspected_rate"),
        TEXT("by_metric.reading.confirmed_rate"),
        TEXT("by_metric.reading.conditional_rate", interval=f"{declared(results.level)} {method}"),
        TEXT("by_metric.reading.baseline"),
    )


@part("rates.csv")
def pairs_by_metric(results: Results) -> str:
    """Return the table of pairs, pair precision and reach."""
    whole = results.whole
    ratios = whole["n_pairs"] / whole["n_suspected"].where(whole["n_suspected"] > 0)
    return table(
        TEXT("pairs"),
        Column(HEADING("metric"), [f"**{title(metric)}**" for metric in results.metrics], "l", "1fr"),
        Column(HEADING("suspected_pairs"), [count(n) for n in whole["n_pairs"]]),
        Column(HEADING("pairs_per_record"), [f"{n:.1f}" if defined(n) else UNDEFINED for n in ratios]),
        Column(HEADING("confirmed_pairs"), [count(n) for n in whole["n_confirmed_pairs"]]),
        Column(HEADING("pair_precision"), rates(whole["pair_precision"])),
        Column(HEADING("reach"), rates(whole["reach"])),
    )


@part("rates.csv", "strata/manifest.csv")
def rates_by_stratum(results: Results) -> str | None:
    """Return the table of the conditional rate and its counts by stratum and metric."""
    if not results.strata_names:
        return None
    strata = shown_strata(results)
    lines = results.table("rates.csv").set_index(["metric", "stratum"])
    columns = []
    for metric in results.metrics:
        by_stratum = lines.loc[metric].reindex(strata["stratum"])
        columns.append(Column(title(metric), rates(by_stratum["conditional_rate"])))
        columns.append(Column(HEADING("counts"), [_counts(row) for row in by_stratum.itertuples()], "l"))
    return table(
        with_strata_note(results, TEXT("by_stratum.caption")),
        Column(escape(results.strata_heading), [escape(label) for label in strata["label"]], "l", "1fr"),
        *columns,
        kind="compact" if len(strata) > 20 or len(results.metrics) > 4 else "",
    )


def _counts(row: Any) -> str:
    """Return the confirmed and the suspected records of a stratum; empty where none is suspected."""
    if not (defined(row.n_suspected) and row.n_suspected):
        return ""
    text = TEXT("by_stratum.counts", confirmed=round(row.n_confirmed), suspected=round(row.n_suspected))
    return f"[{text.replace(' ', NO_BREAK)}]{{.aside}}"


@part("rates.csv", "strata/manifest.csv")
def strata_sentence(results: Results) -> str | None:
    """Say in how many strata the conditional rate is above the limit."""
    if not results.strata_names:
        return None
    lines = results.table("rates.csv")
    lines = lines[lines["stratum"].isin(results.strata["stratum"]) & (lines["n_suspected"] > 0)]
    if lines.empty:
        return TEXT("by_stratum.nothing_suspected")
    texts = [TEXT("by_stratum.uneven")]
    if results.limit is not None and results.confirmable:
        texts.append(_above(results, lines, results.limit))
    return " ".join([*texts, TEXT("by_stratum.uncertain")])


def _above(results: Results, lines: pd.DataFrame, limit: float) -> str:
    """Return the sentence on the strata whose conditional rate is above the limit."""
    n = lines["stratum"].nunique()
    above = lines[lines["conditional_rate"] > limit].groupby("metric")["stratum"].nunique()
    if above.empty:
        return TEXT("by_stratum.not_above", n=n, limit=declared(limit))
    counts = [
        TEXT("by_stratum.above_in", n=int(above[metric]), metric=title(metric))
        for metric in results.metrics
        if metric in above
    ]
    return TEXT("by_stratum.above", n=n, limit=declared(limit), counts=listed(counts))
