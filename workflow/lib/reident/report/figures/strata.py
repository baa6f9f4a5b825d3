"""Draw the size of the strata and their conditional rates (METHODS §2, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from reident.report.figures.rates import limit_line, top_of
from reident.report.layers import Places, own, path
from reident.report.layout import part
from reident.report.live import States, states
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    LIMIT,
    MUTED,
    RULE,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    count_axis,
    figure,
    height_of,
    letters,
    percent_axis,
    rows,
)
from reident.report.tables.attack import shown_strata, with_strata_note, worst_strata
from reident.report.tables.rates import strata_states
from reident.report.titles import title
from reident.report.wording import UNDEFINED, declared, defined, percent, shorten

ATTACK = Sentences("attack")
RATES = Sentences("rates")

MARKS: dict[str, Look] = {
    "n_links": {"marker": "D", "color": "white", "markeredgecolor": CONFIRMED, "markersize": 3.6},
    "n_puf": {"marker": "o", "color": CONFIRMED, "markersize": 4.6},
    "n_eif": {"marker": "s", "color": SUSPECTED, "markeredgecolor": "#5d8bb0", "markersize": 4.2},
}
"""Marker of a column of the manifest."""


@part("strata/manifest.csv")
def strata(results: Results) -> Figure | None:
    """Draw the records of both files and the true links by stratum."""
    if not results.strata_names:
        return None
    manifest = shown_strata(results)
    ends = manifest[list(MARKS)]
    n, top = range(len(manifest)), max(1, ends.to_numpy().max())

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        axes.hlines(n, ends.min(axis=1), ends.max(axis=1), color=RULE, linewidth=2, zorder=1)
        for column, look in MARKS.items():
            label = ATTACK(f"strata.figure.{column}")
            axes.plot(manifest[column], n, linestyle="none", label=label, **look)
        count_axis(axes, "x")
        axes.set_xlim(-0.015 * top, 1.03 * top)
        _name_rows(sheet, results, manifest)
        sheet.key()

    caption = with_strata_note(results, ATTACK("strata.figure.caption"))
    return figure(draw, height=height_of(len(manifest)), alt=_strata_alt(manifest), caption=caption)


def _name_rows(sheet: Sheet, results: Results, shown: pd.DataFrame) -> None:
    """Write the labels of the strata beside the rows, below the names of the strata variables."""
    for axes in sheet.left():
        rows(axes, list(shown["label"]), letters(sheet))
        axes.annotate(
            shorten(results.strata_heading, letters(sheet)),
            (0, 1),
            xycoords="axes fraction",
            xytext=(-4, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            color=MUTED,
            fontsize=7,
        )


def _strata_alt(manifest: pd.DataFrame) -> str:
    if len(manifest) <= 12:
        lines = [
            ATTACK(
                "strata.figure.line",
                label=str(row.label),
                puf=round(row.n_puf),
                eif=round(row.n_eif),
                links=round(row.n_links),
            )
            for row in manifest.itertuples()
        ]
        return ATTACK("strata.figure.alt", lines=" ".join(lines))
    ranges = [
        ATTACK(
            "strata.figure.range",
            name=ATTACK(f"strata.figure.{column}"),
            low=round(manifest[column].min()),
            high=round(manifest[column].max()),
        )
        for column in MARKS
    ]
    return ATTACK("strata.figure.ranges", strata=len(manifest), ranges=", ".join(ranges))


@part("rates.csv", "strata/manifest.csv")
def rates_by_stratum(results: Results) -> Figure | None:
    """Draw the conditional rate by stratum, one panel per metric."""
    if not results.strata_names:
        return None
    shown = worst_strata(results)
    at = strata_states(results)
    whole = states(results, results.whole.reset_index())
    by_metric = {metric: at_.own for metric, at_ in at.items()}
    if all(lines["conditional_rate"].isna().all() for lines in by_metric.values()):
        return None
    limits = [results.limit_of(metric) for metric in results.metrics]
    top = _top(list(at.values()), max((limit for limit in limits if limit is not None), default=None))

    def draw(sheet: Sheet) -> None:
        lines_whole = whole.own.set_index("metric")["conditional_rate"]
        for axes, (metric, lines) in zip(sheet.panels, by_metric.items(), strict=True):
            _panel(axes, lines, lines_whole[metric], results.limit_of(metric), top)
            axes.set_title(title(metric), pad=14)
        _name_rows(sheet, results, shown)

    def layer(sheet: Sheet, limit: int) -> str:
        """Return the marks of all panels at a rank limit."""
        at_limit = {metric: at_.at[limit - 1] if at_.at else at_.own for metric, at_ in at.items()}
        of_whole = whole.at[limit - 1].set_index("metric")["conditional_rate"]
        return "".join(
            _marks(Places(axes), lines, of_whole[metric], results.limit_of(metric))
            for axes, (metric, lines) in zip(sheet.panels, at_limit.items(), strict=True)
        )

    return figure(
        draw,
        panels=len(by_metric),
        height=height_of(len(shown)) + 0.1,
        alt=_rates_alt(results, by_metric),
        caption=_caption(results),
        between=0.05,
        name="rates-by-stratum-figure",
        layers=lambda sheet: [layer(sheet, limit + 1) for limit in range(len(whole.at))],
        alts=[
            _rates_alt(results, {metric: at_.at[limit] if at_.at else at_.own for metric, at_ in at.items()})
            for limit in range(len(whole.at))
        ],
        sharey=True,
    )


def _caption(results: Results) -> str:
    text = RATES("by_stratum.figure.caption", level=declared(results.level), undefined=UNDEFINED)
    if any(results.limit_of(metric) is not None for metric in results.metrics):
        text += f" {RATES('by_stratum.figure.limit')}"
    return with_strata_note(results, text, "worst")


def _top(by_metric: list[States], limit: float | None) -> float:
    """Return the end of an axis that shows every interval, and the rates at every rank limit."""
    ends = [float(at.own["conditional_high"].max()) for at in by_metric]
    ends += [float(lines["conditional_rate"].max()) for at in by_metric for lines in at.at]
    return top_of(ends, limit)


def _above(rate: float, limit: float | None) -> bool:
    return limit is not None and rate > limit


def _panel(axes: Axes, lines: pd.DataFrame, whole: float, limit: float | None, top: float) -> None:
    marks: list[Artist] = []
    for at, line in enumerate(lines.itertuples()):
        if not defined(line.conditional_rate):
            marks.append(axes.text(0.02 * top, at, UNDEFINED, va="center", color=MUTED, fontsize=7))
            continue
        band: Look = {"color": SUSPECTED, "linewidth": 3.2, "alpha": 0.75, "zorder": 2}
        marks += axes.plot([line.conditional_low, line.conditional_high], [at, at], **band)
        look: Look = (
            {"marker": "D", "color": LIMIT, "markersize": 3.6}
            if _above(line.conditional_rate, limit)
            else {"marker": "o", "color": CONFIRMED}
        )
        marks += axes.plot(
            line.conditional_rate, at, **{"markersize": 4, "zorder": 3, "clip_on": False, **look}
        )
    percent_axis(axes, top, ticks=3)
    if defined(whole):
        marks.append(axes.axvline(whole, color=CONFIRMED, linewidth=0.8, zorder=1))
    own(marks, f"panel-{axes.get_subplotspec().num1}")  # type: ignore[union-attr] # every panel has its place
    limit_line(axes, limit)


def _marks(places: Places, lines: pd.DataFrame, whole: float, limit: float | None) -> str:
    """Return the marks of one panel for other lines."""
    rows_ = list(enumerate(lines[["conditional_rate", "conditional_low", "conditional_high"]].itertuples()))
    known = [(row, line) for row, line in rows_ if defined(line.conditional_rate)]
    bands = [(row, line) for row, line in known if defined(line.conditional_low)]
    dots = (
        places.dot(line.conditional_rate, row)
        for row, line in known
        if not _above(line.conditional_rate, limit)
    )
    above = (
        places.diamond(line.conditional_rate, row, 4.6)
        for row, line in known
        if _above(line.conditional_rate, limit)
    )
    nothing = (places.nothing(row) for row, line in rows_ if not defined(line.conditional_rate))
    return "".join(
        [
            path([places.upright(whole)] if defined(whole) else [], stroke=CONFIRMED, stroke_width=0.8),
            path(
                (places.line(line.conditional_low, line.conditional_high, row) for row, line in bands),
                stroke=SUSPECTED,
                stroke_width=3.2,
                stroke_opacity=0.75,
            ),
            path(nothing, stroke=MUTED),
            path(dots, stroke=CONFIRMED, stroke_width=5, stroke_linecap="round"),
            path(above, fill=LIMIT),
        ]
    )


def _rates_alt(results: Results, by_metric: dict[str, pd.DataFrame]) -> str:
    texts = [RATES("by_stratum.figure.alt.start", strata=len(next(iter(by_metric.values()))))]
    for metric, lines in by_metric.items():
        known, name = lines["conditional_rate"].dropna(), title(metric)
        if known.empty:
            texts.append(RATES("by_stratum.figure.alt.nothing_suspected", metric=name))
            continue
        low, high = percent(known.min()), percent(known.max())
        texts.append(RATES("by_stratum.figure.alt.range", metric=name, low=low, high=high))
        if (limit := results.limit_of(metric)) is not None:
            n = int((known > limit).sum())
            texts.append(RATES("by_stratum.figure.alt.above", n=n, metric=name, limit=declared(limit)))
    return " ".join([*texts, RATES("by_stratum.figure.alt.end")])
