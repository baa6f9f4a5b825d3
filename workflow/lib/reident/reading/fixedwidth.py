"""Fixed-width files: the layout in the study file has the positions of each column (METHODS §1).

All lines have the same length, which reveals a line that is shifted. Blanks around a value are padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa

from reident.errors import InputError
from reident.reading.names import BATCH, TEXT, MissingColumnError
from reident.reading.textfile import lines, opened
from reident.sections.files import SourceFile


def batches(
    path: Path,
    source: SourceFile,
    wanted: Sequence[str],
    keys: Sequence[str],  # noqa: ARG001 - text is always exact
) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text, without the blanks around the values."""
    missing = [name for name in wanted if name not in source.layout]
    for name in missing:
        message = f"{path.name}: `layout` has no column `{name}`. Add its positions."
        raise MissingColumnError(message, missing, tuple(source.layout), "")
    places = [_place(source.layout[name]) for name in wanted]
    needed = max(_place(positions).stop for positions in source.layout.values())
    width, row = 0, 0
    with opened(path, source) as text:
        records = lines(path, text)
        while block := list(islice(records, BATCH)):
            block = [_without_end(path, line, row + at) for at, line in enumerate(block, start=1)]
            width = width or len(block[0])
            _check_lengths(path, block, width, needed, row)
            row += len(block)
            columns = [[line[place].strip(" ") for line in block] for place in places]
            yield pa.record_batch([pa.array(column, TEXT) for column in columns], names=list(wanted))
    if not row:
        raise InputError(f"{path.name}: the file is empty. Write records to it.")


def _place(positions: str) -> slice:
    first, _, last = positions.partition("-")
    return slice(int(first) - 1, int(last or first))


def _without_end(path: Path, line: str, row: int) -> str:
    text = line.removesuffix("\n").removesuffix("\r")
    if "\r" in text or line.endswith("\r"):
        raise InputError(
            f"{path.name}, row {row}: the line contains a single carriage return. Save the file with line feeds as "
            "line ends."
        )
    return text


def _check_lengths(path: Path, block: list[str], width: int, needed: int, before: int) -> None:
    """Refuse a line that is shorter than the layout, or has another length than the first line."""
    if width >= needed and set(map(len, block)) == {width}:
        return
    for row, line in enumerate(block, start=before + 1):
        if len(line) < needed:
            raise InputError(
                f"{path.name}, row {row}: the line must have at least {needed} characters, as in `layout`, but has "
                f"{len(line)}. Pad every line with blanks, or correct `layout` or `encoding`."
            )
        if len(line) != width:
            raise InputError(
                f"{path.name}, row {row}: the line must have as many characters as row 1 ({width}), but has "
                f"{len(line)}. "
                "Give every line the same length."
            )
