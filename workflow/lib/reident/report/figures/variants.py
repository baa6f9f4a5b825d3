"""Figures of a study's variants: rates over what varies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from reident.report.figures.rates import PANELS, limit_line, top_of
from reident.report.figures.style import (
    CONFIRMED,
    LINES,
    MUTED,
    RULE,
    Figure,
    Sheet,
    figure,
    height_of,
    letters,
    percent_axis,
    rows,
    share_axis,
)
from reident.report.layout import part
from reident.report.results import Results, title
from reident.report.tables.variants import (
    MATCHING,
    RATES,
    RISK,
    heading,
    is_reference,
    lines_of,
    shown,
    touched,
    varied,
)
from reident.report.wording import escape, percent

MOST_CURVES = 8
"""So many lines in a panel can be told apart; beyond, variants are rows."""

DASHES = ((), (4, 1.5), (1.2, 1.2), (5, 1.2, 1.2, 1.2))
"""A line's pattern where its colour is its metric's."""

SUMMARIES = {
    "expected_match_risk": "Expected match risk",
    "true_match_rate": "True match rate",
    "false_match_rate": "False match rate",
}
CHANCES = {"dis": "DIS", "mean": "Mean DIS-SUDA", "largest": "Largest DIS-SUDA"}

LOOKS = {title(metric): look for metric, look in LINES.items()}
"""Colour and marker by a metric's name in the report."""


class Curve(NamedTuple):
    """A line over the numbers of what varies: its name, look and points."""

    name: str
    colour: str
    marker: str
    dashes: tuple[float, ...]
    points: pd.DataFrame


@part(RATES)
def variants_rates(results: Results) -> Figure | None:
    """The three rates of every variant, as lines over what is a number, otherwise row by row."""
    found = {metric: lines_of(results, metric) for metric in touched(results)}
    if not any(own["n_suspected"].any() for own in found.values()):
        return None
    limits = {"conditional_rate": results.limit}
    named = {title(metric): own for metric, own in found.items()}
    return _figure(results, named, "The three rates", PANELS, limits)


@part(MATCHING)
def variants_matching(results: Results) -> Figure:
    """The three summaries of every variant, on average over the synthetic files."""
    own = results.table(MATCHING).copy()
    own["expected_match_risk"] /= own["targets"]
    return _figure(results, {"": own}, "The three summaries, the first one per target,", SUMMARIES, {})


@part(RISK)
def variants_risk(results: Results) -> Figure:
    """The chances of a correct match in every variant: of all sample uniques, and of each by DIS-SUDA."""
    what = "The chance of a correct match given a unique match, and its mean and maximum by DIS-SUDA,"
    return _figure(results, {"": results.table(RISK)}, what, CHANCES, {})


def _figure(
    results: Results,
    found: dict[str, pd.DataFrame],
    what: str,
    panels: dict[str, str],
    limits: Mapping[str, float | None],
) -> Figure:
    """Lines over the numbers that vary where there are enough of them and few lines, otherwise rows."""
    over = _numbers(results, found)
    curves = _curves(results, found, over) if over else []
    limited = " The broken line is the limit." if any(limits.values()) else ""
    alt = _alt(results, found, panels)
    if over and len(curves) <= MOST_CURVES:
        caption = (
            f"{what} over *{escape(heading(over))}*.{limited} The grey stripe is the study as it stands."
        )
        return figure(
            lambda sheet: _draw_curves(sheet, curves, over, panels, limits),
            panels=3, height=2.3 + 0.12 * (len(curves) > 4), alt=alt, caption=caption, across=1, between=0.05,
        )  # fmt: skip
    lines = shown(next(iter(found.values())), next(reversed(panels)))
    names = [_label(results, line) for _, line in lines.iterrows()]
    caption = f"{what} by variant.{limited} The grey stripe is the study as it stands."
    return figure(
        lambda sheet: _draw_rows(sheet, found, lines, names, panels, limits),
        panels=3, height=0.45 + height_of(len(names)), alt=alt, caption=caption, across=1, between=0.05, sharey=True,
    )  # fmt: skip


def _numbers(results: Results, found: dict[str, pd.DataFrame]) -> str | None:
    """What varies over the most numbers, of at least three."""
    lines = pd.concat(found.values())
    counts = {}
    for name in varied(results):
        labels = set(lines[f"set_{name}"])
        if len(labels) >= 3 and all(_number(label) is not None for label in labels):
            counts[name] = len(labels)
    return max(counts, key=lambda name: counts[name]) if counts else None


def _number(label: str) -> float | None:
    try:
        return float(Fraction(label))
    except (ValueError, ZeroDivisionError):
        return None


