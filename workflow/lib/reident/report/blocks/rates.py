"""Rates by metric (METHODS §6)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.intervals import FEW_CLUSTERS, are_independent
from reident.linkage.settings import WHOLE
from reident.report import style
from reident.report.blocks.common import limit_line
from reident.report.blocks.front import interval_column, unconfirmable
from reident.report.columns import columns
from reident.report.layout import ReportColumn, block, box, paragraphs, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import Figure, Look, Sheet
from reident.report.terms import metric_cells, title
from reident.report.wording import UNDEFINED, declared, defined, escape, fixed_cells, listed, percent, span, times

TEXT = Sentences("rates")
HEADING = Sentences("headings")


@block("rates.csv", "clusters.csv")
def rates_by_metric(results: Results) -> str:
    """Return the table of suspected, confirmed and conditional rates of the whole study, with its notes."""
    whole = results.whole
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
        *columns(whole, HEADING, "expected_correct=expected_correct_rate", "1.1fr"),
        *columns(whole, HEADING, "best_rank_correct=best_rank_correct_rate single=n_single", "1.1fr"),
        *columns(whole, HEADING, "single_confirmed=n_single_confirmed single_rate", "1fr"),
        name="claims-by-metric",
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
        TEXT("by_metric.reading.expected_correct"),
        TEXT("by_metric.reading.single"),
    )


@block("rates.csv")
def pairs_by_metric(results: Results) -> str:
    """Return the table of pairs, pair precision and reach."""
    whole = results.whole
    ratios = whole["n_pairs"] / whole["n_suspected"].where(whole["n_suspected"] > 0)
    return table(
        TEXT("pairs"),
        ReportColumn(HEADING("metric"), metric_cells(results.metrics), "l", "1fr"),
        *columns(whole, HEADING, "suspected_pairs=n_pairs"),
        ReportColumn(HEADING("pairs_per_record"), fixed_cells(ratios, 1)),
        *columns(whole, HEADING, "confirmed_pairs=n_confirmed_pairs pair_precision reach"),
        name="pairs-by-metric",
    )


def _cluster(results: Results) -> str:
    return listed([f"*{escape(name)}*" for name in results.study["rates"]["cluster"]])


@block("clusters.csv")
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
            ReportColumn(HEADING("metric"), metric_cells(whole["metric"]), "l", "1.35fr"),
            *columns(whole, HEADING, "suspected_clusters=n_suspected suspected_rate"),
            *columns(whole, HEADING, "confirmed_clusters=n_confirmed confirmed_rate conditional_rate"),
            interval_column(results, whole),
        ),
        box("note", *notes) if notes else None,
    )


KEY_PAD = 18
"""Points between an axis and its title, which leave room for a legend."""


@block("rates.csv")
def rates_by_metric_figure(results: Results) -> Figure | None:
    """Draw the outcome of the released records, and the conditional rate with interval, baseline and limit."""
    whole = results.whole
    if not (whole["n_suspected"] + whole["n_ambiguous"]).any():
        return None

    def draw(sheet: Sheet) -> None:
        _outcome(sheet.panels[0], whole)
        _conditional(sheet.panels[1], whole, results.limit)
        sheet.rows([title(metric) for metric in results.metrics])
        sheet.keys()

    caption = TEXT("by_metric.figure.caption", level=declared(results.level))
    if results.limit is not None:
        caption += f" {TEXT('by_metric.figure.limit')}"
    return style.figure(
        draw,
        panels=2,
        height=0.85 + 0.34 * len(whole),
        alt=_rates_alt(results, whole.reset_index()),
        caption=caption,
        across=1,
        between=0.06,
        name="rates-by-metric-figure",
        sharey=True,
        width_ratios=[1.15, 1],
    )


HATCH = "#b5ad9a"
BAR = 0.56
"""The height of a bar, in rows."""

SEGMENTS: dict[str, Look] = {
    "confirmed": {"color": style.CONFIRMED, "edgecolor": "white"},
    "suspected_only": {"color": style.SUSPECTED, "edgecolor": "white"},
    "ambiguous": {"color": style.AMBIGUOUS, "edgecolor": HATCH, "hatch": "////"},
}
"""The segments of a bar, from the left."""


def _segments(lines: pd.DataFrame) -> Iterator[tuple[str, pd.Series, pd.Series]]:
    """Yield each segment of the bars: its name, where it starts, and its length, as shares of the released records."""
    records = {
        "confirmed": lines["n_confirmed"],
        "suspected_only": lines["n_suspected"] - lines["n_confirmed"],
        "ambiguous": lines["n_ambiguous"],
    }
    start = 0 * lines["n_puf"]
    for name in SEGMENTS:
        share = records[name] / lines["n_puf"]
        yield name, start, share
        start = start + share


def _outcome(axes: Axes, whole: pd.DataFrame) -> None:
    for name, start, share in _segments(whole):
        look: Look = {"height": BAR, "linewidth": 0.4, **SEGMENTS[name]}
        label = TEXT(f"by_metric.figure.{name}")
        axes.barh(range(len(whole)), share, left=start, label=label, **look)
    style.percent_axis(axes, 1.0)
    axes.set_title(TEXT("by_metric.figure.outcome"), pad=KEY_PAD)


def _conditional(axes: Axes, whole: pd.DataFrame, limit: float | None) -> None:
    at = [place for place, n in enumerate(whole["n_suspected"]) if n]
    lines = whole.iloc[at]
    label = {name: TEXT(f"by_metric.figure.{name}") for name in ("interval", "rate", "baseline")}
    band: Look = {"color": style.SUSPECTED, "linewidth": 5, "zorder": 2, "label": label["interval"]}
    axes.hlines(at, lines["conditional_low"], lines["conditional_high"], **band)
    axes.plot(lines["conditional_rate"], at, "o", label=label["rate"], **style.full(5, 4))
    hollow = style.hollow(3.8, 3, clip_on=False)
    axes.plot(lines["baseline_rate"], at, "D", label=label["baseline"], **hollow)
    nothing = f"{UNDEFINED}  {TEXT('by_metric.figure.nothing_suspected')}"
    beside: Look = {"transform": axes.get_yaxis_transform(), "va": "center", "in_layout": False}
    right: Look = {"ha": "right", "fontweight": "bold", **beside}
    for place, line in enumerate(whole.itertuples()):
        if line.n_suspected:
            axes.text(1, place, percent(line.conditional_rate), **right)
        else:
            axes.text(0.02, place, nothing, color=style.MUTED, **beside)
    style.percent_axis(axes, 1.22)  # the rates are written beyond 100 %
    limit_line(axes, limit, at_top=False)
    axes.set_title(TEXT("by_metric.figure.conditional"), pad=KEY_PAD)


def _rates_alt(results: Results, lines: pd.DataFrame) -> str:
    texts = [TEXT("by_metric.figure.alt.start")]
    for _, line in lines.iterrows():
        texts.append(
            TEXT(
                "by_metric.figure.alt.shares",
                metric=title(line["metric"]),
                suspected=percent(line["suspected_rate"]),
                confirmed=percent(line["confirmed_rate"]),
                ambiguous=percent(line["n_ambiguous"] / line["n_puf"]),
            )
        )
        if defined(line["conditional_rate"]) and not defined(line["conditional_low"]):
            texts.append(TEXT("by_metric.figure.alt.rate_alone", rate=percent(line["conditional_rate"])))
        elif defined(line["conditional_rate"]):
            rate, baseline = percent(line["conditional_rate"]), percent(line["baseline_rate"])
            interval = span(line["conditional_low"], line["conditional_high"])
            texts.append(TEXT("by_metric.figure.alt.rate", rate=rate, interval=interval, baseline=baseline))
        else:
            texts.append(TEXT("by_metric.figure.alt.undefined"))
    if results.limit is not None:
        texts.append(TEXT("by_metric.figure.alt.limit", limit=declared(results.limit)))
    return " ".join(texts)
