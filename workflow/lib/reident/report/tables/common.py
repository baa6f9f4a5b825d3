"""What several sections show alike: classes of sizes, row accounts and warnings about the files (METHODS §1)."""

from __future__ import annotations

from reident.report.layout import Column, block, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.wording import count, defined, escape

ANNEX, CHOICES, HEADING = Sentences("annex"), Sentences("choices"), Sentences("headings")


def size_class(low: float, high: float | None) -> str:
    """Return a class of numbers in words: ``none``, ``1``, ``3 – 4``, ``1,000 or more`` (open if `high` is missing)."""
    if not defined(high):
        return f"{count(low)} or more"
    if low == high:
        return count(low) if low else "none"
    return f"{count(low)} – {count(high)}"


def size_tick(low: float, high: float | None) -> str:
    """Return a class of numbers as it fits below a bar: ``3–4``, ``1,000+``."""
    return size_class(low, high).replace(" – ", "–") if defined(high) else f"{count(low)}+"


def without_repeats(labels: list[str]) -> list[str]:
    """Return the labels of a table's lines, empty where the line above has the same one."""
    return [label if at == 0 or labels[at - 1] != label else "" for at, label in enumerate(labels)]


def row_account(results: Results, name: str, caption: str) -> str:
    """Return the table of a row account, without causes for which no row was left out."""
    lines = results.table(name)
    lines = lines[(lines["rows"] > 0) | lines["cause"].isin(["in", "used"])]
    words = {"in": ANNEX("account.in"), "used": ANNEX("account.used")}
    causes = [words.get(cause) or ANNEX("account.left_out", cause=escape(cause)) for cause in lines["cause"]]
    return table(
        caption,
        Column(HEADING("file"), without_repeats([escape(file).capitalize() for file in lines["file"]]), "l"),
        Column(HEADING("category"), causes, "l", "1fr"),
        Column(HEADING("rows"), [count(rows) for rows in lines["rows"]]),
        kind="compact",
    )


def file_warnings(results: Results, name: str) -> str | None:
    """Return the warnings from reading the files, set apart, or nothing without one."""
    lines = [CHOICES("warnings.file", text=escape(line)) for line in results.table(name)["warning"]]
    return block("warning", *lines) if lines else None
