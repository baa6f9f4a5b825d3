"""SPSS system files by their layout, where this provably gives what a general library gives.

The library describes the columns; here the records are read as an array. What is not as the description of the format
has it (GNU PSPP, "System File Format") raises :class:`UnprovenError`, and the library reads the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from reident.reading.layout import ArrayFile, Field, Layout
from reident.reading.proven import UnprovenError

_HEADER = 176
"""Bytes before the dictionary."""

_ELEMENT = 8
"""Bytes: a number, or part of a text."""

_LITTLE_ENDIAN = (2, 3)
"""The code of the layout, if its bytes are in this order."""

_VARIABLE, _LABELS, _LABELLED, _DOCUMENT, _EXTENSION, _END = 2, 3, 4, 6, 7, 999
_NUMBERS, _LONG_TEXTS = 4, 14
"""Kinds of extension."""

_TEXT_FORMAT = 1
_LONG = 252
"""Bytes of a text that is longer than 255 in each of its variables."""

_SKIPPED, _ENDED, _STORED, _BLANKS, _MISSING = 0, 252, 253, 254, 255
"""Codes of compressed elements; any other is a small integer."""

_WORDS = 1 << 16
"""Groups of codes that are decompressed at a time."""


class _Dictionary:
    """The records before the data, read one after the other."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.fields: list[Field] = []
        self.names: list[bytes] = []
        self.missing: tuple[int, ...] = (0xFFEF_FFFF_FFFF_FFFF, 0x7FEF_FFFF_FFFF_FFFF, 0xFFEF_FFFF_FFFF_FFFE)
        self.segments: dict[bytes, int] = {}
        self.elements = 0
        known = {
            _VARIABLE: self._variable,
            _LABELS: self._labels,
            _LABELLED: lambda: self._skip(4 * self._int()),
            _DOCUMENT: lambda: self._skip(80 * self._int()),
            _EXTENSION: self._extension,
        }
        while (kind := self._int()) != _END:
            if kind not in known:
                raise UnprovenError
            known[kind]()
        self._int()

    def _unpack(self, form: str) -> tuple:
        return struct.unpack(form, self._stream.read(struct.calcsize(form)))

    def _int(self) -> int:
        return self._unpack("<i")[0]

    def _skip(self, size: int) -> None:
        if size < 0:
            raise UnprovenError
        self._stream.seek(size, 1)

    def _variable(self) -> None:
        kind, label, n_missing, shown, written, name = self._unpack("<5i8s")
        if label:
            self._skip(-(-self._int() // 4) * 4)
        self._skip(8 * abs(n_missing))
        if kind < 0:  # the next eight bytes of the text before
            if not self.fields or self.fields[-1].kind != "text":
                raise UnprovenError
            self.fields[-1] = self.fields[-1]._replace(width=self.fields[-1].width + _ELEMENT)
        else:
            of_text = kind > 0 or _TEXT_FORMAT in (shown >> 16 & 0xFF, written >> 16 & 0xFF)
            self.fields.append(Field("text" if of_text else "<f8", self.elements * _ELEMENT, _ELEMENT))
            self.names.append(name.rstrip(b" \0"))
        self.elements += 1

    def _labels(self) -> None:
        for _ in range(self._int()):
            self._skip(8)
            (length,) = self._unpack("<B")
            self._skip(-(-(length + 1) // 8) * 8 - 1)

    def _extension(self) -> None:
        kind, size, count = self._unpack("<3i")
        if kind == _NUMBERS:
            if (size, count) != (8, 3):
                raise UnprovenError
            self.missing = self._unpack("<3Q")
        elif kind == _LONG_TEXTS:
            for entry in self._stream.read(size * count).rstrip(b"\t\0").split(b"\t"):
                name, _, length = entry.rstrip(b"\0").partition(b"=")
                if not length.isdigit():
                    raise UnprovenError
                self.segments[name] = -(-int(length) // _LONG)
        else:
            self._skip(size * count)

    def columns(self) -> Iterator[Field]:
        """Yield the field of each column; a text in several variables has none that can be read here."""
        at = 0
        while at < len(self.fields):
            n = self.segments.get(self.names[at], 1)
            yield self.fields[at] if n == 1 else self.fields[at]._replace(kind="long text")
            at += max(n, 1)


class SystemFile(ArrayFile):
    """A system file. Its texts raise :class:`UnprovenError` for a byte of 0: not every program takes it for an end."""

    padding = " "

    def _describe(self, stream: BinaryIO, size: int) -> None:
        code, compression, n, bias = struct.unpack("<64xi4xi4xid84x", stream.read(_HEADER))
        if code not in _LITTLE_ENDIAN or compression not in (0, 1) or n < 0:
            raise UnprovenError
        dictionary = _Dictionary(stream)
        if not dictionary.elements:
            raise UnprovenError
        width = dictionary.elements * _ELEMENT
        self.layout = Layout(tuple(dictionary.columns()), n, stream.tell(), width)
        if not compression and size < stream.tell() + n * width:
            raise UnprovenError
        self._missing = np.array(dictionary.missing, np.uint64)
        self._compressed = bool(compression)
        self._of_code = (np.arange(256) - bias).astype("<f8").view(np.uint64)
        self._of_code[_BLANKS] = int.from_bytes(b" " * _ELEMENT, "little")
        self._of_code[_MISSING] = self._missing[0]

    def numbers(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers, float64 (n,), and letters, of which there are none, as :meth:`ArrayFile.numbers`."""
        missing = np.isin(values.view(np.uint64), self._missing)
        return np.where(missing, np.nan, values), np.zeros(len(values), np.uint8)

    def text_cells(self, cells: np.ndarray) -> np.ndarray:
        """Return cells of text as they are."""
        if not cells.all():
            raise UnprovenError
        return cells

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the bytes of records, uint8 (n, width)."""
        return self._decompressed() if self._compressed else super().blocks()

    def _decompressed(self) -> Iterator[np.ndarray]:
        form, width = self.layout, self.layout.width // _ELEMENT
        held, n, done = list[np.ndarray](), 0, 0
        for elements in self._elements():
            held.append(elements)
            n += len(elements)
            if n < min(form.rows, form.n - done) * width:
                continue
            every = np.concatenate(held)
            rows = min(n // width, form.n - done)
            done += rows
            yield every[: rows * width].view(np.uint8).reshape(rows, form.width)
            if done == form.n:
                return
            held, n = [every[rows * width :]], n - rows * width
        raise UnprovenError

    def _elements(self) -> Iterator[np.ndarray]:
        """Yield the elements of compressed records one after the other; uint64 (n,)."""
        with self._path.open("rb") as stream:
            stream.seek(self.layout.begin)
            rest = np.empty(0, np.uint64)
            while content := stream.read(_WORDS * _ELEMENT):
                if len(content) % _ELEMENT:
                    raise UnprovenError
                words = np.concatenate([rest, np.frombuffer(content, np.uint64)])
                groups, done = _groups(words)
                codes = words[groups].view(np.uint8).reshape(-1, _ELEMENT)
                stored = codes == _STORED
                place = groups[:, None] + np.cumsum(stored, axis=1)
                elements = self._of_code[codes]
                elements[stored] = words[place[stored]]
                every, codes = elements.ravel(), codes.ravel()
                ends = np.flatnonzero(codes == _ENDED)
                stop = int(ends[0]) if len(ends) else len(codes)
                yield every[:stop][codes[:stop] != _SKIPPED]
                if len(ends):
                    return
                rest = words[done:]


def _groups(words: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the positions of groups of eight codes whose stored elements follow, and where the next group begins."""
    stored = (words.view(np.uint8).reshape(-1, _ELEMENT) == _STORED).sum(axis=1)
    following = (np.arange(1, len(words) + 1) + stored).tolist()
    at, n, groups = 0, len(words), list[int]()
    while at < n and following[at] <= n:
        groups.append(at)
        at = following[at]
    return np.array(groups, np.int64), at
