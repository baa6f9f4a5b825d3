"""Figures of matching-based risk: by intruder, by number of matches, by set of known variables (METHODS §8)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.report.figures.rates import limit_line, top_of
from reident.report.layout import part
from reident.report.nouns import some
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    INK,
    MUTED,
    RULE,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    count_axis,
    figure,
    height_of,
    letters,
    percent_axis,
    rows,
)
from reident.report.tables.common import size_tick
from reident.report.tables.matching import (
    CONFIDENTIAL,
    DISTRIBUTION,
    LIMITS,
    MEAN,
    POOLED,
    SCENARIOS,
    by_intruder,
    first_intruder,
    limited_summary,
    limits,
    pooled,
    summary_name,
    synthetic_files,
)
from reident.report.tables.matching_sets import (
    about_first,
    all_sets,
    by_class,
    listed_intruders,
    short_name,
)
from reident.report.wording import count, inside, percent, shorten

SUMMARIES = tuple(map(limited_summary, LIMITS))
"""The three summaries, each of which has a panel."""

TOGETHER = "together"
"""All synthetic files used together, among the files."""

MAX_LETTERS = 34
"""Letters of a set's name that fit beside its dot."""

TEXT = Sentences("matching")


@part(SCENARIOS, DISTRIBUTION, POOLED)
def matching_summaries(results: Results) -> Figure:
    """Draw the three summaries by intruder: every file, the mean of the synthetic ones, and all of them together."""
    intruders = listed_intruders(results) or [first_intruder(results)]
    lines = {file: by_intruder(results, file) for file in [*synthetic_files(results), MEAN, CONFIDENTIAL]}
    if len(lines) > 3:
        lines[TOGETHER] = pooled(results)
    shares = {file: _shares(own.loc[intruders]) for file, own in lines.items()}
    limit = _limits(results)

    def draw(sheet: Sheet) -> None:
        for axes, summary in zip(sheet.panels, SUMMARIES, strict=True):
            _dots(axes, {file: lines[summary] for file, lines in shares.items()})
            values = pd.concat([lines[summary] for lines in shares.values()]).dropna()
            percent_axis(axes, top_of(list(values), limit.get(summary)), 3)
            limit_line(axes, limit.get(summary), at_top=True)
            axes.set_title(summary_name(summary), pad=14 if limit else 7)
        for axes in sheet.left():
            rows(axes, [short_name(intruder) for intruder in intruders], letters(sheet))
        sheet.key()

    caption = TEXT("summaries.figure.caption")
    if TOGETHER in shares:
        caption = TEXT("summaries.figure.caption_pooled", caption=caption)
    return figure(
        draw,
        panels=3,
        height=0.45 + height_of(len(intruders)),
        alt=TEXT(
            "summaries.figure.alt", intruders=" ".join(_described(shares, intruder) for intruder in intruders)
        ),
        caption=TEXT("summaries.figure.caption_limits", caption=caption) if limit else caption,
        across=1,
        between=0.05,
        sharey=True,
    )


def _shares(lines: pd.DataFrame) -> pd.DataFrame:
    """Return summaries with the expected match risk as a share of the targets."""
    return lines.assign(expected_match_risk=lines["expected_match_risk"] / lines["targets"])


def _limits(results: Results) -> dict[str, float]:
    """Return the limits as shares, by summary."""
    shares = {limited_summary(name): limit for name, limit in limits(results).items()}
    if "expected_match_risk" in shares:
        shares["expected_match_risk"] /= by_intruder(results, MEAN)["targets"].iloc[0]
    return shares


def _dots(axes: Axes, values: dict[str, pd.Series]) -> None:
    """Draw one summary: a line from the mean to the confidential file, and a dot for each file."""
    mean, confidential = values[MEAN], values[CONFIDENTIAL]
    at = range(len(mean))
    axes.hlines(at, mean, confidential, color=RULE, linewidth=2, zorder=1)
    label: str | None = TEXT("summaries.figure.synthetic")
    for file, shares in values.items():
        if file not in (MEAN, CONFIDENTIAL, TOGETHER):
            axes.plot(shares, at, "o", color=SUSPECTED, markersize=3.4, zorder=2, label=label, clip_on=False)
            label = None
    look: Look = {
        "color": "white",
        "markeredgecolor": MUTED,
        "markersize": 4.4,
        "zorder": 2,
        "clip_on": False,
    }
    axes.plot(
        mean,
        at,
        "o",
        color=CONFIRMED,
        markersize=5,
        zorder=3,
        label=TEXT("summaries.figure.mean"),
        clip_on=False,
    )
    if TOGETHER in values:
        diamond: Look = {**look, "color": "none", "markeredgecolor": CONFIRMED, "markersize": 6.5}
        axes.plot(values[TOGETHER], at, "D", label=TEXT("summaries.figure.pooled"), **diamond)
    axes.plot(confidential, at, "s", label=TEXT("summaries.figure.confidential"), **look)


