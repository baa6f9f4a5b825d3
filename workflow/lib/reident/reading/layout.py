"""Records of fixed width: where each column is in a record, and its cells as text (METHODS §1)."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.reading.names import BATCH, TEXT
from reident.reading.proven import UnprovenError

_BYTES = 1 << 26
"""Bytes of the records that are held at a time."""


class Field(NamedTuple):
    """One column in a record.

    Attributes
    ----------
    kind : str
        ``text``, or the type of its numbers as numpy writes it.
    start, width : int
        Bytes.
    """

    kind: str
    start: int
    width: int


class Layout(NamedTuple):
    """Records of fixed width in a file.

    Attributes
    ----------
    fields : tuple of Field
        In the order of the columns.
    n : int
        The number of records.
    begin : int
        The position of the first record in the file.
    width : int
        Bytes of a record.
    """

    fields: tuple[Field, ...]
    n: int
    begin: int
    width: int

    @property
    def rows(self) -> int:
        """The number of records to read at a time."""
        return max(1, min(BATCH, _BYTES // self.width))


def blocks(path: Path, form: Layout) -> Iterator[np.ndarray]:
    """Yield the bytes of records, uint8 (n, width).

    Raises
    ------
    UnprovenError
        For a file that ends before its last record.
    """
    with path.open("rb") as stream:
        stream.seek(form.begin)
        for first in range(0, form.n, form.rows):
            n = min(form.rows, form.n - first)
            content = np.frombuffer(stream.read(n * form.width), np.uint8)
            if len(content) != n * form.width:
                raise UnprovenError
            yield content.reshape(n, form.width)


class ArrayFile(ABC):
    """A file of a statistical program whose records are an array.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    layout : Layout
    padding : str
        What fills cells of text.

    Raises
    ------
    UnprovenError
        If the file is not provably as its layout has it; then or when its records are read.
    """

    padding: ClassVar[str]
    layout: Layout

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as stream:
            try:
                self._describe(stream, path.stat().st_size)
            except struct.error:
                raise UnprovenError from None

    @abstractmethod
    def _describe(self, stream: BinaryIO, size: int) -> None:
        """Read the layout of a file of so many bytes."""

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the bytes of records, uint8 (n, width)."""
        return blocks(self._path, self.layout)

    @abstractmethod
    def numbers(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers, NaN where missing, and the letters of special missing values.

        Parameters
        ----------
        values : (n,)
            As they are in the file.

        Returns
        -------
        numbers : float32 or float64 (n,)
        letters : uint8 (n,)
            The character of a special missing value; 0 elsewhere.
        """

    @abstractmethod
    def text_cells(self, cells: np.ndarray) -> np.ndarray:
        """Return cells of text with nothing but the padding behind their text; uint8 (n, width)."""


def cells_of(block: np.ndarray, field: Field) -> np.ndarray:
    """Return the bytes of one column of records, uint8 (n, width), from those of whole records."""
    return np.ascontiguousarray(block[:, field.start : field.start + field.width])


def numbers_of(block: np.ndarray, field: Field) -> np.ndarray:
    """Return the numbers of one column of records; of the type of the field (n,).

    A number of fewer bytes than its type lacks the last ones of its fraction, which are 0.
    """
    cells, kind = cells_of(block, field), np.dtype(field.kind)
    if field.width < kind.itemsize:
        front = kind.itemsize - field.width if kind.str.startswith("<") else 0
        cells = np.pad(cells, ((0, 0), (front, kind.itemsize - field.width - front)))
    return cells.view(kind)[:, 0]


class UndecodableError(Exception):
    """The text of a record cannot be decoded.

    Attributes
    ----------
    row : int
        The position of the first such record.
    """

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def text_of(
    cells: np.ndarray, padding: str, decode: Callable[[bytes], str], *, ascii_alike: bool = True
) -> pa.Array:
    """Return the text of cells without their padding.

    Parameters
    ----------
    cells : uint8 (n, width)
    padding : str
        The character that fills cells behind their text.
    decode : callable
        Gives the text of the bytes of a cell; may raise UnicodeError.
    ascii_alike : bool
        Whether `decode` drops the padding and gives any bytes below 128 but 0 as the same characters.

    Raises
    ------
    UndecodableError
    """
    content = pa.py_buffer(np.ascontiguousarray(cells))
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(cells.shape[1]), len(cells), [None, content])
    encoded = fixed.dictionary_encode()
    distinct = encoded.dictionary.cast(pa.binary())
    whole = padding == "\0" or cells.min(initial=1) > 0
    if ascii_alike and whole and cells.max(initial=0) < 128:
        return pc.utf8_rtrim(distinct.cast(TEXT), padding).take(encoded.indices)
    return _decoded(distinct.to_pylist(), encoded.indices, decode)


def decoded(texts: pa.DictionaryArray, decode: Callable[[str], str]) -> pa.Array:
    """Return decoded texts.

    Parameters
    ----------
    texts : pyarrow.DictionaryArray (n,)
        Of characters that are single bytes.
    decode : callable
        As :func:`text_of` takes it.

    Raises
    ------
    UndecodableError
    """
    if pc.all(pc.string_is_ascii(texts.dictionary)).as_py() in (True, None):
        return texts.dictionary.take(texts.indices)
    return _decoded(texts.dictionary.to_pylist(), texts.indices, decode)


def _decoded(distinct: list, indices: pa.Array, decode: Callable) -> pa.Array:
    texts: list[str] = []
    for at, cell in enumerate(distinct):
        try:
            texts.append(decode(cell))
        except UnicodeError:  # the first such text is in the first such record
            raise UndecodableError(pc.index(indices, pa.scalar(at, indices.type)).as_py()) from None
    return pa.array(texts, TEXT).take(indices)


def is_ascii_alike(codec: str) -> bool:
    """Return whether an encoding has the characters of ASCII as the same single bytes."""
    characters = bytes(range(128))
    try:
        return characters.decode(codec) == characters.decode("ascii")
    except UnicodeError:
        return False
