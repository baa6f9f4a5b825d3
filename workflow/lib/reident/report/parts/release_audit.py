"""Show what the releasable edition publishes, and what its audit found (METHODS §11)."""

from __future__ import annotations

from pathlib import PurePath

import pandas as pd

from reident.report.layout import Column, paragraphs, part, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.terms import title
from reident.report.wording import UNDEFINED, count, escape, label_cells

TEXT = Sentences("release_audit")
HEADING = Sentences("headings")
AUDIT = "release/audit.csv"
MAX_LISTED = 20
"""Suppressed counts that the report lists."""


@part(AUDIT)
def release_audit(results: Results) -> str:
    """Say what is published, and what the audit rests on."""
    lines, release = results.table(AUDIT), results.study["release"]
    policy = escape(PurePath(release["policy"]).stem)
    counted = TEXT("counted") if "puf" in release["known"] else ""
    return paragraphs(
        TEXT("text", n=len(lines), policy=policy),
        TEXT("audit"),
        TEXT("known") if "eif" in release["known"] else counted,
        TEXT("suppressed", n=int((lines["status"] == "suppressed").sum())),
    )


@part(AUDIT)
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
        Column(HEADING("published"), [words[name] for name in statuses], "l", "1fr"),
        Column(HEADING("published_counts"), [count(len(group)) for group in groups]),
        Column(
            HEADING("narrow_anyway"),
            [count(int((group["required"] < group["asked"]).sum())) for group in groups],
        ),
        Column(HEADING("width_required"), [_smallest(group, "required") for group in open_ones]),
        Column(HEADING("width_left"), [_smallest(group, "width") for group in open_ones]),
    )


def _smallest(lines: pd.DataFrame, column: str) -> str:
    widths = lines[column].dropna()
    return count(int(widths.min())) if len(widths) else UNDEFINED


@part(AUDIT)
def release_suppressed(results: Results) -> str | None:
    """Return the first counts that are suppressed to protect others; None without one."""
    lines = results.table(AUDIT)
    lines = lines[lines["status"] == "suppressed"].head(MAX_LISTED)
    if lines.empty:
        return None
    return table(
        TEXT("list"),
        Column(HEADING("count"), [f"`{name}`" for name in lines["quantity"]], "l"),
        Column(HEADING("variant"), [name and escape(name) for name in lines["variant"]], "l"),
        Column(HEADING("metric"), [title(name) if name else "" for name in lines["metric"]], "l"),
        Column(HEADING("stratum"), label_cells(lines["stratum"]), "l", "1fr"),
        Column(HEADING("rank_limit"), [str(limit) if limit else "" for limit in lines["rank_limit"]]),
        Column(HEADING("width_left"), [_width(width) for width in lines["width"]]),
        kind="compact",
    )


def _width(width: object) -> str:
    return UNDEFINED if pd.isna(width) else count(int(str(width)))