def _curves(results: Results, found: dict[str, pd.DataFrame], over: str) -> list[Curve]:
    others = [f"set_{name}" for name in varied(results) if name != over]
    made = []
    looks = [*LINES.values(), (MUTED, "P"), (CONFIRMED, "X"), ("#a0405a", "*")]
    for metric, lines in found.items():
        groups = lines.groupby(others, sort=False) if others else [((), lines)]
        for place, (labels, own) in enumerate(groups):
            words = [_words(name[4:], label) for name, label in zip(others, labels, strict=True)]
            points = own.assign(at=own[f"set_{over}"].map(_number)).sort_values("at", kind="stable")
            alone = len(found) == 1
            colour, marker = looks[place % len(looks)] if alone and others else LOOKS.get(metric, looks[0])
            dashes = () if alone else DASHES[place % len(DASHES)]
            name = ", ".join([*([metric] if metric and not alone else []), *words]) or metric
            made.append(Curve(name, colour, marker, dashes, points))
    return made


def _words(name: str, label: str) -> str:
    """What a line sets: a word by itself, a number with its name."""
    return f"{heading(name)} {label}" if _number(label) is not None else label or "as it stands"


def _draw_curves(
    sheet: Sheet, curves: list[Curve], over: str, panels: dict[str, str], limits: Mapping[str, float | None]
) -> None:
    at = sorted(set(itertools.chain.from_iterable(curve.points["at"] for curve in curves)))
    own = {x for curve in curves for x in curve.points.loc[is_reference(curve.points), "at"]}
    for axes, (column, name) in zip(sheet.panels, panels.items(), strict=True):
        every = [value for curve in curves for value in curve.points[column]]
        for x in own:
            _stripe(axes, x, 0.025 * (at[-1] - at[0]))
        for curve in curves:
            axes.plot(
                curve.points["at"], curve.points[column], color=curve.colour, marker=curve.marker, markersize=3.6,
                linewidth=1.2, dashes=curve.dashes or (None, None), label=curve.name, clip_on=False, zorder=3,
            )  # fmt: skip
        limit = limits.get(column)
        share_axis(axes, top_of(every, limit))
        if limit is not None:
            axes.axhline(limit, color="#b3441e", linewidth=1.1, linestyle=(0, (4, 2)), zorder=1)
        axes.set_title(name)
        axes.set_xlabel(heading(over))
        if len(at) <= 8:
            axes.set_xticks(at, [f"{x:.4g}" for x in at])
        pad = 0.06 * (at[-1] - at[0])
        axes.set_xlim(at[0] - pad, at[-1] + pad)
    if len(curves) > 1 or curves[0].name:
        sheet.key()


def _stripe(axes: Axes, x: float, half: float) -> None:
    axes.axvspan(x - half, x + half, color="#e9ecef", linewidth=0, zorder=0)


def _draw_rows(
    sheet: Sheet,
    found: dict[str, pd.DataFrame],
    lines: pd.DataFrame,
    names: list[str],
    panels: dict[str, str],
    limits: Mapping[str, float | None],
) -> None:
    kept = {variant: place for place, variant in enumerate(lines["variant"])}
    for axes, (column, name) in zip(sheet.panels, panels.items(), strict=True):
        for place in [place for place, own in enumerate(is_reference(lines)) if own]:
            axes.axhspan(place - 0.45, place + 0.45, color="#e9ecef", linewidth=0, zorder=0)
        axes.hlines(range(len(names)), 0, 1, color=RULE, linewidth=0.6, zorder=1)
        every: list[float] = []
        for metric, own in found.items():
            inside = own[own["variant"].isin(kept)]
            colour, marker = LOOKS.get(metric, (CONFIRMED, "o"))
            axes.plot(
                inside[column], inside["variant"].map(kept), marker, color=colour, markersize=4.4, label=metric,
                zorder=3, clip_on=False,
            )  # fmt: skip
            every += list(inside[column])
        percent_axis(axes, top_of(every, limits.get(column)), 3)
        limit_line(axes, limits.get(column), at_top=True)
        axes.set_title(name, pad=14 if any(limits.values()) else 7)
    for axes in sheet.left():
        rows(axes, names, letters(sheet))
    if len(found) > 1:
        sheet.key()


def _label(results: Results, line: pd.Series) -> str:
    """A variant by what it sets, the name of it only where that is one thing."""
    labels = [str(line[f"set_{name}"]) or "as it stands" for name in varied(results)]
    return ", ".join(f"{heading(name)} {label}" for name, label in zip(varied(results), labels, strict=True))


def _alt(results: Results, found: dict[str, pd.DataFrame], panels: dict[str, str]) -> str:
    said = [f"Three panels by {' and '.join(heading(name) for name in varied(results))}."]
    for metric, lines in found.items():
        for _, line in shown(lines, next(reversed(panels))).iterrows():
            cells = [f"{_inside(name)} {percent(line[column])}" for column, name in panels.items()]
            said.append(f"{metric + ', ' if metric else ''}{_label(results, line)}: {', '.join(cells)}.")
    return " ".join(said)


def _inside(name: str) -> str:
    """A panel's name inside a sentence; what is written in capitals stays so."""
    return " ".join(word if word.replace("-", "").isupper() else word.lower() for word in name.split())
