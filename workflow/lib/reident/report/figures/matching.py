"""Figures of matching-based risk: by intruder, by number of matches, by set of known variables (METHODS §8)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.report.figures.rates import limit_line, top_of
from reident.report.figures.style import (
    CONFIRMED,
    INK,
    MUTED,
    RULE,
    SUSPECTED,
    Figure,
    Sheet,
    count_axis,
    figure,
    height_of,
    letters,
    percent_axis,
    rows,
)
from reident.report.layout import part
from reident.report.results import Results
from reident.report.tables.matching import (
    CONFIDENTIAL,
    DISTRIBUTION,
    MEAN,
    SCENARIOS,
    copies,
    first_set,
    limits,
    lines_of,
)
from reident.report.tables.matching_sets import by_class, class_words, named_sets, subsets
from reident.report.wording import count, escape, percent, some

PANELS = (
    ("expected_match_risk", "Expected match risk"),
    ("true_match_rate", "True match rate"),
    ("false_match_rate", "False match rate"),
)


@part(SCENARIOS, DISTRIBUTION)
def matching_summaries(results: Results) -> Figure:
    """The three summaries of every intruder: each synthetic file, their mean, and the confidential file."""
    names = named_sets(results) or [first_set(results)]
    shares = {file: _shares(results, file, names) for file in [*copies(results), MEAN, CONFIDENTIAL]}
    given = _limits(results)

    def draw(sheet: Sheet) -> None:
        for axes, (rate, heading) in zip(sheet.panels, PANELS, strict=True):
            _dots(axes, {file: own[rate] for file, own in shares.items()})
            every = pd.concat([own[rate] for own in shares.values()])
            percent_axis(axes, top_of(list(every.dropna()), given.get(rate)), 3)
            limit_line(axes, given.get(rate), at_top=True)
            axes.set_title(heading, pad=14 if given else 7)
        for axes in sheet.left():
            rows(axes, [_label(name) for name in names], letters(sheet))
        sheet.key()

    caption = (
        "The three summaries, the first one per target: each synthetic file (pale dots), their mean (dark dot), the "
        "confidential file (square). Risk is high on the right in the first two, on the left in the third."
    )
    if given:
        caption += " The broken line is the limit."
    return figure(
        draw, panels=3, height=0.45 + height_of(len(names)), alt=_summaries_alt(names, shares), caption=caption,
        across=1, between=0.05, sharey=True,
    )  # fmt: skip


def _label(name: str) -> str:
    return "first" if name == "known" else name


def _shares(results: Results, file: str, names: list[str]) -> pd.DataFrame:
    """The summaries of some sets, the expected match risk as a share of the targets."""
    own = lines_of(results, file).loc[names].copy()
    own["expected_match_risk"] /= own["targets"]
    return own


def _limits(results: Results) -> dict[str, float]:
    """The limits as shares, by summary."""
    given = {
        name.removesuffix("_at_most").removesuffix("_at_least"): own for name, own in limits(results).items()
    }
    if "expected_match_risk" in given:
        given["expected_match_risk"] /= lines_of(results, MEAN)["targets"].iloc[0]
    return given


def _dots(axes: Axes, values: dict[str, pd.Series]) -> None:
    mean, own = values[MEAN], values[CONFIDENTIAL]
    at = range(len(mean))
    axes.hlines(at, mean, own, color=RULE, linewidth=2, zorder=1)
    files = [file for file in values if file not in (MEAN, CONFIDENTIAL)]
    for place, file in enumerate(files):
        label = "synthetic files" if place == 0 else None
        axes.plot(
            values[file], at, "o", color=SUSPECTED, markersize=3.4, zorder=2, label=label, clip_on=False
        )
    axes.plot(mean, at, "o", color=CONFIRMED, markersize=5, zorder=3, label="their mean", clip_on=False)
    axes.plot(
        own, at, "s", color="white", markeredgecolor=MUTED, markersize=4.4, zorder=2, clip_on=False,
        label="confidential file",
    )  # fmt: skip


def _summaries_alt(names: list[str], shares: dict[str, pd.DataFrame]) -> str:
    said = ["Dots, three panels."]
    for name in names:
        mean, own = shares[MEAN].loc[name], shares[CONFIDENTIAL].loc[name]
        cells = [
            f"{heading.lower()} {percent(mean[rate])}, of the confidential file {percent(own[rate])}"
            for rate, heading in PANELS
        ]
        said.append(f"{_label(name)}, mean of the synthetic files: {'; '.join(cells)}.")
    return " ".join(said)


@part(DISTRIBUTION, SCENARIOS)
def matching_distribution(results: Results) -> Figure:
    """Targets by the number of matching records, those with their own among them, and the confidential file."""
    classes = by_class(results)
    labels = [class_words(row.matches_from, row.matches_to) for row in classes.itertuples()]

    def draw(sheet: Sheet) -> None:
        axes, at = sheet.panels[0], range(len(classes))
        axes.bar(at, classes["n_records"], width=0.72, color=SUSPECTED, label="targets, synthetic files")
        axes.bar(at, classes["n_own"], width=0.42, color=CONFIRMED, label="their own record among them")
        axes.plot(
            at, classes["confidential"], "D", color="white", markeredgecolor=INK, markersize=3.8, zorder=4,
            clip_on=False, label="targets, confidential file",
        )  # fmt: skip
        count_axis(axes, "y")
        shown = [label.replace(" and more", "+").replace(" – ", "–") for label in labels]
        axes.set_xticks(list(at), shown, rotation=45 if sheet.narrow else 0, fontsize=7)
        axes.set_xlabel("records that match")
        sheet.key()

    name = first_set(results)
    who = "" if len(lines_of(results, MEAN)) == 1 or name == "known" else f" of the intruder *{escape(name)}*"
    caption = (
        f"Targets{who} by the number of synthetic records that match, on average over the synthetic files; diamonds, "
        "the confidential file against itself."
    )
    cells = [
        f"{label}: {count(row.n_records)} targets, {count(row.n_own)} with their own record; confidential "
        f"{count(row.confidential)}"
        for label, row in zip(labels, classes.itertuples(), strict=True)
    ]
    alt = f"Bars by the number of matching records. {'; '.join(cells)}."
    return figure(draw, height=2.3, alt=alt, caption=caption)


@part(SCENARIOS)
def matching_subsets(results: Results) -> Figure | None:
    """The expected match risk of all subsets by their size, the most dangerous of each size named."""
    found = subsets(results)
    if found.empty:
        return None
    share = found["expected_match_risk"] / found["targets"]
    sizes = sorted(found["size"].unique())
    limit = _limits(results).get("expected_match_risk")
    top = top_of([1.25 * float(share.max())], limit)

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        for place, size in enumerate(sizes):
            own = found["size"] == size
            axes.plot(
                share[own], [place] * int(own.sum()), "|", color=SUSPECTED, markersize=9, markeredgewidth=1.3
            )
            worst = share[own].idxmax()
            axes.plot(share[worst], place, "o", color=CONFIRMED, markersize=4.6, zorder=3)
            text = str(found.at[worst, "known"])
            beyond = share[worst] > 0.55 * top
            axes.annotate(
                text if len(text) <= 34 else text[:33] + "…", (share[worst], place), xytext=(-4 if beyond else 5, 8.5),
                textcoords="offset points", fontsize=6.5, ha="right" if beyond else "left", color=CONFIRMED,
            )  # fmt: skip
        percent_axis(axes, top)
        limit_line(axes, limit, at_top=True)
        rows(axes, [some(int(size), "variable") for size in sizes], letters(sheet))

    caption = (
        "The expected match risk per target of every set of known variables, by their number; the dot and the name "
        "mark the most dangerous set of each."
    )
    cells = []
    for size in sizes:
        own = share[found["size"] == size]
        cells.append(
            f"{some(int(size), 'variable')}: {some(len(own), 'set')} from {percent(own.min())} to {percent(own.max())}"
            f", the most dangerous {found.at[own.idxmax(), 'known']}"
        )
    return figure(
        draw, height=0.55 + 0.42 * len(sizes), alt=f"Ticks by size. {'; '.join(cells)}.", caption=caption
    )
