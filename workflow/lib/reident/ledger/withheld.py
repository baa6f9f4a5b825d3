"""Digests and sizes of the ledger that may leave it, on a page or in a bag without source files (METHODS §10).

A digest of something that has a value for each record or pair lets a reader try guesses, one after the other, until
one fits. So a digest leaves only with a file that leaves as well, or of a file that an intruder holds anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from reident.ledger.chain import SOURCE_PREFIX, first_output, place_of_path, sealed
from reident.pipeline.steps import table_of
from reident.pipeline.tables import Table

Line: TypeAlias = dict[str, Any]
"""What an entry has of one file."""

SOURCES = (SOURCE_PREFIX, "simulated/", "microaggregation/")
"""Where the sources of steps are, as the ledger records them; some are made by the study."""

_INTRUDER_FILES = re.compile(
    r"(source_)?(puf|eif|survey|synthetic_\d+|attribution_released(_\d+)?|functions|checklist(_\d+)?|font|policy)"
    r"|(edition_)?notebook"
)
"""Inputs, by their names in the rules, that an intruder holds or that hold no data."""


def is_known_to_intruder(name: str) -> bool:
    """Return whether an input, by its name in a rule or its side, is held by an intruder anyway, or holds no data."""
    return bool(_INTRUDER_FILES.fullmatch(name))


def is_open(table: Table) -> bool:
    """Return whether a table may be in a bag: it holds no data, or labels alone that the report shows anyway."""
    return table.holds == "aggregates" or (table.holds == "labels" and table.reported)


def withheld(entries: Iterable[dict[str, Any]]) -> Callable[[Line], bool]:
    """Return a function that tells whether the digest and size of a line of the ledger must not leave.

    In a variant, the file in the place of the public use file may be one that is never released, such as that before
    protection.
    """
    intruder_files, other = set[tuple[str, str]](), set[tuple[str, str]]()
    for entry in entries:
        of_study = not place_of_path(first_output(entry))
        for name, lines in entry["inputs"].items():
            files = {_file(line) for line in lines if line["path"].startswith(SOURCES)}
            (intruder_files if of_study and is_known_to_intruder(name) else other).update(files)

    def must_stay(line: Line) -> bool:
        path = str(line["path"])
        return _file(line) not in intruder_files - other and not (
            path.startswith("reports/") or (not path.startswith(SOURCE_PREFIX) and _is_open_at(path))
        )

    return must_stay


def _file(line: Line) -> tuple[str, str]:
    return str(line["path"]), str(line["sha256"])


def _is_open_at(path: str) -> bool:
    try:
        return is_open(table_of(path))
    except ValueError:
        return False


def without_digest(line: Line) -> Line:
    """Return a line without its digest and its size: compressed, a file's size depends on its values too."""
    return {**line, "sha256": None, "size": None}


def redacted(entry: dict[str, Any], must_stay: Callable[[Line], bool]) -> dict[str, Any]:
    """Return an entry without the parts that must stay in the ledger, and with the digest of the rest."""

    def left(line: Line) -> Line:
        return without_digest(line) if must_stay(line) else line

    return sealed(
        {
            **entry,
            "inputs": {name: [left(line) for line in lines] for name, lines in entry["inputs"].items()},
            "outputs": {name: left(line) for name, line in entry["outputs"].items()},
        }
    )
