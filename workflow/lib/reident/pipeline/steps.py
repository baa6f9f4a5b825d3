"""The steps of a study: the tables of their settings, modules, inputs and outputs, one in the folder of each analysis.

The rules, the ledger, the report, the comparison of variants and the documentation are derived from these tables, or a
test holds them to it. A new step is a line of ``steps.csv``, its module, its rule and its adapter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reident.pipeline import tables
from reident.pipeline.tables import Table

if TYPE_CHECKING:
    from reident.study.model import Study


ANALYSES = (
    "study", "simulation", "microaggregation", "intake", "linkage", "plausibility", "challenge", "why", "larger",
    "matching", "distances", "filerisk", "attribution", "utility", "values", "together", "verdict", "pipeline",
    "protection", "suggestion", "edition", "report",
)  # fmt: skip
"""The folders that have steps, each after those whose results it reads."""


@dataclass(frozen=True)
class Step:
    """One step: a line of the ``steps.csv`` of its analysis, with its tables."""

    rule: str  # of Snakemake; the adapter has its name
    label: str  # what it does, in words for the terminal
    # The modules of the library that it runs; with what these import they make the library digest.
    modules: tuple[str, ...]
    tables: tuple[Table, ...]  # what it makes
    # Which studies ask for it: those with this section, or for which this function says so; every one if empty.
    asked_by: str = ""
    # Where a command of its own asks for it: the function that says whether a run of the study does so, too.
    in_runs: str = ""
    settings: str = ""  # the function that makes its settings of the study, and with `by_metric` of a metric
    after: tuple[str, ...] = ()  # the steps whose results it reads
    compiled: bool = False  # whether it runs kernels
    # Whether variants that agree on what it takes, and on what the steps before it take, share its results.
    shared: bool = False
    # Whether its input ``tables`` are results of several variants, each with a chain of its own to the sources.
    gathers: bool = False
    by_metric: bool = False  # whether its settings are those of a metric

    def wanted(self, study: Study) -> bool:
        """Return whether a study asks for it."""
        if study.confirm is not None and (self.asked_by == "metrics" or self.asked_by.startswith("linkage.")):
            return False  # without true links, `confirm` alone runs the metrics
        if "." in self.asked_by:
            return bool(_function(self.asked_by)(study))
        section = getattr(study, self.asked_by) if self.asked_by else True
        return section is not None and section != ()

    def settings_of(self, study: Study, metric: str | None) -> Any:
        """Return its settings in a study; None for a step without any."""
        if not self.settings or (self.by_metric and metric is None):
            return None
        return _function(self.settings)(study, metric) if self.by_metric else _function(self.settings)(study)

    def on_request(self, study: Study) -> bool:
        """Return whether only a command of its own asks for it, and no run of the study."""
        return bool(self.in_runs) and not _function(self.in_runs)(study)

    def before(self, metric: str | None) -> tuple[str, ...]:
        """Return the steps whose results it reads for a metric: scoring reads bins and weights only where needed."""
        if self.rule != "score" or metric is None:
            return self.after
        entry = _function("linkage.metrics.REGISTRY")[metric]
        unused = {"bin": entry.reads != "binned", "weigh": not entry.weighs}
        return tuple(step for step in self.after if not unused.get(step, False))


def _function(path: str) -> Any:
    """Return a function by its path; imported when it is needed, since no running step needs it."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"reident.{module}"), name)


def _steps() -> Iterator[Step]:
    """Yield every step; the comparison of variants is after the steps whose tables are compared."""
    compared: list[str] = []
    for analysis in ANALYSES:
        for line in tables.rows(analysis, "steps.csv"):
            row: dict[str, Any] = line | {name: tuple(line[name].split()) for name in ("modules", "after")}
            row |= dict.fromkeys(row.pop("traits").split(), True)
            made = tables.TABLES[line["rule"]]
            if made == tables.COMPARE_VARIANTS:
                row["after"] = tuple(compared)
            if any(table.compared for table in made):
                compared.append(line["rule"])
            yield Step(**row, tables=made)


STEPS: dict[str, Step] = {step.rule: step for step in _steps()}
"""Every step by the name of its rule, each after those whose results it reads."""


