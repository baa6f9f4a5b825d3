"""From typed tables to the counts of an edition: what the gate takes in, and what it refuses (METHODS §11.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from reident.errors import InputError
from reident.pipeline.tables import WHOLE, Column, Count, Dimension, Lines, Table
from reident.release.cells import Cell

OF_ANY_METRIC = frozenset({"n_puf", "n_eif", "n_links", "n_clusters"})
"""Quantities that no metric changes."""

OF_NO_ATTACK = frozenset({"file_records", "below_2", "below_3", "below_5", "match_targets", "match_own"})
"""Quantities of one file on its own, and of matching."""

SEPARATOR = "|"
"""What joins the labels that tell two counts of matching apart; of these, only the first may contain it."""


class Typed(NamedTuple):
    """A table of results as it stands before the gate.

    Attributes
    ----------
    table : Table
        Its declaration.
    frame : pandas.DataFrame
        In the declared types.
    fixed : mapping
        What its path says of every line: ``{'metric': 'taxicab'}``.
    """

    table: Table
    frame: pd.DataFrame
    fixed: Mapping[str, str]


class Naming(NamedTuple):
    """What a study calls things.

    Attributes
    ----------
    strata : mapping
        By the name of each strata variable, the declared labels of its codes.
    varied : tuple of str
        What the variants vary.
    ranked : frozenset of str
        The metrics that have a rank filter.
    max_pairs : mapping
        The rank limit in force by variant, under the empty name that of the study.
    scenarios : tuple of str
        The sets of known variables that the study names. That another one is the most dangerous would tell an order of
        exact risks.
    """

    strata: Mapping[str, Mapping[str, str]]
    varied: tuple[str, ...]
    ranked: frozenset[str]
    max_pairs: Mapping[str, int]
    scenarios: tuple[str, ...] = ()


def counts(tables: Iterable[Typed], naming: Naming, strata: Mapping[str, str]) -> dict[Cell, int]:
    """Return every count of the tables, each once.

    Parameters
    ----------
    tables : iterable of Typed
    naming : Naming
    strata : mapping
        The label of each stratum, see :func:`stratum_labels`.

    Raises
    ------
    InputError
        If a table is not one of the edition, a column has no declared kind, or two tables contradict each other.
    """
    found: dict[Cell, int] = {}
    for typed in tables:
        kinds = dict(_kinds(typed, naming))
        for line in _lines(typed, naming).to_dict("records"):
            for name, column in kinds.items():
                if isinstance(column.kind, Count) and not pd.isna(line[name]):
                    cell = _cell(column.kind, _dimensions(typed, kinds, line), naming, strata)
                    value = int(line[name])
                    if found.setdefault(cell, value) != value:
                        raise InputError(
                            f"`{typed.table.path}` and another table contradict each other on `{name}`. Run the same "
                            "command with `--forceall`."
                        )
    return found


def checked(typed: Typed, naming: Naming) -> pd.DataFrame:
    """Return the lines of a table that leave, without the columns that never do.

    Raises
    ------
    InputError
        As :func:`counts`.
    """
    kinds = dict(_kinds(typed, naming))
    return _lines(typed, naming)[[name for name, column in kinds.items() if column.kind != "withheld"]]


def stratum_labels(manifest: pd.DataFrame, naming: Naming) -> dict[str, str]:
    """Return what the edition calls each stratum: its values by their labels, and its number where these repeat.

    Parameters
    ----------
    manifest : pandas.DataFrame
        The strata.
    naming : Naming
    """
    lines = manifest.sort_values("stratum", kind="stable").to_dict("records")
    labels = {
        line["stratum"]: " · ".join(
            known.get(line[name], line[name]) or "missing" for name, known in naming.strata.items()
        )
        or "all records"
        for line in lines
    }
    seen = list(labels.values())
    numbered = {stratum: f"{label} ({stratum})" for stratum, label in labels.items()}
    found = {
        stratum: label if seen.count(label) == 1 and label != WHOLE else numbered[stratum]
        for stratum, label in labels.items()
    }
    return found if len(set(found.values())) == len(found) else numbered


def _kinds(typed: Typed, naming: Naming) -> Iterator[tuple[str, Column]]:
    """Yield each column of a table with its declaration, in the order of the declarations; fails closed."""
    path, declared = typed.table.path, {column.name: column for column in typed.table.columns}
    if not typed.table.released:
        raise InputError(
            f"`{path}` is not a table of the releasable edition. Remove it from the step's inputs."
        )
    groups = {
        "{strata variables}": naming.strata,
        "set_{what varies}": [f"set_{name}" for name in naming.varied],
    }
    named = {name: declared[group] for group, names in groups.items() if group in declared for name in names}
    kinds = {name: declared.get(name) or named.get(name) for name in typed.frame.columns}
    for name, column in kinds.items():
        if column is None or column.kind is None:
            raise InputError(
                f"`{path}`: the column `{name}` does not say how it leaves in the releasable edition. Declare its "
                "`kind` in `reident.pipeline.tables`."
            )
    order = {column: at for at, column in enumerate(typed.table.columns)}
    yield from sorted(
        ((name, column) for name, column in kinds.items() if column), key=lambda item: order[item[1]]
    )


def _lines(typed: Typed, naming: Naming) -> pd.DataFrame:
    """Return the lines of a table that are in the edition."""
    if "scenario" in typed.frame:
        return typed.frame[typed.frame["scenario"].isin(naming.scenarios)]
    chosen = typed.table.released
    return (
        typed.frame[typed.frame[chosen.column] == chosen.value] if isinstance(chosen, Lines) else typed.frame
    )


def _dimensions(typed: Typed, kinds: Mapping[str, Column], line: Mapping[str, Any]) -> dict[str, str]:
    """Return what tells the counts of a line apart, by dimension."""
    dimensions = dict(typed.fixed)
    for name, column in kinds.items():
        if isinstance(column.kind, Dimension):
            known = dimensions.get(column.kind.name)
            text = "" if pd.isna(line[name]) else str(line[name])
            dimensions[column.kind.name] = text if known is None else f"{known}{SEPARATOR}{text}"
    if line.get("reference") == "yes":
        dimensions["variant"] = ""
    return dimensions


def _cell(kind: Count, line: Mapping[str, str], naming: Naming, strata: Mapping[str, str]) -> Cell:
    """Return which count it is."""
    if kind.quantity in OF_NO_ATTACK:
        return Cell(kind.quantity, other=line["other"])
    stratum = line.get("stratum", WHOLE)
    variant, metric = line.get("variant", ""), line.get("metric", "")
    if kind.quantity in OF_ANY_METRIC:
        metric, rank_limit = "", 0
    elif metric not in naming.ranked:
        rank_limit = 0
    else:
        rank_limit = int(line.get("rank_limit", naming.max_pairs[variant]))
    label = WHOLE if stratum == WHOLE else strata[stratum]
    return Cell(kind.quantity, kind.file, variant, metric, label, rank_limit)
