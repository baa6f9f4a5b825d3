"""Show the contents of the releasable edition, and the findings of its audit (METHODS §11)."""

from __future__ import annotations

from pathlib import PurePath

import pandas as pd

from reident.report.columns import columns
from reident.report.layout import ReportColumn, block, paragraphs, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.terms import title
from reident.report.wording import UNDEFINED, count, count_cells, escape

TEXT = Sentences("release_audit")
HEADING = Sentences("headings")
AUDIT = "release/audit.csv"
MAX_LISTED = 20
"""Suppressed counts that the report lists."""


@block(AUDIT)
def release_audit(results: Results) -> str:
    """Describe the published numbers, and the basis of the audit."""
    lines, release = results.table(AUDIT), results.study["release"]
    policy = escape(PurePath(release["policy"]).stem)
    counted = TEXT("counted") if "puf" in release["known"] else ""
    return paragraphs(
        TEXT("text", n=len(lines), policy=policy),
        TEXT("audit"),
        TEXT("known") if "eif" in release["known"] else counted,
        TEXT("suppressed", n=int((lines["status"] == "suppressed").sum())),
    )


@block(AUDIT)
def release_statuses(results: Results) -> str:
    """Return how many counts are rounded, small or suppressed, with the smallest widths."""
    lines = results.table(AUDIT)
    words = TEXT.group("status")
    statuses = [name for name in words if (lines["status"] == name).any()]
    groups = [lines[lines["status"] == name] for name in statuses]
    # What is narrow with nothing published says nothing about the edition.
    open_ones = [group[(group["required"] == group["asked"]) & (group["asked"] > 0)] for group in groups]
    return table(
        TEXT("by_status"),
        ReportColumn(HEADING("published"), [words[name] for name in statuses], "l", "1fr"),
        ReportColumn(HEADING("published_counts"), [count(len(group)) for group in groups]),
        ReportColumn(HEADING("narrow_anyway"), count_cells((of["required"] < of["asked"]).sum() for of in groups)),
        ReportColumn(HEADING("width_required"), [_smallest(group, "required") for group in open_ones]),
        ReportColumn(HEADING("width_left"), [_smallest(group, "width") for group in open_ones]),
    )


def _smallest(lines: pd.DataFrame, column: str) -> str:
    widths = lines[column].dropna()
    return count(int(widths.min())) if len(widths) else UNDEFINED


@block(AUDIT)
def release_suppressed(results: Results) -> str | None:
    """Return the first counts that are suppressed to protect others; None without one."""
    lines = results.table(AUDIT)
    lines = lines[lines["status"] == "suppressed"].head(MAX_LISTED)
    if lines.empty:
        return None
    lines = lines.assign(
        count=[f"`{name}`" for name in lines["quantity"]],
        variant=[name and escape(name) for name in lines["variant"]],
        metric=[title(name) if name else "" for name in lines["metric"]],
        rank_limit=[str(limit) if limit else "" for limit in lines["rank_limit"]],
        width_left=[UNDEFINED if pd.isna(width) else count(int(str(width))) for width in lines["width"]],
    )
    return table(
        TEXT("list"),
        *columns(lines, HEADING, "count:text variant:text metric:text stratum:label@1fr"),
        *columns(lines, HEADING, "rank_limit:cell width_left:cell"),
        kind="compact",
    )
