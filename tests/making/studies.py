"""What unit tests make their cases of: a study with few words, and tables of text."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
from reident.study.model import Study

PLAIN: dict[str, Any] = {
    "id": "plain",
    "files": {
        "puf": {"path": "puf.csv", "id": "p"},
        "eif": {"path": "eif.csv", "id": "e"},
        "iuf": {"path": "iuf.csv", "puf_id": "p", "eif_id": "e"},
    },
    "linking_variables": [{"name": "x", "type": "numeric"}, {"name": "c", "type": "categorical"}],
    "metrics": {"taxicab": {}},
}
"""A study with nothing but what must be there."""


def plain(**sections: Any) -> dict[str, Any]:
    """The plain study, with other sections."""
    return {**copy.deepcopy(PLAIN), **sections}


def study(**sections: Any) -> Study:
    """The model of the plain study, with other sections."""
    return Study.model_validate(plain(**sections))


def keyed(width: int = 1, **sections: Any) -> Study:
    """A study whose keys have so many parts: p1, p2 …, e1, e2 …"""
    puf, eif = ([f"{side}{part}" for part in range(1, width + 1)] for side in "pe")
    files = {
        "puf": {"path": "puf.csv", "id": puf},
        "eif": {"path": "eif.csv", "id": eif},
        "iuf": {"path": "iuf.csv", "puf_id": puf, "eif_id": eif},
    }
    return study(**{"files": files, **sections})


def table(header: str, *rows: str) -> pa.Table:
    """A table of text, columns and cells separated by blanks; ``_`` is an empty cell, ``~`` a null."""
    names, cells = header.split(), [row.split() for row in rows]
    known = {"_": "", "~": None}
    columns = [[known.get(row[at], row[at]) for row in cells] for at in range(len(names))]
    return pa.table(dict(zip(names, (pa.array(column, pa.string()) for column in columns), strict=True)))


def manifest(*lines: tuple, names: tuple[str, ...] = ()) -> pd.DataFrame:
    """Strata as the step hands them on: stratum, its key values, n_puf, n_eif, n_links."""
    frame = pd.DataFrame(lines, columns=["stratum", *names, "n_puf", "n_eif", "n_links"])
    return frame.assign(pairs=frame["n_puf"] * frame["n_eif"])


def pairs(*rows: str) -> pa.Table:
    """Return pairs ``puf eif`` by row number, from 0; a crowded record has the EIF record ``~``."""
    cells = [row.split() for row in rows]
    columns = [[None if row[at] == "~" else int(row[at]) for row in cells] for at in range(2)]
    return pa.table(
        {side: pa.array(column, pa.int32()) for side, column in zip(("puf", "eif"), columns, strict=True)}
    )


def in_strata(*lines: int | None) -> pa.Table:
    """Return the stratum of each record, as `strata/puf.parquet` has it; None for no stratum."""
    return pa.table({"stratum": pa.array(lines, pa.int32())})


def gathered(function: Callable[..., Any], *arguments: Any, sinks: int = 1) -> tuple[Any, ...]:
    """Return what a step hands on batch by batch, as one table for each sink, and what it returns."""
    batches: list[list[pa.Table]] = [[] for _ in range(sinks)]
    returned = function(*arguments, *(tables.append for tables in batches))
    return *(pa.concat_tables(tables) for tables in batches), returned