def wanted(study: Study) -> list[Step]:
    """Return the steps that a study asks for."""
    return [step for step in STEPS.values() if step.wanted(study)]


def expected(study: Study) -> list[tuple[str, str | None]]:
    """Return the rule and metric of every step that a run of a study may ask for."""
    return [
        (step.rule, metric)
        for step in wanted(study)
        if not step.on_request(study)
        for metric in (study.chosen if any("{metric}" in table.path for table in step.tables) else (None,))
    ]


def last_rules(study: Study) -> list[str]:
    """Return the rules of the steps on which no other step rests but comparisons and the report."""
    rules = [
        step
        for step in wanted(study)
        if step.rule not in ("resolve", "report") and not step.gathers and not step.on_request(study)
    ]
    rested_on = {rule for step in rules for rule in step.after}
    return [step.rule for step in rules if step.rule not in rested_on]


def paths(table: Table, study: Study) -> list[str]:
    """Return where a table is, from the study's results folder: one path for each metric, or compared table."""
    values = {"{metric}": list(study.chosen), "{table}": compared_tables(study)}
    for wildcard, names in values.items():
        if wildcard in table.path:
            return [table.path.replace(wildcard, name) for name in names]
    return [table.path]


def table_of(path: Path | str) -> Table:
    """Return the declaration of a file, see :func:`declared`."""
    return declared(path)[0]


def maker_of(path: Path | str) -> str:
    """Return the rule that makes a file, see :func:`declared`."""
    table, _ = declared(path)
    return _MAKERS[table.path]


def declared(path: Path | str) -> tuple[Table, dict[str, str]]:
    """Return the declaration of a file, and the values of the wildcards in its path.

    The path may begin anywhere above the results folder of the study. A comparison has the columns of the table that it
    compares. A file that no step declares is a ValueError.
    """
    parts = Path(path).parts
    names = ["/".join(parts[-length:]) for length in range(min(len(parts), MAX_DEPTH), 0, -1)]
    for name in names:
        for pattern, table in _PATTERNS:
            if match := pattern.fullmatch(name):
                return _with_columns(table, match.groupdict()), match.groupdict()
    raise ValueError(f"{names[0]} is not declared as a table of a step; declare it in tables.csv of its analysis")


def _with_columns(table: Table, wildcards: dict[str, str]) -> Table:
    if table not in tables.COMPARE_VARIANTS:
        return table
    lines = COMPARED[wildcards["table"]]
    compared = [column for column in lines.columns if lines.compared and column.name != lines.compared.column]
    columns = [column for column in table.columns if column.name != tables.COMPARED_COLUMNS]
    return table._replace(columns=(*columns, *compared))


def _pattern(path: str) -> re.Pattern[str]:
    literal = re.escape(path).replace(r"\{", "{").replace(r"\}", "}")
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/.]+)", literal))


_PATTERNS = [
    (_pattern(table.path), table)
    for table in sorted(
        (table for step in STEPS.values() for table in step.tables), key=lambda table: table.path.count("{")
    )
]
"""Every table with the pattern of its path; a path without wildcards comes before one with them."""

_MAKERS = {table.path: step.rule for step in STEPS.values() for table in step.tables}

MAX_DEPTH = max(table.path.count("/") for _, table in _PATTERNS) + 1
"""Levels of folders below the results of a study, the file included."""


def reported_tables(study: Study) -> dict[str, list[str]]:
    """Return the tables that the report of a study shows, by the rule and the output that make them.

    The step `report` has them as its inputs, and its notebook reads no others: a section that is dropped from a study
    leaves its tables on the disk.
    """
    return {
        f"{step.rule}_{table.output}": paths(table, study)
        for step in wanted(study)
        for table in step.tables
        if table.reported and not step.on_request(study)
    }


COMPARED: dict[str, Table] = {
    table.compared.name: table for step in STEPS.values() for table in step.tables if table.compared
}
"""The tables by which variants are compared, by the name of the comparison."""


def compared_tables(study: Study) -> list[str]:
    """Return the comparisons of a study and its variants; none without variants."""
    if not study.variants:
        return []
    study_tables = {table for step in wanted(study) for table in step.tables}
    return [name for name, table in COMPARED.items() if table in study_tables]
