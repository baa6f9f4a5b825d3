"""Figures of rates: by metric, and by rank limit (METHODS §5, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.report.figures.style import (
    AMBIGUOUS,
    CONFIRMED,
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
from reident.report.layout import part
from reident.report.results import Results, title
from reident.report.tables.patterns import limits
from reident.report.wording import UNDEFINED, declared, defined, percent, span

KEY_PAD = 18
"""Points between an axis and its title, with room for a legend."""

ROOM = 1.08
"""How far an axis goes beyond its largest value."""

BROKEN: Look = {"color": LIMIT, "linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 1}
"""The line of the limit."""

PANELS = {
    "suspected_rate": "Suspected rate",
    "confirmed_rate": "Confirmed rate",
    "conditional_rate": "Conditional rate",
}


def top_of(values: list[float], limit: float | None) -> float:
    """The end of an axis of shares that holds these values and the limit."""
    known = [value for value in [*values, limit] if value is not None and defined(value)]
    return max(0.004, min(1.04, ROOM * max(known, default=0.1)))


@part("rates.csv")
def rates_by_metric(results: Results) -> Figure | None:
    """What becomes of the released records, and the conditional rate with interval, baseline and limit."""
    whole = results.whole
    if not (whole["n_suspected"] + whole["n_ambiguous"]).any():
        return None

    def draw(sheet: Sheet) -> None:
        _outcome(sheet.panels[0], whole)
        _conditional(sheet.panels[1], whole, results.limit)
        rows(sheet.panels[0], [title(metric) for metric in results.metrics], letters(sheet))
        sheet.keys()

    caption = (
        "What becomes of the released records; and the conditional rate (dot) with its "
        f"{declared(results.level)} interval (band) and the baseline of drawing at random (diamond)."
    )
    if results.limit is not None:
        caption += " The broken line is the limit."
    return figure(
        draw,
        panels=2,
        height=0.85 + 0.34 * len(whole),
        alt=_rates_alt(results),
        caption=caption,
        across=1,
        between=0.06,
        sharey=True,
        width_ratios=[1.15, 1],
    )


def _outcome(axes: Axes, whole: pd.DataFrame) -> None:
    n = whole["n_puf"]
    start = 0 * n
    parts: tuple[tuple[str, pd.Series, Look], ...] = (
        ("confirmed", whole["n_confirmed"], {"color": CONFIRMED, "edgecolor": "white"}),
        (
            "suspected only",
            whole["n_suspected"] - whole["n_confirmed"],
            {"color": SUSPECTED, "edgecolor": "white"},
        ),
        ("ambiguous", whole["n_ambiguous"], {"color": AMBIGUOUS, "edgecolor": "#b5ad9a", "hatch": "////"}),
    )
    for name, records, look in parts:
        axes.barh(range(len(whole)), records / n, left=start, height=0.56, linewidth=0.4, label=name, **look)
        start = start + records / n
    percent_axis(axes, min(1.0, 1.06 * float(start.max()) or 0.1))
    axes.set_title("What becomes of the released records", pad=KEY_PAD)


def _conditional(axes: Axes, whole: pd.DataFrame, limit: float | None) -> None:
    top = top_of(list(whole["conditional_high"]), limit)
    at = [place for place, n in enumerate(whole["n_suspected"]) if n]
    known = whole.iloc[at]
    ends = known["conditional_low"], known["conditional_high"]
    axes.hlines(at, *ends, color=SUSPECTED, linewidth=5, zorder=2, label="interval")
    axes.plot(known["conditional_rate"], at, "o", color=CONFIRMED, markersize=5, zorder=4, label="rate")
    hollow: Look = {
        "color": "white",
        "markeredgecolor": MUTED,
        "markersize": 3.8,
        "zorder": 3,
        "clip_on": False,
    }
    axes.plot(known["baseline_rate"], at, "D", label="baseline", **hollow)
    aligned: Look = {"va": "center", "in_layout": False}
    beside = axes.get_yaxis_transform()
    for place, line in enumerate(whole.itertuples()):
        if line.n_suspected:
            axes.text(
                1,
                place,
                percent(line.conditional_rate),
                transform=beside,
                ha="right",
                fontweight="bold",
                **aligned,
            )
        else:
            axes.text(
                0.02, place, f"{UNDEFINED}  nothing suspected", transform=beside, color=MUTED, **aligned
            )
    percent_axis(axes, 1.22 * top)
    limit_line(axes, limit, at_top=False)
    axes.set_title("Conditional rate", pad=KEY_PAD)


def limit_line(axes: Axes, limit: float | None, *, at_top: bool = True) -> None:
    """The limit of the decision as a broken line with its name, above the axes or at their foot."""
    if limit is None:
        return
    axes.axvline(limit, **BROKEN)
    side = 1 if limit < 0.6 * axes.get_xlim()[1] else -1  # of the line, where there is room
    axes.annotate(
        f"limit {declared(limit)}",
        (limit, 1 if at_top else 0),
        xycoords=("data", "axes fraction"),
        xytext=(2 * side, 2),
        textcoords="offset points",
        ha="left" if side > 0 else "right",
        va="bottom",
        color=LIMIT,
        fontsize=6.5,
    )


def _rates_alt(results: Results) -> str:
    said = ["Bars and dots by metric."]
    for metric, line in results.whole.iterrows():
        text = (
            f"{title(str(metric))}: {percent(line['suspected_rate'])} of the released records suspected, "
            f"{percent(line['confirmed_rate'])} confirmed, {percent(line['n_ambiguous'] / line['n_puf'])} ambiguous; "
        )
        if defined(line["conditional_rate"]):
            ends = span(line["conditional_low"], line["conditional_high"])
            text += (
                f"conditional rate {percent(line['conditional_rate'])}, interval {ends}, "
                f"baseline {percent(line['baseline_rate'])}."
            )
        else:
            text += "conditional rate not defined."
        said.append(text)
    if results.limit is not None:
        said.append(f"The limit is {declared(results.limit)}.")
    return " ".join(said)


@part("rates.csv")
def rank_limit(results: Results) -> Figure | None:
    """The rates of the ranked metrics as functions of the rank limit."""
    found = limits(results)
    if not found["n_suspected"].any():
        return None

    def draw(sheet: Sheet) -> None:
        for axes, (column, name) in zip(sheet.panels, PANELS.items(), strict=True):
            _curves(axes, found, column, results)
            axes.set_title(name)
        if results.limit is not None:
            sheet.panels[-1].axhline(results.limit, **BROKEN)
        sheet.key()
        sheet.drawn.supxlabel("rank limit: most pairs per record", fontsize=7.5, color=MUTED)

    caption = (
        f"Rates by rank limit, from 1 to {int(found['max_pairs'].max())} pairs per record. The grey stripe is the "
        "limit in force."
    )
    if results.limit is not None:
        caption += " The broken line is the limit of the conditional rate."
    alt = _limit_alt(results, found)
    return figure(draw, panels=3, height=2.15, alt=alt, caption=caption, across=1, between=0.04)


def _curves(axes: Axes, found: pd.DataFrame, column: str, results: Results) -> None:
    last = int(found["max_pairs"].max())
    axes.axvspan(results.max_pairs - 0.4, results.max_pairs + 0.4, color="#e9ecef", linewidth=0, zorder=0)
    for metric in results.ranked:
        own = found[found["metric"] == metric]
        colour, marker = LINES.get(metric, (MUTED, "o"))
        look: Look = {"color": colour, "marker": marker, "markersize": 2.6, "linewidth": 1.2}
        axes.plot(own["max_pairs"], own[column], label=title(metric), **look)
    share_axis(axes, top_of(list(found[column]), results.limit if column == "conditional_rate" else None))
    axes.set_xlim(0.3, last + 0.7)
    axes.set_xticks(
        sorted({1, results.max_pairs, *range(5, last + 1, 5)} if last > 5 else range(1, last + 1))
    )


def _limit_alt(results: Results, found: pd.DataFrame) -> str:
    said = ["Lines by rank limit."]
    for metric in results.ranked:
        own = found[found["metric"] == metric].set_index("max_pairs")
        shown = [
            at for at in sorted({1, results.max_pairs, int(found["max_pairs"].max())}) if at in own.index
        ]
        for column, name in PANELS.items():
            ends = ", ".join(f"{percent(own.at[at, column])} at {at}" for at in shown)
            said.append(f"{title(metric)}, {name.lower()}: {ends}.")
    return " ".join(said)
