"""Draw the rates of the variants of a study."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from reident.page import style
from reident.page.common import DASHED, limit_line, top_of
from reident.page.layout import block
from reident.page.sentences import Sentences
from reident.page.style import Figure
from reident.page.terms import title
from reident.page.variants import (
    RATES,
    changed_metrics,
    heading,
    is_reference,
    label,
    label_of,
    lines_of,
    setting_names,
    shown_lines,
)
from reident.page.wording import digits, escape, inside, listed, percent
from reident.report.blocks.patterns import panels
from reident.report.blocks.variants import MATCHING, RISK
from reident.report.results import Results

TEXT = Sentences("variants")
MAX_CURVES = 8
"""Lines that can be told apart in a panel; more variants are drawn as rows."""

DASHES = ((), (4, 1.5), (1.2, 1.2), (5, 1.2, 1.2, 1.2))
"""Patterns of lines whose colour is that of their metric."""


class Curve(NamedTuple):
    """A line over a numeric setting: its name, look and points."""

    name: str
    colour: str
    marker: str
    dashes: tuple[float, ...]
    points: pd.DataFrame


@block(RATES)
def variants_rates_figure(results: Results) -> Figure | None:
    """Draw the rates of every variant, as lines over a numeric setting, otherwise row by row."""
    by_metric = {title(metric): lines_of(results, metric) for metric in changed_metrics(results)}
    if not any(lines["n_suspected"].any() for lines in by_metric.values()):
        return None
    limits = {"conditional_rate": results.limit}
    return _figure(results, by_metric, "rates", panels(), limits)


@block(MATCHING)
def variants_matching_figure(results: Results) -> Figure:
    """Draw the three summaries of every variant, averaged over the synthetic files."""
    lines = results.table(MATCHING).copy()
    lines["expected_match_risk"] /= lines["targets"]
    return _figure(results, {"": lines}, "matching", TEXT.group("figure.panels.matching"), {})


@block(RISK)
def variants_risk_figure(results: Results) -> Figure:
    """Draw the probability of a correct match in every variant: DIS, and the mean and largest DIS-SUDA."""
    return _figure(results, {"": results.table(RISK)}, "risk", TEXT.group("figure.panels.risk"), {})


def _figure(
    results: Results,
    by_metric: dict[str, pd.DataFrame],
    name: str,
    panels: dict[str, str],
    limits: Mapping[str, float | None],
) -> Figure:
    """Draw lines over a numeric setting where it has at least three values and the lines are few, otherwise rows."""
    over = _numbers(results, by_metric)
    curves = _curves(results, by_metric, over) if over else []
    as_lines = over is not None and len(curves) <= MAX_CURVES
    by = f"*{escape(heading(over))}*" if over and as_lines else TEXT("figure.variant")
    limit = TEXT("figure.limit") if any(limits.values()) else ""
    texts = [TEXT(f"figure.{name}", by=by), limit, TEXT("figure.reference")]
    about: dict[str, Any] = {"alt": _alt(results, by_metric, panels), "caption": " ".join(filter(None, texts))}
    if over and as_lines:
        return style.figure(
            {
                panel: partial(_draw_curves, curves, over, column, limits.get(column))
                for column, panel in panels.items()
            },
            height=2.3 + 0.12 * (len(curves) > 4),
            across=1,
            between=0.05,
            key=len(curves) > 1 or bool(curves[0].name),
            **about,
        )
    lines = shown_lines(next(iter(by_metric.values())), next(reversed(panels)))
    names = [label(results, line) for _, line in lines.iterrows()]
    return style.row_figure(
        {panel: partial(_draw_rows, by_metric, lines, column, limits.get(column)) for column, panel in panels.items()},
        names,
        extra=0.45,
        key=len(by_metric) > 1,
        pad=14 if any(limits.values()) else 7,
        between=0.05,
        **about,
    )


def _numbers(results: Results, by_metric: dict[str, pd.DataFrame]) -> str | None:
    """Return the setting with the most numeric values, at least three."""
    lines = pd.concat(by_metric.values())
    counts = {}
    for name in setting_names(results):
        labels = set(lines[f"set_{name}"])
        if len(labels) >= 3 and all(_number(label) is not None for label in labels):
            counts[name] = len(labels)
    return max(counts, key=lambda name: counts[name]) if counts else None


def _number(label: str) -> float | None:
    try:
        return float(Fraction(label))
    except (ValueError, ZeroDivisionError):
        return None


def _curves(results: Results, by_metric: dict[str, pd.DataFrame], over: str) -> list[Curve]:
    others = [f"set_{name}" for name in setting_names(results) if name != over]
    curves = []
    looks = [*style.LINES.values(), (style.MUTED, "P"), (style.CONFIRMED, "X"), ("#a0405a", "*")]
    for metric, lines in by_metric.items():
        groups = lines.groupby(others, sort=False) if others else [((), lines)]
        for place, (labels, group) in enumerate(groups):
            words = [_words(name[4:], label) for name, label in zip(others, labels, strict=True)]
            points = group.assign(at=group[f"set_{over}"].map(_number)).sort_values("at", kind="stable")
            is_single = len(by_metric) == 1
            colour, marker = looks[place % len(looks)] if is_single and others else _looks().get(metric, looks[0])
            dashes = () if is_single else DASHES[place % len(DASHES)]
            name = ", ".join([*([metric] if metric and not is_single else []), *words]) or metric
            curves.append(Curve(name, colour, marker, dashes, points))
    return curves


def _looks() -> dict[str, tuple[str, str]]:
    return {title(metric): look for metric, look in style.LINES.items()}


def _words(name: str, label: str) -> str:
    """Return the setting of a line: a word on its own, a number with its name."""
    if _number(label) is None:
        return label_of(label)
    return TEXT("setting", name=heading(name), label=label_of(label))


def _draw_curves(curves: list[Curve], over: str, column: str, limit: float | None, axes: Axes) -> None:
    at = sorted(set(itertools.chain.from_iterable(curve.points["at"] for curve in curves)))
    values = [value for curve in curves for value in curve.points[column]]
    for x in {x for curve in curves for x in curve.points.loc[is_reference(curve.points), "at"]}:
        style.stripe(axes.axvspan, x, 0.025 * (at[-1] - at[0]))
    for curve in curves:
        look = style.full(3.6, marker=curve.marker, linewidth=1.2, label=curve.name, clip_on=False)
        look |= {"color": curve.colour, "dashes": curve.dashes or (None, None)}
        axes.plot(curve.points["at"], curve.points[column], **look)
    style.share_axis(axes, top_of(values, limit))
    if limit is not None:
        axes.axhline(limit, **DASHED)
    axes.set_xlabel(heading(over))
    if len(at) <= 8:
        axes.set_xticks(at, [digits(f"{x:.4g}") for x in at])
    pad = 0.06 * (at[-1] - at[0])
    axes.set_xlim(at[0] - pad, at[-1] + pad)


def _draw_rows(
    by_metric: dict[str, pd.DataFrame], lines: pd.DataFrame, column: str, limit: float | None, axes: Axes
) -> None:
    places = {variant: place for place, variant in enumerate(lines["variant"])}
    for place in [place for place, marked in enumerate(is_reference(lines)) if marked]:
        style.stripe(axes.axhspan, place, 0.45)
    axes.hlines(range(len(lines)), 0, 1, color=style.RULE, linewidth=0.6, zorder=1)
    values: list[float] = []
    for metric, variants in by_metric.items():
        points = variants[variants["variant"].isin(places)]
        colour, marker = _looks().get(metric, (style.CONFIRMED, "o"))
        look = style.full(4.4, label=metric, clip_on=False) | {"color": colour}
        axes.plot(points[column], points["variant"].map(places), marker, **look)
        values += list(points[column])
    style.percent_axis(axes, top_of(values, limit), 3)
    limit_line(axes, limit)


def _alt(results: Results, by_metric: dict[str, pd.DataFrame], panels: dict[str, str]) -> str:
    texts = [TEXT("figure.alt.start", names=listed([heading(name) for name in setting_names(results)]))]
    for metric, lines in by_metric.items():
        for _, line in shown_lines(lines, next(reversed(panels))).iterrows():
            cells = ", ".join(
                TEXT("figure.alt.cell", name=inside(name), share=percent(line[column]))
                for column, name in panels.items()
            )
            fields = {"variant": label(results, line), "cells": cells}
            if metric:
                texts.append(TEXT("figure.alt.metric", metric=metric, **fields))
            else:
                texts.append(TEXT("figure.alt.line", **fields))
    return " ".join(texts)
