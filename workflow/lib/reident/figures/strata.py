"""Figures by stratum: the size of the strata, and their conditional rates (METHODS §2, §6)."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes

from reident.figures.rates import limit_line, top_of
from reident.figures.style import (
    CONFIRMED,
    LIMIT,
    MUTED,
    RULE,
    SUSPECTED,
    Figure,
    apart,
    count_axis,
    drawing,
    finish,
    percent_axis,
    rows,
    shared_key,
)
from reident.tables.attack import shown_strata, strata_note
from reident.tables.layout import part
from reident.tables.results import WHOLE, Results, title
from reident.tables.wording import UNDEFINED, count, declared, defined, percent, shorten

LABEL = 26
"""The most characters of a stratum's name in a figure."""


def height_of(n: int) -> float:
    """Inches for so many rows: roomy where there are few, close where there are many."""
    return max(1.3, 0.75 + n * (0.195 if n <= 16 else 0.155))


@part("strata/manifest.csv")
def strata(results: Results) -> Figure | None:
    """Records of both files and true links in every stratum."""
    if not results.strata_names:
        return None
    manifest = shown_strata(results)
    n = range(len(manifest))
    with drawing(height_of(len(manifest))) as drawn:
        axes = drawn.subplots()
        ends = manifest[["n_links", "n_puf", "n_eif"]]
        axes.hlines(n, ends.min(axis=1), ends.max(axis=1), color=RULE, linewidth=2, zorder=1)
        axes.plot(
            manifest["n_links"],
            n,
            "D",
            color="white",
            markeredgecolor=CONFIRMED,
            markersize=3.6,
            label="true links",
        )
        axes.plot(manifest["n_puf"], n, "o", color=CONFIRMED, markersize=4.6, label="released records (PUF)")
        axes.plot(
            manifest["n_eif"],
            n,
            "s",
            color=SUSPECTED,
            markeredgecolor="#5d8bb0",
            markersize=4.2,
            label="intruder's records (EIF)",
        )
        count_axis(axes, "x")
        axes.set_xlim(-0.015 * ends.to_numpy().max(), 1.03 * ends.to_numpy().max() or 1)
        _name_rows(axes, results, manifest)
        shared_key(drawn, axes)
        return finish(
            drawn, _strata_alt(manifest), f"Records and true links by stratum.{strata_note(results)}"
        )


def _name_rows(axes: Axes, results: Results, strata_: pd.DataFrame) -> None:
    """The strata's names at the rows, under those of the strata variables."""
    rows(axes, [shorten(label, LABEL) for label in strata_["label"]])
    axes.tick_params(axis="y", labelsize=7.5 if len(strata_) <= 16 else 6.5)
    axes.annotate(
        shorten(results.strata_heading, LABEL), (0, 1), xycoords="axes fraction", xytext=(-4, 2),
        textcoords="offset points", ha="right", va="bottom", color=MUTED, fontsize=7,
    )  # fmt: skip


def _strata_alt(manifest: pd.DataFrame) -> str:
    if len(manifest) <= 12:
        lines = [
            f"{row.label}: {count(row.n_puf)} released, {count(row.n_eif)} of the intruder, "
            f"{count(row.n_links)} true links."
            for row in manifest.itertuples()
        ]
        return " ".join(["Dots by stratum.", *lines])
    return (
        f"Dots for {len(manifest)} strata. Released records range from {count(manifest['n_puf'].min())} to "
        f"{count(manifest['n_puf'].max())}, the intruder's from {count(manifest['n_eif'].min())} to "
        f"{count(manifest['n_eif'].max())}, true links from {count(manifest['n_links'].min())} to "
        f"{count(manifest['n_links'].max())}. The table has every number."
    )


@part("rates.csv", "strata/manifest.csv")
def rates_by_stratum(results: Results) -> Figure | None:
    """The conditional rate in every stratum, one panel per metric."""
    if not results.strata_names:
        return None
    strata_ = shown_strata(results)
    rates = results.table("rates.csv").set_index(["metric", "stratum"])
    own = {metric: rates.loc[metric].reindex(strata_["stratum"]) for metric in results.metrics}
    if all(lines["conditional_rate"].isna().all() for lines in own.values()):
        return None
    top = _top(own, results.limit)
    with drawing(height_of(len(strata_)) + 0.1) as drawn:
        panels = drawn.subplots(1, len(own), sharey=True, squeeze=False)[0]
        for axes, (metric, lines) in zip(panels, own.items(), strict=True):
            _panel(axes, lines, rates.loc[(metric, WHOLE), "conditional_rate"], results.limit, top)
            axes.set_title(title(metric), pad=14 if results.limit is not None else 7)
        apart(drawn, 0.05)
        _name_rows(panels[0], results, strata_)
        return finish(drawn, _rates_alt(results, own), _caption(results))


def _caption(results: Results) -> str:
    text = (
        f"Conditional rate by stratum (dot) with its {declared(results.level)} interval (band, cut at the edge); the "
        "thin line is the rate of the whole study."
    )
    if results.limit is not None:
        text += " Strata above the limit (broken line) are diamonds."
    return f"{text} {UNDEFINED} nothing suspected.{strata_note(results)}"


def _top(own: dict[str, pd.DataFrame], limit: float | None) -> float:
    """An axis that shows every rate and the better part of the intervals."""
    rates = pd.concat([lines["conditional_rate"] for lines in own.values()]).dropna()
    highs = pd.concat([lines["conditional_high"] for lines in own.values()]).dropna()
    wanted = [float(rates.max()), float(highs.median())] if len(rates) else []
    return min(1.0, top_of([1.05 * value for value in wanted], limit))


def _panel(axes: Axes, lines: pd.DataFrame, whole: float, limit: float | None, top: float) -> None:
    for at, line in enumerate(lines.itertuples()):
        if not defined(line.conditional_rate):
            axes.text(0.02 * top, at, UNDEFINED, va="center", color=MUTED, fontsize=7)
            continue
        above = limit is not None and line.conditional_rate > limit
        axes.plot(
            [line.conditional_low, line.conditional_high],
            [at, at],
            color=SUSPECTED,
            linewidth=3.2,
            zorder=2,
            alpha=0.75,
        )
        axes.plot(
            line.conditional_rate, at, "D" if above else "o", color=LIMIT if above else CONFIRMED,
            markersize=3.6 if above else 4, zorder=3, clip_on=False,
        )  # fmt: skip
    percent_axis(axes, top, ticks=3)
    if defined(whole) and not math.isnan(whole):
        axes.axvline(whole, color=CONFIRMED, linewidth=0.8, zorder=1)
    limit_line(axes, limit)


def _rates_alt(results: Results, own: dict[str, pd.DataFrame]) -> str:
    said = [f"Dots for {len(next(iter(own.values())))} strata, one panel per metric."]
    for metric, lines in own.items():
        known = lines["conditional_rate"].dropna()
        if known.empty:
            said.append(f"{title(metric)}: nothing suspected in any stratum.")
            continue
        text = f"{title(metric)}: conditional rates from {percent(known.min())} to {percent(known.max())}"
        if results.limit is not None:
            text += f", {(known > results.limit).sum()} strata above the limit of {declared(results.limit)}"
        said.append(f"{text}.")
    return " ".join([*said, "The table has every number."])
