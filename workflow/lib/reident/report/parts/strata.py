"""Rates by stratum (METHODS §6)."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from reident.pipeline.tables import WHOLE
from reident.report import style
from reident.report.layers import Places, path, tag_artists
from reident.report.layout import Column, paragraphs, part, table
from reident.report.live import States, states
from reident.report.parts.attack import MAX_STRATA, name_rows, with_strata_note, worst_strata
from reident.report.parts.common import limit_line, top_of
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import Figure, Look, Sheet
from reident.report.terms import metric_cells, title
from reident.report.wording import (
    NO_BREAK,
    UNDEFINED,
    count,
    count_cells,
    declared,
    defined,
    escape,
    label_cells,
    listed,
    percent,
    rates,
)

TEXT = Sentences("rates")
HEADING = Sentences("headings")


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
        columns.append(Column(title(metric), at.column(rate, rates)))
        numbers = (
            at.cells(partial(_counts, part_, whole))
            if by_limit
            else at.own_only(_counts(part_, whole, at.lines))
        )
        columns.append(
            Column(HEADING("counts"), [f"[{text}]{{.aside}}" if text else "" for text in numbers], "l")
        )
    many = len(strata) > 20 or len(results.metrics) > 4
    return table(
        with_strata_note(results, TEXT(f"by_stratum.{caption}"), "worst"),
        Column(escape(results.strata_heading), label_cells(strata["label"]), "l", "1fr"),
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
        name: [_quantile(strata["conditional_rate"].to_numpy(), share) for strata in by_metric.values()]
        for name, share in SHARES.items()
    }
    confirmed = [(strata["n_confirmed"] > 0).sum() for strata in by_metric.values()]
    return table(
        TEXT("by_stratum.distribution.caption"),
        Column(HEADING("metric"), metric_cells(by_metric), "l", "1.35fr"),
        Column(TEXT("by_stratum.distribution.strata"), [count(len(strata)) for strata in by_metric.values()]),
        Column(TEXT("by_stratum.distribution.confirmed"), count_cells(confirmed)),
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


@part("rates.csv", "strata/manifest.csv")
def rates_by_stratum_figure(results: Results) -> Figure | None:
    """Draw the conditional rate by stratum, one panel per metric."""
    if not results.strata_names:
        return None
    strata = worst_strata(results)
    at = strata_states(results)
    whole = states(results, results.whole.reset_index())
    by_metric = {metric: at_.lines for metric, at_ in at.items()}
    if all(lines["conditional_rate"].isna().all() for lines in by_metric.values()):
        return None
    limits = [results.limit_of(metric) for metric in results.metrics]
    top = _top(list(at.values()), max((limit for limit in limits if limit is not None), default=None))

    def draw(sheet: Sheet) -> None:
        lines_whole = whole.lines.set_index("metric")["conditional_rate"]
        for axes, (metric, lines) in zip(sheet.panels, by_metric.items(), strict=True):
            _panel(axes, lines, lines_whole[metric], results.limit_of(metric), top)
            axes.set_title(title(metric), pad=14)
        name_rows(sheet, results, strata)

    def layer(sheet: Sheet, limit: int) -> str:
        at_limit = {metric: at_.at[limit - 1] if at_.at else at_.lines for metric, at_ in at.items()}
        of_whole = whole.at[limit - 1].set_index("metric")["conditional_rate"]
        return "".join(
            _marks(Places(axes), lines, of_whole[metric], results.limit_of(metric))
            for axes, (metric, lines) in zip(sheet.panels, at_limit.items(), strict=True)
        )

    return style.figure(
        draw,
        panels=len(by_metric),
        height=style.height_of(len(strata)) + 0.1,
        alt=_rates_alt(results, by_metric),
        caption=_caption(results),
        between=0.05,
        name="rates-by-stratum-figure",
        layers=lambda sheet: [layer(sheet, limit + 1) for limit in range(len(whole.at))],
        alts=[
            _rates_alt(
                results, {metric: at_.at[limit] if at_.at else at_.lines for metric, at_ in at.items()}
            )
            for limit in range(len(whole.at))
        ],
        sharey=True,
    )


def _caption(results: Results) -> str:
    text = TEXT("by_stratum.figure.caption", level=declared(results.level), undefined=UNDEFINED)
    if any(results.limit_of(metric) is not None for metric in results.metrics):
        text += f" {TEXT('by_stratum.figure.limit')}"
    return with_strata_note(results, text, "worst")


def _top(by_metric: list[States], limit: float | None) -> float:
    """Return the end of an axis that shows every interval, and the rates at every rank limit."""
    ends = [float(at.lines["conditional_high"].max()) for at in by_metric]
    ends += [float(lines["conditional_rate"].max()) for at in by_metric for lines in at.at]
    return top_of(ends, limit)


def _panel(axes: Axes, lines: pd.DataFrame, whole: float, limit: float | None, top: float) -> None:
    marks: list[Artist] = []
    for at, line in enumerate(lines.itertuples()):
        if not defined(line.conditional_rate):
            marks.append(axes.text(0.02 * top, at, UNDEFINED, va="center", color=style.MUTED, fontsize=7))
            continue
        band: Look = {"color": style.SUSPECTED, "linewidth": 3.2, "alpha": 0.75, "zorder": 2}
        marks += axes.plot([line.conditional_low, line.conditional_high], [at, at], **band)
        is_above = limit is not None and line.conditional_rate > limit
        look = style.full(3.6 if is_above else 4, clip_on=False) | (
            {"color": style.LIMIT} if is_above else {}
        )
        marks += axes.plot(line.conditional_rate, at, marker="D" if is_above else "o", **look)
    style.percent_axis(axes, top, ticks=3)
    if defined(whole):
        marks.append(axes.axvline(whole, color=style.CONFIRMED, linewidth=0.8, zorder=1))
    tag_artists(marks, f"panel-{axes.get_subplotspec().num1}")  # type: ignore[union-attr] # every panel has its place
    limit_line(axes, limit)


def _marks(places: Places, lines: pd.DataFrame, whole: float, limit: float | None) -> str:
    rate = lines["conditional_rate"]
    above = rate > (float("inf") if limit is None else limit)
    bands = places.rows(places.line, lines["conditional_low"].where(rate.notna()), lines["conditional_high"])
    dots = places.rows(places.dot, rate.where(~above))
    diamonds = places.rows(lambda value, row: places.diamond(value, row, 4.6), rate.where(above))
    nothing = (places.nothing(row) for row, value in enumerate(rate) if not defined(value))
    upright = [places.upright(whole)] if defined(whole) else []
    return "".join(
        [
            path(upright, stroke=style.CONFIRMED, stroke_width=0.8),
            path(bands, stroke=style.SUSPECTED, stroke_width=3.2, stroke_opacity=0.75),
            path(nothing, stroke=style.MUTED),
            path(dots, stroke=style.CONFIRMED, stroke_width=5, stroke_linecap="round"),
            path(diamonds, fill=style.LIMIT),
        ]
    )


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
