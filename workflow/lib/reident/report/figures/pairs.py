"""Draw pairs by rank, and the records that the metrics have in common (METHODS §5, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    INK,
    RULE,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    count_axis,
    figure,
)
from reident.report.tables.patterns import levels
from reident.report.titles import title
from reident.report.wording import count, listed

TEXT = Sentences("patterns")
MAX_SETS = 24
"""Sets of metrics that are shown: the largest ones."""


@part("rates.csv")
def ranks(results: Results) -> Figure | None:
    """Draw records and pairs by rank, or by order for unicity, one panel per metric."""
    by_metric = {metric: lines for metric in results.metrics if len(lines := levels(results, metric))}
    uniform = [metric for metric, lines in by_metric.items() if _is_uniform(lines)]
    by_metric = {metric: lines for metric, lines in by_metric.items() if metric not in uniform}
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
    if uniform:
        caption += " " + TEXT(
            "ranks.figure.uniform", n=len(uniform), metrics=listed([title(metric) for metric in uniform])
        )
    alt = _ranks_alt(by_metric, names)
    return figure(draw, panels=max(2, len(by_metric)), height=1.95, alt=alt, caption=caption)


def _is_uniform(lines: pd.DataFrame) -> bool:
    """Return whether nearly every record has one pair of each rank: a block of bars that shows nothing."""
    pairs = lines["n_pairs"]
    return (
        len(lines) > 2 and pairs.min() >= 0.8 * pairs.max() and pairs.sum() <= 1.1 * lines["n_pufids"].sum()
    )


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


def intersections(results: Results, found: str) -> pd.DataFrame:
    """Return the records that are suspected, or confirmed, by the exact set of metrics: columns metrics, records."""
    lines = results.table("description/overlap.csv")
    lines = lines[lines["set"] == found].rename(columns={"n_pufids": "records"})[["metrics", "records"]]
    largest_first: Look = {"by": ["records", "metrics"], "ascending": [False, True]}
    return lines.sort_values(**largest_first, ignore_index=True)


@part("description/overlap.csv")
def overlap_suspected(results: Results) -> Figure | None:
    """Draw the suspected records by the set of metrics that suspects them."""
    return _overlap(results, "suspected", SUSPECTED)


@part("description/overlap.csv")
def overlap_confirmed(results: Results) -> Figure | None:
    """Draw the confirmed records by the set of metrics that confirms them."""
    return _overlap(results, "confirmed", CONFIRMED)


def _overlap(results: Results, found: str, colour: str) -> Figure | None:
    """Draw records by the exact set of metrics that finds them."""
    sets = intersections(results, found)
    if len(results.metrics) < 2 or sets.empty:
        return None
    shown = sets.head(MAX_SETS)

    def draw(sheet: Sheet) -> None:
        upper, lower = sheet.panels
        _towers(upper, shown, colour, narrow=sheet.narrow)
        _matrix(lower, shown, results)

    caption = TEXT(f"overlap.figure.caption.{found}")
    if len(sets) > len(shown):
        caption += f" {TEXT('overlap.figure.largest', shown=len(shown), total=len(sets))}"
    matrix = 0.06 + 0.17 * len(results.metrics)
    return figure(
        draw,
        panels=2,
        height=1.5 + matrix,
        alt=_overlap_alt(sets, found),
        caption=caption,
        stacked=True,
        own_limit=True,
        sharex=True,
        height_ratios=[1.3, matrix],
    )


def _towers(axes: Axes, shown: pd.DataFrame, colour: str, *, narrow: bool) -> None:
    axes.bar(range(len(shown)), shown["records"], width=0.62, color=colour)
    look: Look = {
        "textcoords": "offset points",
        "ha": "center",
        "va": "bottom",
        "fontsize": 6.5,
        "color": INK,
    }
    for place, n in enumerate(shown["records"]):
        axes.annotate(count(n), (place, n), xytext=(0, 2), rotation=90 * narrow, **look)
    count_axis(axes, "y")
    axes.set_ylim(0, (1.4 if narrow else 1.15) * max(1, shown["records"].max()))
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


def _overlap_alt(sets: pd.DataFrame, found: str) -> str:
    cells = [
        TEXT(
            "overlap.figure.cell",
            metrics=listed([title(name) for name in row.metrics.split("+")]),
            records=round(row.records),
        )
        for row in sets.head(MAX_SETS).itertuples()
    ]
    return TEXT(f"overlap.figure.alt.{found}", n=len(sets), cells="; ".join(cells))
