"""Draw how far the two records of a pair agree, by linking variable (METHODS §1, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
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
from reident.report.tables.patterns import agreement as shares_of
from reident.report.titles import title
from reident.report.wording import percent

ATTACK = Sentences("attack")
PATTERNS = Sentences("patterns")
KINDS = ("false", "confirmed")
"""Kinds of suspected pairs."""

OUTCOMES = {
    "agree": (CONFIRMED, "white"),
    "differ": (SUSPECTED, INK),
    "missing": ("#e4e7ea", INK),
}
"""Colour of an outcome and of the number on it."""


@part("description/variables.csv")
def links(results: Results) -> Figure | None:
    """Draw the shares of true links that agree, differ or have a missing value, by variable."""
    lines = results.table("description/variables.csv")
    if not (lines["links"] > 0).all():
        return None
    shares = {outcome: lines[f"links_{outcome}"] / lines["links"] for outcome in OUTCOMES}

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        _stack(axes, shares, least=0.11 if sheet.narrow else 0.055)
        percent_axis(axes, 1.0)
        axes.grid(visible=False)
        rows(axes, list(lines["variable"]), letters(sheet))
        sheet.key()

    alt, caption = _links_alt(lines, shares), ATTACK("variables.figure.caption")
    return figure(draw, height=height_of(len(lines)), alt=alt, caption=caption)


def _stack(axes: Axes, shares: dict[str, pd.Series], least: float) -> None:
    """Draw stacked bars of the outcomes, with numbers on those of a share of at least `least`."""
    start = 0 * shares["agree"]
    for outcome, share in shares.items():
        colour, letter = OUTCOMES[outcome]
        name = ATTACK(f"variables.figure.{outcome}")
        look: Look = {"color": colour, "edgecolor": "white", "linewidth": 0.5}
        axes.barh(range(len(share)), share, left=start, height=0.64, label=name, **look)
        for at, (value, left) in enumerate(zip(share, start, strict=True)):
            if value >= least:
                place: Look = {"ha": "center", "va": "center", "fontsize": 6.5}
                axes.text(left + value / 2, at, percent(value, 0), color=letter, **place)
        start = start + share


def _links_alt(lines: pd.DataFrame, shares: dict[str, pd.Series]) -> str:
    names = {outcome: ATTACK(f"variables.figure.{outcome}_alt") for outcome in shares}
    cells = [
        f"{name}: {', '.join(f'{percent(shares[outcome][at])} {names[outcome]}' for outcome in shares)}"
        for at, name in enumerate(lines["variable"])
    ]
    return ATTACK("variables.figure.alt", cells="; ".join(cells))


@part("description/agreement.csv")
def agreement(results: Results) -> Figure | None:
    """Draw agreement by variable in confirmed pairs, false suspected pairs and all true links, one panel per metric."""
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
        caption=PATTERNS("agreement.figure.caption"),
        own_limit=True,
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
    label = {kind: PATTERNS(f"agreement.figure.{kind}") for kind in ("true", *KINDS)}
    axes.plot(true, at, "|", color=INK, markersize=9, markeredgewidth=1.3, label=label["true"], zorder=2)
    hollow: Look = {"color": "white", "markeredgecolor": LIMIT, "markersize": 4.2}
    axes.plot(false, at, "o", label=label["false"], zorder=3, **hollow)
    axes.plot(confirmed, at, "o", color=CONFIRMED, markersize=4.6, label=label["confirmed"], zorder=4)
    percent_axis(axes, 1.04)
    axes.set_xticks([0, 0.5, 1])
    axes.tick_params(axis="x", labelcolor=MUTED)


def _agreement_alt(shares: pd.DataFrame, metrics: list[str]) -> str:
    texts = [PATTERNS("agreement.figure.alt.start", n=len(shares))]
    for metric in metrics:
        for kind in KINDS:
            if (kind, metric) in shares:
                share = shares[kind, metric].dropna()
                fields = {
                    "mean": percent(share.mean()),
                    "least": str(share.idxmin()),
                    "least_share": percent(share.min()),
                    "most": str(share.idxmax()),
                    "most_share": percent(share.max()),
                }
                texts.append(PATTERNS(f"agreement.figure.alt.{kind}", metric=title(metric), **fields))
    return " ".join([*texts, PATTERNS("agreement.figure.alt.end")])
