"""Rates by metric (METHODS §6)."""

from __future__ import annotations

import pandas as pd

from reident.linkage.intervals import FEW_CLUSTERS, are_independent
from reident.linkage.settings import WHOLE
from reident.page.columns import columns
from reident.page.common import interval_column
from reident.page.layout import ReportColumn, block, box, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.terms import metric_cells, title
from reident.page.wording import UNDEFINED, declared, defined, escape, fixed_cells, listed, percent, times
from reident.report.blocks.front import unconfirmable
from reident.report.results import Results

TEXT = Sentences("rates")


@block("rates.csv", "clusters.csv")
def rates_by_metric(results: Results) -> str:
    """Return the table of suspected, confirmed and conditional rates of the whole study, with its notes."""
    whole = results.known(results.whole)
    ratios = zip(whole["conditional_rate"], whole["baseline_rate"], strict=True)
    return paragraphs(
        table(
            TEXT("by_metric.caption", n=round(whole["n_puf"].iloc[0])),
            ReportColumn(HEADING("metric"), metric_cells(results.metrics), "l", "1.35fr"),
            *columns(whole, HEADING, "suspected_records=n_suspected suspected_rate", "1.1fr"),
            *columns(whole, HEADING, "confirmed_records=n_confirmed confirmed_rate", "1.1fr"),
            *columns(whole, HEADING, "conditional_rate", "1.15fr"),
            interval_column(results, whole, "1.45fr"),
            *columns(whole, HEADING, "baseline=baseline_rate", "1fr"),
            ReportColumn(HEADING("rate_to_baseline"), [times(*pair) for pair in ratios], "r", "1fr"),
            name="rates-by-metric",
        ),
        _bounds(results, whole),
        _claims(results, whole),
        _reading(results),
    )


def _claims(results: Results, whole: pd.DataFrame) -> str:
    return table(
        TEXT("by_metric.claims"),
        ReportColumn(HEADING("metric"), metric_cells(results.metrics), "l", "1.35fr"),
        *columns(whole, HEADING, "suspected_records=n_suspected", "1.1fr"),
        *columns(whole, HEADING, "false_outside=n_false_outside", "1fr"),
        *columns(whole, HEADING, "best_rank_correct=best_rank_correct_rate single=n_single", "1.1fr"),
        *columns(whole, HEADING, "single_confirmed=n_single_confirmed single_rate", "1fr"),
    )


@block("rates.csv")
def random_candidates(results: Results) -> str:
    """Return how often a candidate is the true person who is drawn from all candidates, which no intruder does."""
    return table(
        TEXT("by_metric.random"),
        ReportColumn(HEADING("metric"), metric_cells(results.metrics), "l", "1fr"),
        *columns(
            results.known(results.whole),
            HEADING,
            "suspected_records=n_suspected expected_correct=expected_correct_rate",
        ),
    )


def _bounds(results: Results, whole: pd.DataFrame) -> str | None:
    """Return notes on metrics without a suspected or a confirmed record, or with few clusters that have one."""
    level, clusters = declared(results.level), _confirmed_clusters(results)
    texts = [] if results.confirmable else [unconfirmable(results)]
    for metric, line in whole.iterrows():
        name, suspected = title(str(metric)), round(line["n_suspected"])
        if suspected == 0:
            texts.append(TEXT("by_metric.nothing_suspected", metric=name, undefined=UNDEFINED))
        elif line["n_confirmed"] == 0 and results.confirmable:
            high = percent(line["conditional_bound"])
            texts.append(TEXT("by_metric.nothing_confirmed", metric=name, suspected=suspected, level=level, high=high))
        elif 0 < (n := clusters.get(metric, 0)) < FEW_CLUSTERS:
            texts.append(TEXT("by_metric.few_clusters", metric=name, n=round(n), few=FEW_CLUSTERS))
    return box("note", *texts) if texts else None


def _confirmed_clusters(results: Results) -> pd.Series:
    """Return the number of clusters with a confirmed record by metric; nothing where records are independent."""
    if are_independent(results.study["rates"]["interval"]):
        return pd.Series(dtype=float)
    lines = results.table("clusters.csv")
    return lines[lines["stratum"] == WHOLE].set_index("metric")["n_confirmed"]


def _reading(results: Results) -> str:
    method = results.study["rates"]["interval"]
    interval = f"{declared(results.level)} {TEXT(f'by_metric.intervals.{method}')}"
    independent = TEXT("by_metric.reading.independent.records")
    if method == "clustered":
        independent = TEXT("by_metric.reading.independent.clusters", columns=_cluster(results))
    return box(
        "reading",
        TEXT("by_metric.reading.suspected_rate"),
        TEXT("by_metric.reading.confirmed_rate"),
        TEXT("by_metric.reading.conditional_rate", interval=interval, independent=independent),
        TEXT("by_metric.reading.baseline"),
        TEXT("by_metric.reading.outside"),
        TEXT("by_metric.reading.best_guess"),
        TEXT("by_metric.reading.single"),
    )


@block("rates.csv")
def pairs_by_metric(results: Results) -> str:
    """Return the table of pairs, pair precision and reach."""
    whole = results.known(results.whole)
    ratios = whole["n_pairs"] / whole["n_suspected"].where(whole["n_suspected"] > 0)
    return table(
        TEXT("pairs"),
        ReportColumn(HEADING("metric"), metric_cells(results.metrics), "l", "1fr"),
        *columns(whole, HEADING, "suspected_pairs=n_pairs"),
        ReportColumn(HEADING("pairs_per_record"), fixed_cells(ratios, 1)),
        *columns(whole, HEADING, "confirmed_pairs=n_confirmed_pairs pair_precision reach"),
    )


def _cluster(results: Results) -> str:
    return listed([f"*{escape(name)}*" for name in results.study["rates"]["cluster"]])


@block("clusters.csv")
def clusters_by_metric(results: Results) -> str | None:
    """Return the rates of clusters, such as households, of the whole study."""
    lines = results.known(results.table("clusters.csv"))
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
            ReportColumn(HEADING("metric"), metric_cells(whole["metric"]), "l", "1.35fr"),
            *columns(whole, HEADING, "suspected_clusters=n_suspected suspected_rate"),
            *columns(whole, HEADING, "confirmed_clusters=n_confirmed confirmed_rate conditional_rate"),
            interval_column(results, whole),
        ),
        box("note", *notes) if notes else None,
    )
