"""What parts of the report on several variants share: their lines, names and verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from reident.linkage.metrics import REGISTRY
from reident.linkage.settings import WHOLE
from reident.outcomes import ABOVE, OPEN, RESERVED, TOGETHER, UNKNOWN, VERDICT, WITHIN
from reident.outcomes import VERDICTS as BY_GRAVITY
from reident.page.layout import ReportColumn
from reident.page.sentences import Sentences
from reident.page.wording import escape

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("variants")
FRONT = Sentences("front")

RATES, MATCHING, RISK = "comparison/rates.csv", "comparison/matching.csv", "comparison/filerisk.csv"
VALUES = "comparison/values.csv"


VERDICTS = "comparison/verdict.csv"


MAX_VARIANTS = 60
"""Variants that are shown one by one: those of the highest rates."""


MAX_LABEL = 20
"""Characters of a label that is not broken into lines."""


COUNTS = ["n_suspected", "n_confirmed", "n_pairs", "n_confirmed_pairs", "n_ambiguous"]
"""Counts of which at least one differs where a variant changes the results of a metric."""


def any_comparison(results: Results) -> str | None:
    """Return the name of a comparison of the study, if it has one; each of them names the varied keys."""
    return next((name for name in (RATES, MATCHING, RISK, VALUES) if results.has(name)), None)


def setting_names(results: Results) -> list[str]:
    """Return the names of the varied keys, as in the columns ``set_…`` of a comparison."""
    columns = results.table(any_comparison(results) or RATES)
    return [column.removeprefix("set_") for column in columns if column.startswith("set_")]


def heading(name: str) -> str:
    """Return the name of a varied key as a heading or an axis label."""
    return name.replace("_", " ")


def metrics_of(results: Results) -> list[str]:
    """Return the metrics of the comparison, in the order of the registry."""
    names = set(results.table(RATES)["metric"])
    return [name for name in REGISTRY if name in names]


def lines_of(results: Results, metric: str) -> pd.DataFrame:
    """Return the line of every variant in which a metric is computed."""
    lines = results.table(RATES)
    return lines[lines["metric"] == metric].reset_index(drop=True)


def changed_metrics(results: Results) -> list[str]:
    """Return the metrics whose results differ between variants; all of them where none differs."""
    n = results.table(RATES)["variant"].nunique()
    names = [
        name
        for name in metrics_of(results)
        if len(lines_of(results, name)) < n or lines_of(results, name)[COUNTS].nunique().max() > 1
    ]
    return names or metrics_of(results)


def relevant_settings(results: Results, metric: str) -> list[str]:
    """Return the names of the varied keys that change the results of a metric; all of them where none does."""
    lines, names = lines_of(results, metric), setting_names(results)
    settings = list(names)
    for name in names:
        others = [f"set_{setting}" for setting in settings if setting != name]
        groups = lines.groupby(others, sort=False)[COUNTS] if others else lines[COUNTS]
        if (groups.max() == groups.min()).all(axis=None):
            settings.remove(name)
    return settings or names


def distinct_lines(results: Results, metric: str) -> pd.DataFrame:
    """Return the variants of a metric: of those with the same relevant settings, the study itself or the first."""
    lines = lines_of(results, metric)
    names = [f"set_{name}" for name in relevant_settings(results, metric)]
    reference = lines[is_reference(lines)]
    alike = lines.merge(reference[names], on=names).set_index(names).index if len(reference) else []
    lines = lines[is_reference(lines) | ~lines.set_index(names).index.isin(alike)]
    return lines.drop_duplicates(names).reset_index(drop=True)


def is_reference(lines: pd.DataFrame) -> pd.Series:
    """Return whether lines are of the study as declared."""
    return lines["reference"] == "yes"


def label_of(label: object) -> str:
    """Return the label of a setting; it is empty where the study's own value has more than one word."""
    return str(label) or TEXT("as_declared")


def settings_of(line: pd.Series, names: list[str], show: Callable[[str], str] = escape) -> str:
    """Return the settings of a variant in words; `show` returns each name and label, by default as Markdown."""
    return ", ".join(
        TEXT("setting", name=show(heading(name)), label=show(label_of(line[f"set_{name}"]))) for name in names
    )


def shown_lines(lines: pd.DataFrame, rate: str) -> pd.DataFrame:
    """Return the lines that a table or a figure has room for: those of the highest rates, and the study's own."""
    if len(lines) <= MAX_VARIANTS:
        return lines
    first = lines.sort_values(rate, ascending=False, kind="stable").index[: MAX_VARIANTS - 1]
    return lines.loc[lines.index.isin(first) | is_reference(lines)].reset_index(drop=True)


def set_columns(lines: pd.DataFrame, names: list[str]) -> list[ReportColumn]:
    """Return the columns of the values of each variant, with the study as declared in bold."""
    columns = []
    for name in names:
        labels = [escape(label_of(label)) for label in lines[f"set_{name}"]]
        cells = [f"**{text}**" if bold else text for text, bold in zip(labels, is_reference(lines), strict=True)]
        # Beside many columns of numbers, a share of the width would be too narrow for a short label.
        width = "auto" if max(map(len, labels), default=0) <= MAX_LABEL else "1fr"
        columns.append(ReportColumn(escape(heading(name)), cells, "l", width))
    return columns


def verdicts_of(results: Results) -> pd.DataFrame:
    """Return the verdict on every variant, by the limits that they share: none of them has several files."""
    lines, scopes = results.table(VERDICTS), results.table(VERDICT)
    if TOGETHER not in set(scopes["scope"]):
        return lines
    scopes = scopes[~scopes["scope"].isin([WHOLE, TOGETHER])]
    verdict = next((kind for kind in BY_GRAVITY if kind in set(scopes["verdict"])), OPEN)
    broken = "; ".join(filter(None, scopes["broken"].fillna("")))
    at = is_reference(lines)
    return lines.assign(verdict=lines["verdict"].mask(at, verdict), broken=lines["broken"].mask(at, broken))


def variant_name(results: Results, line: pd.Series) -> str:
    """Return a variant as its settings, with a mark where its verdict has reservations."""
    name = settings_of(line, setting_names(results))
    return FRONT("variants_reserved", name=name) if line["verdict"] == RESERVED else name


_MARKS = {ABOVE: "above", WITHIN: "within", RESERVED: "unsure", UNKNOWN: "unknown", OPEN: "open"}


def verdict_cell(verdict: str) -> str:
    """Return a verdict in words, with its mark."""
    return f"[{TEXT(f'verdicts.words.{verdict}')}]{{.{_MARKS[verdict]}}}"


def label(results: Results, line: pd.Series) -> str:
    """Return the settings of a variant in words."""
    return settings_of(line, setting_names(results), str)
