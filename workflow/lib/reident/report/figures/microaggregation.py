"""Figure of Winkler's metric: re-identification by number of variables that must agree (METHODS §4.5)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import LINES, MUTED, Figure, Sheet, figure, share_axis
from reident.report.tables.microaggregation import (
    AGREEMENTS,
    COMPARED,
    rates_by_agreement,
    varied_columns,
    varied_name,
)
from reident.report.wording import percent

MAX_PANELS, MAX_LINES = 4, 8
DASHES = ((None, None), (4, 1.5), (1.2, 1.2))

TEXT = Sentences("microaggregation")


@part(AGREEMENTS)
def masked_agreements(results: Results) -> Figure | None:
    """Draw the confirmed rate for every `min_agree`, with a panel for each value of what varies first."""
    lines = rates_by_agreement(results).dropna(subset="min_agree").astype({"min_agree": int})
    if lines["min_agree"].nunique() < 2:
        return None
    panels = _panels(lines)

    def draw(sheet: Sheet) -> None:
        for axes, (heading, rates) in zip(sheet.panels, panels.items(), strict=True):
            _lines(axes, rates)
            axes.set_title(heading)
        sheet.key()
        sheet.drawn.supxlabel(TEXT("claim.figure.x"), fontsize=7.5, color=MUTED)

    caption = TEXT("claim.figure.caption")
    n_lines = max(rates["label"].nunique() for rates in panels.values())
    if n_lines > MAX_LINES:
        caption = TEXT(
            "claim.figure.caption_limited", caption=caption, shown=MAX_LINES, lines=n_lines, table=COMPARED
        )
    return figure(
        draw,
        panels=len(panels),
        height=2.4,
        alt=_alternative(lines),
        caption=caption,
        across=2,
        between=0.04,
        sharey=True,
    )


def _panels(lines: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the lines of each panel by its heading: the first of several things that vary has a panel per value."""
    columns = varied_columns(lines)
    if len(columns) < 2 or not 1 < lines[columns[0]].nunique() <= MAX_PANELS:
        return {"": _labelled(lines, columns)}
    first, *others = columns
    return {
        TEXT("setting", name=varied_name(first), value=str(value)) if value else TEXT("unchanged"): _labelled(
            rates, others
        )
        for value, rates in lines.groupby(first, sort=False)
    }


def _labelled(lines: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return the lines with their label in the legend of their panel."""
    labels = lines[columns].agg(", ".join, axis=1) if columns else lines["setting"]
    return lines.assign(label=[label or TEXT("unchanged") for label in labels])


def _lines(axes: Axes, rates: pd.DataFrame) -> None:
    looks = list(LINES.values())
    for at, label in enumerate(sorted(rates["label"].unique())[:MAX_LINES]):
        points = rates[rates["label"] == label]
        colour, marker = looks[at % len(looks)]
        axes.plot(
            points["min_agree"],
            points["confirmed_rate"],
            color=colour,
            marker=marker,
            markersize=3.4,
            linewidth=1.3,
            dashes=DASHES[at // len(looks) % len(DASHES)],
            label=label,
            clip_on=False,
            zorder=3,
        )
    share_axis(axes, 1.04)
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    axes.set_xlim(rates["min_agree"].min() - 0.3, rates["min_agree"].max() + 0.3)


def _alternative(lines: pd.DataFrame) -> str:
    """Return the alternative text: every setting with its rates."""
    settings = []
    for setting, rates in lines.groupby("setting", sort=False):
        points = zip(rates["confirmed_rate"], rates["min_agree"], strict=True)
        texts = [
            TEXT("claim.figure.alt_rate", rate=percent(rate), number=int(least)) for rate, least in points
        ]
        settings.append(TEXT("claim.figure.alt_setting", setting=str(setting), rates=", ".join(texts)))
    return TEXT("claim.figure.alt", settings=" ".join(settings))
