"""Figures of linking variables: where the two records of a pair agree (METHODS §1, §6)."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes

from reident.figures.strata import height_of
from reident.figures.style import (
    CONFIRMED,
    INK,
    LIMIT,
    MUTED,
    RULE,
    SUSPECTED,
    Figure,
    apart,
    drawing,
    finish,
    percent_axis,
    rows,
    shared_key,
)
from reident.tables.layout import part
from reident.tables.patterns import agreement as shares_of
from reident.tables.results import Results, title
from reident.tables.wording import percent, shorten

LABEL = 24


@part("description/variables.csv")
def links(results: Results) -> Figure | None:
    """Of the true links, the share that agrees, differs, or misses a value, by variable."""
    found = results.table("description/variables.csv")
    total = found["links"]
    if not (total > 0).all():
        return None
    with drawing(height_of(len(found))) as drawn:
        axes = drawn.subplots()
        start = 0 * total
        for name, colour, text in (
            ("agree", CONFIRMED, "white"),
            ("differ", SUSPECTED, INK),
            ("missing", "#e4e7ea", INK),
        ):
            share = found[f"links_{name}"] / total
            label = {"agree": "agree", "differ": "differ", "missing": "missing in one or both"}[name]
            axes.barh(
                range(len(found)),
                share,
                left=start,
                height=0.64,
                color=colour,
                label=label,
                edgecolor="white",
                linewidth=0.5,
            )
            for at, (value, left) in enumerate(zip(share, start, strict=True)):
                if value >= 0.055:
                    axes.text(
                        left + value / 2,
                        at,
                        f"{percent(value, 0)}",
                        ha="center",
                        va="center",
                        color=text,
                        fontsize=6.5,
                    )
            start = start + share
        percent_axis(axes, 1.0)
        axes.grid(visible=False)
        rows(axes, [shorten(name, LABEL) for name in found["variable"]])
        shared_key(drawn, axes)
        caption = (
            "How far the two records of a true link agree, by linking variable; numeric variables as bins."
        )
        return finish(drawn, _links_alt(found), caption)


def _links_alt(found: pd.DataFrame) -> str:
    cells = [
        f"{row.variable}: {percent(row.links_agree / row.links)} agree, "
        f"{percent(row.links_differ / row.links)} differ, {percent(row.links_missing / row.links)} missing"
        for row in found.itertuples()
    ]
    return f"Stacked bars by linking variable, over true links. {'; '.join(cells)}."


@part("description/agreement.csv")
def agreement(results: Results) -> Figure | None:
    """Agreement by variable in confirmed, suspected-but-false and all true pairs, one panel per metric."""
    shares = shares_of(results)
    kinds = ("confirmed", "false")
    metrics = [
        m
        for m in results.metrics
        if any(shares.get((k, m), shares.iloc[:, 0] * math.nan).notna().any() for k in kinds)
    ]
    if shares.empty or not metrics:
        return None
    with drawing(height_of(len(shares)) + 0.1) as drawn:
        panels = drawn.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for axes, metric in zip(panels, metrics, strict=True):
            _panel(axes, shares, metric)
            axes.set_title(title(metric))
        apart(drawn)
        rows(panels[0], [shorten(name, LABEL) for name in shares.index])
        shared_key(drawn, panels[0])
        caption = (
            "Share of pairs that agree, by linking variable: in confirmed pairs, in pairs suspected but false, and in "
            "all true links."
        )
        return finish(drawn, _agreement_alt(shares, metrics), caption)


def _panel(axes: Axes, shares: pd.DataFrame, metric: str) -> None:
    at = range(len(shares))
    nothing = pd.Series(float("nan"), index=shares.index)
    true = shares.get(("true", ""), nothing)
    confirmed = shares.get(("confirmed", metric), nothing)
    false = shares.get(("false", metric), nothing)
    axes.hlines(at, 0, 1, color=RULE, linewidth=0.6, zorder=0)
    axes.hlines(at, false, confirmed, color=SUSPECTED, linewidth=2, zorder=1, alpha=0.7)
    axes.plot(true, at, "|", color=INK, markersize=9, markeredgewidth=1.3, label="all true links", zorder=2)
    axes.plot(
        false,
        at,
        "o",
        color="white",
        markeredgecolor=LIMIT,
        markersize=4.2,
        label="suspected but false",
        zorder=3,
    )
    axes.plot(confirmed, at, "o", color=CONFIRMED, markersize=4.6, label="confirmed", zorder=4)
    percent_axis(axes, 1.04)
    axes.set_xticks([0, 0.5, 1])
    axes.tick_params(axis="x", labelcolor=MUTED)


def _agreement_alt(shares: pd.DataFrame, metrics: list[str]) -> str:
    said = [f"Dots for {len(shares)} linking variables, one panel per metric."]
    for metric in metrics:
        for kind, name in (("confirmed", "confirmed"), ("false", "suspected but false")):
            own = shares.get((kind, metric), pd.Series(dtype=float)).dropna()
            if len(own):
                said.append(
                    f"{title(metric)}, {name} pairs agree on {percent(own.mean())} of the variables on average, least "
                    f"on {own.idxmin()} ({percent(own.min())}) and most on {own.idxmax()} ({percent(own.max())})."
                )
    return " ".join([*said, "The table has every number."])
