"""Draw rates by metric and by rank limit (METHODS §5, §6)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes

from reident.report.layers import Places, own, path, words
from reident.report.layout import part
from reident.report.live import states
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    AMBIGUOUS,
    CONFIRMED,
    INK,
    LIMIT,
    LINES,
    MUTED,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    figure,
    letters,
    percent_axis,
    rows,
    share_axis,
)
from reident.report.tables.patterns import limits
from reident.report.titles import title
from reident.report.wording import UNDEFINED, declared, defined, inside, percent, span

TEXT = Sentences("rates")
PATTERNS = Sentences("patterns")
KEY_PAD = 18
"""Points between an axis and its title, which leave room for a legend."""

FULL = 1.02
"""The end of an axis of shares that goes to 100 %."""

MARGIN = 1.08
"""Length of an axis relative to its largest value."""

DASHED: Look = {"color": LIMIT, "linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 1}
"""The line of the limit."""


def panels() -> dict[str, str]:
    """Return the titles of the panels, by column of the rates."""
    return PATTERNS.group("rank_limit.figure.panels")


def top_of(values: list[float], limit: float | None) -> float:
    """Return the end of an axis of shares that shows these values and the limit."""
    known = [value for value in [*values, limit] if value is not None and defined(value)]
    return max(0.004, min(1.04, MARGIN * max(known, default=0.1)))


@part("rates.csv")
def rates_by_metric(results: Results) -> Figure | None:
    """Draw the outcome of the released records, and the conditional rate with interval, baseline and limit."""
    whole = results.whole
    if not (whole["n_suspected"] + whole["n_ambiguous"]).any():
        return None

    at = states(results, whole.reset_index())

    def draw(sheet: Sheet) -> None:
        _outcome(sheet.panels[0], whole)
        _conditional(sheet.panels[1], whole, results.limit)
        rows(sheet.panels[0], [title(metric) for metric in results.metrics], letters(sheet))
        sheet.keys()

    caption = TEXT("by_metric.figure.caption", level=declared(results.level))
    if results.limit is not None:
        caption += f" {TEXT('by_metric.figure.limit')}"
    return figure(
        draw,
        panels=2,
        height=0.85 + 0.34 * len(whole),
        alt=_rates_alt(results, at.own),
        caption=caption,
        across=1,
        between=0.06,
        name="rates-by-metric-figure",
        layers=lambda sheet: [_marks(sheet, lines) for lines in at.at],
        alts=[_rates_alt(results, lines) for lines in at.at],
        sharey=True,
        width_ratios=[1.15, 1],
    )


HATCH = "#b5ad9a"
BAR = 0.56
"""The height of a bar, in rows."""

PARTS: dict[str, Look] = {
    "confirmed": {"color": CONFIRMED, "edgecolor": "white"},
    "suspected_only": {"color": SUSPECTED, "edgecolor": "white"},
    "ambiguous": {"color": AMBIGUOUS, "edgecolor": HATCH, "hatch": "////"},
}
"""The parts of a bar, from the left."""


def _parts(lines: pd.DataFrame) -> Iterator[tuple[str, pd.Series, pd.Series]]:
    """Yield each part of the bars: its name, where it starts, and its length, as shares of the released records."""
    records = {
        "confirmed": lines["n_confirmed"],
        "suspected_only": lines["n_suspected"] - lines["n_confirmed"],
        "ambiguous": lines["n_ambiguous"],
    }
    start = 0 * lines["n_puf"]
    for name in PARTS:
        share = records[name] / lines["n_puf"]
        yield name, start, share
        start = start + share


def _outcome(axes: Axes, whole: pd.DataFrame) -> None:
    for name, start, share in _parts(whole):
        bars = axes.barh(
            range(len(whole)),
            share,
            left=start,
            label=TEXT(f"by_metric.figure.{name}"),
            height=BAR,
            linewidth=0.4,
            **PARTS[name],
        )
        own(bars, name)
    percent_axis(axes, 1.0)
    axes.set_title(TEXT("by_metric.figure.outcome"), pad=KEY_PAD)


def _conditional(axes: Axes, whole: pd.DataFrame, limit: float | None) -> None:
    at = [place for place, n in enumerate(whole["n_suspected"]) if n]
    known = whole.iloc[at]
    ends = known["conditional_low"], known["conditional_high"]
    bands = axes.hlines(
        at, *ends, color=SUSPECTED, linewidth=5, zorder=2, label=TEXT("by_metric.figure.interval")
    )
    dots = axes.plot(
        known["conditional_rate"],
        at,
        "o",
        color=CONFIRMED,
        markersize=5,
        zorder=4,
        label=TEXT("by_metric.figure.rate"),
    )
    hollow: Look = {
        "color": "white",
        "markeredgecolor": MUTED,
        "markersize": 3.8,
        "zorder": 3,
        "clip_on": False,
    }
    diamonds = axes.plot(known["baseline_rate"], at, "D", label=TEXT("by_metric.figure.baseline"), **hollow)
    own([bands, *dots, *diamonds], "rate")
    aligned: Look = {"va": "center", "in_layout": False}
    beside, nothing = axes.get_yaxis_transform(), TEXT("by_metric.figure.nothing_suspected")
    for place, line in enumerate(whole.itertuples()):
        if line.n_suspected:
            text = axes.text(
                1,
                place,
                percent(line.conditional_rate),
                transform=beside,
                ha="right",
                fontweight="bold",
                **aligned,
            )
        else:
            text = axes.text(0.02, place, f"{UNDEFINED}  {nothing}", transform=beside, color=MUTED, **aligned)
        own([text], f"text-{place}")
    percent_axis(axes, 1.22)  # the rates are written beyond 100 %
    limit_line(axes, limit, at_top=False)
    axes.set_title(TEXT("by_metric.figure.conditional"), pad=KEY_PAD)


HATCHING = (
    "<pattern id='hatch' width='4.5' height='4.5' patternUnits='userSpaceOnUse'>"
    f"<rect width='4.5' height='4.5' style='fill:{AMBIGUOUS}'/>"
    f"<path d='M-1 1l2 -2M0 4.5l4.5 -4.5M3.5 5.5l2 -2' style='stroke:{HATCH};stroke-width:.5'/></pattern>"
)
"""What fills the bars of ambiguous records in a layer, as in the drawing."""


def _marks(sheet: Sheet, lines: pd.DataFrame) -> str:
    """Return the bars and dots of the figure for other lines."""
    outcome, rate = (Places(axes) for axes in sheet.panels)
    looks: dict[str, Look] = {
        "confirmed": {"fill": CONFIRMED},
        "suspected_only": {"fill": SUSPECTED},
        "ambiguous": {"fill": "url(#hatch)", "stroke": HATCH, "stroke_width": 0.4},
    }
    marks = [
        path(
            (
                outcome.bar(a, a + b, row, BAR)
                for row, (a, b) in enumerate(zip(start, share, strict=True))
                if b
            ),
            **looks[name],
        )
        for name, start, share in _parts(lines)
    ]
    rates = ["conditional_rate", "conditional_low", "conditional_high", "baseline_rate"]
    rows = list(enumerate(lines[rates].itertuples()))
    known = [(row, line) for row, line in rows if defined(line.conditional_rate)]
    marks += [
        path(
            (
                rate.line(line.conditional_low, line.conditional_high, row)
                for row, line in known
                if defined(line.conditional_low)
            ),
            stroke=SUSPECTED,
            stroke_width=5,
        ),
        path(
            (
                rate.diamond(line.baseline_rate, row, 3.8)
                for row, line in known
                if defined(line.baseline_rate)
            ),
            fill="white",
            stroke=MUTED,
        ),
        path(
            (rate.dot(line.conditional_rate, row) for row, line in known),
            stroke=CONFIRMED,
            stroke_width=6,
            stroke_linecap="round",
        ),
    ]
    nothing = TEXT("by_metric.figure.nothing_suspected")
    for row, line in rows:
        y = rate.y(row) + 2.7
        marks.append(
            words(
                percent(line.conditional_rate),
                rate.right,
                y,
                text_anchor="end",
                font_weight="bold",
                **LETTERS,
            )
            if defined(line.conditional_rate)
            else words(f"{UNDEFINED}  {nothing}", rate.left + 3, y, **LETTERS)
        )
    return HATCHING + "".join(marks)


LETTERS: Look = {"font_family": "DejaVu Sans, Verdana, sans-serif", "font_size": "7.5px", "fill": INK}
"""The letters of a layer, like those of the drawings."""


def limit_line(axes: Axes, limit: float | None, *, at_top: bool = True) -> None:
    """Draw the limit of the decision as a dashed line with its name at the top or at the foot of the axes."""
    if limit is None:
        return
    axes.axvline(limit, **DASHED)
    side = 1 if limit < 0.6 * axes.get_xlim()[1] else -1  # the name goes where there is room
    axes.annotate(
        TEXT("by_metric.figure.line", limit=declared(limit)),
        (limit, 1 if at_top else 0),
        xycoords=("data", "axes fraction"),
        xytext=(2 * side, 2),
        textcoords="offset points",
        ha="left" if side > 0 else "right",
        va="bottom",
        color=LIMIT,
        fontsize=6.5,
    )


def _rates_alt(results: Results, lines: pd.DataFrame) -> str:
    texts = [TEXT("by_metric.figure.alt.start")]
    for _, line in lines.iterrows():
        texts.append(
            TEXT(
                "by_metric.figure.alt.shares",
                metric=title(line["metric"]),
                suspected=percent(line["suspected_rate"]),
                confirmed=percent(line["confirmed_rate"]),
                ambiguous=percent(line["n_ambiguous"] / line["n_puf"]),
            )
        )
        if defined(line["conditional_rate"]) and not defined(line["conditional_low"]):
            texts.append(TEXT("by_metric.figure.alt.rate_alone", rate=percent(line["conditional_rate"])))
        elif defined(line["conditional_rate"]):
            rate, baseline = percent(line["conditional_rate"]), percent(line["baseline_rate"])
            interval = span(line["conditional_low"], line["conditional_high"])
            texts.append(TEXT("by_metric.figure.alt.rate", rate=rate, interval=interval, baseline=baseline))
        else:
            texts.append(TEXT("by_metric.figure.alt.undefined"))
    if results.limit is not None:
        texts.append(TEXT("by_metric.figure.alt.limit", limit=declared(results.limit)))
    return " ".join(texts)


@part("rates.csv")
def rank_limit(results: Results) -> Figure | None:
    """Draw the rates of the ranked metrics by rank limit."""
    lines = limits(results)
    if not lines["n_suspected"].any():
        return None

    def draw(sheet: Sheet) -> None:
        for axes, (column, name) in zip(sheet.panels, panels().items(), strict=True):
            _curves(axes, lines, column, results)
            axes.set_title(name)
        if results.limit is not None:
            sheet.panels[-1].axhline(results.limit, **DASHED)
        sheet.key()
        sheet.drawn.supxlabel(PATTERNS("rank_limit.figure.axis"), fontsize=7.5, color=MUTED)

    caption = PATTERNS("rank_limit.figure.caption", max=int(lines["max_pairs"].max()))
    if results.limit is not None:
        caption += f" {PATTERNS('rank_limit.figure.limit')}"
    caption += f" {PATTERNS('rank_limit.figure.claims')}"
    last = int(lines["max_pairs"].max())
    return figure(
        draw,
        panels=len(panels()),
        height=2.15,
        alt=_limit_alt(results, lines),
        caption=caption,
        across=1,
        between=0.04,
        name="rates-by-rank-limit",
        layers=lambda sheet: [_bands(sheet, limit) for limit in range(1, last + 1)] if last > 1 else [],
    )


BAND = 0.4
"""Half the width of the band that marks a rank limit, in rank limits."""


def _bands(sheet: Sheet, limit: int) -> str:
    """Return the bands that mark a rank limit, which the lines below shine through."""
    all_places = [Places(axes) for axes in sheet.panels]
    bands = (places.bar(limit - BAND, limit + BAND, FULL / 2, FULL) for places in all_places)
    return path(bands, fill=INK, fill_opacity=0.1)


def _curves(axes: Axes, lines: pd.DataFrame, column: str, results: Results) -> None:
    last = int(lines["max_pairs"].max())
    ends = results.max_pairs - BAND, results.max_pairs + BAND
    own([axes.axvspan(*ends, color="#e9ecef", linewidth=0, zorder=0)], column)
    for metric in results.ranked:
        by_limit = lines[lines["metric"] == metric]
        colour, marker = LINES.get(metric, (MUTED, "o"))
        look: Look = {"color": colour, "marker": marker, "markersize": 2.6, "linewidth": 1.2}
        axes.plot(by_limit["max_pairs"], by_limit[column], label=title(metric), **look)
    share_axis(axes, FULL)
    axes.set_xlim(0.3, last + 0.7)
    axes.set_xticks(
        sorted({1, results.max_pairs, *range(5, last + 1, 5)} if last > 5 else range(1, last + 1))
    )


def _limit_alt(results: Results, lines: pd.DataFrame) -> str:
    texts = [PATTERNS("rank_limit.figure.alt.start")]
    limits_ = sorted({1, results.max_pairs, int(lines["max_pairs"].max())})
    for metric in results.ranked:
        by_limit = lines[lines["metric"] == metric].set_index("max_pairs")
        for column, name in panels().items():
            points = [
                PATTERNS("rank_limit.figure.alt.point", share=percent(by_limit.at[at, column]), limit=at)
                for at in limits_
                if at in by_limit.index
            ]
            fields = {"metric": title(metric), "rate": inside(name), "points": ", ".join(points)}
            texts.append(PATTERNS("rank_limit.figure.alt.line", **fields))
    return " ".join(texts)
