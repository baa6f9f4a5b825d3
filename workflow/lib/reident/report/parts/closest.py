"""Distances of synthetic records to the closest record, and to that of a holdout (METHODS §8.1)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.report import style
from reident.report.layout import Column, block, items, paragraphs, part, table
from reident.report.parts.common import DASHED, verdict_on
from reident.report.parts.matching import MAX_FILES
from reident.report.results import LIMITS, VERDICT, Results
from reident.report.sentences import Sentences
from reident.report.style import Figure, Look, Sheet
from reident.report.terms import some
from reident.report.wording import (
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
from reident.verdict.warnings import CLOSEST as ABOUT

TEXT = Sentences("closest")
HEADING = Sentences("headings")
CLOSEST, DISTANCES = "matching/closest.csv", "matching/distances.csv"
OWN, HELD = "confidential", "holdout"


def lines_of(results: Results) -> pd.DataFrame:
    """Return the synthetic files that are shown, with the ends of the interval of the share."""
    lines = results.table(CLOSEST)
    for end in ("low", "high"):
        lines = lines.assign(**{f"share_{end}": lines["expected"] + lines[end]})
    return lines.head(MAX_FILES)


def has_holdout(results: Results) -> bool:
    """Return whether the distances are compared with those to a holdout."""
    return bool((results.table(CLOSEST)["n_holdout"] > 0).all())


@part(CLOSEST, LIMITS, VERDICT)
def closest_overall(results: Results) -> str | None:
    """Give the verdict on the share that is nearer to the confidential file, where the study sets a limit for it."""
    return verdict_on(
        results,
        ABOUT,
        lambda key, **fields: TEXT(f"verdict.{key}", **fields),
        "nothing",
        lambda limits: (
            TEXT("verdict.limit", limit=declared(bound), value=apart(max(value, 0.0), bound)[0])
            for value, bound in zip(limits["value"], limits["bound"], strict=True)
        ),
    )


@part(CLOSEST)
def closest_findings(results: Results) -> str:
    """Say on the front page whether the synthesis has memorised people, of the file that shows it most."""
    if not has_holdout(results):
        return block("findings", items([TEXT("findings.no_holdout")]))
    lines = results.table(CLOSEST)
    files = lines.assign(excess=lines["share"] - lines["expected"])
    line = files.sort_values(["copied", "nearer", "excess"], ascending=False, kind="stable").iloc[0]
    file = TEXT("findings.file", n=len(lines), number=line["file"])
    fields = {name: percent(line[name]) for name in ("share", "expected")} | {
        "level": declared(results.level)
    }
    fields |= {"file": file, "interval": span(*(line["expected"] + line[end] for end in ("low", "high")))}
    kind = "nearer" if line["nearer"] else "farther" if line["high"] < 0 else "as_expected"
    texts = [TEXT(f"findings.{kind}", **fields)]
    if n := int(line["n_alone_confidential"]):
        other = some(int(line["n_alone_holdout"]), "person")
        copied = "copied" if line["copied"] else "not_copied"
        texts.append(TEXT(f"findings.{copied}", people=some(n, "person"), other=other, file=file))
    return block("findings", items(texts))


@part(CLOSEST)
def closest_premise(results: Results) -> str:
    """Introduce the distance, and what follows from the holdout, or why nothing follows without one."""
    line = results.table(CLOSEST).iloc[0]
    names = listed(label_cells(results.model.matched.closest_variables))
    text = TEXT("premise.distance", variables=names)
    if not has_holdout(results):
        return paragraphs(text, TEXT("premise.no_holdout"))
    fields = {"people": some(int(line["n_holdout"]), "person"), "expected": percent(line["expected"])}
    return paragraphs(text, TEXT("premise.holdout", **fields))


@part(CLOSEST, DISTANCES)
def closest_figure(results: Results) -> Figure:
    """Draw the distribution of both distances, and with a holdout the share beside its expectation."""
    lines, curves, held = lines_of(results), results.table(DISTANCES), has_holdout(results)
    curves = curves[curves["file"].isin(lines["file"])]

    def draw(sheet: Sheet) -> None:
        _draw_distances(sheet.panels[0], curves, (OWN, HELD) if held else (OWN,))
        sheet.panels[0].legend(loc="lower right", fontsize=7)
        if held:
            _draw_shares(sheet.panels[1], lines)

    return style.figure(
        draw, panels=2 if held else 1, across=1, height=2.6, between=0.06, alt=_alt(lines, held),
        caption=TEXT("figure.caption", level=declared(results.level)) if held else TEXT("figure.caption_alone"),
    )  # fmt: skip


LAST = 95
"""The percentile at which the axis of distances ends: a few far records would take all of it."""

_CURVES: dict[str, Look] = {
    OWN: {"color": style.CONFIRMED, "linewidth": 1.4, "zorder": 3},
    HELD: {"color": style.LIMIT, "linewidth": 1.4, "linestyle": (0, (3, 1.5)), "zorder": 4},
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


def _draw_shares(axes: Axes, lines: pd.DataFrame) -> None:
    at = range(len(lines))
    axes.hlines(at, lines["share_low"], lines["share_high"], color=style.SUSPECTED, linewidth=4, zorder=2)
    axes.plot(lines["share"], at, "o", **style.full(5, clip_on=False))
    expected = lines["expected"].iloc[0]
    axes.axvline(expected, **DASHED)
    ends = [*lines["share_low"], *lines["share_high"], expected]
    style.percent_axis(axes, 1, 4)
    margin = max(0.02, 0.1 * (max(ends) - min(ends)))  # around the expectation, which need not be near 0
    axes.set_xlim(min(ends) - margin, max(ends) + margin)
    style.rows(axes, [TEXT("figure.file", number=file) for file in lines["file"]], 14)
    axes.set_title(TEXT("figure.shares"))


def _alt(lines: pd.DataFrame, held: bool) -> str:
    key = "file_alt" if held else "file_alone"
    texts = [
        TEXT(
            f"figure.alt.{key}",
            number=line["file"],
            **{kind: number(round(line[f"distance_{kind}"], 3)) for kind in (OWN, HELD)[: 1 + held]},
            **({name: percent(line[name]) for name in ("share", "expected")} if held else {}),
        )
        for line in lines.to_dict("records")
    ]
    return " ".join([TEXT("figure.alt.start"), *texts])


@part(CLOSEST)
def closest_tables(results: Results) -> str:
    """Show the share with its expectation, and the distances, ratios and identical records of both files."""
    lines, held = lines_of(results), has_holdout(results)
    return paragraphs(_shares(results, lines) if held else None, _distances(lines, held))


def _table(caption: str, lines: pd.DataFrame, cells: dict[str, list[str]]) -> str:
    files = [f"**{TEXT('figure.file', number=file)}**" for file in lines["file"]]
    columns = [
        Column(TEXT(f"tables.columns.{name}"), values, "l" if name == "outcome" else "r", "1fr")
        for name, values in cells.items()
    ]
    return table(caption, Column(HEADING("file"), files, "l", "1.2fr"), *columns, kind="compact")


def _shares(results: Results, lines: pd.DataFrame) -> str:
    ends = zip(lines["share_low"], lines["share_high"], strict=True)
    beyond = lines["copied"] | lines["nearer"]
    cells = {
        "tied": rates(lines["n_tied"] / lines["n_synthetic"]),
        "share": rates(lines["share"]),
        "interval": [without_unit(span(*both)) for both in ends],
        "expected": rates(lines["expected"]),
        "alone_confidential": count_cells(lines["n_alone_confidential"]),
        "alone_holdout": count_cells(lines["n_alone_holdout"]),
        "outcome": [TEXT(f"tables.outcomes.{'beyond' if is_beyond else 'chance'}") for is_beyond in beyond],
    }
    return _table(TEXT("tables.shares", level=declared(results.level), file=CLOSEST), lines, cells)


def _distances(lines: pd.DataFrame, held: bool) -> str:
    names = [f"{quantity}_{kind}" for quantity in ("distance", "ratio") for kind in (OWN, HELD)[: 1 + held]]
    cells = {name: fixed_cells(lines[name], 3) for name in names}
    counts = ("n_identical", "n_identical_unique", "n_identical_holdout")[: 2 + held]
    return _table(
        TEXT("tables.distances"), lines, cells | {name: count_cells(lines[name]) for name in counts}
    )
