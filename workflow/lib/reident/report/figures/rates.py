"""Draw rates by metric and by rank limit (METHODS §5, §6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
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
            "suspected_only",
            whole["n_suspected"] - whole["n_confirmed"],
            {"color": SUSPECTED, "edgecolor": "white"},
        ),
        ("ambiguous", whole["n_ambiguous"], {"color": AMBIGUOUS, "edgecolor": "#b5ad9a", "hatch": "////"}),
    )
    for name, records, look in parts:
        axes.barh(
            range(len(whole)),
            records / n,
            left=start,
            label=TEXT(f"by_metric.figure.{name}"),
            height=0.56,
            linewidth=0.4,
            **look,
        )
        start = start + records / n
    percent_axis(axes, 1.0)
    axes.set_title(TEXT("by_metric.figure.outcome"), pad=KEY_PAD)


def _conditional(axes: Axes, whole: pd.DataFrame, limit: float | None) -> None:
    at = [place for place, n in enumerate(whole["n_suspected"]) if n]
    known = whole.iloc[at]
    ends = known["conditional_low"], known["conditional_high"]
    axes.hlines(at, *ends, color=SUSPECTED, linewidth=5, zorder=2, label=TEXT("by_metric.figure.interval"))
    axes.plot(
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
    axes.plot(known["baseline_rate"], at, "D", label=TEXT("by_metric.figure.baseline"), **hollow)
    aligned: Look = {"va": "center", "in_layout": False}
    beside, nothing = axes.get_yaxis_transform(), TEXT("by_metric.figure.nothing_suspected")
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
            axes.text(0.02, place, f"{UNDEFINED}  {nothing}", transform=beside, color=MUTED, **aligned)
    percent_axis(axes, 1.22)  # the rates are written beyond 100 %
    limit_line(axes, limit, at_top=False)
    axes.set_title(TEXT("by_metric.figure.conditional"), pad=KEY_PAD)


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


def _rates_alt(results: Results) -> str:
    texts = [TEXT("by_metric.figure.alt.start")]
    for metric, line in results.whole.iterrows():
        texts.append(
            TEXT(
                "by_metric.figure.alt.shares",
                metric=title(str(metric)),
                suspected=percent(line["suspected_rate"]),
                confirmed=percent(line["confirmed_rate"]),
                ambiguous=percent(line["n_ambiguous"] / line["n_puf"]),
            )
        )
        if defined(line["conditional_rate"]):
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
    alt = _limit_alt(results, lines)
    return figure(draw, panels=len(panels()), height=2.15, alt=alt, caption=caption, across=1, between=0.04)


def _curves(axes: Axes, lines: pd.DataFrame, column: str, results: Results) -> None:
    last = int(lines["max_pairs"].max())
    axes.axvspan(results.max_pairs - 0.4, results.max_pairs + 0.4, color="#e9ecef", linewidth=0, zorder=0)
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
