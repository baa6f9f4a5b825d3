"""Where the records of a SAS data set (sas7bdat) are, and how each is laid out (METHODS §1).

SAS does not publish the format. What is not as its public descriptions have it (M. Shotwell, "SAS7BDAT Database Binary
Format"; the readers of ReadStat and pandas) raises :class:`UnprovenError`. A file is a header and pages of equal size.
The first pages describe the columns; records follow on the last of these and on pages of their own.
"""

from __future__ import annotations

import re
import struct
from typing import BinaryIO, NamedTuple

import numpy as np

from reident.reading.layout import Field, Layout
from reident.reading.proven import UnprovenError

DATA, INDEX = 0x0100, 0x9000
"""Types of page: records, and what finds compressed ones."""

DESCRIBED = (0x0000, 0x4000)
"""Types of page with pointers to descriptions and to compressed records."""

_BOTH = 0x0200
"""The type of a page where descriptions precede records that are not compressed."""

_MAGIC = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_MIN_SIZE, _MAX_SIZE = 1 << 10, 1 << 24
"""Bytes of the header, and of a page."""

_SHIFTED = 0x33
"""What the header has for numbers of eight bytes, and for four bytes before its numbers."""

_ORDERS = {0: ">", 1: "<"}

_RELEASE = re.compile(rb"[1-9]\.\d{4}([MJ]\d|TK)")
_NOT_ALIGNING = re.compile(rb"[89]\.0000([MJ]0|TK)")
"""The version of SAS that a file names, and that of files which Stat/Transfer wrote."""

WHOLE, EMPTY, COMPRESSED = 0, 1, 4
"""What a pointer has as compression; an empty one points to nothing."""

_METHODS = (b"SASYZCRL", b"SASYZCR2")
"""What a file calls its compression."""

_ROW_SIZE, _COLUMN_SIZE, _COLUMNS, _TEXT_OF_COLUMNS = 0xF7F7F7F7, 0xF6F6F6F6, 0xFFFFFFFC, 0xFFFFFFFD
_WHOLE_KINDS = {_ROW_SIZE, _COLUMN_SIZE}
KINDS = {*_WHOLE_KINDS, 0xFFFFFC00, 0xFFFFFBFE, *range(0xFFFFFFF8, 0x1_0000_0000)}
"""The kinds of description."""

_UPPER = 0xFFFFFFFF
"""The upper half of a kind that has eight bytes, unless it is one of the first two."""

_NUMBER, _TEXT = 1, 2
_MIN_NUMBER, _MAX_NUMBER = 3, 8
"""Bytes of a number."""

_ALIGNMENT = 8
"""Bytes: records that follow descriptions begin at a multiple."""


class Header(NamedTuple):
    """The header of a file.

    Attributes
    ----------
    order : {'<', '>'}
        The order of bytes.
    word : {4, 8}
        Bytes of a position.
    begin : int
        The position of the first page.
    page_size : int
        Bytes.
    pages : int
    aligns : bool
        Whether the program that wrote the file aligns all records.
    """

    order: str
    word: int
    begin: int = 0
    page_size: int = 0
    pages: int = 0
    aligns: bool = True

    @property
    def page_header(self) -> int:
        """Bytes before the pointers, or the records, of a page."""
        return 4 * self.word + 8

    @property
    def pointers(self) -> np.dtype:
        """The type of the pointers to descriptions."""
        place = f"{self.order}u{self.word}"
        return np.dtype(
            {
                "names": ["start", "size", "compression", "is_record"],
                "formats": [place, place, "u1", "u1"],
                "offsets": [0, self.word, 2 * self.word, 2 * self.word + 1],
                "itemsize": 3 * self.word,
            }
        )

    def unpack(self, form: str, content: bytes, start: int) -> tuple[int, ...]:
        """Return numbers; ``W`` is one of as many bytes as a position."""
        return struct.unpack_from(
            self.order + form.replace("W", "I" if self.word == 4 else "Q"), content, start
        )

    def kind(self, content: bytes) -> int:
        """Return the kind of a description, which in positions of eight bytes may be in the second half."""
        if self.word == 4:
            return self.unpack("I", content, 0)[0]
        words = self.unpack("II", content, 0)
        high, low = words[::-1] if self.order == "<" else words
        if high == _UPPER:
            return low
        whole = high if self.order == ">" else low if not high else 0
        return whole if whole in _WHOLE_KINDS else 0

    def page_type(self, page: bytes) -> int:
        """Return the type of a page."""
        return self.unpack("H", page, self.page_header - 8)[0]


class Records(NamedTuple):
    """The records of a file.

    Attributes
    ----------
    layout : Layout
    first : int
        The number of records on a page with descriptions, which precede the others; 0 if they are compressed.
    page : int
        The first page that has records only; if they are compressed, the first that has any.
    pointers : int
        The number of pointers before that of the first compressed record on its page.
    method : {0, 1, 2}
        Not compressed; or by runs, or by repeats, as :mod:`reident.kernels.unpacking` numbers them.
    """

    layout: Layout
    first: int
    page: int
    pointers: int = 0
    method: int = 0


