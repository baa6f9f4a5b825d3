"""Figures of Fellegi and Sunter: weights by variable and level, and calibration (METHODS §4.6)."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    INK,
    LIMIT,
    MUTED,
    RULE,
    Figure,
    Look,
    Sheet,
    figure,
    height_of,
    letters,
    percent_tick,
    rows,
    share_axis,
)
from reident.report.tables.fellegi_sunter import CALIBRATION, LEVELS, bits, knowledge
from reident.report.wording import number, percent

TEXT = Sentences("fellegi_sunter")

MARKS: dict[str, Look] = {
    "differ": {"marker": "s", "color": "white", "markeredgecolor": LIMIT, "markersize": 4.2},
    "partial": {"marker": "D", "color": "white", "markeredgecolor": CONFIRMED, "markersize": 4.0},
    "agree": {"marker": "o", "color": CONFIRMED, "markersize": 4.8},
}
"""The mark of each level, in the order of the legend."""


@part(LEVELS)
def weights(results: Results) -> Figure:
    """Draw the weight of each level that is present, by variable."""
    lines, how = results.table(LEVELS), knowledge(results)
    names = list(dict.fromkeys(lines["variable"]))
    by_level = {
        level: lines[lines["level"] == level].set_index("variable")["weight"]
        for level in MARKS
        if (lines["level"] == level).any()
    }

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        for at, name in enumerate(names):
            own = [by_level[level][name] for level in by_level if name in by_level[level]]
            axes.hlines(at, min(own), max(own), color=RULE, linewidth=1.6, zorder=0)
        for level, weight in by_level.items():
            places = [names.index(name) for name in weight.index]
            label = TEXT(f"levels.{level}")
            axes.plot(weight, places, linestyle="none", label=label, zorder=3, **MARKS[level])
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        axes.grid(visible=True, axis="x")
        axes.spines["bottom"].set_visible(False)
        axes.set_xlabel(TEXT(f"weights.figure.axis_{how}"))
        rows(axes, names, letters(sheet))
        sheet.key()

    cells = []
    for name in names:
        own = [
            TEXT("weights.figure.weight", level=TEXT(f"levels.{level}"), weight=bits(weight[name]))
            for level, weight in by_level.items()
            if name in weight
        ]
        cells.append(TEXT("weights.figure.cell", variable=str(name), weights=", ".join(own)))
    alt, caption = TEXT("weights.figure.alt", cells="; ".join(cells)), TEXT(f"weights.figure.caption_{how}")
    return figure(draw, height=height_of(len(names)) + 0.2, alt=alt, caption=caption)


@part(CALIBRATION)
def calibration(results: Results) -> Figure | None:
    """Draw the share of suspected pairs that is right by their probability, or nothing if no pair is suspected."""
    lines = results.table(CALIBRATION)
    if lines.empty or not results.confirmable:
        return None

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        equal: Look = {"color": MUTED, "linewidth": 0.8, "linestyle": (0, (4, 3))}
        axes.plot([0, 1], [0, 1], label=TEXT("calibration.figure.equal"), **equal)
        mark: Look = {
            "marker": "o",
            "color": CONFIRMED,
            "markeredgecolor": INK,
            "markersize": 4.4,
            "linewidth": 1,
        }
        axes.plot(
            lines["probability"],
            lines["confirmed_share"],
            label=TEXT("calibration.figure.pairs"),
            clip_on=False,
            zorder=3,
            **mark,
        )
        axes.set_xlim(0, 1)
        axes.set_xlabel(TEXT("calibration.figure.x"))
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(percent_tick))
        share_axis(axes, 1.0)
        sheet.key()

    cells = [
        TEXT(
            "calibration.figure.cell",
            probability=percent(row.probability),
            share=percent(row.confirmed_share),
        )
        for row in lines.itertuples()
    ]
    alt = TEXT("calibration.figure.alt", cells="; ".join(cells))
    return figure(draw, height=2.6, alt=alt, caption=TEXT("calibration.figure.caption"), own_limit=True)
