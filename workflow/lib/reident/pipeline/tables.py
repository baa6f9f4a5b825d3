"""The tables that the steps make: where they are, their columns and types, and whether they hold data.

What reads or describes a table takes it from here: the ledger reads its columns by their types, the report and the
comparison read the tables that are marked for them, docs/DATA.md and README list them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Type = Literal["text", "integer", "number", "boolean"]


class Column(NamedTuple):
    """One column.

    Attributes
    ----------
    name : str
        In braces where the study names it: ``{key of the PUF}``, ``{strata variables}``; such columns are text
        unless the type says otherwise.
    type : {'text', 'integer', 'number', 'boolean'}
        Integers and numbers may be empty where they are undefined.
    meaning : str
        In a phrase, with the section of METHODS where it is defined there.
    unit : str
        ``records``, ``pairs``, ``fraction`` …; empty where there is none.
    """

    name: str
    type: Type
    meaning: str = ""
    unit: str = ""


class Lines(NamedTuple):
    """The lines of a table that are about the whole study: those with a value in a column.

    ``name`` is that of the comparison: ``comparison/{name}.csv``.
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
    columns : tuple of Column
        In their order; empty for a file that is no table, or whose columns are those of a source.
    holds_data : bool
        Whether it holds keys or values of single records.
    reported : bool
        Whether the report reads it.
    compared : Lines or None
        The lines by which variants are compared, where they are compared by this table.
    """

    output: str
    path: str
    meaning: str = ""
    columns: tuple[Column, ...] = ()
    holds_data: bool = False
    reported: bool = False
    compared: Lines | None = None


WHOLE = "ALL"
"""The stratum of lines about the whole study."""

ACCOUNT = (
    Column("step", "text", "the step"),
    Column("file", "text", "the file, or the part of it, that the account is about"),
    Column("cause", "text", "`in`, `used`, or why rows are left out"),
    Column("rows", "integer", "how many rows", "rows"),
)
WARNINGS = (Column("warning", "text", "one sentence for the analyst; names no key and no value"),)


def _aggregate(output: str, path: str, columns: tuple[Column, ...] = (), **more: object) -> Table:
    return Table(output, path, columns=columns, reported=True, **more)  # type: ignore[arg-type]


RESOLVE = (Table("study", "study.json", "the study with every default filled in"),)
SIMULATE = tuple(Table(side, f"simulated/{side}.csv", holds_data=True) for side in ("puf", "eif", "iuf"))
SYNTHESIZE = (Table("file", "simulated/{side}.csv", holds_data=True),)
SIMULATE_AMOUNTS = (Table("original", "simulated/original.csv", holds_data=True),)
POPULATE = tuple(Table(side, f"simulated/{side}.csv", holds_data=True) for side in ("survey", "population"))
MICROAGGREGATE = (
    *(Table(side, f"microaggregation/{side}.csv", holds_data=True) for side in ("puf", "eif", "iuf")),
    _aggregate("variables", "microaggregation/variables.csv"),
    _aggregate("account", "microaggregation/account.csv", ACCOUNT),
)
PREPARE = (
    *(Table(side, f"prepared/{side}.parquet", holds_data=True) for side in ("puf", "eif", "iuf")),
    _aggregate("account", "prepared/account.csv", ACCOUNT),
    _aggregate("warnings", "prepared/warnings.csv", WARNINGS),
)
STRATIFY = (
    _aggregate("manifest", "strata/manifest.csv"),
    Table("shards", "strata/shards.csv"),
    _aggregate("account", "strata/account.csv", ACCOUNT),
)
BIN = (
    *(Table(side, f"binned/{side}.parquet", holds_data=True) for side in ("puf", "eif")),
    _aggregate("cutpoints", "binned/cutpoints.csv"),
)
SCORE = (
    Table("pairs", "scores/{metric}/{shard}.parquet", holds_data=True),
    Table("aside", "scores/{metric}/{shard}.aside.parquet", holds_data=True),
)
RANK = (
    Table("suspected", "suspected/{metric}.parquet", holds_data=True),
    _aggregate("distribution", "suspected/{metric}.distribution.csv"),
)
CONFIRM = (
    Table("confirmed", "confirmed/{metric}.parquet", holds_data=True),
    _aggregate("limits", "confirmed/{metric}.limits.csv"),
)
RATE = (_aggregate("rates", "rates.csv", compared=Lines("rates", "stratum", WHOLE)),)
DESCRIBE = tuple(
    _aggregate(name, f"description/{name}.csv") for name in ("variables", "agreement", "overlap")
)
AGREEMENTS = (_aggregate("agreements", "agreements.csv", compared=Lines("agreements", "stratum", WHOLE)),)
PREPARE_MATCHING = (
    *(
        Table(name, f"matching/prepared/{name}.parquet", holds_data=True)
        for name in ("confidential", "synthetic")
    ),
    _aggregate("account", "matching/account.csv", ACCOUNT),
    _aggregate("warnings", "matching/warnings.csv", WARNINGS),
)
MATCH = (
    Table("records", "matching/records.parquet", holds_data=True),
    _aggregate("summary", "matching/summary.csv", compared=Lines("matching", "file", "mean")),
    *(_aggregate(name, f"matching/{name}.csv") for name in ("scenarios", "distribution", "variables")),
)
PREPARE_FILERISK = (
    *(Table(name, f"filerisk/prepared/{name}.parquet", holds_data=True) for name in ("file", "population")),
    _aggregate("categories", "filerisk/categories.csv"),
    _aggregate("account", "filerisk/account.csv", ACCOUNT),
    _aggregate("warnings", "filerisk/warnings.csv", WARNINGS),
)
ASSESS_FILE = (
    Table("records", "filerisk/records.parquet", holds_data=True),
    *(
        _aggregate(name, f"filerisk/{name}.csv")
        for name in ("summary", "hazards", "cells", "sizes", "variables")
    ),
    _aggregate("definitions", "filerisk/definitions.csv", compared=Lines("filerisk", "chosen", "True")),
    *(_aggregate(name, f"filerisk/{name}.csv") for name in ("levels", "scores", "classes")),
)
SAMPLE_POPULATION = tuple(
    _aggregate(name, f"filerisk/{name}.csv") for name in ("by_sample", "by_class", "by_tenth")
)
COMPARE = (_aggregate("comparison", "comparison/{table}.csv"),)
REPORT = (Table("notebook", "disclosure-review.ipynb"),)
