"""Figures of pairs: how they spread over ranks, and which metrics find the same records (METHODS §5, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from reident.figures.style import (
    CONFIRMED,
    INK,
    MUTED,
    RULE,
    SUSPECTED,
    Figure,
    count_axis,
    drawing,
    finish,
    shared_key,
)
from reident.tables.layout import part
from reident.tables.patterns import levels
from reident.tables.results import Results, title
from reident.tables.wording import count, listed, some

MOST_SETS = 24
"""So many intersections are shown, the largest ones."""


@part("rates.csv")
def ranks(results: Results) -> Figure | None:
    """Records and pairs by rank, or by order of the interaction, one panel per metric."""
    found = {metric: own for metric in results.metrics if len(own := levels(results, metric))}
    if not found:
        return None
    with drawing(1.95) as drawn:
        panels = drawn.subplots(1, max(2, len(found)), squeeze=False)[0]
        for axes in panels[len(found) :]:
            axes.set_visible(False)
        for axes, (metric, own) in zip(panels, found.items(), strict=False):
            _bars(axes, own, "rank" if metric in results.ranked else "order")
            axes.set_title(title(metric))
        shared_key(drawn, panels[0])
        keep = results.study["rank_filter"]["keep"]
        caption = f"Pairs and released records by rank, of the best {count(keep)} pairs that scoring keeps per record."
        if len(results.ranked) < len(results.metrics):
            caption += " Unicity by order, the number of variables on which both records are unique."
        return finish(drawn, _ranks_alt(found, results), caption)


def _bars(axes: Axes, own: pd.DataFrame, name: str) -> None:
    axes.bar(own["level"], own["n_pairs"], width=0.8, color=SUSPECTED, label="pairs")
    axes.bar(own["level"], own["n_pufids"], width=0.44, color=CONFIRMED, label="released records")
    count_axis(axes, "y")
    axes.tick_params(axis="y", labelsize=7, labelcolor=MUTED)
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
    return wide.sort_values(
        ["suspected", "confirmed", "metrics"], ascending=[False, False, True], ignore_index=True
    )


@part("description/overlap.csv")
def overlap(results: Results) -> Figure | None:
    """Intersections of the metrics' suspected and confirmed records."""
    if len(results.metrics) < 2:
        return None
    found = intersections(results)
    if found.empty:
        return None
    shown = found.head(MOST_SETS)
    with drawing(1.75 + 0.17 * len(results.metrics)) as drawn:
        ratios = [1.45, 0.06 + 0.17 * len(results.metrics)]
        upper, lower = drawn.subplots(2, 1, sharex=True, height_ratios=ratios)
        _towers(upper, shown)
        _matrix(lower, shown, results)
        shared_key(drawn, upper)
        caption = (
            "Released records by the exact set of metrics that finds them: a column counts the records found by the "
            "metrics with a filled dot and by no other."
        )
        if len(found) > len(shown):
            caption += f" The {len(shown)} largest of {len(found)} sets."
        return finish(drawn, _overlap_alt(found), caption)


def _towers(axes: Axes, shown: pd.DataFrame) -> None:
    at = range(len(shown))
    axes.bar(at, shown["suspected"], width=0.62, color=SUSPECTED, label="suspected")
    axes.bar(at, shown["confirmed"], width=0.62, color=CONFIRMED, label="confirmed")
    top = max(1.0, float(shown[["suspected", "confirmed"]].to_numpy().max()))
    for place, row in enumerate(shown.itertuples()):
        high = max(row.suspected, row.confirmed)
        for points, text, colour in (
            (2, count(row.confirmed), CONFIRMED),
            (9.5, count(row.suspected), "#4a7fa8"),
        ):
            axes.annotate(
                text, (place, high), xytext=(0, points), textcoords="offset points", ha="center", fontsize=6.5,
                color=colour, fontweight="bold" if points == 2 else "normal",
            )  # fmt: skip
    count_axis(axes, "y")
    axes.tick_params(axis="y", labelsize=7, labelcolor=MUTED)
    axes.set_ylim(0, 1.22 * top)
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
