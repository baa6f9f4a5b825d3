"""Figures of the risk of one file: cells, contributions, DIS-SUDA, and its calibration (METHODS §7)."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.filerisk.dis import Z
from reident.report.figures.rates import top_of
from reident.report.layout import part
from reident.report.nouns import some
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    LIMIT,
    LINES,
    MUTED,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    count_axis,
    figure,
    height_of,
    letters,
    percent_axis,
    percent_tick,
    rows,
    share_axis,
)
from reident.report.tables.common import size_tick
from reident.report.tables.filerisk import (
    CELLS,
    CLASSES,
    SUMMARY,
    VARIABLES,
    by_contribution,
    cells_by_class,
    classes_by_definition,
    is_wildcard,
    name_of,
    quantity,
)
from reident.report.tables.filerisk_population import BY_SAMPLE, BY_TENTH, tenths_by_definition
from reident.report.wording import count, defined, percent, span

LOOKS = {"elliot-manning": LINES["unicity"], "user-guide": LINES["taxicab"]}
"""Colour and marker of a definition."""

EQUAL: Look = {"color": LIMIT, "linewidth": 0.9, "linestyle": (0, (4, 3))}
"""The broken line on which both axes have the same value."""

TEXT = Sentences("filerisk")


@part(CELLS, SUMMARY)
def risk_cells(results: Results) -> Figure:
    """Draw the records by the size of their cell."""
    classes, wildcard = cells_by_class(results), is_wildcard(results)
    caption = TEXT("cells.figure.caption_wildcard") if wildcard else TEXT("cells.figure.caption")

    def draw(sheet: Sheet) -> None:
        axes, at = sheet.panels[0], range(len(classes))
        axes.bar(at, classes["n_records"], width=0.72, color=[CONFIRMED, *[SUSPECTED] * (len(classes) - 1)])
        count_axis(axes, "y")
        ticks = [size_tick(*ends) for ends in zip(classes["low"], classes["high"], strict=True)]
        axes.set_xticks(list(at), ticks, fontsize=7)
        axes.set_xlabel(TEXT("cells.figure.x_wildcard") if wildcard else TEXT("cells.figure.x"))
        axes.set_ylabel(TEXT("cells.figure.y"))

    cells = "; ".join(f"{row.label}: {count(row.n_records)}" for row in classes.itertuples())
    return figure(draw, height=2.0, alt=TEXT("cells.figure.alt", cells=cells), caption=caption)


@part(SUMMARY)
def risk_probabilities(results: Results) -> Figure | None:
    """Draw DIS by its forms, each with the interval for its error, beside the truth; nothing where it is undefined."""
    lines = {name: line for name, line in _probabilities(results).items() if defined(line[0])}
    if "general" not in lines:
        return None
    names = [TEXT(f"dis.figure.{name}") for name in lines]
    truth = "truth" in lines
    ends = [line[2] if defined(line[2]) else line[0] for line in lines.values()]

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        for place, (name, (value, low, high)) in enumerate(lines.items()):
            marker, colour = ("D", LIMIT) if name == "truth" else ("o", CONFIRMED)
            if defined(low):
                axes.hlines(place, low, high, color=SUSPECTED, linewidth=5, zorder=2)
            axes.plot(value, place, marker, color=colour, markersize=5, zorder=3)
        percent_axis(axes, top_of(ends, None))
        rows(axes, names, letters(sheet))

    shown = "; ".join(
        f"{name} {percent(value)}" + (f" ({span(low, high)})" if defined(low) else "")
        for name, (value, low, high) in zip(names, lines.values(), strict=True)
    )
    caption = TEXT("dis.figure.caption")
    return figure(
        draw,
        height=height_of(len(lines)),
        alt=TEXT("dis.figure.alt", rows=shown),
        caption=TEXT("dis.figure.caption_truth", caption=caption) if truth else caption,
    )


def _probabilities(results: Results) -> dict[str, tuple[float, float, float]]:
    """Return each estimate with the ends of its interval, NaN where they are not defined."""
    every = set(results.table(SUMMARY)["quantity"])
    nothing = float("nan")
    names = {
        "general": "dis",
        "special": "dis_special",
        "original": "dis_original",
        "original_special": "dis_original_special",
        "truth": "true_match_probability",
    }
    lines = {}
    for name, estimate in names.items():
        if estimate in every:
            value = quantity(results, estimate)
            away = Z * quantity(results, f"{estimate}_se") if name.endswith("special") else nothing
            ends = (max(0.0, value - away), min(1.0, value + away)) if away >= 0 else (nothing, nothing)
            lines[name] = (value, *ends)
    lines["general"] = (lines["general"][0], quantity(results, "dis_low"), quantity(results, "dis_high"))
    return lines


@part(VARIABLES)
def risk_contributions(results: Results) -> Figure | None:
    """Draw the contribution of each key variable to the SUDA score."""
    lines = by_contribution(results)
    if lines["contribution"].isna().all():
        return None

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        axes.barh(range(len(lines)), lines["contribution"], height=0.62, color=CONFIRMED)
        percent_axis(axes, top_of(list(lines["contribution"]), None))
        rows(axes, list(lines["variable"]), letters(sheet))

    variables = "; ".join(f"{row.variable} {percent(row.contribution)}" for row in lines.itertuples())
    alt = TEXT("variables.figure.alt", variables=variables)
    return figure(draw, height=height_of(len(lines)), alt=alt, caption=TEXT("variables.figure.caption"))


@part(CLASSES, SUMMARY)
def risk_classes(results: Results) -> Figure | None:
    """Draw the sample uniques by their DIS-SUDA, with a panel for each definition."""
    classes = {name: lines[lines["up_to"] > 0] for name, lines in classes_by_definition(results).items()}
    if not any(lines["n"].any() for lines in classes.values()):
        return None

    def draw(sheet: Sheet) -> None:
        for axes, (definition, lines) in zip(sheet.panels, classes.items(), strict=True):
            axes.bar(range(len(lines)), lines["n"], width=0.8, color=LOOKS[definition][0])
            axes.set_title(name_of(definition))
            count_axis(axes, "y")
            at = [0, 4, 9]
            axes.set_xticks(at, [percent_tick(lines["up_to"].iloc[place], 0) for place in at])
            axes.set_xlabel(TEXT("classes.figure.x"))
        for axes in sheet.left():
            axes.set_ylabel(TEXT("classes.figure.y"))

    definitions = _by_definition(
        {
            definition: [f"{label} {count(n)}" for label, n in lines["n"].items() if n]
            for definition, lines in classes.items()
        }
    )
    caption = TEXT("classes.figure.caption")
    if any(lines["n"].iloc[-1] for lines in classes.values()):
        caption += " " + TEXT("classes.figure.last_bar")
    return figure(
        draw,
        panels=2,
        height=2.0,
        alt=TEXT("classes.figure.alt", definitions=definitions),
        caption=caption,
        across=1,
        sharey=True,
        between=0.05,
    )


def _by_definition(values: dict[str, list[str]]) -> str:
    """Return the values of each definition for the alternative text of a figure."""
    return ". ".join(f"{name_of(definition)}: {'; '.join(texts)}" for definition, texts in values.items())


@part(BY_SAMPLE)
def risk_samples(results: Results) -> Figure | None:
    """Draw DIS against the true probability, for the samples that have both."""
    lines = results.table(BY_SAMPLE).dropna(subset=["dis", "match_probability"])
    if lines.empty:
        return None
    dis, truth = lines["dis"], lines["match_probability"]

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        low, high = min(dis.min(), truth.min()), max(dis.max(), truth.max())
        margin = max((high - low) * 0.1, 0.005)
        ends = (max(0.0, low - margin), min(1.0, high + margin))
        axes.plot(ends, ends, label=TEXT("samples.figure.equal"), **EQUAL)
        axes.plot(truth, dis, "o", color=CONFIRMED, markersize=3.6, label=TEXT("samples.figure.sample"))
        axes.set(xlim=ends, ylim=ends, xlabel=TEXT("samples.figure.x"), ylabel=TEXT("samples.figure.y"))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4))
            axis.set_major_formatter(FuncFormatter(percent_tick))
        axes.tick_params(axis="y", labelsize=7, labelcolor=MUTED)
        axes.grid(visible=True)
        sheet.key()

    alt = TEXT(
        "samples.figure.alt",
        samples=some(len(lines), "sample"),
        dis_low=percent(dis.min()),
        dis_high=percent(dis.max()),
        truth_low=percent(truth.min()),
        truth_high=percent(truth.max()),
    )
    return figure(draw, height=2.8, alt=alt, caption=TEXT("samples.figure.caption"))


@part(BY_TENTH)
def risk_calibration(results: Results) -> Figure | None:
    """Draw the calibration of each definition against the population, or nothing without a sample unique."""
    tenths = tenths_by_definition(results)
    if all(lines.empty for lines in tenths.values()):
        return None

    def draw(sheet: Sheet) -> None:
        for axes, (definition, lines) in zip(sheet.panels, tenths.items(), strict=True):
            colour, marker = LOOKS[definition]
            look: Look = {"marker": marker, "color": colour, "markersize": 4, "linewidth": 1}
            dis_suda = lines["mean_dis_suda"]
            axes.plot([0, 1], [0, 1], label=TEXT("calibration.calibrated"), **EQUAL)
            axes.plot(dis_suda, lines["mean_reciprocal"], label=TEXT("calibration.reciprocal"), **look)
            look |= {"markerfacecolor": "white"}
            axes.plot(dis_suda, lines["match_probability"], label=TEXT("calibration.probability"), **look)
            axes.set_title(name_of(definition), pad=14)
            axes.set_xlim(0, 1)
            axes.set_xlabel(TEXT("calibration.x"))
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.xaxis.set_major_formatter(FuncFormatter(percent_tick))
            share_axis(axes, 1)
        sheet.key()

    definitions = _by_definition(
        {
            definition: [
                f"{percent(row.mean_dis_suda)}: {percent(row.mean_reciprocal)}, {percent(row.match_probability)}"
                for row in lines.itertuples()
            ]
            for definition, lines in tenths.items()
        }
    )
    return figure(
        draw,
        panels=2,
        height=2.9,
        alt=TEXT("calibration.alt", definitions=definitions),
        caption=TEXT("calibration.caption"),
        across=1,
        sharey=True,
        between=0.05,
    )
