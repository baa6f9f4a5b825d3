"""The tables that the steps make: their paths, columns and types, and the data of the sources that they hold.

``tables.csv`` of an analysis declares each of its tables on one line, and its ``columns.csv`` each of their columns, in
order. What reads or describes a table takes it from here: the ledger reads its columns by their types, the report and
the comparison read the tables that are marked for them, docs/DATA.md and docs/explanation/confidentiality.md list them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

LIBRARY = Path(__file__).parents[1]

COMPARED_COLUMNS = "{columns of the compared table}"
"""The column of a comparison that stands for those of the table that it compares."""

Type = Literal["text", "integer", "number", "boolean", "text or integer", "text or number", "integer or number"]
"""Types of columns; the last three are those of Parquet columns whose type the study decides."""


class TableColumn(NamedTuple):
    """One column."""

    # With braces where the study names it: ``{key of the PUF}``, ``c_{file}``. Such a column stands for as many
    # columns as the study has of the kind. Several in a row may alternate in the file.
    name: str
    # A :data:`Type`. Integers and numbers may be empty where they are undefined.
    type: Type
    meaning: str  # in a phrase
    unit: str = ""  # ``records``, ``pairs``, ``fraction`` …; empty where there is none
    section: str = ""  # the section of METHODS that defines the column, where it is not that of the table
    only: str = ""  # when the file has the column, if it does not always have it


class RowFilter(NamedTuple):
    """The lines of a table about the whole study: the lines with a value in a column.

    ``name`` is that of the comparison: ``comparison/{name}.csv``; empty where variants are not compared by them.
    """

    name: str
    column: str
    value: str | bool


class Table(NamedTuple):
    """One file that a step makes."""

    output: str  # the name of the file among the outputs of the step's rule
    path: str  # from the study's results folder, with the wildcards of the rule
    meaning: str  # what one line is about, and in which order the lines are
    # In their order; empty for a file that is not a table, or whose columns are those of a source.
    columns: tuple[TableColumn, ...] = ()
    # What of the sources it holds: ``records`` (keys, links, values), ``labels`` (and cut points), or ``aggregates``.
    holds: str = "aggregates"
    reported: bool = False  # whether the report reads it
    # The lines by which variants are compared, where they are compared by this table.
    compared: RowFilter | None = None
    section: str = ""  # the section of METHODS that defines its columns, such as ``6`` or ``4.1``
    exported: bool = False  # whether it is a copy for people, which no step reads

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [column.name for column in self.columns]


def rows(analysis: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file of declarations in the folder of an analysis."""
    with (LIBRARY / analysis / name).open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


def _rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of the files of this name; every table has its columns in one of them."""
    for file in sorted(LIBRARY.glob(f"*/{name}")):
        yield from rows(file.parent.name, name)


def _row_filter(name: str, column: str, value: str) -> RowFilter:
    return RowFilter(name, column, True if value == "True" else value)


_OTHER = re.compile(r"\{columns of (?P<path>[\w/.]+)\} but (?P<but>.*)")
"""A line that stands for the columns of another table but for some, of which lines after it may say otherwise."""


def _columns() -> dict[str, dict[str, TableColumn]]:
    """Return the columns of each table by its path; tables with the same columns share their lines.

    A column without a type is a quantity of ``quantities.csv``.
    """
    quantities = {row["name"]: row for row in _rows("quantities.csv")}
    lines: dict[str, list[TableColumn]] = {}
    for row in _rows("columns.csv"):
        paths = row.pop("tables").split()
        column = TableColumn(**row | quantities.get(row["name"], {}) if not row["type"] else row)
        for path in paths:
            lines.setdefault(path, []).append(column)
    return {path: _with_other(own, lines) for path, own in lines.items()}


def _with_other(own: list[TableColumn], lines: dict[str, list[TableColumn]]) -> dict[str, TableColumn]:
    """Return the columns of a table by name, those of another table in the place of the line that stands for them."""
    columns: dict[str, TableColumn] = {}
    for column in own:
        other = _OTHER.fullmatch(column.name)
        if other is None:
            columns[column.name] = column
        else:
            columns |= {one.name: one for one in lines[other["path"]] if one.name not in other["but"].split()}
    return columns


def _tables() -> dict[str, tuple[Table, ...]]:
    """Return the tables of each rule."""
    columns, tables = _columns(), dict[str, tuple[Table, ...]]()
    for row in _rows("tables.csv"):
        rule, compared = row.pop("rule"), row.pop("compared")
        own = columns.get(row["path"], {}).values()
        table = Table(
            **row | {name: row[name] == "yes" for name in ("reported", "exported")},
            columns=tuple(one._replace(section="") if one.section == row["section"] else one for one in own),
            compared=_row_filter(*compared.split()) if compared else None,
        )
        tables[rule] = (*tables.get(rule, ()), table)
    return tables


TABLES = _tables()
"""The tables of each rule, in their order."""

COMPARE_VARIANTS = TABLES["compare_variants"]