def _described(shares: dict[str, pd.DataFrame], intruder: str) -> str:
    """Return the summaries of an intruder in words."""
    files = {MEAN: "mean", TOGETHER: "pooled", CONFIDENTIAL: "confidential"}
    shown = {field: shares[file].loc[intruder] for file, field in files.items() if file in shares}
    kind = "alt_pooled" if TOGETHER in shares else "alt_summary"
    summaries = [
        TEXT(
            f"summaries.figure.{kind}",
            summary=inside(summary_name(summary)),
            **{field: percent(line[summary]) for field, line in shown.items()},
        )
        for summary in SUMMARIES
    ]
    return TEXT(
        "summaries.figure.alt_intruder", intruder=short_name(intruder), summaries="; ".join(summaries)
    )


@part(DISTRIBUTION, SCENARIOS)
def matching_distribution(results: Results) -> Figure:
    """Draw the targets by number of matching records, beside the confidential file."""
    classes = by_class(results)

    def draw(sheet: Sheet) -> None:
        axes, at = sheet.panels[0], range(len(classes))
        text = {name: TEXT(f"distribution.figure.{name}") for name in ("targets", "own", "confidential", "x")}
        axes.bar(at, classes["n_records"], width=0.72, color=SUSPECTED, label=text["targets"])
        axes.bar(at, classes["n_own"], width=0.42, color=CONFIRMED, label=text["own"])
        look: Look = {
            "color": "white",
            "markeredgecolor": INK,
            "markersize": 3.8,
            "zorder": 4,
            "clip_on": False,
        }
        axes.plot(at, classes["confidential"], "D", label=text["confidential"], **look)
        count_axis(axes, "y")
        ticks = [
            size_tick(*ends) for ends in zip(classes["matches_from"], classes["matches_to"], strict=True)
        ]
        axes.set_xticks(list(at), ticks, rotation=45 if sheet.narrow else 0, fontsize=7)
        axes.set_xlabel(text["x"])
        sheet.key()

    texts = [
        TEXT(
            "distribution.figure.alt_class",
            matches=row.label,
            targets=count(row.n_records),
            own=count(row.n_own),
            confidential=count(row.confidential),
        )
        for row in classes.itertuples()
    ]
    alt = TEXT("distribution.figure.alt", classes="; ".join(texts))
    return figure(
        draw, height=2.3, alt=alt, caption=TEXT("distribution.figure.caption", **about_first(results))
    )


@part(SCENARIOS)
def matching_subsets(results: Results) -> Figure | None:
    """Draw the expected match risk of all sets by number of variables, naming the highest of each."""
    sets = all_sets(results)
    if sets.empty:
        return None
    sets = sets.assign(share=sets["expected_match_risk"] / sets["targets"])
    sizes = {some(int(size), "variable"): lines for size, lines in sets.groupby("size")}
    limit = _limits(results).get("expected_match_risk")
    top = top_of([1.25 * float(sets["share"].max())], limit)

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        for at, lines in enumerate(sizes.values()):
            ticks: Look = {"color": SUSPECTED, "markersize": 9, "markeredgewidth": 1.3}
            axes.plot(lines["share"], [at] * len(lines), "|", **ticks)
            highest = lines.loc[lines["share"].idxmax()]
            axes.plot(highest["share"], at, "o", color=CONFIRMED, markersize=4.6, zorder=3)
            _name_beside(axes, shorten(highest["known"], MAX_LETTERS), highest["share"], at, top)
        percent_axis(axes, top)
        limit_line(axes, limit, at_top=True)
        rows(axes, list(sizes), letters(sheet))

    texts = [
        TEXT(
            "subsets.figure.alt_size",
            variables=variables,
            sets=some(len(lines), "set"),
            lowest=percent(lines["share"].min()),
            highest=percent(lines["share"].max()),
            known=lines.at[lines["share"].idxmax(), "known"],
        )
        for variables, lines in sizes.items()
    ]
    alt, caption = TEXT("subsets.figure.alt", sizes="; ".join(texts)), TEXT("subsets.figure.caption")
    return figure(draw, height=0.55 + 0.42 * len(sizes), alt=alt, caption=caption)


def _name_beside(axes: Axes, name: str, x: float, y: float, top: float) -> None:
    """Write the name of a dot on the side with more room."""
    is_right = x > 0.55 * top
    axes.annotate(
        name,
        (x, y),
        xytext=(-4 if is_right else 5, 8.5),
        textcoords="offset points",
        fontsize=6.5,
        ha="right" if is_right else "left",
        color=CONFIRMED,
    )
