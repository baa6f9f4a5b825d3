"""Draw the published rates of an edition: every coordinate is a published number (METHODS §11)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from reident.report import style
from reident.report.edition.reading import Edition, Line, Share
from reident.report.edition.wording import percent
from reident.report.layout import block
from reident.report.sentences import Sentences
from reident.report.style import Figure, Look, Sheet
from reident.report.wording import count, declared, inside, label_cells, listed

TEXT = Sentences("edition-tables")
MAX_ROWS = 40
"""Strata that a figure shows."""

PANELS = ("suspected_rate", "confirmed_rate", "conditional_rate")
KEY_PAD = 18
"""Points between an axis and its title, which leave room for a legend."""

MARGIN = 1.1
"""Length of an axis relative to its largest value."""


def _top(shares: list[Share]) -> float:
    return max(0.004, min(1.04, MARGIN * max((share.value or 0 for share in shares), default=0)))


@block("attack.csv")
def by_metric(edition: Edition) -> Figure | None:
    """Draw the suspected, confirmed and conditional rates by metric."""
    lines = edition.whole
    shares = [line.shares for line in lines.values()]
    if not any(rates[name].text for rates in shares for name in PANELS):
        return None
    drawings = [
        drawing
        for drawing, names in ((_shares, PANELS[:2]), (_conditional, PANELS[2:]))
        if any(rates[name].text for rates in shares for name in names)
    ]

    def draw(sheet: Sheet) -> None:
        for axes, drawing in zip(sheet.panels, drawings, strict=True):
            drawing(axes, edition)
        sheet.keys()

    caption = TEXT(f"{edition.counted}.figure.caption")
    if _conditional in drawings:
        caption += f" {TEXT('figure.metrics.dots')}"
    if any(rates["conditional_low"].text for rates in shares):
        caption += f" {TEXT('figure.metrics.interval', level=declared(float(edition.record['level'])))}"
    texts = [TEXT("figure.metrics.start")]
    for metric, line in lines.items():
        fields = {name.removesuffix("_rate"): percent(line.shares[name]) for name in PANELS}
        texts.append(TEXT("figure.metrics.alt", metric=edition.metrics[metric], **fields))
    names, height = [edition.metrics[metric] for metric in lines], 0.85 + 0.34 * len(lines)
    about: dict[str, Any] = {"alt": " ".join(texts), "caption": caption, "panels": len(drawings)}
    return style.row_figure(draw, names, key=False, height=height, between=0.06, **about)


def _shares(axes: Axes, edition: Edition) -> None:
    lines = list(edition.whole.values())
    for name, colour, height in (("suspected", style.SUSPECTED, 0.62), ("confirmed", style.CONFIRMED, 0.3)):
        shares = [line.shares[f"{name}_rate"] for line in lines]
        if name == "confirmed" and not any(share.text for share in shares):
            continue
        look: Look = {"color": colour, "height": height, "label": TEXT(f"figure.{name}")}
        axes.barh(range(len(shares)), [share.value or 0 for share in shares], **look)
        for at, share in enumerate(shares):
            if not share.text and name == "suspected":
                _not_shown(axes, at)
    style.percent_axis(axes, _top([line.shares[name] for line in lines for name in PANELS[:2]]))
    axes.set_title(TEXT(f"{edition.counted}.figure.left"), pad=KEY_PAD)


def _not_shown(axes: Axes, at: float) -> None:
    look: Look = {"va": "center", "color": style.MUTED, "fontsize": 6.5, "fontstyle": "italic"}
    look |= {"in_layout": False, "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.8}}
    axes.text(0.015, at, TEXT("figure.not_shown"), transform=axes.get_yaxis_transform(), **look)


def _conditional(axes: Axes, edition: Edition) -> None:
    lines = list(edition.whole.values())
    beside: Look = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center", "fontweight": "bold"}
    band: Look = {"color": style.SUSPECTED, "linewidth": 5, "zorder": 2, "label": TEXT("figure.band")}
    for at, line in enumerate(lines):
        rate, low, high = (line.shares[f"conditional_{name}"] for name in ("rate", "low", "high"))
        if rate.value is None:
            _not_shown(axes, at)
            continue
        if low.value is not None and high.value is not None:
            axes.hlines([at], [low.value], [high.value], **band)
            band.pop("label", None)
        axes.text(1, at, percent(rate), in_layout=False, **beside)
    values = {at: line.shares["conditional_rate"].value for at, line in enumerate(lines)}
    points = {at: value for at, value in values.items() if value is not None}
    look = style.full(5, 4, clip_on=False)
    axes.plot(list(points.values()), list(points), "o", label=TEXT("figure.rate"), **look)
    # The rates are written beyond the end of the largest.
    names = ("conditional_rate", "conditional_high")
    style.percent_axis(axes, 1.22 * _top([line.shares[name] for line in lines for name in names]))
    axes.set_title(TEXT("figure.metrics.right"), pad=KEY_PAD)


@block("attack.csv")
def by_stratum(edition: Edition) -> Figure | None:
    """Draw the conditional rates by stratum, one panel per metric, if there are few strata."""
    labels = edition.strata
    if not 1 < len(labels) <= MAX_ROWS:
        return None
    by_metric_ = {metric: edition.stratum(metric) for metric in edition.whole}
    rates = {metric: [_rate(lines.get(label)) for label in labels] for metric, lines in by_metric_.items()}
    rates = {metric: shares for metric, shares in rates.items() if any(share.text for share in shares)}
    if not rates:
        return None
    whole = {metric: edition.whole[metric].shares["conditional_rate"] for metric in rates}
    top = _top([share for shares in rates.values() for share in shares] + list(whole.values()))
    caption = TEXT("figure.strata.caption")
    if hidden := [edition.metrics[metric] for metric in by_metric_ if metric not in rates]:
        names = listed(label_cells(hidden))
        caption += f" {TEXT('figure.strata.left_out', n=len(hidden), metrics=names)}"

    def draw(metric: str, axes: Axes) -> None:
        _dots(axes, rates[metric], whole[metric])
        style.percent_axis(axes, top, ticks=3 if len(rates) <= 3 else 2)

    alt = " ".join([TEXT("figure.strata.start", strata=len(labels)), *_strata_alt(edition, rates)])
    panels = {edition.metrics[metric]: partial(draw, metric) for metric in rates}
    about: dict[str, Any] = {"alt": alt, "caption": caption}
    return style.row_figure(panels, labels, extra=0.1, key=False, across=2, between=0.05, **about)


def _rate(line: Line | None) -> Share:
    return line.shares["conditional_rate"] if line else Share("", None)


def _dots(axes: Axes, shares: list[Share], whole: Share) -> None:
    for at, share in enumerate(shares):
        if share.value is None:
            _not_shown(axes, at)
        else:
            axes.plot(share.value, at, "o", **style.full(4, clip_on=False))
    if whole.value is not None:
        axes.axvline(whole.value, color=style.CONFIRMED, linewidth=0.8, zorder=1)


def _strata_alt(edition: Edition, rates: Mapping[str, list[Share]]) -> list[str]:
    texts = []
    for metric, shares in rates.items():
        points = sorted((share for share in shares if share.text), key=lambda share: share.value or 0)
        fields = {"metric": edition.metrics[metric], "low": percent(points[0])}
        fields["hidden"] = count(len(shares) - len(points))
        if len(points) == 1:
            texts.append(TEXT("figure.strata.one", **fields))
        else:
            texts.append(TEXT("figure.strata.range", **fields, high=percent(points[-1]), n=len(points)))
    return texts


@block("attack.csv")
def by_rank_limit(edition: Edition) -> Figure | None:
    """Draw the rates by rank limit, one panel per rate."""
    lines = edition.rank_limits
    panels = [
        name
        for name in PANELS
        if any(line.shares[name].text for by_limit in lines.values() for line in by_limit.values())
    ]
    if not panels:
        return None
    limits = sorted({limit for by_limit in lines.values() for limit in by_limit})
    start = TEXT("figure.rank_limit.start", low=limits[0], high=limits[-1])
    return style.figure(
        {TEXT(f"figure.rank_limit.panels.{name}"): partial(_curves, edition, name, limits) for name in panels},
        height=2.15,
        alt=" ".join([start, *_limits_alt(edition)]),
        caption=TEXT("figure.rank_limit.caption"),
        across=1,
        between=0.04,
        key=True,
        xlabel=TEXT("figure.rank_limit.axis"),
    )


def _curves(edition: Edition, name: str, limits: list[int], axes: Axes) -> None:
    in_force = int(edition.record["rank_limit"])
    style.stripe(axes.axvspan, in_force, 0.4)
    for metric, lines in edition.rank_limits.items():
        colour, marker = style.LINES.get(metric, (style.MUTED, "o"))
        look: Look = {"color": colour, "marker": marker, "markersize": 2.6, "linewidth": 1.2}
        values = [lines[limit].shares[name].value if limit in lines else None for limit in limits]
        gaps = [float("nan") if value is None else value for value in values]
        axes.plot(limits, gaps, label=edition.metrics[metric], **look)
    every = [line.shares[name] for lines in edition.rank_limits.values() for line in lines.values()]
    style.share_axis(axes, _top(every))
    style.limit_ticks(axes, in_force, limits[-1])


def _limits_alt(edition: Edition) -> list[str]:
    """Return the rates at the first, the last and the rank limit in force, in words."""
    texts = []
    for metric, lines in edition.rank_limits.items():
        chosen = sorted({min(lines), int(edition.record["rank_limit"]), max(lines)} & set(lines))
        for name in PANELS:
            points = ", ".join(
                TEXT("figure.rank_limit.point", rate=percent(lines[limit].shares[name]), limit=limit)
                for limit in chosen
            )
            fields = {"metric": edition.metrics[metric], "points": points}
            panel = inside(TEXT(f"figure.rank_limit.panels.{name}"))
            texts.append(TEXT("figure.rank_limit.alt", **fields, panel=panel))
    return texts
