"""Draw the rates that are extrapolated by the size of the intruder's file (METHODS §6.5)."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from reident.report.figures.rates import top_of
from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import LINES, MUTED, RULE, Figure, Sheet, figure, share_axis
from reident.report.tables.larger import CONFIRMED, GUESSED, LARGER, curve, extrapolated, multiple
from reident.report.titles import title
from reident.report.wording import percent, span

TEXT = Sentences("larger")
QUANTITIES = (CONFIRMED, GUESSED)
TICKS = (1 / 16, 1 / 4, 1)
"""The parts of the intruder's file that are named on the axis, beside the larger files."""

BESIDE = 1.04
"""The factor by which the interval of a metric is beside that of the metric before it."""


@part(LARGER)
def larger_curves(results: Results) -> Figure:
    """Draw the observed rates as dots, estimated confirmed rates from the file on as lines, and intervals as bars.

    The estimate of the best guess can be far off near the whole population: it is drawn by its interval alone.
    """
    every = {
        quantity: {metric: curve(results, metric, quantity) for metric in results.metrics}
        for quantity in QUANTITIES
    }
    sizes = sorted({times for lines in every[CONFIRMED].values() for times in lines["times"] if times > 1})

    def draw(sheet: Sheet) -> None:
        for axes, (quantity, curves) in zip(sheet.panels, every.items(), strict=True):
            for at, metric in enumerate(results.metrics):
                _draw(axes, results, metric, quantity, BESIDE ** (at - (len(results.metrics) - 1) / 2))
            values = [lines[name] for lines in curves.values() for name in ("observed", "high")]
            share_axis(axes, top_of([value for column in values for value in column.dropna()], None))
            axes.axvline(1, color=RULE, linewidth=1, zorder=0)
            axes.set_xscale("log")
            ticks = [*TICKS, *_apart(sizes)]
            axes.xaxis.set_major_locator(FixedLocator(ticks))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xticklabels([multiple(times) for times in ticks])
            axes.set_xlabel(TEXT("figure.x"))
            axes.set_title(TEXT(f"figure.quantities.{quantity}"))
        sheet.key()

    return figure(
        draw, panels=len(QUANTITIES), across=1, height=2.7, alt=_alt(results), caption=TEXT("figure.caption"),
        own_limit=True,
    )  # fmt: skip


def _draw(axes: Axes, results: Results, metric: str, quantity: str, beside: float) -> None:
    """Draw a quantity of a metric, its intervals beside those of others by this factor."""
    lines, beyond = curve(results, metric, quantity), extrapolated(results, metric, quantity)
    colour, marker = LINES.get(metric, (MUTED, "o"))
    axes.plot(
        lines["times"],
        lines["observed"],
        linestyle="none",
        marker=marker,
        color=colour,
        markersize=3.6,
        label=title(metric),
        zorder=4,
    )
    if quantity == CONFIRMED:
        fitted = lines[(lines["times"] >= 1) & lines["estimate"].notna()]
        axes.plot(fitted["times"], fitted["estimate"], color=colour, linewidth=1.2, zorder=3)
    axes.vlines(
        beyond["times"] * beside,
        beyond["low"],
        beyond["high"],
        color=colour,
        linewidth=4,
        alpha=0.3,
        zorder=2,
    )


def _apart(sizes: list[float]) -> list[float]:
    """Return the sizes that have room for their name, the largest first of close ones."""
    kept: list[float] = []
    for times in reversed(sizes):
        if times >= 1.6 and (not kept or kept[-1] / times >= 1.6):
            kept.append(times)
    return kept[::-1]


def _alt(results: Results) -> str:
    texts = [TEXT("figure.alt.start")]
    for quantity in QUANTITIES:
        texts.append(TEXT("figure.alt.panel", quantity=TEXT(f"figure.quantities.{quantity}")))
        texts += [_points(results, metric, quantity) for metric in results.metrics]
    return " ".join(texts)


def _points(results: Results, metric: str, quantity: str) -> str:
    lines = curve(results, metric, quantity)
    points = [
        TEXT("figure.alt.point", times=multiple(line.times), rate=percent(line.observed))
        for line in lines[lines["observed"].notna()].itertuples()
    ]
    for line in extrapolated(results, metric, quantity).itertuples():
        fields = {"times": multiple(line.times), "interval": span(line.low, line.high)}
        if quantity == CONFIRMED:
            points.append(TEXT("figure.alt.estimate", rate=percent(line.estimate), **fields))
        else:
            points.append(TEXT("figure.alt.interval", **fields))
    return TEXT("figure.alt.line", metric=title(metric), points=", ".join(points))
