"""Records that an intruder with a larger file would confirm (METHODS §6.5)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from reident.page import style
from reident.page.common import top_of
from reident.page.layout import ReportColumn, block, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Look
from reident.page.terms import metric_cells, title
from reident.page.wording import (
    count,
    count_cells,
    declared,
    digits,
    percent,
    rates,
    span,
    without_repeats,
    without_unit,
)

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("larger")
LARGER = "larger/rates.csv"
OK, BEYOND, UNRANKED = "ok", "beyond_population", "unranked"
CONFIRMED, GUESSED = "confirmed_rate", "best_guess_rate"


def curve(results: Results, metric: str, quantity: str = CONFIRMED) -> pd.DataFrame:
    """Return the sizes of a metric with their observed and estimated rates, the smallest first."""
    lines = results.table(LARGER)
    return lines[(lines["metric"] == metric) & (lines["quantity"] == quantity)]


def extrapolated(results: Results, metric: str, quantity: str = CONFIRMED) -> pd.DataFrame:
    """Return the larger sizes of a metric that have an estimate."""
    lines = curve(results, metric, quantity)
    return lines[(lines["times"] > 1) & lines["estimate"].notna()]


def multiple(times: float) -> str:
    """Return the size of a file as a multiple of the intruder's file; the parts that are drawn as fractions."""
    if times < 1:
        return TEXT("multiple", times=str(Fraction(times)))
    return TEXT("multiple", times=digits(f"{float(f'{times:.3g}'):,g}"))


@block(LARGER)
def larger_findings(results: Results) -> str:
    """Report the records that each metric confirms now and with the largest file, and the assumptions."""
    findings = [TEXT("metric", metric=title(metric), text=_finding(results, metric)) for metric in results.metrics]
    population = results.study["larger_intruder"]["population"]
    people = TEXT("estimated") if population is None else TEXT("declared", people=count(population))
    any_curve = any(len(extrapolated(results, metric)) for metric in results.metrics)
    return paragraphs(TEXT("text"), items(findings), TEXT("assumes", people=people) if any_curve else None)


def _finding(results: Results, metric: str) -> str:
    lines = curve(results, metric)
    now, beyond = lines[lines["times"] == 1].iloc[0], extrapolated(results, metric)
    guesses, further = curve(results, metric, GUESSED), extrapolated(results, metric, GUESSED)
    guess = guesses[guesses["times"] == 1].iloc[0]
    text = TEXT("now", rate=percent(now["observed"]))
    if guess["status"] != UNRANKED:
        text += " " + TEXT("guess", rate=percent(guess["observed"]))
    status = now["status"]
    if status != OK:
        return f"{text} {TEXT(f'statuses.{status}')}"
    if len(beyond):
        last = beyond.iloc[-1]
        fields = {"rate": percent(last["estimate"]), "interval": span(last["low"], last["high"])}
        text += " " + TEXT("then", times=multiple(last["times"]), size=count(last["n_eif"]), **fields)
    if len(further):
        last = further.iloc[-1]
        text += " " + TEXT("guessed", level=declared(results.level), interval=span(last["low"], last["high"]))
    if (lines["status"] == BEYOND).any():
        text += " " + TEXT(f"statuses.{BEYOND}")
    return text


