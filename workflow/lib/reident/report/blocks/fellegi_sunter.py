"""The weights of Fellegi and Sunter, and how far the match probabilities are right (METHODS §4.6)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.page import style
from reident.page.columns import columns
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Look, Sheet
from reident.page.terms import some
from reident.page.wording import count, declared, defined, digits, number, percent, without_unit
from reident.report.results import Results

TEXT = Sentences("fellegi_sunter")
LEVELS, MODEL, CALIBRATION = "weights/levels.csv", "weights/model.csv", "weights/calibration.csv"
METRIC = "fellegi_sunter"
ABOUT = 0.1
"""Probabilities are about right whose mean is no farther than this from the share that is right (METHODS §4.6)."""

FEW_LINKS = 0.1
"""Few links are expected below this share of the largest number, where EM holds them a second time (METHODS §4.6)."""


def bits(weight: float) -> str:
    """Return a weight with two decimals, and with its sign unless that is 0."""
    return digits(f"{weight:+.2f}".replace("-", "\u2212") if round(weight, 2) else "0.00")


@block(MODEL)
def weights_premise(results: Results) -> str:
    """Explain the weights, and the knowledge of this intruder."""
    model, how = results.table(MODEL).iloc[0], knowledge(results)
    texts = [
        TEXT(f"premise.{how}", pairs=some(int(model["n_pairs"]), "pair")),
        TEXT(f"premise.prior_{how}", share=declared(float(f"{model['prior']:.3g}"))),
        *_expected(results),
        *([TEXT("premise.left_out", links=count(math.ceil(model["left_out"])))] if model["left_out"] > 0 else []),
        *([TEXT("premise.frequency")] if results.options(METRIC).frequency else []),
        TEXT("premise.least", least=bits(model["least_weight"])),
    ]
    return paragraphs(
        TEXT("premise.text"),
        " ".join(texts),
        TEXT("premise.not_converged", rounds=some(int(model["rounds"]), "round"))
        if model["converged"] == "no"
        else None,
    )


def knowledge(results: Results) -> str:
    """Return the intruder's knowledge of the links: ``blind`` or ``informed``."""
    return str(results.options(METRIC).m)


def _expected(results: Results) -> Iterator[str]:
    """Yield how many links a blind intruder expects beside their true number, and whether the evidence is enough."""
    model = results.table(MODEL).iloc[0]
    if not defined(model["largest_prior"]):
        return
    expected, true = round(model["prior"] * model["n_pairs"]), results.true_links[1]
    yield TEXT("premise.expected", expected=count(expected), true=count(true))
    if model["prior"] >= model["largest_prior"]:
        yield TEXT("premise.at_bound")
    if defined(model.get("held_links")) and model["prior"] < FEW_LINKS * model["largest_prior"]:
        most, held = (count(round(n)) for n in (model["largest_prior"] * model["n_pairs"], model["held_links"]))
        yield TEXT("premise.weak", most=most, held=held)


@block(LEVELS)
def weights_table(results: Results) -> str:
    """Show the pairs, probabilities and weight of each level."""
    lines = results.table(LEVELS)
    scales = lines[lines["unit"].notna()].drop_duplicates("variable")
    lines = lines.assign(
        level=[_level(line) for line in lines.itertuples()], weight=[bits(weight) for weight in lines["weight"]]
    )
    shown = table(
        TEXT(f"weights.caption_{knowledge(results)}"),
        *columns(lines, HEADING, "variable:labels@1fr"),
        *columns(lines, TEXT, "level:text pairs=n_pairs m u weight:cell", group="weights.columns"),
    )
    notes = [
        TEXT("weights.scale", variable=line.variable, unit=declared(float(f"{line.unit:.4g}")))
        for line in scales.itertuples()
    ]
    return paragraphs(shown, " ".join(notes) or None)


def _level(line: Any) -> str:
    """Return a level in words."""
    sign, _, number_ = line.level.partition("_")
    if not number_:
        return TEXT(f"levels.{line.level}")
    bounds = {name: getattr(line, name) for name in ("above", "up_to") if defined(getattr(line, name))}
    ends = {name: without_unit(declared(float(f"{bound:.3g}"))) for name, bound in bounds.items()}
    return TEXT(f"levels.{sign}{'' if defined(line.up_to) else '_open'}", **ends)


@block(CALIBRATION)
def calibration_text(results: Results) -> str | None:
    """Say how far the mean probability is from the share that is right, or nothing if no pair is suspected."""
    lines = results.table(CALIBRATION)
    if lines.empty or not results.confirmable:
        return None
    n = lines["n_pairs"].sum()
    probability, share = (lines["probability"] * lines["n_pairs"]).sum() / n, lines["n_confirmed"].sum() / n
    apart = round(probability - share, 12)
    verdict = "too_sure" if apart > ABOUT else "too_careful" if apart < -ABOUT else "about_right"
    means = {"probability": percent(probability), "share": percent(share)}
    return " ".join([TEXT("calibration.text", **means), TEXT(f"calibration.{verdict}")])


