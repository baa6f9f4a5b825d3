"""Stata files of the formats 117 to 119 by their layout, where this provably gives what a general library gives.

The library describes the columns; here the records are read as an array. What is not as Stata's description of the
format has it (``help dta``) raises :class:`UnprovenError`, and the library reads the file.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

import numpy as np

from reident.reading.layout import ArrayFile, Field, Layout
from reident.reading.proven import UnprovenError

_DATA, _TYPES = 9, 2
"""Positions in the map of the file."""

_MAP = 14
_MAX_TEXT = 2045
_NUMBERS = {65526: "<f8", 65527: "<f4", 65528: "<i4", 65529: "<i2", 65530: "<i1"}

_SYSTEM = {"<i1": 101, "<i2": 32_741, "<i4": 2_147_483_621, "<f4": 0x7F00_0000, "<f8": 0x7FE0 << 48}
"""The number that is missing, by type, as an integer of the same bits."""

_STEP = {"<i1": 1, "<i2": 1, "<i4": 1, "<f4": 1 << 11, "<f8": 1 << 40}
"""How far each special missing value is from the one before."""

_BITS = {"<f4": "<i4", "<f8": "<i8"}
_LETTERS = 26


class StataFile(ArrayFile):
    """A Stata file. Its numbers raise :class:`UnprovenError` for bits that Stata does not write."""

    padding = "\0"

    def _describe(self, stream: BinaryIO, size: int) -> None:
        self.layout = _layout(stream, size)

    def numbers(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers and letters, as :meth:`ArrayFile.numbers`."""
        kind = values.dtype.str.replace("|", "<")
        bits = values.view(_BITS.get(kind, kind)).astype(np.int64)
        missing = bits >= _SYSTEM[kind]
        letters = np.zeros(len(values), np.uint8)
        numbers = values.astype(np.float32 if kind == "<f4" else np.float64)
        if missing.any():
            place, rest = np.divmod(bits[missing] - _SYSTEM[kind], _STEP[kind])
            if rest.any() or place.max() > _LETTERS:
                raise UnprovenError
            letters[missing] = np.where(place, place + ord("a") - 1, 0)
            numbers[missing] = np.nan
        return numbers, letters

    def text_cells(self, cells: np.ndarray) -> np.ndarray:
        """Return cells of text with bytes of 0 from the one on that ends the text; uint8 (n, width)."""
        return np.where(np.logical_or.accumulate(cells == 0, axis=1), np.uint8(0), cells)


def _layout(stream: BinaryIO, size: int) -> Layout:
    _expect(stream, b"<stata_dta><header><release>")
    release = stream.read(3)
    if release not in (b"117", b"118", b"119"):
        raise UnprovenError
    _expect(stream, b"</release><byteorder>LSF</byteorder><K>")
    (columns,) = _unpack(stream, "<I" if release == b"119" else "<H")
    _expect(stream, b"</K><N>")
    (n,) = _unpack(stream, "<I" if release == b"117" else "<Q")
    _expect(stream, b"</N><label>")
    stream.seek(_unpack(stream, "<B" if release == b"117" else "<H")[0], 1)
    _expect(stream, b"</label><timestamp>")
    stream.seek(_unpack(stream, "<B")[0], 1)
    _expect(stream, b"</timestamp></header><map>")
    places = _unpack(stream, f"<{_MAP}Q")
    stream.seek(_place(places[_TYPES], size))
    _expect(stream, b"<variable_types>")
    types = _unpack(stream, f"<{columns}H")
    _expect(stream, b"</variable_types>")
    fields, width = [], 0
    for kind in types:
        if not (kind in _NUMBERS or 1 <= kind <= _MAX_TEXT):
            raise UnprovenError  # text of any length, which is elsewhere in the file
        field = Field("text", width, kind) if kind <= _MAX_TEXT else _number(_NUMBERS[kind], width)
        fields.append(field)
        width += field.width
    if not width:
        raise UnprovenError
    stream.seek(_place(places[_DATA], size))
    _expect(stream, b"<data>")
    begin = stream.tell()
    stream.seek(_place(begin + n * width, size))
    _expect(stream, b"</data>")
    return Layout(tuple(fields), n, begin, width)


def _number(kind: str, start: int) -> Field:
    return Field(kind, start, np.dtype(kind).itemsize)


def _place(position: int, size: int) -> int:
    if position > size:
        raise UnprovenError
    return position


def _expect(stream: BinaryIO, tag: bytes) -> None:
    if stream.read(len(tag)) != tag:
        raise UnprovenError


def _unpack(stream: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, stream.read(struct.calcsize(form)))
