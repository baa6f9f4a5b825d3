"""The figure of several keys at once: how many records are unique, by what an intruder knows (METHODS §7.5)."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from reident.report.figures.rates import limit_line, top_of
from reident.report.layout import part
from reident.report.nouns import some
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    figure,
    percent_axis,
)
from reident.report.tables.filerisk_scenarios import SCENARIOS, all_sets, in_words, named
from reident.report.wording import percent, shorten

BETWEEN, BESIDE = 1.0, 0.62
"""Distances between the rows of two sizes, and between the rows of two scenarios of one size."""

INCHES = 0.3
"""Height of a distance of 1."""

TEXT = Sentences("filerisk_scenarios")


class _Rows(NamedTuple):
    """Where what is: the row of each size, the row of each scenario by its position, and the end of the last one."""

    sizes: dict[int, float]
    scenarios: list[float]
    end: float


@part(SCENARIOS)
def scenarios_uniques(results: Results) -> Figure | None:
    """Draw the share of sample uniques of every set and scenario, by number of variables; scenarios have names."""
    sets, scenarios = all_sets(results), named(results)
    every = pd.concat([sets, scenarios])
    if not every["unique_share"].notna().any():
        return None
    places = _rows(sets, scenarios)
    limit = results.decision.get("unique_share_at_most")
    limit = None if isinstance(limit, dict) else limit
    top = top_of([1.02 * float(every["unique_share"].max())], limit)

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        _ticks(axes, sets, places)
        names = [shorten(name, 22 if sheet.narrow else 40) for name in scenarios["scenario"]]
        look: Look = {"color": CONFIRMED, "markersize": 4.8, "zorder": 3, "clip_on": False}
        axes.plot(scenarios["unique_share"], places.scenarios, "o", label=TEXT("figure.scenario"), **look)
        for name, share, place in zip(names, scenarios["unique_share"], places.scenarios, strict=True):
            _name_beside(axes, name, share, place, top)
        percent_axis(axes, top)
        limit_line(axes, limit, at_top=True)
        axes.set_yticks(list(places.sizes.values()), [some(size, "variable") for size in places.sizes])
        axes.set_ylim(places.end, -0.6)
        axes.tick_params(axis="y", labelsize=7.5)
        if len(sets) and len(scenarios):
            sheet.key()

    shown = [name for name, own in (("sets", sets), ("scenarios", scenarios)) if len(own)]
    return figure(
        draw,
        height=0.75 + INCHES * (places.end + 0.6),
        alt=_alt(sets, scenarios),
        caption=" ".join(TEXT(f"figure.caption.{name}") for name in ("start", *shown)),
        name="scenarios-uniques",
    )


def _rows(sets: pd.DataFrame, scenarios: pd.DataFrame) -> _Rows:
    """Return a row for each size, and below its sets, or in its row without any, one for each scenario."""
    sizes, by_scenario, at = {}, [0.0] * len(scenarios), 0.0
    counts = sets["size"].value_counts()
    for size in sorted({*sets["size"], *scenarios["size"]}):
        sizes[int(size)] = at
        below = at if size not in counts else at + BESIDE
        for place in [at for at, own in enumerate(scenarios["size"]) if own == size]:
            by_scenario[place] = below
            below += BESIDE
        at = max(at, below - BESIDE) + BETWEEN
    return _Rows(sizes, by_scenario, at - 0.4)


def _ticks(axes: Axes, sets: pd.DataFrame, places: _Rows) -> None:
    """Draw a tick for every set."""
    rows = [places.sizes[int(size)] for size in sets["size"]]
    alpha = 0.9 if len(sets) <= 60 else 0.45  # many ticks overlap: darker where there are more
    look: Look = {"color": SUSPECTED, "markersize": 9, "markeredgewidth": 1.3}
    axes.plot(sets["unique_share"], rows, "|", alpha=alpha, **look)
    axes.plot([], [], "|", label=TEXT("figure.set"), **look)


def _name_beside(axes: Axes, name: str, x: float, y: float, top: float) -> None:
    """Write the name of a scenario on the side with more room."""
    if x != x:
        return
    is_right = x > 0.5 * top
    axes.annotate(
        name,
        (x, y),
        xytext=(-6 if is_right else 6, 0),
        textcoords="offset points",
        fontsize=7,
        ha="right" if is_right else "left",
        va="center",
        color=CONFIRMED,
    )


def _alt(sets: pd.DataFrame, scenarios: pd.DataFrame) -> str:
    """Return the figure in words."""
    texts = [
        TEXT(
            "figure.alt.size",
            variables=some(int(size), "variable"),
            sets=some(len(lines), "set"),
            lowest=percent(lines["unique_share"].min()),
            highest=percent(lines["unique_share"].max()),
            keys=in_words(lines["keys"].iloc[0]),
        )
        for size, lines in sets.groupby("size")
    ]
    texts += [
        TEXT("figure.alt.scenario", scenario=str(row.scenario), share=percent(row.unique_share))
        for row in scenarios.itertuples()
    ]
    return TEXT("figure.alt.start", texts="; ".join(texts))
