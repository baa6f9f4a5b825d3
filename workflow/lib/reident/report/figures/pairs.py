"""Figures of pairs: how they spread over ranks, and which metrics find the same records (METHODS §5, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from reident.report.figures.style import (
    CONFIRMED,
    INK,
    MUTED,
    RULE,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    count_axis,
    figure,
)
from reident.report.layout import part
from reident.report.results import Results, title
from reident.report.tables.patterns import levels
from reident.report.wording import count, listed, some

MOST_SETS = 24
"""So many intersections are shown, the largest ones."""


@part("rates.csv")
def ranks(results: Results) -> Figure | None:
    """Records and pairs by rank, or by order of the interaction, one panel per metric."""
    found = {metric: own for metric in results.metrics if len(own := levels(results, metric))}
    if not found:
        return None

    def draw(sheet: Sheet) -> None:
        for axes, (metric, own) in zip(sheet.panels, found.items(), strict=False):
            _bars(axes, own, "rank" if metric in results.ranked else "order")
            axes.set_title(title(metric))
        for axes in sheet.panels[len(found) :]:
            axes.set_visible(False)
        sheet.key()

    keep = count(results.study["rank_filter"]["keep"])
    caption = f"Pairs and released records by rank, of the best {keep} pairs that scoring keeps per record."
    if len(results.ranked) < len(results.metrics):
        caption += " Unicity by order, the number of variables on which both records are unique."
    return figure(
        draw, panels=max(2, len(found)), height=1.95, alt=_ranks_alt(found, results), caption=caption
    )


def _bars(axes: Axes, own: pd.DataFrame, name: str) -> None:
    axes.bar(own["level"], own["n_pairs"], width=0.8, color=SUSPECTED, label="pairs")
    axes.bar(own["level"], own["n_pufids"], width=0.44, color=CONFIRMED, label="released records")
    count_axis(axes, "y")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.set_xlim(own["level"].min() - 0.7, own["level"].max() + 0.7)
    axes.set_xlabel(name)


def _ranks_alt(found: dict[str, pd.DataFrame], results: Results) -> str:
    said = []
    for metric, own in found.items():
        name = "rank" if metric in results.ranked else "order"
        cells = [
            f"{name} {row.level:.0f}: {count(row.n_pufids)} in {count(row.n_pairs)}"
            for row in own.head(8).itertuples()
        ]
        more = f", and {len(own) - 8} further {name}s" if len(own) > 8 else ""
        said.append(f"{title(metric)}, released records in pairs by {name}: {', '.join(cells)}{more}.")
    return " ".join(["Bars, one panel per metric.", *said])


def intersections(results: Results) -> pd.DataFrame:
    """Released records by the exact set of metrics that finds them: columns metrics, suspected, confirmed."""
    found = results.table("description/overlap.csv")
    wide = found.pivot_table(index="metrics", columns="set", values="n_pufids", aggfunc="sum", fill_value=0)
    wide = wide.reindex(columns=["suspected", "confirmed"], fill_value=0).reset_index()
    largest_first: Look = {"by": ["suspected", "confirmed", "metrics"], "ascending": [False, False, True]}
    return wide.sort_values(**largest_first, ignore_index=True)


@part("description/overlap.csv")
def overlap(results: Results) -> Figure | None:
    """Intersections of the metrics' suspected and confirmed records."""
    found = intersections(results)
    if len(results.metrics) < 2 or found.empty:
        return None
    shown = found.head(MOST_SETS)

    def draw(sheet: Sheet) -> None:
        upper, lower = sheet.panels
        _towers(upper, shown, narrow=sheet.narrow)
        _matrix(lower, shown, results)
        sheet.key()

    caption = (
        "Released records by the exact set of metrics that finds them: a column counts the records found by the "
        "metrics with a filled dot and by no other."
    )
    if len(found) > len(shown):
        caption += f" The {len(shown)} largest of {len(found)} sets."
    matrix = 0.06 + 0.17 * len(results.metrics)
    return figure(
        draw,
        panels=2,
        height=1.69 + matrix,
        alt=_overlap_alt(found),
        caption=caption,
        stacked=True,
        sharex=True,
        height_ratios=[1.45, matrix],
    )


def _towers(axes: Axes, shown: pd.DataFrame, *, narrow: bool) -> None:
    at = range(len(shown))
    axes.bar(at, shown["suspected"], width=0.62, color=SUSPECTED, label="suspected")
    axes.bar(at, shown["confirmed"], width=0.62, color=CONFIRMED, label="confirmed")
    highest = shown[["suspected", "confirmed"]].max(axis=1)
    look: Look = {"textcoords": "offset points", "ha": "center", "fontsize": 6.5, "color": INK}
    for place, (row, high) in enumerate(zip(shown.itertuples(), highest, strict=True)):
        if narrow:
            text = f"{count(row.suspected)} · {count(row.confirmed)}"
            axes.annotate(text, (place, high), xytext=(0.5, 3), rotation=90, va="bottom", **look)
            continue
        axes.annotate(count(row.confirmed), (place, high), xytext=(0, 2), fontweight="bold", **look)
        axes.annotate(count(row.suspected), (place, high), xytext=(0, 9.5), **{**look, "color": MUTED})
    count_axis(axes, "y")
    axes.set_ylim(0, (1.55 if narrow else 1.22) * max(1, highest.max()))
    axes.tick_params(axis="x", labelbottom=False)


def _matrix(axes: Axes, shown: pd.DataFrame, results: Results) -> None:
    metrics = results.metrics
    for place, names in enumerate(shown["metrics"]):
        inside = [row for row, metric in enumerate(metrics) if metric in names.split("+")]
        axes.plot([place] * len(metrics), range(len(metrics)), "o", color=RULE, markersize=5, zorder=1)
        axes.plot([place, place], [min(inside), max(inside)], color=INK, linewidth=1.3, zorder=2)
        axes.plot([place] * len(inside), inside, "o", color=INK, markersize=5, zorder=3)
    axes.set_yticks(range(len(metrics)), [title(metric) for metric in metrics])
    axes.set_ylim(len(metrics) - 0.4, -0.6)
    axes.set_xlim(-0.6, max(len(shown), 6) - 0.4)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def _overlap_alt(found: pd.DataFrame) -> str:
    cells = [
        f"{listed([title(name) for name in row.metrics.split('+')])}: {count(row.suspected)} suspected, "
        f"{count(row.confirmed)} confirmed"
        for row in found.head(MOST_SETS).itertuples()
    ]
    return f"{some(len(found), 'set')} of metrics, each with the records that exactly these find. {'; '.join(cells)}."
