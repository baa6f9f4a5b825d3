"""Figures of the risk of one file: contributions, DIS-SUDA, and both beside the population (METHODS §7)."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.report.figures.rates import top_of
from reident.report.figures.style import (
    CONFIRMED,
    LIMIT,
    LINES,
    MUTED,
    SUSPECTED,
    Figure,
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
from reident.report.layout import part
from reident.report.results import Results
from reident.report.tables.filerisk import (
    CELLS,
    CLASSES,
    NAMES,
    SUMMARY,
    VARIABLES,
    by_cell_class,
    classes_of,
)
from reident.report.tables.filerisk_population import BY_SAMPLE, BY_TENTH, tenths_of
from reident.report.wording import count, percent, some

LOOKS = {"elliot-manning": LINES["unicity"], "user-guide": LINES["taxicab"]}
"""Colour and marker of a definition."""


@part(CELLS, SUMMARY)
def risk_cells(results: Results) -> Figure:
    """Records by the size of their cell."""
    classes = by_cell_class(results)

    def draw(sheet: Sheet) -> None:
        axes, at = sheet.panels[0], range(len(classes))
        colors = [CONFIRMED if place == 0 else SUSPECTED for place in at]
        axes.bar(at, classes["n_records"], width=0.72, color=colors)
        count_axis(axes, "y")
        shown = [label.replace(" and more", "+").replace(" – ", "–") for label in classes["label"]]
        axes.set_xticks(list(at), shown, fontsize=7)
        axes.set_xlabel("records in a cell")
        axes.set_ylabel("records")

    cells = [f"{row.label}: {count(row.n_records)}" for row in classes.itertuples()]
    alt = f"Bars, records by the size of their cell. {'; '.join(cells)}."
    caption = "Records by the number of records with the same key; the dark bar is the sample uniques."
    return figure(draw, height=2.0, alt=alt, caption=caption)


@part(VARIABLES)
def risk_contributions(results: Results) -> Figure | None:
    """The contribution of each key variable to the total score."""
    found = results.table(VARIABLES).sort_values("contribution", ascending=False, kind="stable")
    if found["contribution"].isna().all():
        return None

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        axes.barh(range(len(found)), found["contribution"], height=0.62, color=CONFIRMED)
        percent_axis(axes, top_of(list(found["contribution"]), None))
        rows(axes, list(found["variable"]), letters(sheet))

    cells = [f"{row.variable} {percent(row.contribution)}" for row in found.itertuples()]
    alt = f"Bars, contribution of each variable. {'; '.join(cells)}."
    caption = "Share of the total SUDA score carried by the minimal sample uniques that contain a variable."
    return figure(draw, height=height_of(len(found)), alt=alt, caption=caption)


@part(CLASSES, SUMMARY)
def risk_classes(results: Results) -> Figure | None:
    """Sample uniques by their DIS-SUDA, a panel for each definition."""
    found = {name: own[own["up_to"] > 0] for name, own in classes_of(results).items()}
    if not sum(own["n"].sum() for own in found.values()):
        return None

    def draw(sheet: Sheet) -> None:
        for axes, name in zip(sheet.panels, NAMES, strict=True):
            own = found[name]
            axes.bar(range(len(own)), own["n"], width=0.8, color=LOOKS[name][0])
            axes.set_title(NAMES[name])
            count_axis(axes, "y")
            places = [0, 4, 9]
            axes.set_xticks(places, [percent_tick(own["up_to"].iloc[at], 0) for at in places])
            axes.set_xlabel("DIS-SUDA up to")

    said = []
    for name, own in found.items():
        cells = [f"{label} {count(n)}" for label, n in zip(own.index, own["n"], strict=True) if n]
        said.append(f"{NAMES[name]}: {'; '.join(cells)}")
    alt = f"Bars, sample uniques by class, two panels. {'. '.join(said)}."
    caption = "Records above 0 by their DIS-SUDA in classes of 10 %; the last bar is exactly 100 %."
    return figure(draw, panels=2, height=2.0, alt=alt, caption=caption, across=1, sharey=True, between=0.05)


@part(BY_SAMPLE)
def risk_samples(results: Results) -> Figure | None:
    """DIS of every sample against the truth, of those that have both."""
    lines = results.table(BY_SAMPLE).dropna(subset=["dis", "match_probability"])
    if lines.empty:
        return None

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        both = [*lines["dis"], *lines["match_probability"]]
        low, high = min(both), max(both)
        room = max((high - low) * 0.1, 0.005)
        ends = (max(0.0, low - room), min(1.0, high + room))
        axes.plot(ends, ends, color=LIMIT, linewidth=0.9, linestyle=(0, (4, 3)), label="equal")
        axes.plot(
            lines["match_probability"], lines["dis"], "o", color=CONFIRMED, markersize=3.6, label="a sample"
        )
        axes.set(
            xlim=ends, ylim=ends, xlabel="truth: uniques / persons in their cells", ylabel="DIS, general form"
        )
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4))
            axis.set_major_formatter(FuncFormatter(percent_tick))
        axes.tick_params(axis="y", labelsize=7, labelcolor=MUTED)
        axes.grid(visible=True)
        sheet.key()

    dis, truth = lines["dis"], lines["match_probability"]
    alt = (
        f"Dots, one for each of {some(len(lines), 'sample')}. DIS from {percent(dis.min())} to {percent(dis.max())}, "
        f"the truth from {percent(truth.min())} to {percent(truth.max())}."
    )
    caption = (
        "The probability of a correct match given a unique match, in every sample: DIS against the truth."
    )
    return figure(draw, height=2.8, alt=alt, caption=caption)


@part(BY_TENTH)
def risk_calibration(results: Results) -> Figure | None:
    """How true each definition is: tenths of the uniques against the population; nothing without a unique."""
    found = tenths_of(results)
    if all(own.empty for own in found.values()):
        return None

    def draw(sheet: Sheet) -> None:
        for axes, name in zip(sheet.panels, NAMES, strict=True):
            own, (color, marker) = found[name], LOOKS[name]
            axes.plot([0, 1], [0, 1], color=LIMIT, linewidth=0.9, linestyle=(0, (4, 3)), label="calibrated")
            axes.plot(
                own["mean_dis_suda"], own["mean_reciprocal"], marker=marker, color=color, markersize=4,
                linewidth=1, label="mean reciprocal",
            )  # fmt: skip
            axes.plot(
                own["mean_dis_suda"], own["match_probability"], marker=marker, color=color, markersize=4,
                markerfacecolor="white", linewidth=1, label="pr(cm|um)",
            )  # fmt: skip
            axes.set_title(NAMES[name], pad=14)
            axes.set_xlim(0, 1)
            axes.set_xlabel("DIS-SUDA, mean of a tenth")
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.xaxis.set_major_formatter(FuncFormatter(percent_tick))
            share_axis(axes, 1)
        sheet.key()

    said = []
    for name, own in found.items():
        cells = [
            f"{percent(row.mean_dis_suda)}: {percent(row.mean_reciprocal)}, {percent(row.match_probability)}"
            for row in own.itertuples()
        ]
        said.append(f"{NAMES[name]}: {'; '.join(cells)}")
    alt = f"Lines, DIS-SUDA against mean reciprocal and probability of a correct match. {'. '.join(said)}."
    caption = (
        "Calibration: the sample uniques of all samples in tenths by their DIS-SUDA, against the mean reciprocal of "
        "their population cells (filled) and the probability that a unique match with them is correct (hollow). On "
        "the broken line a value would be the probability."
    )
    return figure(draw, panels=2, height=2.9, alt=alt, caption=caption, across=1, sharey=True, between=0.05)
