"""Figures of rates: by metric, and by rank limit (METHODS §5, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.figures.style import (
    AMBIGUOUS,
    CONFIRMED,
    LIMIT,
    LINES,
    MUTED,
    SUSPECTED,
    Figure,
    apart,
    drawing,
    finish,
    key,
    percent_axis,
    percent_tick,
    rows,
    shared_key,
)
from reident.tables.layout import part
from reident.tables.patterns import limits
from reident.tables.results import Results, title
from reident.tables.wording import UNDEFINED, declared, defined, percent, span

KEY_PAD = 18
"""Points between an axis and its title, with room for a legend."""

ROOM = 1.08
"""How far an axis goes beyond its largest value."""


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
    names = [title(metric) for metric in results.metrics]
    with drawing(0.85 + 0.34 * len(names)) as drawn:
        left, right = drawn.subplots(1, 2, sharey=True, width_ratios=[1.15, 1])
        _outcome(left, whole)
        _conditional(right, whole, results.limit)
        rows(left, names)
        for axes in (left, right):
            key(axes)
        apart(drawn)
        return finish(drawn, _rates_alt(results), _rates_caption(results))


def _outcome(axes: Axes, whole: pd.DataFrame) -> None:
    n = whole["n_puf"]
    parts = [
        ("confirmed", whole["n_confirmed"] / n, CONFIRMED, None),
        ("suspected, not confirmed", (whole["n_suspected"] - whole["n_confirmed"]) / n, SUSPECTED, None),
        ("ambiguous", whole["n_ambiguous"] / n, AMBIGUOUS, "////"),
    ]
    start = 0 * n
    for name, share, colour, hatch in parts:
        axes.barh(
            range(len(whole)), share, left=start, height=0.56, color=colour, hatch=hatch, label=name,
            edgecolor="white" if hatch is None else "#b5ad9a", linewidth=0.4,
        )  # fmt: skip
        start = start + share
    percent_axis(axes, min(1.0, 1.06 * float(start.max()) or 0.1))
    axes.set_title("What becomes of the released records", pad=KEY_PAD)


def _conditional(axes: Axes, whole: pd.DataFrame, limit: float | None) -> None:
    top = top_of(list(whole["conditional_high"]), limit)
    known = whole[whole["n_suspected"] > 0]
    at = [list(whole.index).index(metric) for metric in known.index]
    axes.hlines(
        at,
        known["conditional_low"],
        known["conditional_high"],
        color=SUSPECTED,
        linewidth=5,
        zorder=2,
        label="interval",
    )
    axes.plot(known["conditional_rate"], at, "o", color=CONFIRMED, markersize=5, zorder=4, label="rate")
    axes.plot(
        known["baseline_rate"], at, "D", color="white", markeredgecolor=MUTED, markersize=3.8, zorder=3, clip_on=False,
        label="baseline",
    )  # fmt: skip
    for place, rate in zip(at, known["conditional_rate"], strict=True):
        axes.text(
            1,
            place,
            percent(rate),
            transform=axes.get_yaxis_transform(),
            ha="right",
            va="center",
            fontweight="bold",
        )
    for place, n in enumerate(whole["n_suspected"]):
        if not n:
            axes.text(
                0.01 * top,
                place,
                f"{UNDEFINED}  nothing suspected",
                va="center",
                color=MUTED,
                in_layout=False,
            )
    percent_axis(axes, 1.22 * top)
    limit_line(axes, limit, at_top=False)
    axes.set_title("Conditional rate", pad=KEY_PAD)


def limit_line(axes: Axes, limit: float | None, *, at_top: bool = True) -> None:
    """The limit of the decision as a broken line with its name, above the axes or at their foot."""
    if limit is None:
        return
    axes.axvline(limit, color=LIMIT, linewidth=1.1, linestyle=(0, (4, 2)), zorder=1)
    left = limit < 0.6 * axes.get_xlim()[1]  # on the side of the line that has room
    axes.annotate(
        f"limit {declared(limit)}", (limit, 1 if at_top else 0), xycoords=("data", "axes fraction"),
        xytext=(2 if left else -2, 2), textcoords="offset points", color=LIMIT, fontsize=6.5, va="bottom",
        ha="left" if left else "right",
    )  # fmt: skip


def _rates_caption(results: Results) -> str:
    text = (
        "Left, what becomes of the released records; right, the conditional rate (dot) with its "
        f"{declared(results.level)} interval (band) and the baseline of drawing at random (diamond)."
    )
    return text if results.limit is None else f"{text} The broken line is the limit."


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
    panels = [
        ("suspected_rate", "Suspected rate"),
        ("confirmed_rate", "Confirmed rate"),
        ("conditional_rate", "Conditional rate"),
    ]
    with drawing(2.15) as drawn:
        apart(drawn, 0.04)
        for axes, (column, name) in zip(drawn.subplots(1, 3), panels, strict=True):
            _curves(axes, found, column, results)
            axes.set_title(name)
            if column == "conditional_rate" and results.limit is not None:
                axes.axhline(results.limit, color=LIMIT, linewidth=1.1, linestyle=(0, (4, 2)), zorder=1)
        shared_key(drawn, drawn.axes[0])
        drawn.supxlabel("rank limit: most pairs per record", fontsize=7.5, color=MUTED)
        caption = (
            f"Rates by rank limit, from 1 to {int(found['max_pairs'].max())} pairs per record. The grey stripe is the "
            "limit in force."
        )
        if results.limit is not None:
            caption += " The broken line is the limit of the conditional rate."
        return finish(drawn, _limit_alt(results, found), caption)


def _curves(axes: Axes, found: pd.DataFrame, column: str, results: Results) -> None:
    last = int(found["max_pairs"].max())
    axes.axvspan(results.max_pairs - 0.4, results.max_pairs + 0.4, color="#e9ecef", linewidth=0, zorder=0)
    for metric in results.ranked:
        own = found[found["metric"] == metric]
        colour, marker, stroke = LINES.get(metric, (MUTED, "o", "-"))
        axes.plot(
            own["max_pairs"], own[column], color=colour, marker=marker, markersize=2.6, linewidth=1.2,
            linestyle=stroke, label=title(metric),
        )  # fmt: skip
    known = [value for value in found[column] if defined(value)]
    share_axis(axes, top_of(known, results.limit if column == "conditional_rate" else None))
    axes.set_xlim(0.3, last + 0.7)
    axes.set_xticks(
        sorted({1, results.max_pairs, *range(5, last + 1, 5)} if last > 5 else range(1, last + 1))
    )


def share_axis(axes: Axes, top: float) -> None:
    """An upright axis of shares from 0 to `top`."""
    axes.set_ylim(0, top)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    axes.tick_params(axis="y", labelsize=7, labelcolor=MUTED)
    axes.grid(visible=True, axis="y")


def _limit_alt(results: Results, found: pd.DataFrame) -> str:
    said = ["Lines by rank limit."]
    for metric in results.ranked:
        own = found[found["metric"] == metric].set_index("max_pairs")
        for column, name in (
            ("suspected_rate", "suspected"),
            ("confirmed_rate", "confirmed"),
            ("conditional_rate", "conditional"),
        ):
            ends = ", ".join(
                f"{percent(own.at[at, column])} at {at}"
                for at in sorted({1, results.max_pairs, int(own.index.max())})
                if at in own.index
            )
            said.append(f"{title(metric)}, {name} rate: {ends}.")
    return " ".join(said)
