"""The comparison of two releases: the changes beside the rates (METHODS §10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reident.archive.changes import HIDDEN, Change
from reident.archive.comparison import SIDES, Comparison
from reident.language.messages import label
from reident.outcomes import WARNINGS
from reident.page.layout import ReportColumn, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.wording import (
    count,
    defined,
    digits,
    escape,
    listed,
    number,
    percent,
    sentence,
    without_repeats,
    without_unit,
)
from reident.report.blocks.releases import group_heading
from reident.report.blocks.warnings import warning_text

TEXT = Sentences("releases")
MAX_CHANGES = 40
"""Lines of a table of changes; the rest is in ``comparison.json``."""

MAX_VALUE = 60
"""Characters of the value of an option."""

LISTED = ("linking_variables[", "strata[", "file_risk.key_variables[")
"""Options that the table of variables shows."""


def cell(value: Any) -> str:
    """Return a value of the study as a cell; a number such as a seed has no thousands separators."""
    if value is None:
        return TEXT("absent")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | int):
        return digits(f"{value:.6g}") if isinstance(value, float) else str(value)
    if isinstance(value, list):
        return escape(f"[{', '.join(map(str, value))}]", MAX_VALUE)
    if isinstance(value, dict):
        return escape(", ".join(f"{name}: {inner}" for name, inner in value.items()) or "{}", MAX_VALUE)
    return escape(value, MAX_VALUE) if value != "" else "“”"


def counted(value: int | None) -> str:
    """Return a number of records or values as a cell."""
    return TEXT("absent") if value is None else count(value)


def _limited(caption: str, lines: Sequence[Any], *columns: ReportColumn) -> str:
    """Return a table with at most :data:`MAX_CHANGES` lines, and how many more there are."""
    cut = [column._replace(cells=column.cells[:MAX_CHANGES]) for column in columns]
    n_more = len(lines) - MAX_CHANGES
    return paragraphs(table(caption, *cut, kind="compact"), TEXT("more_lines", n=n_more) if n_more > 0 else None)


def _sides(
    lines: Sequence[Change], show: Callable[[Any], str], align: str = "r", width: str = "auto"
) -> list[ReportColumn]:
    """Return the columns of the values before and after."""
    return [
        ReportColumn(TEXT(f"columns.value_{side}"), [show(getattr(line, side)) for line in lines], align, width)
        for side in SIDES
    ]


def _values(lines: Sequence[Change]) -> list[ReportColumn]:
    return _sides(lines, cell, "l", "1fr")


def _variable(lines: Sequence[Change]) -> ReportColumn:
    return ReportColumn(TEXT("columns.variable"), without_repeats([escape(line.about) for line in lines]), "l")


def files(comparison: Comparison) -> str:
    """Return the files that changed: their digests, shortened, and their bytes and rows."""
    lines = comparison.lines("files")
    if not lines:
        return TEXT("nothing")
    shown = [
        line._replace(**{side: _digest(value) for side in SIDES if (value := getattr(line, side)) is not None})
        if line.what == "sha256"
        else line
        for line in lines
    ]
    return _limited(
        TEXT("files.caption"),
        lines,
        ReportColumn(TEXT("columns.what"), without_repeats([escape(line.about) for line in lines]), "l"),
        ReportColumn(TEXT("columns.only"), [TEXT(f"files.{line.what}") for line in lines], "l", "1fr"),
        *_sides(shown, lambda value: value if isinstance(value, str) else counted(value)),
    )


def _digest(value: str) -> str:
    return TEXT("files.hidden") if value == HIDDEN else f"{value[:12]}…"


def variables(comparison: Comparison) -> str:
    """Return the variables that were added or dropped, and the changed declarations."""
    lines = comparison.lines("variables")
    if not lines:
        return TEXT("nothing")
    values = [line._replace(before=None, after=None) if "" in (line.before, line.after) else line for line in lines]
    return _limited(
        TEXT("variables.caption"),
        lines,
        ReportColumn(TEXT("columns.variable"), [f"`{_code(line.what)}`" for line in lines], "l", "1fr"),
        ReportColumn(TEXT("columns.what"), [TEXT(f"variables.lists.{line.about}") for line in lines], "l"),
        ReportColumn(TEXT("columns.only"), [_added(line) for line in lines], "l"),
        *_values(values),
    )


def _code(path: str) -> str:
    return path.replace("`", "'").replace("|", "¦")[:120]


def codes(comparison: Comparison) -> str:
    """Return the codes of categorical variables that only one release has, and the numbers of distinct values."""
    lines, counts = comparison.changes["codes"], comparison.lines("counts")
    texts: list[str | None] = []
    if lines:
        code = ReportColumn(TEXT("columns.code"), [escape(line.what) for line in lines], "l", "1fr")
        side = ReportColumn(TEXT("columns.only"), [_added(line) for line in lines], "l")
        texts.append(_limited(TEXT("codes.caption"), lines, _variable(lines), code, side, *_sides(lines, counted)))
    if counts:
        what = ReportColumn(TEXT("columns.what"), [TEXT(f"codes.what.{line.what}") for line in counts], "l", "1fr")
        texts.append(_limited(TEXT("codes.counts"), counts, _variable(counts), what, *_sides(counts, counted)))
    if lines is None:
        texts.append(TEXT("codes.not_recorded"))
    return paragraphs(*texts) or TEXT("nothing")


def _added(line: Change) -> str:
    return TEXT("added") if line.before is None else TEXT("gone") if line.after is None else TEXT("both_have")


def strata(comparison: Comparison) -> str | None:
    """Return the strata that were added, are gone, or have another size, in this order."""
    lines = sorted(
        comparison.lines("strata"), key=lambda line: (line.before is not None, line.after is not None, line.about)
    )
    if not lines:
        return None
    return _limited(
        TEXT("strata_caption"),
        lines,
        ReportColumn(group_heading(comparison), [escape(line.about) for line in lines], "l", "1fr"),
        ReportColumn(TEXT("columns.only"), [_added(line) for line in lines], "l"),
        *(
            ReportColumn(TEXT(f"columns.{file}"), [_sizes(line, f"n_{file}") for line in lines])
            for file in ("puf", "eif", "links")
        ),
    )


def _sizes(line: Change, name: str) -> str:
    ends = [None if value is None else value[name] for value in (line.before, line.after)]
    return TEXT("change", before=counted(ends[0]), after=counted(ends[1]))


def options(comparison: Comparison) -> str:
    """Return the other keys of the study that differ."""
    lines = [line for line in comparison.lines("options") if not line.what.startswith(LISTED)]
    if not lines:
        return TEXT("nothing")
    names = ReportColumn(TEXT("columns.what"), [f"`{_code(line.what)}`" for line in lines], "l", "1fr")
    return _limited(TEXT("options.caption"), lines, names, *_values(lines))


def code(comparison: Comparison) -> str:
    """Return the release, the packages and the steps that changed."""
    lines = [line for line in comparison.lines("code") if line.about != "code"]
    steps = [f"`{line.what}`" for line in comparison.lines("code") if line.about == "code"]
    texts: list[str | None] = []
    if lines:
        names = ReportColumn(TEXT("columns.what"), [escape(line.what) for line in lines], "l")
        texts.append(_limited(TEXT("code.caption"), lines, names, *_values(lines)))
    if steps:
        text = listed(steps[:MAX_CHANGES])
        texts.append(TEXT("code.steps", n=len(steps), steps=text))
    return paragraphs(*texts) or TEXT("nothing")


def verdicts(comparison: Comparison) -> str:
    """Return the verdict and the limits that changed, and the warnings of only one release."""
    lines, warning_lines = comparison.lines("verdict"), comparison.lines("warnings")
    texts: list[str | None] = []
    if lines:
        names = ReportColumn(TEXT("columns.what"), [f"`{_code(line.what)}`" for line in lines], "l", "1.4fr")
        texts.append(_limited(TEXT("verdicts.caption"), lines, names, *_values(lines)))
    if warning_lines:
        sides = [TEXT("sides.after" if line.before is None else "sides.before") for line in warning_lines]
        severities = [label("severity", line.after or line.before) for line in warning_lines]
        tables = [release.table(WARNINGS) for release in (comparison.before, comparison.after)]
        said = {row.warning: warning_text(row) for lines in tables if lines is not None for row in lines.itertuples()}
        warnings = [escape(said[line.what], 400) for line in warning_lines]
        table_columns = (
            ReportColumn(TEXT("columns.release"), sides, "l"),
            ReportColumn(TEXT("columns.severity"), severities, "l"),
            ReportColumn(TEXT("columns.warning"), warnings, "l", "1fr"),
        )
        texts.append(_limited(TEXT("verdicts.warnings"), warning_lines, *table_columns))
    return paragraphs(*texts) or TEXT("nothing")


def measures(comparison: Comparison) -> str | None:
    """Return the tables of the surest claims, the risk of one file and of matching."""
    tables = []
    for name, sides in comparison.measures.items():
        keys = [key for key in sides[1] if any(values.get(key) is not None for values in sides)]
        names = [sentence(TEXT(f"quantities.{key}")) for key in keys]
        numbers = (
            ReportColumn(TEXT(f"columns.value_{side}"), [_quantity(key, values.get(key)) for key in keys])
            for side, values in zip(SIDES, sides, strict=True)
        )
        tables.append(table(TEXT(f"{name}_caption"), ReportColumn(TEXT("columns.what"), names, "l", "1fr"), *numbers))
    return paragraphs(*tables) if tables else None


def _quantity(name: str, value: float | None) -> str:
    """Return a quantity: a share where its name has the unit, otherwise a number."""
    if not defined(value):
        return TEXT("absent")
    if TEXT(f"quantities.{name}").endswith("(%)"):
        return without_unit(percent(value))
    return count(value) if value == round(value) else number(value)
