"""How a table is declared: where it is, what it holds, its columns with their types and units."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple, TypedDict, Unpack

Type = Literal[
    "text", "integer", "number", "boolean", "text or integer", "text or number", "integer or number"
]
"""Types of columns; the last two are those of Parquet columns whose type the study decides."""

Holds = Literal["records", "labels", "aggregates"]
"""What of the sources a file holds: keys, links or values of records; labels and cut points; neither."""


class Count(NamedTuple):
    """A count of records, links or clusters, which leaves rounded.

    ``quantity`` is the same for the same count in several tables; ``file`` is the file that is attacked, as it is
    ``released`` or ``before`` protection.
    """

    quantity: str
    file: Literal["released", "before"] = "released"


class Rate(NamedTuple):
    """A rate of two counts: leaves as the rate of the two rounded counts."""

    part: str
    whole: str


class Dimension(NamedTuple):
    """A label that tells which count of its quantity a count on the line is."""

    name: Literal["variant", "metric", "stratum", "rank_limit", "other"]


Kind = Count | Rate | Dimension | Literal["cut point", "label", "parameter", "outcome", "withheld"]
"""How a column leaves in the releasable edition (METHODS §11): as a rounded count, as a rate of rounded counts, as what
tells counts apart, as a rounded cut point, unchanged (``label``, ``parameter``), as the outcome of a limit whose
relation between counts is audited, or never."""


class Column(NamedTuple):
    """One column.

    Attributes
    ----------
    name : str
        With braces where the study names it: ``{key of the PUF}``, ``c_{file}``. Such a column stands for as many
        columns as the study has of the kind. Several in a row may alternate in the file.
    type : str
        A :data:`Type`. Integers and numbers may be empty where they are undefined.
    meaning : str
        In a phrase.
    unit : str
        ``records``, ``pairs``, ``fraction`` …; empty where there is none.
    section : str
        The section of METHODS that defines the column, where it is not that of the table.
    only : str
        When the file has the column, if it does not always have it.
    kind : Kind or None
        How it leaves in the releasable edition. A table of that edition declares it for every column.
    """

    name: str
    type: Type
    meaning: str
    unit: str = ""
    section: str = ""
    only: str = ""
    kind: Kind | None = None


class Lines(NamedTuple):
    """The lines of a table that are about the whole study: those with a value in a column.

    ``name`` is that of the comparison: ``comparison/{name}.csv``; empty where variants are not compared by them.
    """

    name: str
    column: str
    value: str | bool


class Table(NamedTuple):
    """One file that a step makes.

    Attributes
    ----------
    output : str
        The name of the file among the outputs of the step's rule.
    path : str
        From the study's results folder, with the wildcards of the rule.
    meaning : str
        What one line is about, and in which order the lines are.
    columns : tuple of Column
        In their order; empty for a file that is not a table, or whose columns are those of a source.
    holds : {'aggregates', 'records', 'labels'}
        What of the sources it holds.
    reported : bool
        Whether the report reads it.
    compared : Lines or None
        The lines by which variants are compared, where they are compared by this table.
    section : str
        The section of METHODS that defines its columns, such as ``6`` or ``4.1``.
    released : Lines or bool
        Whether its numbers are in the releasable edition; with lines, theirs alone.
    exported : bool
        Whether it is a copy for people, which no step reads.
    """

    output: str
    path: str
    meaning: str
    columns: tuple[Column, ...] = ()
    holds: Holds = "aggregates"
    reported: bool = False
    compared: Lines | None = None
    section: str = ""
    released: Lines | bool = False
    exported: bool = False


class _MoreOfTable(TypedDict, total=False):
    compared: Lines
    section: str
    released: Lines | bool
    exported: bool


def declare(
    path: str,
    meaning: str,
    *columns: Column,
    output: str = "",
    holds: Holds | None = None,
    reported: bool | None = None,
    **more: Unpack[_MoreOfTable],
) -> Table:
    """Declare a table with its columns.

    Unless something else is given, the output has the name of its file, a Parquet file holds records and any other file
    aggregates, and the report reads every CSV file of aggregates.
    """
    file = PurePosixPath(path)
    holds = holds or ("records" if file.suffix == ".parquet" else "aggregates")
    reported = file.suffix == ".csv" and holds == "aggregates" if reported is None else reported
    return Table(output or file.stem.replace("-", "_"), path, meaning, columns, holds, reported, **more)


class _More(TypedDict, total=False):
    section: str
    only: str
    kind: Kind


def text(name: str, meaning: str, **more: Unpack[_More]) -> Column:
    """Declare a column of text."""
    return Column(name, "text", meaning, **more)


def integer(name: str, meaning: str, unit: str = "records", **more: Unpack[_More]) -> Column:
    """Declare a column of integers: a count of records unless the unit is another."""
    return Column(name, "integer", meaning, unit, **more)


def number(name: str, meaning: str, unit: str = "fraction", **more: Unpack[_More]) -> Column:
    """Declare a column of numbers: a fraction in [0, 1] unless the unit is another."""
    return Column(name, "number", meaning, unit, **more)


def boolean(name: str, meaning: str, **more: Unpack[_More]) -> Column:
    """Declare a column of truth values."""
    return Column(name, "boolean", meaning, **more)


FILE_KEY = text("{key of the file}", "the key of the record")
FILE_ROW = integer("row", "row of the file; the header is row 1", "row", only="files without a key")
"""How the records of a table of one file are named."""

WHOLE = "ALL"
"""The stratum of lines about the whole study."""


def select(columns: Sequence[Column], *names: str) -> tuple[Column, ...]:
    """Return the columns of these names, in the order of the names."""
    by_name = {column.name: column for column in columns}
    return tuple(by_name[name] for name in names)


def account(folder: str) -> Table:
    """Declare the row account of a step."""
    return declare(
        f"{folder}/account.csv",
        "The row account of the step. For each file, the rows in are the rows used and the rows left out.",
        text("step", "the step"),
        text("file", "the file, or the part of it, that the line is about"),
        text("cause", "`in`, `used`, or why rows were left out"),
        integer("rows", "number of rows", "rows"),
        section="1",
    )


WARNING = (
    text("severity", "`invalidates`, `understates` (the risk) or `notable`"),
    text("warning", "what was accepted and what to do; it does not contain a key or a value"),
    integer("affected", "the records, or the links, that it concerns; empty where they are not known"),
    number("share", "these as a share of the records, or links, of the file; empty where they are not known"),
    text("codes", "the codes that it is about, joined by `, `; empty without one"),
)
"""The columns of a warning."""


def warnings(folder: str) -> Table:
    """Declare the warnings of a step."""
    return declare(
        f"{folder}/warnings.csv",
        "What was accepted but may not be what the analyst meant, one warning per line, the gravest first.",
        *WARNING,
        holds="labels",
        section="1",
    )
