"""Draw the rates of two releases with their intervals (METHODS §10)."""

from __future__ import annotations

from matplotlib.axes import Axes

from reident.archive.comparison import SIDES, Comparison
from reident.archive.differences import Difference, Share
from reident.report.figures.rates import top_of
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
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
from reident.report.tables.releases import level_of
from reident.report.titles import title
from reident.report.wording import percent

TEXT = Sentences("releases")
OFFSET = 0.16
"""How far the two releases are from the middle of their row."""

LOOKS: dict[str, Look] = {
    "before": {"color": "white", "markeredgecolor": MUTED, "zorder": 3},
    "after": {"color": CONFIRMED, "zorder": 4},
}
BANDS = {"before": "#c9ced4", "after": SUSPECTED}


def rates(comparison: Comparison) -> Figure | None:
    """Draw the rates that show the risk, one row per metric: before above after, with intervals."""
    panels, metrics = (
        TEXT.group("figure.panels"),
        list(dict.fromkeys(line.metric for line in comparison.whole)),
    )
    lines = {(line.metric, line.rate): line for line in comparison.whole}
    if not any(share.rate is not None for line in comparison.whole for share in (line.before, line.after)):
        return None

    def draw(sheet: Sheet) -> None:
        for axes, (rate, name) in zip(sheet.panels, panels.items(), strict=True):
            own = [lines.get((metric, rate)) for metric in metrics]
            for side in SIDES:
                _side(axes, side, [None if line is None else getattr(line, side) for line in own])
            known = [end for line in own if line is not None for end in _ends(line)]
            percent_axis(axes, top_of(known, None), 4)
            axes.set_title(name)
        for axes in sheet.left():
            rows(axes, [title(metric) for metric in metrics], letters(sheet))
        sheet.key()

    exact = comparison.same_records
    return figure(
        draw,
        panels=len(panels),
        height=0.75 + 1.35 * height_of(len(metrics)),
        alt=_alt(comparison.whole),
        caption=TEXT("figure.caption_exact") if exact else TEXT("figure.caption", level=level_of(comparison)),
        across=1,
        between=0.06,
        sharey=True,
    )


def _ends(line: Difference) -> list[float]:
    """Return the largest number that each release shows."""
    ends = [share.high if share.high is not None else share.rate for share in (line.before, line.after)]
    return [end for end in ends if end is not None]


def _side(axes: Axes, side: str, shares: list[Share | None]) -> None:
    shift = -OFFSET if side == "before" else OFFSET
    known = [(at + shift, share) for at, share in enumerate(shares) if share is not None]
    for at, share in known:
        if share.low is not None and share.high is not None:
            axes.hlines(at, share.low, share.high, color=BANDS[side], linewidth=3.5, zorder=2)
    values = [float("nan") if share.rate is None else share.rate for _, share in known]
    places = [at for at, _ in known]
    axes.plot(values, places, "o", markersize=5, clip_on=False, label=TEXT(f"figure.{side}"), **LOOKS[side])


def _alt(lines: list[Difference]) -> str:
    texts = [TEXT("figure.alt.start")]
    for metric in dict.fromkeys(line.metric for line in lines):
        cells = [
            TEXT(
                "figure.alt.cell",
                rate=TEXT(f"rates.{line.rate}"),
                before=percent(line.before.rate),
                after=percent(line.after.rate),
            )
            for line in lines
            if line.metric == metric
        ]
        texts.append(TEXT("figure.alt.line", metric=title(metric), cells=", ".join(cells)))
    return " ".join(texts)
