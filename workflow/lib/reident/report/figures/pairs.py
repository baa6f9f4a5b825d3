"""Draw pairs by rank, and the records that the metrics have in common (METHODS §5, §6)."""

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
from reident.report.sentences import Sentences
from reident.report.tables.patterns import levels
from reident.report.wording import count, listed

TEXT = Sentences("patterns")
MAX_SETS = 24
"""Sets of metrics that are shown: the largest ones."""


@part("rates.csv")
def ranks(results: Results) -> Figure | None:
    """Draw records and pairs by rank, or by order for unicity, one panel per metric."""
    by_metric = {metric: lines for metric in results.metrics if len(lines := levels(results, metric))}
    if not by_metric:
        return None
    names = {metric: "rank" if metric in results.ranked else "order" for metric in by_metric}

    def draw(sheet: Sheet) -> None:
        for axes, (metric, lines) in zip(sheet.panels, by_metric.items(), strict=False):
            _bars(axes, lines)
            axes.set_xlabel(TEXT(f"ranks.figure.{names[metric]}_axis"))
            axes.set_title(title(metric))
        for axes in sheet.panels[len(by_metric) :]:
            axes.set_visible(False)
        sheet.key()

    caption = TEXT("ranks.figure.caption", keep=results.study["rank_filter"]["keep"])
    if len(results.ranked) < len(results.metrics):
        caption += f" {TEXT('ranks.figure.order')}"
    alt = _ranks_alt(by_metric, names)
    return figure(draw, panels=max(2, len(by_metric)), height=1.95, alt=alt, caption=caption)


def _bars(axes: Axes, lines: pd.DataFrame) -> None:
    level = lines["level"]
    axes.bar(level, lines["n_pairs"], width=0.8, color=SUSPECTED, label=TEXT("ranks.figure.pairs"))
    axes.bar(level, lines["n_pufids"], width=0.44, color=CONFIRMED, label=TEXT("ranks.figure.records"))
    count_axis(axes, "y")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.set_xlim(level.min() - 0.7, level.max() + 0.7)


def _ranks_alt(by_metric: dict[str, pd.DataFrame], names: dict[str, str]) -> str:
    texts = [TEXT("ranks.figure.alt.start")]
    for metric, lines in by_metric.items():
        name = names[metric]
        cells = [
            TEXT(
                f"ranks.figure.alt.cell_{name}",
                level=round(row.level),
                records=round(row.n_pufids),
                pairs=round(row.n_pairs),
            )
            for row in lines.head(8).itertuples()
        ]
        if len(lines) > 8:
            cells.append(TEXT("ranks.figure.alt.more", n=len(lines) - 8))
        texts.append(TEXT(f"ranks.figure.alt.{name}", metric=title(metric), cells=", ".join(cells)))
    return " ".join(texts)


def intersections(results: Results) -> pd.DataFrame:
    """Return released records by the exact set of metrics that finds them: columns metrics, suspected, confirmed."""
    lines = results.table("description/overlap.csv")
    wide = lines.pivot_table(index="metrics", columns="set", values="n_pufids", aggfunc="sum", fill_value=0)
    wide = wide.reindex(columns=["suspected", "confirmed"], fill_value=0).reset_index()
    largest_first: Look = {"by": ["suspected", "confirmed", "metrics"], "ascending": [False, False, True]}
    return wide.sort_values(**largest_first, ignore_index=True)


@part("description/overlap.csv")
def overlap(results: Results) -> Figure | None:
    """Draw the suspected and confirmed records by the set of metrics that finds them."""
    sets = intersections(results)
    if len(results.metrics) < 2 or sets.empty:
        return None
    shown = sets.head(MAX_SETS)

    def draw(sheet: Sheet) -> None:
        upper, lower = sheet.panels
        _towers(upper, shown, narrow=sheet.narrow)
        _matrix(lower, shown, results)
        sheet.key()

    caption = TEXT("overlap.figure.caption")
    if len(sets) > len(shown):
        caption += f" {TEXT('overlap.figure.largest', shown=len(shown), total=len(sets))}"
    matrix = 0.06 + 0.17 * len(results.metrics)
    return figure(
        draw,
        panels=2,
        height=1.69 + matrix,
        alt=_overlap_alt(sets),
        caption=caption,
        stacked=True,
        sharex=True,
        height_ratios=[1.45, matrix],
    )


def _towers(axes: Axes, shown: pd.DataFrame, *, narrow: bool) -> None:
    at = range(len(shown))
    for name, colour in (("suspected", SUSPECTED), ("confirmed", CONFIRMED)):
        axes.bar(at, shown[name], width=0.62, color=colour, label=TEXT(f"overlap.figure.{name}"))
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


def _overlap_alt(sets: pd.DataFrame) -> str:
    cells = [
        TEXT(
            "overlap.figure.cell",
            metrics=listed([title(name) for name in row.metrics.split("+")]),
            suspected=round(row.suspected),
            confirmed=round(row.confirmed),
        )
        for row in sets.head(MAX_SETS).itertuples()
    ]
    return TEXT("overlap.figure.alt", n=len(sets), cells="; ".join(cells))
