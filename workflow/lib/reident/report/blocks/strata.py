"""Rates by stratum (METHODS §6)."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.settings import WHOLE
from reident.page import style
from reident.page.common import limit_line, top_of
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.strata import MAX_STRATA, with_strata_note, worst_strata
from reident.page.style import Figure, Look, Sheet
from reident.page.terms import metric_cells, title
from reident.page.wording import (
    NO_BREAK,
    UNDEFINED,
    count,
    count_cells,
    declared,
    defined,
    escape,
    fixed,
    label_cells,
    listed,
    percent,
    rates,
    shorten,
)
from reident.report.results import Results

TEXT = Sentences("rates")


@block("rates.csv", "strata/manifest.csv")
def rates_by_stratum(results: Results) -> str | None:
    """Return three tables by stratum and metric: correct suspected records, guesses and single candidates.

    Where not all strata are shown, the distribution of the rates of all strata comes first.
    """
    if not results.strata_names:
        return None
    return paragraphs(
        _distribution(results) if len(results.strata) > MAX_STRATA and results.confirmable else None,
        _by_stratum(results, "rates", "conditional_rate", "n_confirmed", "n_suspected"),
        _by_stratum(results, "claims", "best_rank_correct_rate", "best_rank_correct", "n_suspected"),
        _by_stratum(results, "single", "single_rate", "n_single_confirmed", "n_single"),
    )


def _by_stratum(results: Results, name: str, rate: str, numerator: str, denominator: str) -> str:
    """Return the table of a rate with its numerator and denominator, by stratum and metric."""
    strata = worst_strata(results)
    table_columns = []
    for metric, lines in rates_of_strata(results).items():
        table_columns.append(ReportColumn(title(metric), rates(lines[rate]), "r"))
        counts = [f"[{text}]{{.aside}}" if text else "" for text in _counts(lines[numerator], lines[denominator])]
        table_columns.append(ReportColumn(HEADING("counts"), counts, "l"))
    many = len(strata) > 20 or len(results.metrics) > 4
    return table(
        with_strata_note(results, TEXT(f"by_stratum.{name}"), "worst"),
        ReportColumn(escape(results.strata_heading), label_cells(strata["label"]), "l", "1fr"),
        *table_columns,
        kind="compact sortable strata" if many else "sortable strata",
        name=f"{name}-by-stratum",
    )


SHARES = {"tenth": 0.1, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "nine_tenths": 0.9}
"""The shares of the strata whose rate is at most that in the column."""


def _distribution(results: Results) -> str:
    """Return how the conditional rates of the strata are distributed, by metric, of strata with a suspected record."""
    lines = results.table("rates.csv")
    lines = lines[(lines["stratum"] != WHOLE) & (lines["n_suspected"] > 0)]
    by_metric = {metric: lines[lines["metric"] == metric] for metric in results.metrics}
    ends = {
        name: [_quantile(strata["conditional_rate"].to_numpy(), share) for strata in by_metric.values()]
        for name, share in SHARES.items()
    }
    confirmed = [(strata["n_confirmed"] > 0).sum() for strata in by_metric.values()]
    return table(
        TEXT("by_stratum.distribution.caption"),
        ReportColumn(HEADING("metric"), metric_cells(by_metric), "l", "1.35fr"),
        ReportColumn(TEXT("by_stratum.distribution.strata"), [count(len(strata)) for strata in by_metric.values()]),
        ReportColumn(TEXT("by_stratum.distribution.confirmed"), count_cells(confirmed)),
        *(ReportColumn(TEXT(f"by_stratum.distribution.{name}"), rates(values)) for name, values in ends.items()),
    )


def _quantile(values: np.ndarray, share: float) -> float | None:
    """Return the smallest value that this share of the values does not exceed; None without values."""
    return float(np.quantile(values, share, method="inverted_cdf")) if len(values) else None


@lru_cache(maxsize=1)  # three tables and a figure of one report
def rates_of_strata(results: Results) -> dict[str, pd.DataFrame]:
    """Return the rates of the strata that tables and figures show, by metric."""
    strata = worst_strata(results)
    lines = results.known(results.of_strata("rates.csv", strata["stratum"])).set_index(["metric", "stratum"])
    return {metric: lines.loc[metric].reindex(strata["stratum"]).reset_index() for metric in results.metrics}


def _counts(numerators: pd.Series, denominators: pd.Series) -> list[str]:
    """Return numbers out of others, which may be expected ones with decimals; empty where the other is 0."""
    show = count if (numerators.dropna() % 1 == 0).all() else partial(fixed, places=1)
    return [
        TEXT("by_stratum.counts", numerator=show(n), denominator=round(denominator)).replace(" ", NO_BREAK)
        if defined(denominator) and denominator
        else ""
        for n, denominator in zip(numerators, denominators, strict=True)
    ]


def _name_rows(sheet: Sheet, results: Results, lines: pd.DataFrame) -> None:
    """Write the labels of the strata beside the rows, below the names of the strata variables."""
    sheet.rows(list(lines["label"]))
    for axes in sheet.left():
        look: Look = {"ha": "right", "va": "bottom", "color": style.MUTED, "fontsize": 7}
        look |= {"xycoords": "axes fraction", "xytext": (-4, 2), "textcoords": "offset points"}
        axes.annotate(shorten(results.strata_heading, sheet.letters), (0, 1), **look)


@block("rates.csv", "strata/manifest.csv")
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


@block("rates.csv", "strata/manifest.csv")
def rates_by_stratum_figure(results: Results) -> Figure | None:
    """Draw the conditional rate by stratum, one panel per metric."""
    if not results.strata_names:
        return None
    strata = worst_strata(results)
    by_metric = rates_of_strata(results)
    if all(lines["conditional_rate"].isna().all() for lines in by_metric.values()):
        return None
    limits = [results.limit_of(metric) for metric in results.metrics]
    top = _top(by_metric, max((limit for limit in limits if limit is not None), default=None))

    def draw(sheet: Sheet) -> None:
        for axes, (metric, lines) in zip(sheet.panels, by_metric.items(), strict=True):
            _panel(axes, lines, results.whole.at[metric, "conditional_rate"], results.limit_of(metric), top)
            axes.set_title(title(metric), pad=14)
        _name_rows(sheet, results, strata)

    return style.figure(
        draw,
        panels=len(by_metric),
        height=style.height_of(len(strata)) + 0.1,
        alt=_rates_alt(results, by_metric),
        caption=_caption(results),
        between=0.05,
        sharey=True,
    )


def _caption(results: Results) -> str:
    text = TEXT("by_stratum.figure.caption", level=declared(results.level), undefined=UNDEFINED)
    if any(results.limit_of(metric) is not None for metric in results.metrics):
        text += f" {TEXT('by_stratum.figure.limit')}"
    return with_strata_note(results, text, "worst")


def _top(by_metric: dict[str, pd.DataFrame], limit: float | None) -> float:
    """Return the end of an axis that shows every interval."""
    return top_of([float(lines["conditional_high"].max()) for lines in by_metric.values()], limit)


def _panel(axes: Axes, lines: pd.DataFrame, whole: float, limit: float | None, top: float) -> None:
    for at, line in enumerate(lines.itertuples()):
        if not defined(line.conditional_rate):
            axes.text(0.02 * top, at, UNDEFINED, va="center", color=style.MUTED, fontsize=7)
            continue
        band: Look = {"color": style.SUSPECTED, "linewidth": 3.2, "alpha": 0.75, "zorder": 2}
        axes.plot([line.conditional_low, line.conditional_high], [at, at], **band)
        is_above = limit is not None and line.conditional_rate > limit
        look = style.full(3.6 if is_above else 4, clip_on=False) | ({"color": style.LIMIT} if is_above else {})
        axes.plot(line.conditional_rate, at, marker="D" if is_above else "o", **look)
    style.percent_axis(axes, top, ticks=3)
    if defined(whole):
        axes.axvline(whole, color=style.CONFIRMED, linewidth=0.8, zorder=1)
    limit_line(axes, limit)


def _rates_alt(results: Results, by_metric: dict[str, pd.DataFrame]) -> str:
    texts = [TEXT("by_stratum.figure.alt.start", strata=len(next(iter(by_metric.values()))))]
    for metric, lines in by_metric.items():
        shares, name = lines["conditional_rate"].dropna(), title(metric)
        if shares.empty:
            texts.append(TEXT("by_stratum.figure.alt.nothing_suspected", metric=name))
            continue
        low, high = percent(shares.min()), percent(shares.max())
        texts.append(TEXT("by_stratum.figure.alt.range", metric=name, low=low, high=high))
        if (limit := results.limit_of(metric)) is not None:
            n = int((shares > limit).sum())
            texts.append(TEXT("by_stratum.figure.alt.above", n=n, metric=name, limit=declared(limit)))
    return " ".join([*texts, TEXT("by_stratum.figure.alt.end")])
