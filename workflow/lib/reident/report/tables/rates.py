"""Show rates by metric and by stratum (METHODS §6)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from reident.pipeline.tables import WHOLE
from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.live import States, states
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.attack import MAX_STRATA, with_strata_note, worst_strata
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
    at = states(results, whole.reset_index())
    ratios = zip(whole["conditional_rate"], whole["baseline_rate"], strict=True)
    interval = interval_column(results, whole, "1.45fr")
    return paragraphs(
        table(
            TEXT("by_metric.caption", n=round(whole["n_puf"].iloc[0])),
            Column(HEADING("metric"), [f"**{title(metric)}**" for metric in results.metrics], "l", "1.35fr"),
            Column(HEADING("suspected_records"), counts(at, "n_suspected"), "r", "1.1fr"),
            Column(HEADING("suspected_rate"), shares(at, "suspected_rate"), "r", "1.1fr"),
            Column(HEADING("confirmed_records"), counts(at, "n_confirmed"), "r", "1.1fr"),
            Column(HEADING("confirmed_rate"), shares(at, "confirmed_rate"), "r", "1.1fr"),
            Column(HEADING("conditional_rate"), shares(at, "conditional_rate"), "r", "1.15fr"),
            interval._replace(cells=at.own_only(interval.cells)),
            Column(HEADING("baseline"), at.own_only(rates(whole["baseline_rate"])), "r", "1fr"),
            Column(HEADING("rate_to_baseline"), at.own_only([times(*pair) for pair in ratios]), "r", "1fr"),
            name="rates-by-metric",
        ),
        _bounds(results, whole),
        _claims(results, at),
        _reading(results),
    )


def counts(at: States, name: str) -> list[str]:
    """Return the cells of a count, at every rank limit."""
    return at.cells(lambda lines: [count(n) for n in lines[name]])


def shares(at: States, name: str) -> list[str]:
    """Return the cells of a rate, at every rank limit."""
    return at.cells(lambda lines: rates(lines[name]))


def _claims(results: Results, at: States) -> str:
    """Return the table of claims that one guess would get right."""
    whole = at.own

    def own(texts: Iterable[str]) -> list[str]:
        return at.own_only(texts)

    return table(
        TEXT("by_metric.claims"),
        Column(HEADING("metric"), [f"**{title(metric)}**" for metric in results.metrics], "l", "1.35fr"),
        Column(HEADING("suspected_records"), counts(at, "n_suspected"), "r", "1.1fr"),
        Column(HEADING("false_outside"), own(count(n) for n in whole["n_false_outside"]), "r", "1fr"),
        Column(HEADING("expected_correct"), shares(at, "expected_correct_rate"), "r", "1.1fr"),
        Column(HEADING("best_rank_correct"), own(rates(whole["best_rank_correct_rate"])), "r", "1.1fr"),
        Column(HEADING("single"), own(count(n) for n in whole["n_single"]), "r", "1.1fr"),
        Column(HEADING("single_confirmed"), own(count(n) for n in whole["n_single_confirmed"]), "r", "1fr"),
        Column(HEADING("single_rate"), own(rates(whole["single_rate"])), "r", "1fr"),
        name="claims-by-metric",
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
    at = states(results, results.whole.reset_index())
    return table(
        TEXT("pairs"),
        Column(HEADING("metric"), [f"**{title(metric)}**" for metric in results.metrics], "l", "1fr"),
        Column(HEADING("suspected_pairs"), counts(at, "n_pairs")),
        Column(HEADING("pairs_per_record"), at.cells(_pairs_per_record)),
        Column(HEADING("confirmed_pairs"), counts(at, "n_confirmed_pairs")),
        Column(HEADING("pair_precision"), shares(at, "pair_precision")),
        Column(HEADING("reach"), at.own_only(rates(at.own["reach"]))),
        name="pairs-by-metric",
    )


def _pairs_per_record(lines: pd.DataFrame) -> list[str]:
    """Return the suspected pairs per suspected record."""
    ratios = lines["n_pairs"] / lines["n_suspected"].where(lines["n_suspected"] > 0)
    return [fixed(n, 1) for n in ratios]


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
            kind="own-limit",
        ),
        block("note", *notes) if notes else None,
    )


@part("rates.csv", "strata/manifest.csv")
def rates_by_stratum(results: Results) -> str | None:
    """Return two tables by stratum and metric: the conditional rate, and what one guess would get right.

    Where not all strata are shown, the distribution of the rates of all strata comes first.
    """
    if not results.strata_names:
        return None
    return paragraphs(
        _distribution(results) if len(results.strata) > MAX_STRATA else None,
        _by_stratum(results, "caption", "conditional_rate", "n_confirmed", "n_suspected"),
        _by_stratum(results, "claims", "expected_correct_rate", "n_single_confirmed", "n_single"),
    )


def _by_stratum(results: Results, caption: str, rate: str, part_: str, whole: str) -> str:
    """Return the table of a rate, and of a count out of another, by stratum and metric."""
    strata = worst_strata(results)
    by_limit = {part_, whole} >= COUNTED
    columns = []
    for metric, at in strata_states(results).items():
        columns.append(Column(title(metric), shares(at, rate)))
        numbers = (
            at.cells(partial(_counts, part_, whole))
            if by_limit
            else at.own_only(_counts(part_, whole, at.own))
        )
        columns.append(Column(HEADING("counts"), [_aside(text) for text in numbers], "l"))
    many = len(strata) > 20 or len(results.metrics) > 4
    return table(
        with_strata_note(results, TEXT(f"by_stratum.{caption}"), "worst"),
        Column(escape(results.strata_heading), [escape(label) for label in strata["label"]], "l", "1fr"),
        *columns,
        kind="compact sortable strata" if many else "sortable strata",
        name="rates-by-stratum" if by_limit else "claims-by-stratum",
    )


SHARES = {"tenth": 0.1, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "nine_tenths": 0.9}
"""The shares of the strata whose rate is at most that in the column."""


def _distribution(results: Results) -> str:
    """Return how the conditional rates of the strata are distributed, by metric, of strata with a suspected record."""
    lines = results.table("rates.csv")
    lines = lines[(lines["stratum"] != WHOLE) & (lines["n_suspected"] > 0)]
    by_metric = {metric: lines[lines["metric"] == metric] for metric in results.metrics}
    ends = {
        name: [_quantile(own["conditional_rate"].to_numpy(), share) for own in by_metric.values()]
        for name, share in SHARES.items()
    }
    confirmed = [(own["n_confirmed"] > 0).sum() for own in by_metric.values()]
    return table(
        TEXT("by_stratum.distribution.caption"),
        Column(HEADING("metric"), [f"**{title(metric)}**" for metric in by_metric], "l", "1.35fr"),
        Column(TEXT("by_stratum.distribution.strata"), [count(len(own)) for own in by_metric.values()]),
        Column(TEXT("by_stratum.distribution.confirmed"), [count(n) for n in confirmed]),
        *(Column(TEXT(f"by_stratum.distribution.{name}"), rates(values)) for name, values in ends.items()),
        kind="own-limit",
    )


def _quantile(values: np.ndarray, share: float) -> float | None:
    """Return the smallest value that this share of the values does not exceed; None without values."""
    return float(np.quantile(values, share, method="inverted_cdf")) if len(values) else None


COUNTED = {"n_suspected", "n_confirmed"}
"""The counts by stratum that the tables have for every rank limit."""


@lru_cache(maxsize=1)  # two tables and a figure of one report
def strata_states(results: Results) -> dict[str, States]:
    """Return the rates of the strata that tables and figures show, at every rank limit, by metric."""
    strata = worst_strata(results)
    lines = results.of_strata("rates.csv", strata["stratum"]).set_index(["metric", "stratum"])
    return {
        metric: states(
            results, lines.loc[metric].reindex(strata["stratum"]).reset_index().assign(metric=metric)
        )
        for metric in results.metrics
    }


def _counts(part_: str, whole: str, lines: pd.DataFrame) -> list[str]:
    """Return counts out of others; empty where the other is 0."""
    return [
        TEXT("by_stratum.counts", part=round(n), whole=round(of)).replace(" ", NO_BREAK)
        if defined(of) and of
        else ""
        for n, of in zip(lines[part_], lines[whole], strict=True)
    ]


def _aside(text: str) -> str:
    return f"[{text}]{{.aside}}" if text else ""


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