def header_of(stream: BinaryIO) -> Header:
    """Return the header of a file.

    Raises
    ------
    UnprovenError
    struct.error
        For a file that ends early.
    """
    content = stream.read(_MIN_SIZE)
    if not content.startswith(_MAGIC):
        raise UnprovenError
    wide, shifted, order = struct.unpack_from("<32xB2xBxB", content)
    if order not in _ORDERS:
        raise UnprovenError
    header = Header(_ORDERS[order], 8 if wide == _SHIFTED else 4)
    start = 200 if shifted == _SHIFTED else 196
    begin, page_size, pages = header.unpack("IIW", content, start)
    release = _RELEASE.match(content, start + 16 + header.word)
    if release is None or not (
        _MIN_SIZE <= begin <= _MAX_SIZE and _MIN_SIZE <= page_size <= _MAX_SIZE and pages <= _MAX_SIZE
    ):
        raise UnprovenError
    aligns = not _NOT_ALIGNING.match(release[0])
    return header._replace(begin=begin, page_size=page_size, pages=pages, aligns=aligns)


def records_of(stream: BinaryIO, header: Header) -> Records:
    """Return where the records of a file are.

    Raises
    ------
    UnprovenError
    struct.error
        For a file that ends early.
    """
    described = _Description(header)
    stream.seek(header.begin)
    for at in range(header.pages):
        page = stream.read(header.page_size)
        page_type = header.page_type(page)
        begin = header.begin + at * header.page_size
        if page_type == DATA:
            return described.records(begin + header.page_header, at)
        if page_type == INDEX:
            continue
        if len(page) < header.page_size or page_type not in (*DESCRIBED, _BOTH):
            raise UnprovenError
        n, end = described.read(page)
        if n is not None:
            if page_type == _BOTH:
                raise UnprovenError
            return described.compressed(begin, at, n)
        if page_type == _BOTH:
            start = _aligned(page, end, header)
            return described.records(begin + start, at + 1, room=header.page_size - start)
    return described.records(header.begin, header.pages)


def _aligned(page: bytes, start: int, header: Header) -> int:
    """Return where the records that follow descriptions begin.

    Where Stat/Transfer wrote the file, bytes before a multiple may already be a record: the library looks at them.
    """
    padding = page[start : start + -start % _ALIGNMENT]
    if not header.aligns and padding.strip(b"\0") and padding.strip(b" "):
        raise UnprovenError
    return start + len(padding)


class _Description:
    """The descriptions of columns and records, read page by page."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._fields: list[Field] = []
        self._sizes: tuple[int, ...] = ()
        self._method: tuple[int, ...] = (0, 0, 0)
        self._texts: list[bytes] = []

    def records(self, begin: int, page: int, room: int | None = None) -> Records:
        """Return where the records are, after all descriptions.

        Parameters
        ----------
        begin : int
            The position of the first record.
        page : int
            The first page that has records only.
        room : int, optional
            Bytes for records on the page before, if there are any.
        """
        if not self._sizes:
            raise UnprovenError
        width, n, first = self._sizes
        first = 0 if room is None else min(first, n)
        if not width or first * width > (room or 0) or max(self._sizes) >= 1 << 32:
            raise UnprovenError
        if any(field.start + field.width > width for field in self._fields):
            raise UnprovenError
        return Records(Layout(tuple(self._fields), n, begin, width), first, page)

    def compressed(self, begin: int, page: int, pointers: int) -> Records:
        """Return where compressed records are.

        Parameters
        ----------
        begin : int
            The position of the first page that has any.
        page : int
            Its number.
        pointers : int
            The number of its pointers before that of the first record.
        """
        text, start, size = self._method
        name = self._texts[text][start : start + size] if text < len(self._texts) else b""
        if name not in _METHODS:
            raise UnprovenError
        return self.records(begin, page)._replace(pointers=pointers, method=_METHODS.index(name) + 1)

    def read(self, page: bytes) -> tuple[int | None, int]:
        """Read the descriptions of a page.

        Returns
        -------
        n : int or None
            The number of pointers before that of the first compressed record, if there is one.
        end : int
            Where the pointers end.
        """
        header = self._header
        (count,) = header.unpack("H", page, header.page_header - 4)
        end = header.page_header + count * header.pointers.itemsize
        if end > len(page):
            raise UnprovenError
        pointers = np.frombuffer(page, header.pointers, count, header.page_header).tolist()
        for n, (start, size, compression, is_record) in enumerate(pointers):
            if not size or compression == EMPTY:
                continue
            if compression not in (WHOLE, COMPRESSED) or start < end or start + size > len(page):
                raise UnprovenError
            content = page[start : start + size]
            if compression == COMPRESSED or (is_record and header.kind(content) not in KINDS):
                return n, end
            self._one(content)
        return None, end

    def _one(self, content: bytes) -> None:
        header = self._header
        kind = header.kind(content)
        if kind not in KINDS:
            raise UnprovenError
        if kind == _ROW_SIZE:
            width, n, deleted = header.unpack("3W", content, 5 * header.word)
            if self._sizes or deleted:
                raise UnprovenError
            self._sizes = (width, n, *header.unpack("W", content, 15 * header.word))
            self._method = header.unpack("3H", content, len(content) - 118)
        elif kind == _TEXT_OF_COLUMNS:
            self._texts.append(content[header.word :])
        elif kind == _COLUMNS:
            self._columns(content)

    def _columns(self, content: bytes) -> None:
        header = self._header
        size = header.word + 8
        for at in range((len(content) - header.word - 4) // size - 1):
            start, width, kind = header.unpack("WI2xB", content, (at + 1) * size)
            if kind == _TEXT and width:
                self._fields.append(Field("text", start, width))
            elif kind == _NUMBER and _MIN_NUMBER <= width <= _MAX_NUMBER:
                self._fields.append(Field(f"{header.order}f8", start, width))
            else:
                raise UnprovenError
