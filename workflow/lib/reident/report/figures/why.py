"""Draw which variables carry the confirmed claims (METHODS §6.3)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.recodings import LEFT_OUT
from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    LIMIT,
    MUTED,
    RULE,
    Figure,
    Look,
    Sheet,
    figure,
    height_of,
    letters,
    percent_axis,
    rows,
)
from reident.report.tables.why import of_metrics
from reident.report.titles import title
from reident.report.wording import percent

TEXT = Sentences("why")
KINDS = ("left_out", "coarser")


@part("rates.csv")
def why_carried(results: Results) -> Figure | None:
    """Draw what leaving out each variable, and its most effective coarser values, would have prevented."""
    lines = of_metrics(results, "recodings")
    if lines is None or not lines["n_confirmed"].any():
        return None
    lines = lines[lines["n_confirmed"] > 0]
    variables = list(dict.fromkeys(lines["variable"]))
    metrics = [metric for metric in results.metrics if metric in set(lines["metric"])]
    shares = {
        kind: lines[(lines["recoding"] == LEFT_OUT) == (kind == "left_out")]
        .groupby(["metric", "variable"])["prevented_rate"]
        .max()
        for kind in KINDS
    }

    def draw(sheet: Sheet) -> None:
        for axes, metric in zip(sheet.panels, metrics, strict=True):
            _panel(axes, {kind: _of(shares[kind], metric, variables) for kind in KINDS})
            axes.set_title(title(metric))
        for axes in sheet.left():
            rows(axes, variables, letters(sheet))
        sheet.key()

    cells = [
        TEXT(
            "figure.cell",
            metric=title(metric),
            shares=", ".join(
                f"{name} {percent(share)}"
                for name, share in _of(shares["left_out"], metric, variables).items()
            ),
        )
        for metric in metrics
    ]
    return figure(
        draw,
        panels=len(metrics),
        height=height_of(len(variables)) + 0.1,
        alt=TEXT("figure.alt", cells=" ".join(cells)),
        caption=TEXT("figure.caption"),
        own_limit=True,
        between=0.06,
        sharey=True,
    )


def _of(shares: pd.Series, metric: str, variables: list[str]) -> pd.Series:
    own = shares[shares.index.get_level_values("metric") == metric].droplevel("metric")
    return own.reindex(variables)


def _panel(axes: Axes, shares: dict[str, pd.Series]) -> None:
    at = range(len(shares["left_out"]))
    axes.hlines(at, 0, 1, color=RULE, linewidth=0.6, zorder=0)
    hollow: Look = {"color": "white", "markeredgecolor": LIMIT, "markersize": 5.4}
    axes.plot(shares["coarser"], at, "o", label=TEXT("figure.coarser"), zorder=2, clip_on=False, **hollow)
    full: Look = {"color": CONFIRMED, "markersize": 3.6}
    axes.plot(shares["left_out"], at, "o", label=TEXT("figure.left_out"), zorder=3, clip_on=False, **full)
    percent_axis(axes, 1.04)
    axes.set_xticks([0, 0.5, 1])
    axes.tick_params(axis="x", labelcolor=MUTED)
