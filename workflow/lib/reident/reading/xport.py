"""SAS transport files, versions 5 and 8, as described by SAS (TS-140 and its successor).

The functions of pyreadstat and pandas read special missing values as missing ones; METHODS §1 keeps them apart.
"""

from __future__ import annotations

import contextlib
import mmap
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.errors import InputError
from reident.reading.names import BATCH, check_header, incomplete
from reident.reading.stored import StoredColumn, decoded_text, number_text
from reident.sections.files import SourceFile

_CARD = 80


class _Variable(NamedTuple):
    name: str
    display: str
    is_text: bool
    start: int
    width: int


def column_names(path: Path, source: SourceFile) -> list[str]:  # noqa: ARG001 - the file describes itself
    """Return the names of the columns."""
    with _mapped(path) as content:
        return list(_describe(path, content)[0])


def batches(path: Path, source: SourceFile, wanted: Sequence[str], keys: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text."""
    with _mapped(path) as content:
        variables, begin = _describe(path, content)
        check_header(path, list(variables), wanted, row="")
        columns = [
            StoredColumn.make(path, "xport", name, "" if variable.is_text else variable.display, name in keys)
            for name, variable in ((name, variables[name]) for name in wanted)
        ]
        width = sum(variable.width for variable in variables.values())
        n = _records(path, content, begin, width)
        for first in range(0, n, BATCH):
            size = min(BATCH, n - first)
            start = begin + first * width
            # The slice copies: the map cannot be closed while an array refers to it.
            block = np.frombuffer(content[start : start + size * width], np.uint8).reshape(size, width)
            texts = [_text(column, variables[column.name], block, source.codec, first) for column in columns]
            yield pa.record_batch(texts, names=list(wanted))


@contextlib.contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    """Give the content of a file that is not empty."""
    with path.open("rb") as stream:
        if not stream.read(1):
            raise incomplete(path, "xport")
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield content


def _describe(path: Path, content: mmap.mmap) -> tuple[dict[str, _Variable], int]:
    """Return the variables by name, and the position of the first record."""
    try:
        if not content[:_CARD].startswith(b"HEADER RECORD*******LIB"):
            raise ValueError
        member, names = _card(content, rb"MEMB(ER |V8)", 0), _card(content, rb"NAM(ESTR|STV8)", 0)
        size, count = int(content[member + 74 : member + 78]), int(content[names + 53 : names + 58])
        begin, start, described = names + _CARD, 0, list[_Variable]()
        name_at = slice(88, 120) if b"V8" in content[names : names + 28] else slice(8, 16)
        for at in range(count):
            described.append(_variable(content[begin + at * size : begin + (at + 1) * size], name_at, start))
            start += described[-1].width
        records = _card(content, rb"OBS(V8)?", begin + count * size) + _CARD
    except (ValueError, struct.error):
        raise incomplete(path, "xport") from None
    if re.compile(rb"HEADER RECORD\*{7}MEMB").search(content, records):
        raise InputError(f"{path.name}: the file must have exactly one data set. Write the data set to its own file.")
    check_header(path, [variable.name for variable in described], (), row="")
    return {variable.name: variable for variable in described}, records


def _card(content: mmap.mmap, name: bytes, start: int) -> int:
    """Return the position of the next header record of a kind."""
    match = re.compile(rb"HEADER RECORD\*{7}" + name + rb" *HEADER RECORD!{7}").search(content, start)
    if match is None:
        raise ValueError
    return match.start()


def _variable(described: bytes, name_at: slice, start: int) -> _Variable:
    """Return one variable; its values follow those of the variable before, whatever position the file names."""
    kind, width = struct.unpack_from(">h2xh", described, 0)
    name = described[name_at].rstrip(b" \0")
    display = described[56:64].rstrip(b" \0")
    if kind not in (1, 2) or width < 1 or (kind == 1 and width > 8):
        raise ValueError
    return _Variable(name.decode("utf-8"), display.decode("latin-1"), kind == 2, start, width)


def _records(path: Path, content: mmap.mmap, begin: int, width: int) -> int:
    """Return the number of records; the blanks that pad the last 80 bytes of the file are not records."""
    n, remainder = divmod(len(content) - begin, width)
    if len(content) % _CARD or remainder >= _CARD or content[len(content) - remainder :].strip(b" "):
        raise incomplete(path, "xport")
    stored = content[begin - _CARD + 48 : begin - _CARD + 63].strip()  # in version 8, or 0
    n_declared = int(stored) if stored.isdigit() else 0
    while (
        n > n_declared
        and (len(content) - begin - n * width) + width < _CARD
        and not content[begin + (n - 1) * width : begin + n * width].strip(b" ")
    ):
        n -= 1
    if n_declared and n != n_declared:
        raise incomplete(path, "xport")
    return n


def _text(column: StoredColumn, variable: _Variable, block: np.ndarray, codec: str, before: int) -> pa.Array:
    cells = np.ascontiguousarray(block[:, variable.start : variable.start + variable.width])
    if not variable.is_text:
        return number_text(column, *_doubles(cells), before)
    content = [None, pa.py_buffer(cells)]
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(variable.width), len(cells), content)
    name = codec.removesuffix("-sig")
    return decoded_text(
        column,
        fixed,
        lambda cell: cell.rstrip(b"\0").decode(codec).rstrip(" "),
        name,
        "the `encoding` of the file.",
        before,
    )


def _doubles(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of IBM mainframes (base 16, up to 8 bytes), NaN if missing, and letters of special ones."""
    whole = np.zeros((len(cells), 8), np.uint8)
    whole[:, : cells.shape[1]] = cells
    bits = whole.view(">u8")[:, 0].astype(np.uint64)
    first, fraction = whole[:, 0], bits & np.uint64((1 << 56) - 1)
    power = (first & 0x7F).astype(np.int32) * 4 - 256 - 56
    numbers = np.ldexp(fraction.astype(np.float64), power) * np.where(first & 0x80, -1.0, 1.0)
    letter = (first == ord("_")) | ((first >= ord("A")) & (first <= ord("Z")))
    missing = (fraction == 0) & (letter | (first == ord(".")))
    return np.where(missing, np.nan, numbers), np.where(missing & letter, first, 0).astype(np.uint8)
