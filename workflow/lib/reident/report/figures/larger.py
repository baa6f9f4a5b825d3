"""Draw the confirmed rate by the size of the intruder's file (METHODS §6.5)."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from reident.report.figures.rates import top_of
from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import LINES, MUTED, RULE, Figure, Sheet, figure, share_axis
from reident.report.tables.larger import LARGER, curve, extrapolated, multiple
from reident.report.titles import title
from reident.report.wording import percent, span

TEXT = Sentences("larger")
TICKS = (1 / 16, 1 / 4, 1)
"""The parts of the intruder's file that are named on the axis, beside the larger files."""

BESIDE = 1.04
"""The factor by which the interval of a metric is beside that of the metric before it."""


@part(LARGER)
def larger_curves(results: Results) -> Figure:
    """Draw the observed confirmed rates as dots, the fitted curve as a line, and its interval as a band."""
    curves = {metric: curve(results, metric) for metric in results.metrics}
    sizes = sorted({times for lines in curves.values() for times in lines["times"] if times > 1})

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        for at, metric in enumerate(results.metrics):
            _draw(axes, results, metric, BESIDE ** (at - (len(results.metrics) - 1) / 2))
        values = [lines[name] for lines in curves.values() for name in ("observed", "estimate", "high")]
        share_axis(axes, top_of([value for column in values for value in column.dropna()], None))
        axes.axvline(1, color=RULE, linewidth=1, zorder=0)
        axes.set_xscale("log")
        ticks = [*TICKS, *_apart(sizes)]
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticklabels([multiple(times) for times in ticks])
        axes.set_xlabel(TEXT("figure.x"))
        axes.set_title(TEXT("figure.y"))
        sheet.key()

    return figure(
        draw, height=2.9, alt=_alt(results), caption=TEXT("figure.caption"), own_limit=True,
    )  # fmt: skip


def _draw(axes: Axes, results: Results, metric: str, beside: float) -> None:
    """Draw a metric, its intervals beside those of others by this factor."""
    lines, beyond = curve(results, metric), extrapolated(results, metric)
    colour, marker = LINES.get(metric, (MUTED, "o"))
    fitted = lines[lines["estimate"].notna()]
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
    for metric in results.metrics:
        lines = curve(results, metric)
        seen = lines[lines["observed"].notna()]
        points = [
            TEXT("figure.alt.point", times=multiple(line.times), rate=percent(line.observed))
            for line in seen.itertuples()
        ]
        points += [
            TEXT(
                "figure.alt.estimate",
                times=multiple(line.times),
                rate=percent(line.estimate),
                interval=span(line.low, line.high),
            )
            for line in extrapolated(results, metric).itertuples()
        ]
        texts.append(TEXT("figure.alt.line", metric=title(metric), points=", ".join(points)))
    return " ".join(texts)
