"""Show rates by metric and by stratum (METHODS §6)."""

from __future__ import annotations

import pandas as pd

from reident.pipeline.tables import WHOLE
from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.attack import shown_strata, with_strata_note
from reident.report.tables.front import interval_column, unconfirmable
from reident.report.titles import title
from reident.report.wording import (
    NO_BREAK,
    UNDEFINED,
    count,
    declared,
    defined,
    escape,
    fixed,
    listed,
    percent,
    rates,
    times,
)

TEXT = Sentences("rates")
HEADING = Sentences("headings")


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
        _claims(results, whole),
        _reading(results),
    )


def _claims(results: Results, whole: pd.DataFrame) -> str:
    """Return the table of claims that one guess would get right."""
    return table(
        TEXT("by_metric.claims"),
        Column(HEADING("metric"), [f"**{title(metric)}**" for metric in results.metrics], "l", "1.35fr"),
        Column(HEADING("suspected_records"), [count(n) for n in whole["n_suspected"]], "r", "1.1fr"),
        Column(HEADING("false_outside"), [count(n) for n in whole["n_false_outside"]], "r", "1fr"),
        Column(HEADING("expected_correct"), rates(whole["expected_correct_rate"]), "r", "1.1fr"),
        Column(HEADING("best_rank_correct"), rates(whole["best_rank_correct_rate"]), "r", "1.1fr"),
        Column(HEADING("single"), [count(n) for n in whole["n_single"]], "r", "1.1fr"),
        Column(HEADING("single_confirmed"), [count(n) for n in whole["n_single_confirmed"]], "r", "1fr"),
        Column(HEADING("single_rate"), rates(whole["single_rate"]), "r", "1fr"),
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
            high = percent(line["conditional_bound"])
            texts.append(
                TEXT("by_metric.nothing_confirmed", metric=name, suspected=suspected, level=level, high=high)
            )
    return block("note", *texts) if texts else None


def _reading(results: Results) -> str:
    """Return the meaning of each rate."""
    method = results.study["rates"]["interval"]
    interval = f"{declared(results.level)} {TEXT(f'by_metric.intervals.{method}')}"
    independent = TEXT("by_metric.reading.independent.records")
    if method == "clustered":
        independent = TEXT("by_metric.reading.independent.clusters", columns=_cluster(results))
    return block(
        "reading",
        TEXT("by_metric.reading.suspected_rate"),
        TEXT("by_metric.reading.confirmed_rate"),
        TEXT("by_metric.reading.conditional_rate", interval=interval, independent=independent),
        TEXT("by_metric.reading.baseline"),
        TEXT("by_metric.reading.outside"),
        TEXT("by_metric.reading.expected_correct"),
        TEXT("by_metric.reading.single"),
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
        Column(HEADING("pairs_per_record"), [fixed(n, 1) for n in ratios]),
        Column(HEADING("confirmed_pairs"), [count(n) for n in whole["n_confirmed_pairs"]]),
        Column(HEADING("pair_precision"), rates(whole["pair_precision"])),
        Column(HEADING("reach"), rates(whole["reach"])),
    )


def _cluster(results: Results) -> str:
    """Return the columns that identify a cluster, in words."""
    return listed([f"*{escape(name)}*" for name in results.study["rates"]["cluster"]])


@part("clusters.csv")
def clusters_by_metric(results: Results) -> str | None:
    """Return the rates of clusters, such as households, of the whole study."""
    lines = results.table("clusters.csv")
    whole = lines[lines["stratum"] == WHOLE]
    if whole.empty:
        return None
    notes = [
        TEXT(
            "clusters.nothing_confirmed",
            metric=title(line.metric),
            suspected=round(line.n_suspected),
            level=declared(results.level),
            high=percent(line.conditional_bound),
        )
        for line in whole.itertuples()
        if defined(line.conditional_bound) and results.confirmable
    ]
    return paragraphs(
        TEXT("clusters.text", columns=_cluster(results)),
        table(
            TEXT("clusters.caption", n=round(whole["n_clusters"].iloc[0])),
            Column(HEADING("metric"), [f"**{title(metric)}**" for metric in whole["metric"]], "l", "1.35fr"),
            Column(HEADING("suspected_clusters"), [count(n) for n in whole["n_suspected"]]),
            Column(HEADING("suspected_rate"), rates(whole["suspected_rate"])),
            Column(HEADING("confirmed_clusters"), [count(n) for n in whole["n_confirmed"]]),
            Column(HEADING("confirmed_rate"), rates(whole["confirmed_rate"])),
            Column(HEADING("conditional_rate"), rates(whole["conditional_rate"])),
            interval_column(results, whole),
        ),
        block("note", *notes) if notes else None,
    )


@part("rates.csv", "strata/manifest.csv")
def rates_by_stratum(results: Results) -> str | None:
    """Return two tables by stratum and metric: the conditional rate, and what one guess would get right."""
    if not results.strata_names:
        return None
    return paragraphs(
        _by_stratum(results, "caption", "conditional_rate", "n_confirmed", "n_suspected"),
        _by_stratum(results, "claims", "expected_correct_rate", "n_single_confirmed", "n_single"),
    )


def _by_stratum(results: Results, caption: str, rate: str, part_: str, whole: str) -> str:
    """Return the table of a rate, and of a count out of another, by stratum and metric."""
    strata = shown_strata(results)
    lines = results.table("rates.csv").set_index(["metric", "stratum"])
    columns = []
    for metric in results.metrics:
        by_stratum = lines.loc[metric].reindex(strata["stratum"])
        counts = zip(by_stratum[part_], by_stratum[whole], strict=True)
        columns.append(Column(title(metric), rates(by_stratum[rate])))
        columns.append(Column(HEADING("counts"), [_counts(*pair) for pair in counts], "l"))
    return table(
        with_strata_note(results, TEXT(f"by_stratum.{caption}")),
        Column(escape(results.strata_heading), [escape(label) for label in strata["label"]], "l", "1fr"),
        *columns,
        kind="compact" if len(strata) > 20 or len(results.metrics) > 4 else "",
    )


def _counts(part_: float, whole: float) -> str:
    """Return a count out of another; empty where the other is 0."""
    if not (defined(whole) and whole):
        return ""
    text = TEXT("by_stratum.counts", part=round(part_), whole=round(whole))
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
    if results.confirmable:
        texts += _above(results, lines)
    return " ".join([*texts, TEXT("by_stratum.uncertain")])


def _above(results: Results, lines: pd.DataFrame) -> list[str]:
    """Return the sentence on the strata whose conditional rate is above the limit of all metrics, if it has one."""
    if (limit := results.limit) is None:
        return []
    n = lines["stratum"].nunique()
    above = lines[lines["conditional_rate"] > limit].groupby("metric")["stratum"].nunique()
    if above.empty:
        return [TEXT("by_stratum.not_above", n=n, limit=declared(limit))]
    counts = [
        TEXT("by_stratum.above_in", n=int(above[metric]), metric=title(metric))
        for metric in results.metrics
        if metric in above
    ]
    return [TEXT("by_stratum.above", n=n, limit=declared(limit), counts=listed(counts))]
