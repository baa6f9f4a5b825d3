"""Figures of linking variables: where the two records of a pair agree (METHODS §1, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.report.figures.style import (
    CONFIRMED,
    INK,
    LIMIT,
    MUTED,
    RULE,
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
from reident.report.layout import part
from reident.report.results import Results, title
from reident.report.tables.patterns import agreement as shares_of
from reident.report.wording import percent

KINDS = {"false": "suspected but false", "confirmed": "confirmed"}
OUTCOMES = {
    "agree": ("agree", CONFIRMED, "white"),
    "differ": ("differ", SUSPECTED, INK),
    "missing": ("missing in one or both", "#e4e7ea", INK),
}
"""How an outcome is called, its colour, and that of the number on it."""


@part("description/variables.csv")
def links(results: Results) -> Figure | None:
    """Of the true links, the share that agrees, differs, or misses a value, by variable."""
    found = results.table("description/variables.csv")
    if not (found["links"] > 0).all():
        return None
    shares = {what: found[f"links_{what}"] / found["links"] for what in OUTCOMES}

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        _stack(axes, shares, least=0.11 if sheet.narrow else 0.055)
        percent_axis(axes, 1.0)
        axes.grid(visible=False)
        rows(axes, list(found["variable"]), letters(sheet))
        sheet.key()

    caption = "How far the two records of a true link agree, by linking variable; numeric variables as bins."
    return figure(draw, height=height_of(len(found)), alt=_links_alt(found, shares), caption=caption)


def _stack(axes: Axes, shares: dict[str, pd.Series], least: float) -> None:
    """Bars of three outcomes, with their numbers where they are at least so wide."""
    start = 0 * shares["agree"]
    for what, share in shares.items():
        name, colour, letter = OUTCOMES[what]
        look: Look = {"color": colour, "edgecolor": "white", "linewidth": 0.5}
        axes.barh(range(len(share)), share, left=start, height=0.64, label=name, **look)
        for at, (value, left) in enumerate(zip(share, start, strict=True)):
            if value >= least:
                place: Look = {"ha": "center", "va": "center", "fontsize": 6.5}
                axes.text(left + value / 2, at, percent(value, 0), color=letter, **place)
        start = start + share


def _links_alt(found: pd.DataFrame, shares: dict[str, pd.Series]) -> str:
    cells = [
        f"{name}: {', '.join(f'{percent(shares[what][at])} {what}' for what in shares)}"
        for at, name in enumerate(found["variable"])
    ]
    return f"Stacked bars by linking variable, over true links. {'; '.join(cells)}."


@part("description/agreement.csv")
def agreement(results: Results) -> Figure | None:
    """Agreement by variable in confirmed, suspected-but-false and all true pairs, one panel per metric."""
    shares = shares_of(results)
    shares = shares.loc[:, shares.notna().any()]
    metrics = [metric for metric in results.metrics if any((kind, metric) in shares for kind in KINDS)]
    if not metrics:
        return None

    def draw(sheet: Sheet) -> None:
        for axes, metric in zip(sheet.panels, metrics, strict=True):
            _panel(axes, shares, metric)
            axes.set_title(title(metric))
        for axes in sheet.left():
            rows(axes, list(shares.index), letters(sheet))
        sheet.key()

    return figure(
        draw,
        panels=len(metrics),
        height=height_of(len(shares)) + 0.1,
        alt=_agreement_alt(shares, metrics),
        caption=(
            "Share of pairs that agree, by linking variable: in confirmed pairs, in pairs suspected but false, and in "
            "all true links."
        ),
        between=0.06,
        sharey=True,
    )


def _panel(axes: Axes, shares: pd.DataFrame, metric: str) -> None:
    at = range(len(shares))
    nothing = pd.Series(float("nan"), index=shares.index)
    true, false, confirmed = (
        shares.get(key, nothing) for key in (("true", ""), ("false", metric), ("confirmed", metric))
    )
    axes.hlines(at, 0, 1, color=RULE, linewidth=0.6, zorder=0)
    axes.hlines(at, false, confirmed, color=SUSPECTED, linewidth=2, zorder=1, alpha=0.7)
    axes.plot(true, at, "|", color=INK, markersize=9, markeredgewidth=1.3, label="all true links", zorder=2)
    hollow: Look = {"color": "white", "markeredgecolor": LIMIT, "markersize": 4.2}
    axes.plot(false, at, "o", label=KINDS["false"], zorder=3, **hollow)
    axes.plot(confirmed, at, "o", color=CONFIRMED, markersize=4.6, label=KINDS["confirmed"], zorder=4)
    percent_axis(axes, 1.04)
    axes.set_xticks([0, 0.5, 1])
    axes.tick_params(axis="x", labelcolor=MUTED)


def _agreement_alt(shares: pd.DataFrame, metrics: list[str]) -> str:
    said = [f"Dots for {len(shares)} linking variables, one panel per metric."]
    for metric in metrics:
        for kind, name in KINDS.items():
            if (kind, metric) in shares:
                own = shares[kind, metric].dropna()
                said.append(
                    f"{title(metric)}, {name} pairs agree on {percent(own.mean())} of the variables on average, least "
                    f"on {own.idxmin()} ({percent(own.min())}) and most on {own.idxmax()} ({percent(own.max())})."
                )
    return " ".join([*said, "The table has every number."])