@block(CALIBRATION)
def calibration_table(results: Results) -> str | None:
    """Show the pairs of each class of probabilities, their mean, and the share that is right."""
    lines = results.table(CALIBRATION)
    if lines.empty or not results.confirmable:
        return None
    classes = [
        TEXT("calibration.class", above=without_unit(declared(row.above)), up_to=declared(row.up_to))
        for row in lines.itertuples()
    ]
    return table(
        TEXT("calibration.caption"),
        ReportColumn(TEXT("calibration.columns.class"), classes, "l", "1fr"),
        *columns(lines, HEADING, "suspected_pairs=n_pairs"),
        *columns(lines, TEXT, "probability", group="calibration.columns"),
        *columns(lines, HEADING, "confirmed_pairs=n_confirmed"),
        *columns(lines, TEXT, "share=confirmed_share", group="calibration.columns"),
    )


MARKS: dict[str, Look] = {
    "differ": {"marker": "s", "color": "white", "markeredgecolor": style.LIMIT, "markersize": 4.2},
    "partial": {"marker": "D", "color": "white", "markeredgecolor": style.CONFIRMED, "markersize": 4.0},
    "apart": {"marker": "|", "color": style.LIMIT, "markersize": 6.0},
    "agree": {"marker": "o", "color": style.CONFIRMED, "markersize": 4.8},
}
"""The mark of each level, in the order of the legend; `apart` is that of numbers that differ, by whatever distance."""


@block(LEVELS)
def weights_figure(results: Results) -> Figure:
    """Draw the weight of each level that is present, by variable."""
    lines, how = results.table(LEVELS), knowledge(results)
    names = list(dict.fromkeys(lines["variable"]))
    mark = lines["level"].where(lines["decimals"].isna() | (lines["level"] == "agree"), "apart")
    by_level = {level: lines[mark == level].set_index("variable")["weight"] for level in MARKS if (mark == level).any()}

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        axes.axvline(0, color=style.MUTED, linewidth=0.8, zorder=1)
        for at, name in enumerate(names):
            weights = lines.loc[(lines["variable"] == name) & (lines["level"] != "missing"), "weight"]
            axes.hlines(at, min(weights), max(weights), color=style.RULE, linewidth=1.6, zorder=0)
        for level, weight in by_level.items():
            places = [names.index(name) for name in weight.index]
            label = TEXT(f"levels.{level}")
            axes.plot(weight, places, linestyle="none", label=label, zorder=3, **MARKS[level])
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        axes.grid(visible=True, axis="x")
        axes.spines["bottom"].set_visible(False)
        axes.set_xlabel(TEXT(f"weights.figure.axis_{how}"))

    cells = []
    for name in names:
        texts = [
            TEXT("weights.figure.weight", level=TEXT(f"levels.{level}"), weight=_range(weight[[name]]))
            for level, weight in by_level.items()
            if name in weight
        ]
        cells.append(TEXT("weights.figure.cell", variable=str(name), weights=", ".join(texts)))
    alt, caption = TEXT("weights.figure.alt", cells="; ".join(cells)), TEXT(f"weights.figure.caption_{how}")
    return style.row_figure(draw, names, extra=0.2, alt=alt, caption=caption)


def _range(weights: pd.Series) -> str:
    """Return a weight, or the lowest and the highest of several."""
    low, high = bits(weights.min()), bits(weights.max())
    return low if len(weights) == 1 else TEXT("weights.figure.range", low=low, high=high)


@block(CALIBRATION)
def calibration_figure(results: Results) -> Figure | None:
    """Draw the share of suspected pairs that is right by their probability, or nothing if no pair is suspected."""
    lines = results.table(CALIBRATION)
    if lines.empty or not results.confirmable:
        return None

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        equal: Look = {"color": style.MUTED, "linewidth": 0.8, "linestyle": (0, (4, 3))}
        axes.plot([0, 1], [0, 1], label=TEXT("calibration.figure.equal"), **equal)
        look = style.full(4.4, marker="o", markeredgecolor=style.INK, linewidth=1, clip_on=False)
        pairs = TEXT("calibration.figure.pairs")
        axes.plot(lines["probability"], lines["confirmed_share"], label=pairs, **look)
        axes.set_xlim(0, 1)
        axes.set_xlabel(TEXT("calibration.figure.x"))
        style.percent_ticks(axes.xaxis, 5)
        style.share_axis(axes, 1.0)
        sheet.key()

    cells = [
        TEXT("calibration.figure.cell", probability=percent(mean), share=percent(share))
        for mean, share in zip(lines["probability"], lines["confirmed_share"], strict=True)
    ]
    alt = TEXT("calibration.figure.alt", cells="; ".join(cells))
    return style.figure(draw, height=2.6, alt=alt, caption=TEXT("calibration.figure.caption"))
