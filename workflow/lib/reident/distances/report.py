"""Distances of synthetic records to the closest record, and to that of a holdout (METHODS §8.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.distances.premise import VARIABLE
from reident.matching.report import MAX_FILES
from reident.outcomes import CLOSEST as ABOUT
from reident.outcomes import LIMITS, VERDICT
from reident.page import style
from reident.page.common import DASHED, verdict_on
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Look, Sheet
from reident.page.terms import some
from reident.page.wording import (
    apart,
    count_cells,
    declared,
    fixed_cells,
    label_cells,
    listed,
    number,
    percent,
    rates,
    span,
    without_unit,
)

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("distances")
CLOSEST, DISTANCES = "matching/closest.csv", "matching/distances.csv"
NEARNESS, PREMISE = "matching/nearness.csv", "matching/premise.csv"
OWN, HOLDOUT = "confidential", "holdout"

ALL = 100
"""The share of the synthetic records, in per cent, that are all of them."""


def lines_of(results: Results) -> pd.DataFrame:
    """Return the synthetic files that are shown."""
    return results.table(CLOSEST).head(MAX_FILES)


def shares_of(results: Results) -> pd.DataFrame:
    """Return the shares of closest records that are confidential, and their meaning, for the files that are shown."""
    lines = results.table(NEARNESS).copy()
    lines["outcome"] = "chance"
    lines.loc[lines["share"] < lines["low"], "outcome"] = "below"
    lines.loc[lines["high"] >= 1, "outcome"] = "too_few"  # even if all nearest records were confidential
    lines.loc[lines["nearer"], "outcome"] = "beyond"
    if not is_comparable(results):
        lines["outcome"] = "nothing"
    return lines[lines["file"].isin(results.table(CLOSEST)["file"].head(MAX_FILES))]


def has_holdout(results: Results) -> bool:
    """Return whether the distances are compared with those to a holdout."""
    return bool((results.table(CLOSEST)["n_holdout"] > 0).all())


def is_comparable(results: Results) -> bool:
    """Return whether the confidential file and the holdout differ no more than random parts of one file would."""
    return bool(results.table(CLOSEST)["comparable"].all())


@block(CLOSEST, LIMITS, VERDICT)
def closest_overall(results: Results) -> str | None:
    """Give the verdict on the share that is nearer to the confidential file, where the study sets a limit for it."""
    return verdict_on(results, ABOUT, TEXT, "nothing", _limits)


def _limits(_results: Results, limits: pd.DataFrame) -> list[str]:
    return [
        TEXT("verdict.limit", limit=declared(bound), value=apart(max(value, 0.0), bound)[0])
        for value, bound in zip(limits["value"], limits["bound"], strict=True)
    ]


@block(CLOSEST, PREMISE, NEARNESS)
def closest_findings(results: Results) -> str:
    """Say in the brief whether memory is a reason for nearness and copies, of the file that shows them most."""
    if not has_holdout(results):
        return box("findings", items([TEXT("findings.no_holdout")]))
    if not is_comparable(results):
        return box("findings", items([TEXT("findings.differs", **_compared(results))]))
    lines = results.table(CLOSEST)
    files = lines.assign(excess=lines["share"] - lines["expected"])
    line = files.sort_values(["copied", "nearer", "excess"], ascending=False, kind="stable").iloc[0]
    file = TEXT("findings.file", n=len(lines), number=line["file"])
    shares = shares_of(results)
    texts = [_nearness(results, shares[shares["file"] == line["file"]], file)]
    if n := int(line["n_alone_confidential"]):
        other = some(int(line["n_alone_holdout"]), "person")
        copied = "copied" if line["copied"] else "not_copied"
        text = TEXT(
            f"findings.{copied}", people=some(n, "person"), other=other, file=file, level=declared(results.level)
        )
        texts.append(f"{text} {TEXT('findings.exact')}")
    return box("findings", items(texts))


def _compared(results: Results) -> dict[str, str]:
    """Return how probable it is that random parts differ as the files do, and, where they differ, in what."""
    lines = results.table(PREMISE)
    fields = {"probability": percent(lines["probability"].min()), "level": declared(results.level)}
    if is_comparable(results):
        return fields
    names = lines.loc[lines["differs"] & (lines["comparison"] == VARIABLE), "variable"]
    in_variables = TEXT("findings.in_variables", variables=listed(label_cells(names)))
    return fields | {"difference": TEXT("findings.in_neighbours") if names.empty else in_variables}


def _nearness(results: Results, shares: pd.DataFrame, file: str) -> str:
    """Describe the shares of one file: all of them, or the one that is the farthest beyond chance."""
    whole = shares.iloc[-1]
    fields = {"file": file, "level": declared(results.level), "expected": percent(whole["expected"])}
    seen = shares[shares["nearer"]].sort_values("probability", kind="stable")
    if not seen.empty:
        line = seen.iloc[0]
        name = "all" if line["percent"] == ALL else "tail"
        which = TEXT(f"findings.which.{name}", **({"percent": _tail(line["percent"])} if name == "tail" else {}))
        fields |= {"share": percent(line["share"]), "high": percent(line["high"])}
        return TEXT("findings.nearer", which=which, **fields)
    fields |= {"share": percent(whole["share"])}
    if whole["outcome"] == "below":
        return TEXT("findings.below", **fields, low=percent(whole["low"]))
    tails = {f"tail_{line.percent}": percent(line.share) for line in shares.iloc[:-1].itertuples()}
    texts = [TEXT("findings.as_expected", **fields, **tails)]
    few = shares[shares["outcome"] == "too_few"]
    if not few.empty:
        line = few.iloc[-1]
        texts.append(TEXT("findings.too_few", percent=declared(line["percent"] / 100), n=int(line["n_records"])))
    return " ".join(texts)


def _tail(share: int) -> str:
    return TEXT("figure.all") if share == ALL else declared(share / 100)


@block(CLOSEST, PREMISE)
def closest_premise(results: Results) -> str:
    """Introduce the distance, and the conclusions from the holdout, or explain why there are none without one."""
    line = results.table(CLOSEST).iloc[0]
    names = listed(label_cells(results.model.matched.closest_variables))
    text = TEXT("premise.distance", variables=names)
    if not has_holdout(results):
        return paragraphs(text, TEXT("premise.no_holdout"))
    fields = {"people": some(int(line["n_holdout"]), "person"), "expected": percent(line["expected"])}
    outcome = "comparable" if is_comparable(results) else "not_comparable"
    compared = TEXT(f"premise.{outcome}", **_compared(results))
    return paragraphs(text, TEXT("premise.holdout", **fields), compared)


@block(CLOSEST, NEARNESS, DISTANCES)
def closest_figure(results: Results) -> Figure:
    """Draw the distribution of both distances, and with a holdout the shares with their bands of chance."""
    lines, curves, with_holdout = lines_of(results), results.table(DISTANCES), has_holdout(results)
    shares = shares_of(results)
    curves = curves[curves["file"].isin(lines["file"])]

    def draw(sheet: Sheet) -> None:
        _draw_distances(sheet.panels[0], curves, (OWN, HOLDOUT) if with_holdout else (OWN,))
        sheet.panels[0].legend(loc="lower right", fontsize=7)
        if with_holdout:
            _draw_shares(sheet.panels[1], shares)

    return style.figure(
        draw, panels=2 if with_holdout else 1, across=1, height=2.6, between=0.06,
        alt=_alt(lines, shares, with_holdout),
        caption=TEXT("figure.caption", level=declared(results.level)) if with_holdout else TEXT("figure.caption_alone"),
    )  # fmt: skip


LAST = 95
"""The percentile at which the axis of distances ends: a few far records would take all of it."""

_CURVES: dict[str, Look] = {
    OWN: {"color": style.CONFIRMED, "linewidth": 1.4, "zorder": 3},
    HOLDOUT: {"color": style.LIMIT, "linewidth": 1.4, "linestyle": (0, (3, 1.5)), "zorder": 4},
}


def _draw_distances(axes: Axes, curves: pd.DataFrame, kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        for at, (_, curve) in enumerate(curves.groupby("file", sort=False)):
            label = None if at else TEXT(f"figure.{kind}")
            axes.plot(curve[kind], curve["percent"] / 100, label=label, **_CURVES[kind])
    end = curves.loc[curves["percent"] == LAST, list(kinds)].max(axis=None)
    axes.set_xlim(0, 1.03 * (end or curves[list(kinds)].max(axis=None) or 1))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    style.share_axis(axes, 1)
    axes.set_xlabel(TEXT("figure.x"))
    axes.set_title(TEXT("figure.distances"))


def _draw_shares(axes: Axes, shares: pd.DataFrame) -> None:
    """Draw, for each tail, the share of each file beside its band, file by file from left to right."""
    files, tails = list(dict.fromkeys(shares["file"])), list(dict.fromkeys(shares["percent"]))
    step = min(0.12, 0.7 / len(files))
    middle = (len(files) - 1) / 2
    at = [
        tails.index(t) + step * (files.index(f) - middle)
        for f, t in zip(shares["file"], shares["percent"], strict=True)
    ]
    axes.vlines(at, shares["low"], shares["high"], color=style.SUSPECTED, linewidth=4, zorder=2)
    axes.plot(at, shares["share"], "o", **style.full(4.5, clip_on=False))
    axes.axhline(shares["expected"].iloc[0], **DASHED)
    axes.set_xticks(range(len(tails)), [_tail(tail) for tail in tails])
    axes.set_xlim(-0.5, len(tails) - 0.5)
    style.share_axis(axes, 1)
    axes.set_xlabel(TEXT("figure.tails"))
    axes.set_title(TEXT("figure.shares"))


def _alt(lines: pd.DataFrame, shares: pd.DataFrame, with_holdout: bool) -> str:
    key, texts = "file_alt" if with_holdout else "file_alone", [TEXT("figure.alt.start")]
    for line in lines.to_dict("records"):
        own = shares[shares["file"] == line["file"]] if with_holdout else shares.head(0)
        fields = {f"share_{tail.percent}": percent(tail.share) for tail in own.itertuples()}
        if with_holdout:
            fields["expected"] = percent(line["expected"])
        for kind in (OWN, HOLDOUT)[: 1 + with_holdout]:
            fields[kind] = number(round(line[f"distance_{kind}"], 3))
        texts.append(TEXT(f"figure.alt.{key}", number=line["file"], **fields))
    return " ".join(texts)


@block(CLOSEST, NEARNESS)
def closest_tables(results: Results) -> str:
    """Show the shares with their bands, the distances and ratios, and how many people are in a synthetic file."""
    lines, with_holdout = lines_of(results), has_holdout(results)
    return paragraphs(
        _shares(results) if with_holdout else None,
        _distances(lines, with_holdout),
        _copies(results, lines, with_holdout),
    )


def _table(caption: str, lines: pd.DataFrame, cells: dict[str, list[str]]) -> str:
    files = [f"**{TEXT('figure.file', number=file)}**" for file in lines["file"]]
    columns = [
        ReportColumn(TEXT(f"tables.columns.{name}"), values, "l" if name == "outcome" else "r", "1fr")
        for name, values in cells.items()
    ]
    return table(caption, ReportColumn(HEADING("file"), files, "l", "1.2fr"), *columns, kind="compact")


def _shares(results: Results) -> str:
    shares = shares_of(results)
    cells: dict[str, list[str]] = {}
    for tail, lines in shares.groupby("percent"):
        ends = zip(rates(lines["share"]), lines["low"], lines["high"], strict=True)
        cells[f"tail_{tail}"] = [f"{share} ({without_unit(span(low, high))})" for share, low, high in ends]
    cells["expected"] = rates(lines["expected"])
    found = [set(own["outcome"]) for _, own in shares.groupby("file", sort=False)]
    order = ("nothing", "beyond", "below", "too_few")
    worst = [next((name for name in order if name in own), "chance") for own in found]
    cells["outcome"] = [TEXT(f"tables.outcomes.{name}") for name in worst]
    return _table(TEXT("tables.shares", level=declared(results.level), file=NEARNESS), lines, cells)


def _distances(lines: pd.DataFrame, with_holdout: bool) -> str:
    names = [f"{quantity}_{kind}" for quantity in ("distance", "ratio") for kind in (OWN, HOLDOUT)[: 1 + with_holdout]]
    return _table(TEXT("tables.distances"), lines, {name: fixed_cells(lines[name], 3) for name in names})


def _copies(results: Results, lines: pd.DataFrame, with_holdout: bool) -> str:
    names = ["n_identical", "n_identical_unique"]
    if with_holdout:
        names += ["n_identical_holdout", "n_alone_confidential", "n_alone_holdout"]
    cells = {name: count_cells(lines[name]) for name in names}
    if with_holdout:
        outcomes = ["beyond" if copied else "chance" for copied in lines["copied"]]
        if not is_comparable(results):
            outcomes = ["nothing"] * len(lines)
        cells["outcome"] = [TEXT(f"tables.outcomes.{name}") for name in outcomes]
        return _table(TEXT("tables.copies", level=declared(results.level)), lines, cells)
    return _table(TEXT("tables.copies_alone"), lines, cells)
