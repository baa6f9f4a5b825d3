"""Elements of several sections: classes of sizes, row accounts, and limits in figures (METHODS §1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes

from reident.intake.account import OF_UNITS, WHOLE_KEY, coded
from reident.intake.severity import UNDERSTATES
from reident.language.messages import label
from reident.outcomes import BREAKS, NONE, RESERVED, UNBREAKABLE, UNKNOWN, undecided
from reident.page.columns import columns
from reident.page.layout import ReportColumn, box, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import LIMIT, MUTED, RULE, Look, percent_axis
from reident.page.wording import (
    count,
    declared,
    defined,
    escape,
    label_cells,
    listed,
    number,
    percent,
    sentence,
    span,
    without_unit,
)
from reident.sections.days import day_text

if TYPE_CHECKING:
    from reident.report.results import Results

ANNEX = Sentences("annex")
FRONT = Sentences("front")
RATES = Sentences("rates")
FEW = 10
"""A share of fewer records than these is given as a number of records (METHODS §6)."""


def portion(numerator: str, share: float, n: float, whole: str) -> str:
    """Return a part of a whole in words, ``12 of the 300 records (4.0 %)``; without the share where there are few."""
    if n < FEW:
        return FRONT("portion.few", numerator=numerator, whole=whole)
    return FRONT("portion.share", numerator=numerator, whole=whole, share=percent(share))


def share_of(share: float, n: float) -> str:
    """Return a share of n records, or where there are few the number of records, which need not be whole."""
    if not defined(share) or n >= FEW:
        return percent(share)
    return number(round(share * n, 2))


def size_class(low: float, high: float | None) -> str:
    """Return a class of numbers in words: ``none``, ``1``, ``3 – 4``, ``1,000 or more`` (open if `high` is missing)."""
    if not defined(high):
        return HEADING("sizes.open", low=count(low))
    if low == high:
        return count(low) if low else HEADING("sizes.none")
    return f"{count(low)} – {count(high)}"


def size_tick(low: float, high: float | None) -> str:
    """Return a class of numbers as it fits below a bar: ``3–4``, ``1,000+``."""
    return size_class(low, high).replace(" – ", "–") if defined(high) else f"{count(low)}+"


def keys_in_words(keys: str) -> str:
    """Return a set of variables, as the results join them, as a list in words."""
    return listed(label_cells(name for name in keys.split(" + ") if name))


def in_order(lines: pd.DataFrame, column: str, names: Iterable[object]) -> pd.DataFrame:
    """Return lines in the order in which the names of a column first occur here; equal ones keep their order."""
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return lines.sort_values(column, key=lambda values: values.map(order), kind="stable")


def reserved(results: Results, about: str) -> str:
    """Return the sentence on the warnings that put a verdict under reservation; empty without one."""
    warning_lines = results.warnings
    n = int(((warning_lines["about"] == about) & (warning_lines["severity"] == UNDERSTATES)).sum())
    return FRONT("reserved", n=n) if n else ""


def verdict_on(
    results: Results,
    about: str,
    text: Sentences,
    nothing: str,
    describe: Callable[[Results, pd.DataFrame], list[str]],
    **fields: str,
) -> str | None:
    """Give the verdict on one kind of risk by its limits; None where it has no limit.

    The sentences are those of the section below ``verdict``: `nothing`, with the fields, says why there is no verdict.
    `describe` returns some limits in words.
    """
    limits, kind = results.limits(about), results.verdict(about)
    if limits.empty:
        return None
    unbreakable = limits["outcome"] == UNBREAKABLE
    never = FRONT("never", limits=listed(describe(results, limits[unbreakable]))) if unbreakable.any() else ""
    if kind == UNKNOWN:
        reason = never if unbreakable.all() else text(f"verdict.{nothing}", **fields)
        return box("reason unknown", text("verdict.none"), reason)
    broken = limits["outcome"] == BREAKS
    open_ = (limits["outcome"] == NONE) | undecided(limits)
    met = ~(broken | open_ | unbreakable)
    texts = [
        text(f"verdict.{key}", limits=listed(describe(results, limits[lines])))
        for key, lines in (("broken", broken), ("met", met))
        if lines.any()
    ]
    if open_.any():
        texts.append(FRONT("undecided", limits=listed(describe(results, limits[open_]))))
    if kind == RESERVED:
        texts.append(reserved(results, about))
    return box(f"reason {kind}", text(f"verdict.{kind}"), " ".join(filter(None, [*texts, never])))


def file_in_words(file: str) -> str:
    """Return a file of a row account, such as ``synthetic 3`` or ``original: cells of the whole key``, in words."""
    name, _, scope = file.partition(": ")
    kind, *number = name.split(" ")
    words = " ".join([label("file", kind), *number])
    return f"{words}: {label('scope', 'whole_key') if scope == WHOLE_KEY else scope}" if scope else words


def row_account(lines: pd.DataFrame, caption: str, steps: Mapping[str, str] | None = None) -> str:
    """Return the table of a row account, without causes for which no row was left out; the attack has `steps`."""
    lines = coded(lines[(lines["rows"] > 0) | lines["cause"].isin(["in", "used"])])
    words = {"in": ANNEX("account.in"), "used": ANNEX("account.used")}
    causes = [
        words.get(cause)
        or ANNEX(f"account.{'of_units' if cause in OF_UNITS else 'left_out'}", cause=escape(label("cause", cause)))
        for cause in lines["cause"]
    ]
    if steps is None:
        files = [sentence(escape(file_in_words(file))) for file in lines["file"]]
    else:
        files = [escape(file.upper()) for file in lines["file"]]
        lines = lines.assign(step=[steps.get(step, escape(step)) for step in lines["step"]])
    lines = lines.assign(file=files, category=causes)
    return table(
        caption,
        *(columns(lines, HEADING, "step:once") if steps else []),
        *columns(lines, HEADING, "file:once category:text@1fr rows:count"),
        kind="compact",
    )


MARGIN = 1.08
"""Length of an axis relative to its largest value."""

DASHED: Look = {"color": LIMIT, "linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 1}
"""The line of the limit."""


def top_of(values: list[float], limit: float | None) -> float:
    """Return the end of an axis of shares that shows these values and the limit."""
    shares = [value for value in [*values, limit] if value is not None and defined(value)]
    return max(0.004, min(1.04, MARGIN * max(shares, default=0.1)))


def share_rows(axes: Axes, n: int) -> None:
    """Draw a line from 0 to 100 % for each of `n` rows, and make the horizontal axis one of shares."""
    axes.hlines(range(n), 0, 1, color=RULE, linewidth=0.6, zorder=0)
    percent_axis(axes, 1.04)
    axes.set_xticks([0, 0.5, 1])
    axes.tick_params(axis="x", labelcolor=MUTED)


def limit_line(axes: Axes, limit: float | None, *, at_top: bool = True) -> None:
    """Draw the limit of the decision as a dashed line with its name at the top or at the foot of the axes."""
    if limit is None:
        return
    axes.axvline(limit, **DASHED)
    side = 1 if limit < 0.6 * axes.get_xlim()[1] else -1  # the name goes where there is room
    look: Look = {"ha": "left" if side > 0 else "right", "va": "bottom", "color": LIMIT, "fontsize": 6.5}
    look |= {"xycoords": ("data", "axes fraction"), "xytext": (2 * side, 2), "textcoords": "offset points"}
    name = RATES("by_metric.figure.line", limit=declared(limit))
    axes.annotate(name, (limit, 1 if at_top else 0), **look)


def number_or_day(results: Results, variable: str, show: Callable[[float], str] = number) -> Callable[[float], str]:
    """Return the function that shows values of a linking variable: numbers, or the days of a date."""
    dates = {one["name"] for one in results.study["linking_variables"] if one["type"] == "date"}
    return day_text if variable in dates else show


def interval_column(results: Results, lines: pd.DataFrame, width: str = "auto") -> ReportColumn:
    """Return the column of the confidence intervals of the conditional rate."""
    ends = zip(lines["conditional_low"], lines["conditional_high"], strict=True)
    heading = HEADING("interval", level=declared(results.level))
    return ReportColumn(heading, [without_unit(span(*pair)) for pair in ends], "r", width)
