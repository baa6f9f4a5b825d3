"""Compare each result of a sealed study with the one that was computed anew (METHODS §10)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from reident.archive import content, layout
from reident.errors import InputError
from reident.ledger import stored
from reident.ledger.chain import entry_files, located, read_entry
from reident.pipeline.digests import sha256
from reident.pipeline.steps import table_of

TOLERANCE = 1e-9
"""The largest relative difference of two numbers that count as equal."""

Outcome = Literal["identical", "content", "tolerance", "explained", "withheld", "different", "missing", "extra"]
"""How a result compares: the same bytes; the same content in other bytes, or before columns that a later release added
at the end; numbers equal within :data:`TOLERANCE`; a report that differs because the code or the packages differ;
computed, where the bag must not have its digest;
different; not computed; not in the seal."""

FAILURES: tuple[Outcome, ...] = ("different", "missing")
"""The outcomes with which a study is not reproduced."""

STUDY = "study.json"


class Difference(NamedTuple):
    """The first difference of a table."""

    row: int | None = None  # from 1, without the header; None where the columns or the numbers of rows differ
    column: str = ""  # empty where the numbers of rows differ
    sealed: str | None = None  # a value or number of rows; None where it must not be shown, or does not exist
    computed: str | None = None  # as `sealed`


class Compared(NamedTuple):
    """One result: its path, how it compares, and the first difference where one can be told."""

    path: str
    outcome: Outcome
    difference: Difference | None = None


def compare(
    outputs: list[dict[str, Any]], bag: Path, root: Path, same: bool, renamed: Mapping[str, str]
) -> list[Compared]:
    """Compare the results of a sealed study with those that were computed anew, in the order of the seal.

    The results that the seal does not have come last.

    Parameters
    ----------
    outputs : list of dict
        The lines of the bag's list of results.
    bag : pathlib.Path
        The folder of the verified bag.
    root : pathlib.Path
        ``results/{study}`` of the new run.
    same : bool
        Whether code, packages and Python are those of the seal, so that reports must be identical.
    renamed : mapping
        The paths in the study file that the new run had to replace, by what replaced them.
    """
    entries = [read_entry(file) for file in entry_files(root)]
    rows = {line["path"]: line.get("rows") for entry in entries for line in entry["outputs"].values()}
    lines = [_compare(line, bag, root, same and not renamed, renamed, rows) for line in outputs]
    sealed = {line["path"] for line in outputs}
    return [*lines, *(Compared(path, "extra") for path in sorted(rows.keys() - sealed))]


def is_reproduced(lines: list[Compared]) -> bool:
    """Return whether every result that must be equal is; a list without results to compare shows nothing."""
    compared = {line.outcome for line in lines} - {"withheld", "extra"}
    return bool(compared) and compared.isdisjoint(FAILURES)


def _compare(
    line: dict[str, Any], bag: Path, root: Path, same: bool, renamed: Mapping[str, str], rows: Mapping[str, int | None]
) -> Compared:
    path = str(line["path"])
    file = _located(root, path)
    if not file.is_file():
        return Compared(path, "missing")
    if line["sha256"] is None:
        other = _other_rows(line["rows"], rows.get(path))
        return Compared(path, "different" if other else "withheld", other)
    if sha256(file) == line["sha256"]:
        return Compared(path, "identical")
    if line["equal"] == "report":
        return Compared(path, "different" if same else "explained")
    if renamed and file.name == STUDY:
        same_study = _is_same_study(file, bag / layout.PAYLOAD / line["bag"], renamed)
        return Compared(path, "content" if same_study else "different")
    with contextlib.suppress(ValueError):  # of a table that this release does not know
        if line.get("content") in content.digests(file):
            return Compared(path, "content")
    if line["bag"] and file.suffix == ".csv":
        difference = _first_difference(path, bag / layout.PAYLOAD / line["bag"], file)
        return Compared(path, "tolerance" if difference is None else "different", difference)
    # Of a table that holds data, nothing can be told but its rows.
    return Compared(path, "different", _other_rows(line.get("rows"), rows.get(path)))


def _located(root: Path, path: str) -> Path:
    """Return where a result of a run is; a path of a bag must not lead out of the run."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts:
        raise InputError(
            f"{layout.OUTPUTS} of the bag: `path` must lead to a result of the study. Ask for another bag."
        )
    return located(root, "", path)


def _is_same_study(file: Path, sealed: Path, renamed: Mapping[str, str]) -> bool:
    """Return whether a study is the sealed one, with the paths that the new run had to replace as they were."""
    text = file.read_text(encoding="utf-8")
    for new, old in renamed.items():
        text = text.replace(json.dumps(new, ensure_ascii=False), json.dumps(old, ensure_ascii=False))
    return text == sealed.read_text(encoding="utf-8")


def _other_rows(sealed: int | None, computed: int | None) -> Difference | None:
    """Return the numbers of rows if both are known and they differ."""
    if sealed is None or computed is None or sealed == computed:
        return None
    return Difference(sealed=f"{sealed:,} rows", computed=f"{computed:,} rows")


def _first_difference(path: str, sealed: Path, computed: Path) -> Difference | None:
    """Return the first difference of two CSV tables; None if their numbers are equal within the tolerance."""
    before, after = stored.read_text(sealed), stored.read_text(computed)
    if list(after.columns[: len(before.columns)]) == list(before.columns):
        after = after[before.columns]
    columns = list(dict.fromkeys([*before.columns, *after.columns]))
    for name in columns:
        if name not in before or name not in after:
            return Difference(None, name)
    numbers, may_be_shown = _declared(path)
    length = min(len(before), len(after))
    texts = [(before[name][:length].to_numpy(), after[name][:length].to_numpy()) for name in columns]
    unequal = np.column_stack([_unequal(*pair, name in numbers) for name, pair in zip(columns, texts, strict=True)])
    rows = np.flatnonzero(unequal.any(axis=1))
    if len(rows):
        row = int(rows[0])
        column = str(columns[int(unequal[row].argmax())])
        values = (before.at[row, column], after.at[row, column]) if may_be_shown else (None, None)
        return Difference(row + 1, column, *values)
    if len(before) == len(after) and list(before.columns) != list(after.columns):
        return Difference(None, str(before.columns[0]))
    return _other_rows(len(before), len(after))


def _declared(path: str) -> tuple[set[str], bool]:
    """Return the columns of numbers of a table, and whether its values may be shown; nothing of an unknown table.

    The declaration of this release counts and not what the bag says of itself.
    """
    try:
        table = table_of(path)
    except ValueError:
        return set(), False
    return {column.name for column in table.columns if column.type == "number"}, table.holds == "aggregates"


def _unequal(before: np.ndarray, after: np.ndarray, numbers: bool) -> np.ndarray:
    """Return the rows in which two columns of text differ; numbers may differ by the tolerance."""
    unequal = before != after
    if not numbers or not unequal.any():
        return unequal
    at = np.flatnonzero(unequal)
    old, new = (pd.to_numeric(pd.Series(values[at]), errors="coerce").to_numpy(float) for values in (before, after))
    unequal[at] = ~np.isclose(old, new, rtol=TOLERANCE, atol=0.0)  # an empty cell is equal to nothing
    return unequal
