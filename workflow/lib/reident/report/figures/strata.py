"""Figures by stratum: the size of the strata, and their conditional rates (METHODS §2, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.report.figures.rates import limit_line, top_of
from reident.report.figures.style import (
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
from reident.report.layout import part
from reident.report.results import WHOLE, Results, title
from reident.report.tables.attack import shown_strata, strata_note
from reident.report.wording import UNDEFINED, count, declared, defined, percent, shorten

MARKS: dict[str, tuple[str, Look]] = {
    "n_links": (
        "true links",
        {"marker": "D", "color": "white", "markeredgecolor": CONFIRMED, "markersize": 3.6},
    ),
    "n_puf": ("released records (PUF)", {"marker": "o", "color": CONFIRMED, "markersize": 4.6}),
    "n_eif": (
        "intruder's records (EIF)",
        {"marker": "s", "color": SUSPECTED, "markeredgecolor": "#5d8bb0", "markersize": 4.2},
    ),
}
"""How a column of the manifest is called and drawn."""


@part("strata/manifest.csv")
def strata(results: Results) -> Figure | None:
    """Records of both files and true links in every stratum."""
    if not results.strata_names:
        return None
    manifest = shown_strata(results)
    ends = manifest[list(MARKS)]
    n, top = range(len(manifest)), max(1, ends.to_numpy().max())

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        axes.hlines(n, ends.min(axis=1), ends.max(axis=1), color=RULE, linewidth=2, zorder=1)
        for column, (name, look) in MARKS.items():
            axes.plot(manifest[column], n, linestyle="none", label=name, **look)
        count_axis(axes, "x")
        axes.set_xlim(-0.015 * top, 1.03 * top)
        _name_rows(sheet, results, manifest)
        sheet.key()

    caption = f"Records and true links by stratum.{strata_note(results)}"
    return figure(draw, height=height_of(len(manifest)), alt=_strata_alt(manifest), caption=caption)


def _name_rows(sheet: Sheet, results: Results, shown: pd.DataFrame) -> None:
    """The strata's names at the rows, under those of the strata variables."""
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
            f"{row.label}: {count(row.n_puf)} released, {count(row.n_eif)} of the intruder, "
            f"{count(row.n_links)} true links."
            for row in manifest.itertuples()
        ]
        return " ".join(["Dots by stratum.", *lines])
    ranges = [
        f"{name} from {count(manifest[column].min())} to {count(manifest[column].max())}"
        for column, (name, _) in MARKS.items()
    ]
    return f"Dots for {len(manifest)} strata: {', '.join(ranges)}. The table has every number."


@part("rates.csv", "strata/manifest.csv")
def rates_by_stratum(results: Results) -> Figure | None:
    """The conditional rate in every stratum, one panel per metric."""
    if not results.strata_names:
        return None
    shown = shown_strata(results)
    rates = results.table("rates.csv").set_index(["metric", "stratum"])
    own = {metric: rates.loc[metric].reindex(shown["stratum"]) for metric in results.metrics}
    if all(lines["conditional_rate"].isna().all() for lines in own.values()):
        return None
    top = _top(own, results.limit)

    def draw(sheet: Sheet) -> None:
        for axes, (metric, lines) in zip(sheet.panels, own.items(), strict=True):
            _panel(axes, lines, rates.loc[(metric, WHOLE), "conditional_rate"], results.limit, top)
            axes.set_title(title(metric), pad=14)
        _name_rows(sheet, results, shown)

    return figure(
        draw,
        panels=len(own),
        height=height_of(len(shown)) + 0.1,
        alt=_rates_alt(results, own),
        caption=_caption(results),
        between=0.05,
        sharey=True,
    )


def _caption(results: Results) -> str:
    text = (
        f"Conditional rate by stratum (dot) with its {declared(results.level)} interval (band, cut at the edge); the "
        "thin line is the rate of the whole study."
    )
    if results.limit is not None:
        text += " Strata above the limit (broken line) are diamonds."
    return f"{text} {UNDEFINED} nothing suspected.{strata_note(results)}"


def _top(own: dict[str, pd.DataFrame], limit: float | None) -> float:
    """An axis that shows every rate and the better part of the intervals."""
    rates = pd.concat([lines["conditional_rate"] for lines in own.values()]).dropna()
    highs = pd.concat([lines["conditional_high"] for lines in own.values()]).dropna()
    return min(1.0, top_of([1.05 * float(rates.max()), 1.05 * float(highs.median())], limit))


def _panel(axes: Axes, lines: pd.DataFrame, whole: float, limit: float | None, top: float) -> None:
    for at, line in enumerate(lines.itertuples()):
        if not defined(line.conditional_rate):
            axes.text(0.02 * top, at, UNDEFINED, va="center", color=MUTED, fontsize=7)
            continue
        above = limit is not None and line.conditional_rate > limit
        band: Look = {"color": SUSPECTED, "linewidth": 3.2, "alpha": 0.75, "zorder": 2}
        axes.plot([line.conditional_low, line.conditional_high], [at, at], **band)
        look: Look = (
            {"marker": "D", "color": LIMIT, "markersize": 3.6}
            if above
            else {"marker": "o", "color": CONFIRMED}
        )
        axes.plot(line.conditional_rate, at, **{"markersize": 4, "zorder": 3, "clip_on": False, **look})
    percent_axis(axes, top, ticks=3)
    if defined(whole):
        axes.axvline(whole, color=CONFIRMED, linewidth=0.8, zorder=1)
    limit_line(axes, limit)


def _rates_alt(results: Results, own: dict[str, pd.DataFrame]) -> str:
    said = [f"Dots for {len(next(iter(own.values())))} strata, one panel per metric."]
    for metric, lines in own.items():
        known = lines["conditional_rate"].dropna()
        if known.empty:
            said.append(f"{title(metric)}: nothing suspected in any stratum.")
            continue
        text = f"{title(metric)}: conditional rates from {percent(known.min())} to {percent(known.max())}"
        if results.limit is not None:
            text += f", {(known > results.limit).sum()} strata above the limit of {declared(results.limit)}"
        said.append(f"{text}.")
    return " ".join([*said, "The table has every number."])
