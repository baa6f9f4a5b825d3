"""The figure of attribute disclosure: every set of keys, by target, beside the baselines (METHODS §12)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.report.figures.rates import top_of
from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    INK,
    MUTED,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    figure,
    height_of,
    letters,
    percent_axis,
    rows,
)
from reident.report.tables.attribution import SUMMARY, TARGETS, baseline_of, by_set, with_baseline, worst
from reident.report.wording import percent

MEASURES = ("disco", "cap")
"""The measures, each of which has a panel."""

TEXT = Sentences("attribution")


@part(SUMMARY, TARGETS)
def attribution_sets(results: Results) -> Figure:
    """Draw what every set of keys discloses of each target, naming the most dangerous one."""
    lines, first = by_set(results), worst(results)
    kind, no_key = baseline_of(results), results.table(TARGETS).set_index("target")["cap"]
    targets = list(first.index)

    def draw(sheet: Sheet) -> None:
        for axes, measure in zip(sheet.panels, MEASURES, strict=True):
            values = {target: lines.loc[lines["target"] == target, measure] for target in targets}
            _strip(axes, values, first[measure])
            _baselines(axes, with_baseline(first, measure, kind), no_key if measure == "cap" else None)
            percent_axis(axes, top_of([*lines[measure].dropna(), *no_key.dropna()], None), 3)
            axes.set_title(TEXT(f"figure.{measure}"), pad=7)
        for axes in sheet.left():
            rows(axes, targets, letters(sheet))
        sheet.key()

    return figure(
        draw,
        panels=2,
        height=0.5 + height_of(len(targets)),
        alt=_described(lines, first, no_key),
        caption=TEXT("figure.caption"),
        across=1,
        between=0.05,
        sharey=True,
    )


def _strip(axes: Axes, values: dict[str, pd.Series], worst_values: pd.Series) -> None:
    """Draw a tick for every set, and a dot for the most dangerous one."""
    ticks: Look = {"color": SUSPECTED, "markersize": 9, "markeredgewidth": 1.3}
    label: str | None = TEXT("figure.sets")
    for at, own in enumerate(values.values()):
        axes.plot(own, [at] * len(own), "|", label=label, clip_on=False, **ticks)
        label = None
    look: Look = {"color": CONFIRMED, "markersize": 5, "zorder": 3, "clip_on": False}
    axes.plot(worst_values, range(len(values)), "o", label=TEXT("figure.worst"), **look)


def _baselines(axes: Axes, values: pd.Series, no_key: pd.Series | None) -> None:
    """Draw the baseline of the most dangerous set, and what is known without any key."""
    at = range(len(values))
    square: Look = {
        "color": "white",
        "markeredgecolor": INK,
        "markersize": 4.6,
        "zorder": 4,
        "clip_on": False,
    }
    if values.notna().any():
        axes.plot(values, at, "s", label=TEXT("figure.baseline"), **square)
    diamond: Look = {**square, "markeredgecolor": MUTED}
    shown = [float("nan")] * len(values) if no_key is None else list(no_key)
    axes.plot(shown, at, "D", label=TEXT("figure.no_key"), **diamond)


def _described(lines: pd.DataFrame, first: pd.DataFrame, no_key: pd.Series) -> str:
    """Return the figure in words."""
    texts = []
    for target, line in first.iterrows():
        own = lines.loc[lines["target"] == target, "disco"]
        texts.append(
            TEXT(
                "figure.alt_target",
                target=str(target),
                low=percent(own.min()),
                high=percent(own.max()),
                cap=percent(line["cap"]),
                no_key=percent(no_key[target]),
            )
        )
    return TEXT("figure.alt", targets=" ".join(texts))
