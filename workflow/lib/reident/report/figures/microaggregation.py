"""The figure of Winkler's metric: re-identification over the number of variables that must agree (METHODS §4.5)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from reident.report.figures.style import LINES, MUTED, Figure, Sheet, figure, share_axis
from reident.report.layout import part
from reident.report.results import Results
from reident.report.tables.microaggregation import AGREEMENTS, COMPARED, labels_of, ranges
from reident.report.wording import percent

MOST_PANELS, MOST_LINES = 4, 8
DASHES = ((), (4, 1.5), (1.2, 1.2))


@part(AGREEMENTS)
def masked_agreements(results: Results) -> Figure | None:
    """The share of released records that are re-identified, for every `min_agree`: a panel for each value of k."""
    found = ranges(results)
    if found["min_agree"].nunique() < 2:
        return None
    panels = _panels(found)

    def draw(sheet: Sheet) -> None:
        for axes, (heading, own) in zip(sheet.panels, panels.items(), strict=True):
            _lines(axes, own)
            axes.set_title(heading)
        sheet.key()
        sheet.drawn.supxlabel("variables that must agree (min_agree)", fontsize=7.5, color=MUTED)

    caption = (
        "Released records that are truly re-identified by Winkler's metric, as a share of all, by the number of "
        "variables that must agree."
    )
    lines = max(own["called"].nunique() for own in panels.values())
    if lines > MOST_LINES:
        caption += f" Of {lines} lines of a panel {MOST_LINES} are drawn; all are in {COMPARED}."
    return figure(
        draw,
        panels=len(panels),
        height=2.4,
        alt=_alt(found),
        caption=caption,
        across=2,
        between=0.04,
        sharey=True,
    )


def _panels(found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The lines of each panel by its heading: by the first thing that varies, where another one does too."""
    names = labels_of(found)
    if len(names) < 2 or not 1 < found[names[0]].nunique() <= MOST_PANELS:
        return {"": _named(found, names)}
    first, heading = names[0], names[0].removeprefix("set_").replace("_", " ")
    return {
        f"{heading} = {label}" if label else "as it stands": _named(own, names[1:])
        for label, own in found.groupby(first, sort=False)
    }


def _named(found: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The lines with what each is called in its panel."""
    called = found["member"] if not names else found[names].agg(", ".join, axis=1)
    return found.assign(called=[name or "as it stands" for name in called])


def _lines(axes: Axes, own: pd.DataFrame) -> None:
    looks = list(LINES.values())
    for at, name in enumerate(sorted(own["called"].unique())[:MOST_LINES]):
        points = own[own["called"] == name]
        colour, marker = looks[at % len(looks)]
        dashes = DASHES[at // len(looks) % len(DASHES)] or (None, None)
        axes.plot(
            points["min_agree"], points["confirmed_rate"], color=colour, marker=marker, markersize=3.4, linewidth=1.3,
            dashes=dashes, label=name, clip_on=False, zorder=3,
        )  # fmt: skip
    share_axis(axes, 1.04)
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    axes.set_xlim(own["min_agree"].min() - 0.3, own["min_agree"].max() + 0.3)


def _alt(found: pd.DataFrame) -> str:
    said = []
    for member, own in found.groupby("member", sort=False):
        cells = [
            f"{percent(rate)} at {least:.0f}"
            for least, rate in zip(own["min_agree"], own["confirmed_rate"], strict=True)
        ]
        said.append(f"{member}: {', '.join(cells)}.")
    return " ".join(["Lines by the number of variables that must agree, re-identified records.", *said])
