"""Matching-based risk by file and by intruder, and of all files together (METHODS §8)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes

from reident.matching.report import (
    CERTAIN,
    CONFIDENTIAL,
    DISTRIBUTION,
    LIMITS,
    MAX_FILES,
    MEAN,
    POOLED,
    SCENARIOS,
    SUMMARY,
    UNCERTAIN,
    by_intruder,
    decimals_of,
    first_intruder,
    limited_summary,
    limits,
    listed_intruders,
    pooled,
    short_name,
    summary_name,
    synthetic_files,
)
from reident.page import style
from reident.page.columns import columns
from reident.page.common import in_order, limit_line, top_of
from reident.page.layout import ReportColumn, block, box, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure
from reident.page.terms import some
from reident.page.wording import count_cells, escape, inside, percent, without_repeats, word

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("matching")


@block(SUMMARY)
def matching_summaries(results: Results) -> str:
    """Show the three summaries of the synthetic files beside the confidential file, and their meaning."""
    summary, m = results.table(SUMMARY), len(synthetic_files(results))
    targets = some(round(summary["targets"].iloc[0]), "target")
    caption = TEXT("summaries.caption", targets=targets)
    if m > MAX_FILES:
        caption = TEXT("summaries.caption_mean", targets=targets, table=SUMMARY, files=m)
        summary = summary[summary["file"].isin([MEAN, CONFIDENTIAL])]
    table_columns = summary_columns(summary)
    table_columns.insert(3, ReportColumn(HEADING("unique_matches"), decimals_of(summary["unique_matches"]), "r", "1fr"))
    return paragraphs(
        table(
            caption,
            ReportColumn(HEADING("file"), [_file_label(file) for file in summary["file"]], "l", "2fr"),
            *table_columns,
        ),
        None if summary["false_match_rate"].notna().all() else box("note", TEXT("summaries.undefined")),
        box("reading", *TEXT.group("summaries.reading").values()),
    )


def _file_label(file: str) -> str:
    if file in (MEAN, CONFIDENTIAL):
        return TEXT(f"summaries.{file}")
    return TEXT("summaries.synthetic", number=file)


def summary_columns(lines: pd.DataFrame, first: str = "1fr", others: str = "1fr") -> list[ReportColumn]:
    """Return the columns of the expected match risk, in records and per target, and of the two rates."""
    cells = lines.assign(
        expected_match_risk=decimals_of(lines["expected_match_risk"]),
        risk_per_target=lines["expected_match_risk"] / lines["targets"],
    )
    return [
        *columns(cells, HEADING, "expected_match_risk:cell", first),
        *columns(cells, HEADING, "risk_per_target true_match_rate false_match_rate", others),
    ]


SUMMARIES = tuple(map(limited_summary, LIMITS))
"""The three summaries, each of which has a panel."""

TOGETHER = "together"
"""All synthetic files used together, among the files."""


@block(SCENARIOS, DISTRIBUTION, POOLED)
def matching_summaries_figure(results: Results) -> Figure:
    """Draw the three summaries by intruder: every file, the mean of the synthetic ones, and all of them together."""
    intruders = listed_intruders(results) or [first_intruder(results)]
    lines = {file: by_intruder(results, file) for file in [*synthetic_files(results), MEAN, CONFIDENTIAL]}
    if len(lines) > 3:
        lines[TOGETHER] = pooled(results)
    shares = {
        file: risks.loc[intruders].assign(expected_match_risk=risks["expected_match_risk"] / risks["targets"])
        for file, risks in lines.items()
    }
    limit = summary_limits(results)

    def draw(summary: str, axes: Axes) -> None:
        _dots(axes, {file: lines[summary] for file, lines in shares.items()})
        values = pd.concat([lines[summary] for lines in shares.values()]).dropna()
        style.percent_axis(axes, top_of(list(values), limit.get(summary)), 3)
        limit_line(axes, limit.get(summary))

    caption = TEXT("summaries.figure.caption")
    if TOGETHER in shares:
        caption = TEXT("summaries.figure.caption_pooled", caption=caption)
    if limit:
        caption = TEXT("summaries.figure.caption_limits", caption=caption)
    described = " ".join(_described(shares, intruder) for intruder in intruders)
    alt, names = TEXT("summaries.figure.alt", intruders=described), [short_name(name) for name in intruders]
    panels = {summary_name(summary): partial(draw, summary) for summary in SUMMARIES}
    look: dict[str, Any] = {"extra": 0.45, "pad": 14 if limit else 7, "between": 0.05}
    return style.row_figure(panels, names, alt=alt, caption=caption, **look)


def summary_limits(results: Results) -> dict[str, float]:
    """Return the limits as shares, by summary."""
    shares = {limited_summary(name): limit for name, limit in limits(results).items()}
    if "expected_match_risk" in shares:
        shares["expected_match_risk"] /= by_intruder(results, MEAN)["targets"].iloc[0]
    return shares


def _dots(axes: Axes, values: dict[str, pd.Series]) -> None:
    """Draw one summary: a line from the mean to the confidential file, and a dot for each file."""
    mean, confidential = values[MEAN], values[CONFIDENTIAL]
    at = range(len(mean))
    axes.hlines(at, mean, confidential, color=style.RULE, linewidth=2, zorder=1)
    synthetic = [shares for file, shares in values.items() if file not in (MEAN, CONFIDENTIAL, TOGETHER)]
    for place, shares in enumerate(synthetic):
        look = style.full(3.4, 2, clip_on=False) | {"color": style.SUSPECTED}
        axes.plot(shares, at, "o", label=None if place else TEXT("summaries.figure.synthetic"), **look)
    look = style.hollow(4.4, 2, clip_on=False)
    axes.plot(mean, at, "o", label=TEXT("summaries.figure.mean"), **style.full(5, clip_on=False))
    if TOGETHER in values:
        diamond = style.hollow(6.5, 2, style.CONFIRMED, clip_on=False) | {"color": "none"}
        axes.plot(values[TOGETHER], at, "D", label=TEXT("summaries.figure.pooled"), **diamond)
    axes.plot(confidential, at, "s", label=TEXT("summaries.figure.confidential"), **look)


def _described(shares: dict[str, pd.DataFrame], intruder: str) -> str:
    files = {MEAN: "mean", TOGETHER: "pooled", CONFIDENTIAL: "confidential"}
    by_field = {field: shares[file].loc[intruder] for file, field in files.items() if file in shares}
    kind = "alt_pooled" if TOGETHER in shares else "alt_summary"
    summaries = [
        TEXT(
            f"summaries.figure.{kind}",
            summary=inside(summary_name(summary)),
            **{field: percent(line[summary]) for field, line in by_field.items()},
        )
        for summary in SUMMARIES
    ]
    return TEXT("summaries.figure.alt_intruder", intruder=short_name(intruder), summaries="; ".join(summaries))


@block(SCENARIOS, POOLED)
def matching_pooled(results: Results) -> str | None:
    """Compare the files one by one with all of them together, and targets known to be in them with others."""
    m, lines = len(synthetic_files(results)), results.table(POOLED)
    is_uncertain = (lines["membership"] == UNCERTAIN).any()
    if m == 1 and not is_uncertain:
        return None
    rows = pd.concat(
        [
            summaries.assign(uses=uses, intruder=summaries.index)
            for uses, summaries in _uses(results, m)
            if not summaries.empty
        ]
    )
    rows = in_order(rows[rows["intruder"].isin(lines["scenario"])], "intruder", lines["scenario"])
    names = [f"**{escape(short_name(str(name)))}**" for name in rows["intruder"]]
    return paragraphs(
        TEXT("pooled.together", number=word(m)) if m > 1 else None,
        TEXT("pooled.uncertain") if is_uncertain else None,
        table(
            TEXT("pooled.caption"),
            ReportColumn(TEXT("verdict.columns.intruder"), without_repeats(names), "l", "1.2fr"),
            ReportColumn(TEXT("pooled.columns.uses"), list(rows["uses"]), "l", "2fr"),
            *summary_columns(rows),
            ReportColumn(HEADING("unique_matches"), decimals_of(rows["unique_matches"]), "r", "1fr"),
            ReportColumn(TEXT("pooled.columns.own_probability"), decimals_of(rows["own_probability"]), "r", "1fr"),
            ReportColumn(TEXT("pooled.columns.no_record"), count_cells(rows["no_record"]), "r", "1fr"),
            kind="compact",
        ),
    )


def _uses(results: Results, m: int) -> list[tuple[str, pd.DataFrame]]:
    certain = (TEXT("pooled.certain", n=m, number=word(m)), pooled(results, CERTAIN))
    uncertain = (TEXT("pooled.unknown"), pooled(results, UNCERTAIN))
    if m == 1:
        return [certain, uncertain]
    return [(TEXT("pooled.mean"), by_intruder(results, MEAN)), certain, uncertain]