@block(LARGER)
def larger_table(results: Results) -> str:
    """Return the rates by the size of the file: observed up to the intruder's file, estimated beyond it."""
    lines = results.table(LARGER)
    lines = lines.assign(shown=lines["observed"].where(lines["observed"].notna(), lines["estimate"]))
    sizes = lines[lines["quantity"] == CONFIRMED]
    keys = [(line.metric, line.times) for line in sizes.itertuples()]
    by_quantity = {
        quantity: rows.set_index(["metric", "times"]).reindex(keys) for quantity, rows in lines.groupby("quantity")
    }

    def column(quantity: str, heading: str, width: str = "1fr") -> ReportColumn:
        return ReportColumn(heading, rates(by_quantity[quantity]["shown"]), width=width)

    def interval(quantity: str) -> ReportColumn:
        ends = by_quantity[quantity][["low", "high"]].to_numpy()
        cells = [without_unit(span(*pair)) for pair in ends]
        return ReportColumn(TEXT("table.columns.interval", level=declared(results.level)), cells, width="1.2fr")

    return table(
        TEXT("table.caption", level=declared(results.level), file=LARGER),
        ReportColumn(HEADING("metric"), without_repeats(metric_cells(sizes["metric"])), "l"),
        ReportColumn(TEXT("table.columns.times"), [multiple(times) for times in sizes["times"]]),
        ReportColumn(TEXT("table.columns.size"), count_cells(sizes["n_eif"])),
        column(CONFIRMED, HEADING("confirmed_rate")),
        interval(CONFIRMED),
        column(GUESSED, TEXT("table.columns.guess"), "1.3fr"),
        interval(GUESSED),
        column("suspected_rate", HEADING("suspected_rate")),
        column("conditional_rate", HEADING("conditional_rate")),
        column("expected_correct_rate", HEADING("expected_correct")),
        kind="compact",
    )


QUANTITIES = (CONFIRMED, GUESSED)
TICKS = (1 / 16, 1 / 4, 1)
"""The parts of the intruder's file that are named on the axis, beside the larger files."""

BESIDE = 1.04
"""The factor by which the interval of a metric is beside that of the metric before it."""


@block(LARGER)
def larger_curves_figure(results: Results) -> Figure:
    """Draw the observed rates as dots, estimated confirmed rates from the file on as lines, and intervals as bars.

    The estimate of the best guess can be far off near the whole population: it is drawn by its interval alone.
    """
    every = {
        quantity: {metric: curve(results, metric, quantity) for metric in results.metrics} for quantity in QUANTITIES
    }
    sizes = sorted({times for lines in every[CONFIRMED].values() for times in lines["times"] if times > 1})

    def draw(quantity: str, axes: Axes) -> None:
        for at, metric in enumerate(results.metrics):
            _draw(axes, results, metric, quantity, BESIDE ** (at - (len(results.metrics) - 1) / 2))
        values = [lines[name] for lines in every[quantity].values() for name in ("observed", "high")]
        style.share_axis(axes, top_of([value for column in values for value in column.dropna()], None))
        axes.axvline(1, color=style.RULE, linewidth=1, zorder=0)
        axes.set_xscale("log")
        ticks = [*TICKS, *_apart(sizes)]
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticklabels([multiple(times) for times in ticks])
        axes.set_xlabel(TEXT("figure.x"))

    panels = {TEXT(f"figure.quantities.{quantity}"): partial(draw, quantity) for quantity in every}
    alt, caption = _alt(results), TEXT("figure.caption")
    return style.figure(panels, across=1, height=2.7, key=True, alt=alt, caption=caption)


def _draw(axes: Axes, results: Results, metric: str, quantity: str, beside: float) -> None:
    """Draw a quantity of a metric, its intervals beside those of others by this factor."""
    lines, beyond = curve(results, metric, quantity), extrapolated(results, metric, quantity)
    colour, marker = style.LINES.get(metric, (style.MUTED, "o"))
    look: Look = {"color": colour, "markersize": 3.6, "zorder": 4, "label": title(metric)}
    axes.plot(lines["times"], lines["observed"], marker, **look)
    if quantity == CONFIRMED:
        fitted = lines[(lines["times"] >= 1) & lines["estimate"].notna()]
        axes.plot(fitted["times"], fitted["estimate"], color=colour, linewidth=1.2, zorder=3)
    bar: Look = {"color": colour, "linewidth": 4, "alpha": 0.3, "zorder": 2}
    axes.vlines(beyond["times"] * beside, beyond["low"], beyond["high"], **bar)


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
