"""One variable in all files of an analysis: typed, and its codes beside each other where they do not correspond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.severity import MIN_RECORDS
from reident.validation.findings import Findings

MAX_CODES = 50
"""A column of more categories is not shown: it may be a key."""

MAX_WIDTH = 40


class File(NamedTuple):
    """One file that should have a variable: its name, its text, the column, and the function that types this."""

    name: str
    text: pa.Table
    column: str
    typing: Callable[[pa.ChunkedArray], pa.Array]


def check(variable: str, files: Sequence[File], findings: Findings, *, categorical: bool) -> bool:
    """Note the problems of a variable; return whether every file has it, and its values are sound.

    A file that lacks its column is noted already. The codes of a categorical variable in the first file are compared
    with those in each other one.
    """
    typed: list[tuple[str, pa.Array] | None] = []
    for file in files:
        typed.append(None)
        if file.column in file.text.column_names:
            with findings.noting():
                typed[-1] = (file.name, file.typing(file.text[file.column]))
    if categorical and typed and typed[0] is not None:
        for other in typed[1:]:
            if other is not None and (table := compared(variable, (typed[0], other))) is not None:
                findings.hint(table)
    return None not in typed


def compared(variable: str, files: Sequence[tuple[str, pa.Array | pa.ChunkedArray]]) -> str | None:
    """Return a table of codes with the numbers of their records, from the name of each file and its recoded codes.

    None if every file has every code, or there are more than :data:`MAX_CODES`. A code that fewer than
    :data:`MIN_RECORDS` records of a file have is not shown: the last row counts such codes.
    """
    counts = [_counts(column) for _, column in files]
    codes = sorted({code for tally in counts for code in tally})
    if len(codes) > MAX_CODES or all(code in tally for tally in counts for code in codes):
        return None
    rare = {code for tally in counts for code, records in tally.items() if records < MIN_RECORDS}
    rows = [
        [_cell(code), *(f"{tally[code]:,}" if code in tally else "–" for tally in counts)]
        for code in codes
        if code not in rare
    ]
    if rare:
        shown = (f"{len(rare & set(tally)):,} code{'s' * (len(rare & set(tally)) != 1)}" for tally in counts)
        rows.append([f"(fewer than {MIN_RECORDS} records)", *shown])
    rows.insert(0, [f"codes of {variable}", *(name for name, _ in files)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )


def _counts(column: pa.Array | pa.ChunkedArray) -> dict[str, int]:
    counts = pc.value_counts(column)
    pairs = zip(*(counts.field(at).to_pylist() for at in (0, 1)), strict=True)
    return {code: rows for code, rows in pairs if code is not None}


def _cell(code: str) -> str:
    """Return a code on one line; an empty one as two quotation marks."""
    text = "".join(letter if letter.isprintable() else "?" for letter in code) or '""'
    return text if len(text) <= MAX_WIDTH else f"{text[: MAX_WIDTH - 1]}…"
