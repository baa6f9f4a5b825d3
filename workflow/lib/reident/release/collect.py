"""From typed tables to the counts of an edition: the input of the gate, and its refusals (METHODS §11.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from reident.errors import InputError
from reident.linkage.settings import WHOLE
from reident.pipeline.releasing import ReleaseSettings
from reident.pipeline.steps import declared
from reident.pipeline.tables import Count, Dimension, RowFilter, Table, TableColumn
from reident.release.cells import Cell

OF_ANY_METRIC = frozenset({"n_puf", "n_eif", "n_links", "n_clusters"})
"""Quantities that no metric changes."""

OF_NO_ATTACK = frozenset({"file_records", "below_2", "below_3", "below_5", "match_targets", "match_own"})
"""Quantities of one file on its own, and of matching."""

SEPARATOR = "|"
"""What joins the labels that tell two counts of matching apart; of these, only the first may contain it."""


class Typed(NamedTuple):
    """A table of results as it stands before the gate."""

    table: Table  # its declaration
    frame: pd.DataFrame  # in the declared types
    fixed: Mapping[str, str]  # what its path says of every line: ``{'metric': 'taxicab'}``


class Tables:
    """The tables of a study before the gate, in the declared types.

    `strata` has what the edition calls each stratum: its values by their labels, and its number where these repeat.
    """

    def __init__(self, settings: ReleaseSettings, results: Mapping[Path, pd.DataFrame]) -> None:
        self._settings = settings
        self._typed = []
        for path, frame in results.items():
            table, wildcards = declared(path)
            fixed = {name: value for name, value in wildcards.items() if name == "metric"}
            self._typed.append(Typed(table, frame, fixed))
        manifest = self._find("strata/manifest.csv")
        self.strata = {} if manifest is None else _stratum_labels(manifest.frame, settings)

    def _find(self, path: str) -> Typed | None:
        return next((typed for typed in self._typed if typed.table.path == path), None)

    @property
    def complete(self) -> bool:
        """Whether no linking variable is missing in a record of the study: readers guess it, so it is public."""
        described = self._find("description/variables.csv")
        return described is not None and not described.frame[["puf_missing", "eif_missing"]].to_numpy().any()

    @property
    def single(self) -> frozenset[str]:
        """The files whose units have one row each, all of them: readers guess it, so it is public."""
        members, rates = self._find("units/members.csv"), self._find("rates.csv")
        if members is None or rates is None:
            return frozenset()
        rows, units = (typed.frame.set_index("stratum").loc[[WHOLE]].iloc[0] for typed in (members, rates))
        names = {"puf": "n_members", "eif": "n_eif_members"}
        return frozenset(file for file, name in names.items() if rows[name] == units[f"n_{file}"])

    def counts(self) -> dict[Cell, int]:
        """Return every count of the tables, each once.

        A table that is not one of the edition, a column without a declared kind, and two tables that contradict each
        other are errors.
        """
        counts: dict[Cell, int] = {}
        for typed in self._typed:
            for name, cell, value in self._counts(typed):
                if counts.setdefault(cell, value) != value:
                    raise InputError(
                        f"`{typed.table.path}` and another table contradict each other on `{name}`. Run the same "
                        "command with `--forceall`."
                    )
        return counts

    def _counts(self, typed: Typed) -> Iterator[tuple[str, Cell, int]]:
        """Yield the counts of a table with their columns."""
        kinds = _kinds(typed, self._settings)
        for line in _lines(typed, self._settings).to_dict("records"):
            for name, column in kinds.items():
                if isinstance(column.kind, Count) and not pd.isna(line[name]):
                    cell = _cell(column.kind, _dimensions(typed, kinds, line), self._settings, self.strata)
                    yield name, cell, int(line[name])

    def lines(self, path: str) -> pd.DataFrame:
        """Return the lines and columns of a table that may leave; empty where the study has no such table."""
        typed = self._find(path)
        if typed is None:
            return pd.DataFrame()
        kinds = _kinds(typed, self._settings)
        return _lines(typed, self._settings)[[name for name, column in kinds.items() if column.kind != "withheld"]]


def _stratum_labels(manifest: pd.DataFrame, settings: ReleaseSettings) -> dict[str, str]:
    lines = manifest.sort_values("stratum", kind="stable").to_dict("records")
    labels = {
        line["stratum"]: " · ".join(
            codes.get(line[name], line[name]) or "missing" for name, codes in settings.strata.items()
        )
        or "all records"
        for line in lines
    }
    seen = list(labels.values())
    numbered = {stratum: f"{label} ({stratum})" for stratum, label in labels.items()}
    distinct = {
        stratum: label if seen.count(label) == 1 and label != WHOLE else numbered[stratum]
        for stratum, label in labels.items()
    }
    return distinct if len(set(distinct.values())) == len(distinct) else numbered


def _kinds(typed: Typed, settings: ReleaseSettings) -> dict[str, TableColumn]:
    """Return the declaration of each column of a table, in the order of the declarations; fails closed."""
    path, declared = typed.table.path, {column.name: column for column in typed.table.columns}
    if not typed.table.released:
        raise InputError(f"`{path}` is not a table of the releasable edition. Remove it from the step's inputs.")
    groups = {"{strata variables}": settings.strata, "set_{what varies}": [f"set_{name}" for name in settings.varied]}
    named = {name: declared[group] for group, names in groups.items() if group in declared for name in names}
    kinds = {name: declared.get(name) or named.get(name) for name in typed.frame.columns}
    for name, column in kinds.items():
        if column is None or column.kind is None:
            raise InputError(
                f"`{path}`: the column `{name}` does not say how it leaves in the releasable edition. Declare its "
                "`kind` in `reident.pipeline.tables`."
            )
    order = {column: at for at, column in enumerate(typed.table.columns)}
    return dict(sorted(((name, column) for name, column in kinds.items() if column), key=lambda item: order[item[1]]))


def _lines(typed: Typed, settings: ReleaseSettings) -> pd.DataFrame:
    """Return the lines of a table that are in the edition."""
    if "scenario" in typed.frame:
        return typed.frame[typed.frame["scenario"].isin(settings.scenarios)]
    chosen = typed.table.released
    return typed.frame[typed.frame[chosen.column] == chosen.value] if isinstance(chosen, RowFilter) else typed.frame


def _dimensions(typed: Typed, kinds: Mapping[str, TableColumn], line: Mapping[str, Any]) -> dict[str, str]:
    """Return the values that tell the counts of a line apart, by dimension."""
    dimensions = dict(typed.fixed)
    for name, column in kinds.items():
        if isinstance(column.kind, Dimension):
            prefix = dimensions.get(column.kind.name)
            text = "" if pd.isna(line[name]) else str(line[name])
            dimensions[column.kind.name] = text if prefix is None else f"{prefix}{SEPARATOR}{text}"
    if line.get("reference") == "yes":
        dimensions["variant"] = ""
    return dimensions


def _cell(kind: Count, line: Mapping[str, str], settings: ReleaseSettings, strata: Mapping[str, str]) -> Cell:
    """Return the identity of the count."""
    if kind.quantity in OF_NO_ATTACK:
        return Cell(kind.quantity, other=line["other"])
    stratum = line.get("stratum", WHOLE)
    variant, metric = line.get("variant", ""), line.get("metric", "")
    if kind.quantity in OF_ANY_METRIC:
        metric, rank_limit = "", 0
    elif metric not in settings.ranked:
        rank_limit = 0
    else:
        in_force = settings.alike.max_pairs[variant] if variant else settings.max_pairs
        rank_limit = int(line.get("rank_limit", in_force))
    label = WHOLE if stratum == WHOLE else strata[stratum]
    return Cell(kind.quantity, kind.file, variant, metric, label, rank_limit)
