"""SAS data sets for tests, written by hand after the public descriptions of the format: no library writes them.

The tests compare what two libraries read from them (tests/unit/reading/test_sas.py).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from making import sas_rows

Cell = float | str | bytes
"""A number, a text, or the eight bytes of a number as :func:`special` gives them."""

_MAGIC = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_ENCODINGS = {"utf-8": 20, "latin-1": 29, "cp1252": 62}
_META, _DATA, _MIX, _INDEX = 0x0000, 0x0100, 0x0200, 0x9000
_EMPTY, _COMPRESSED = 1, 4
_PER_DESCRIPTION = 20
"""Columns in a description of names, texts or positions; SAS has more."""


class Form(NamedTuple):
    """How a file is laid out.

    Attributes
    ----------
    order : {'<', '>'}
        The order of bytes.
    wide : bool
        Whether positions have 64 bits.
    page_size : int
        Bytes; a page has at least a record.
    widths : mapping
        Bytes of columns of numbers, 3 to 8.
    encoding : {'utf-8', 'latin-1', 'cp1252'}
    fill : bytes
        The character that fills cells of text.
    release : bytes
        The version of SAS.
    gap : bytes
        What is between descriptions and records that are aligned.
    compression : {'', 'SASYZCRL', 'SASYZCR2'}
        By runs (RLE), or by what precedes (RDC).
    """

    order: str = "<"
    wide: bool = False
    page_size: int = 65_536
    widths: Mapping[str, int] = {}
    encoding: str = "utf-8"
    fill: bytes = b" "
    release: bytes = b"9.0401M1"
    gap: bytes = b"\0"
    compression: str = ""

    @property
    def word(self) -> int:
        """Bytes of a position."""
        return 8 if self.wide else 4

    @property
    def page_header(self) -> int:
        """Bytes before the pointers or records of a page."""
        return 4 * self.word + 8

    def pack(self, form: str, *values: object) -> bytes:
        """Bytes of numbers; ``W`` is a position."""
        return struct.pack(self.order + form.replace("W", "Q" if self.wide else "I"), *values)

    def signature(self, kind: int) -> bytes:
        """How a description begins."""
        above = 0xFFFFFFFF if kind >= 0xFF000000 else 0
        words = (
            [kind] if not self.wide else [kind, above] if self.order == "<" or not above else [above, kind]
        )
        return self.pack(f"{len(words)}I", *words)


def special(letter: str) -> bytes:
    """The bytes of a missing value: ``.``, ``_`` or ``A`` to ``Z``."""
    return struct.pack("<Q", 0xFFFF << 48 | (~ord(letter) & 0xFF) << 40)


def content(
    columns: Mapping[str, Sequence[Cell]], formats: Mapping[str, str] | None = None, form: Form | None = None
) -> bytes:
    """The bytes of a data set, each column numbers or text; `formats` names the display formats of some."""
    form = form or Form()
    texts = [len(cells) > 0 and all(isinstance(cell, str) for cell in cells) for cells in columns.values()]
    stored = [
        _text_bytes(cells, form) if text else _number_bytes(cells, form.widths.get(name, 8), form)
        for text, (name, cells) in zip(texts, columns.items(), strict=True)
    ]
    records = np.ascontiguousarray(np.concatenate(stored, axis=1))
    described = _described(list(columns), formats or {}, texts, [cells.shape[1] for cells in stored], form)
    pages = _pages(records, described, form)
    return _header(form, len(pages)) + b"".join(pages)


def _text_bytes(cells: Sequence[str], form: Form) -> np.ndarray:
    encoded = [cell.encode(form.encoding) for cell in cells]
    width = max(1, *map(len, encoded))
    return np.frombuffer(b"".join(cell.ljust(width, form.fill) for cell in encoded), np.uint8).reshape(
        -1, width
    )


def _number_bytes(cells: Sequence[Cell], width: int, form: Form) -> np.ndarray:
    if isinstance(cells, np.ndarray):
        bits = np.where(np.isnan(cells), int.from_bytes(special("."), "little"), cells.view(np.uint64))
    else:
        bits = np.array([int.from_bytes(_number(cell), "little") for cell in cells], np.uint64)
    whole = bits.astype(f"{form.order}u8").view(np.uint8).reshape(-1, 8)
    return whole[:, 8 - width :] if form.order == "<" else whole[:, :width]


def _number(cell: Cell) -> bytes:
    if isinstance(cell, bytes):
        return cell
    return special(".") if cell != cell else struct.pack("<d", cell)


def _described(
    names: list[str], formats: Mapping[str, str], texts: list[bool], widths: list[int], form: Form
) -> list[bytes]:
    """What describes the columns, after the first description; each finds its name in a text."""
    starts = np.cumsum([0, *widths]).tolist()
    kinds = [
        form.pack("WIHBx", start, width, 4, 2 if text else 1)
        for start, width, text in zip(starts, widths, texts, strict=False)
    ]
    words, places = _words([*names, *formats.values()], form)
    named = [form.pack("3H2x", *places[name]) for name in names]
    shown = [form.pack("3H", *places[formats[name]]) if name in formats else bytes(6) for name in names]
    before = 46 if form.wide else 34
    return [
        form.signature(0xF6F6F6F6) + form.pack("WW", len(names), 0),
        *words,
        *_in_parts(0xFFFFFFFF, named, form),
        *_in_parts(0xFFFFFFFC, kinds, form),
        *(form.signature(0xFFFFFBFE).ljust(before, b"\0") + place + bytes(12) for place in shown),
    ]


def _words(words: list[str], form: Form) -> tuple[list[bytes], dict[str, tuple[int, int, int]]]:
    """Texts of names, the first with that of the compression; and where each name is: text, position, length."""
    blobs, places = list[bytes](), {}
    for first in range(0, max(1, len(words)), _PER_DESCRIPTION):
        blob = bytearray(10) + form.compression.encode().ljust(8, b"\0") + bytes(10)
        for word in words[first : first + _PER_DESCRIPTION]:
            encoded = word.encode(form.encoding)
            places[word] = len(blobs), len(blob), len(encoded)
            blob += encoded + bytes(-len(encoded) % 4)
        blobs.append(_sized(0xFFFFFFFD, bytes(blob[2:]) + bytes(form.word + 4), form))
    return blobs, places


def _in_parts(kind: int, entries: list[bytes], form: Form) -> Iterator[bytes]:
    for first in range(0, len(entries), _PER_DESCRIPTION):
        part = b"".join(entries[first : first + _PER_DESCRIPTION])
        yield _sized(kind, bytes(6) + part + bytes(form.word + 4), form)


def _sized(kind: int, rest: bytes, form: Form) -> bytes:
    size = form.word + 2 + len(rest) - (4 + 2 * form.word)
    return form.signature(kind) + form.pack("H", size) + rest


def _first_description(width: int, n: int, on_page: int, n_columns: int, form: Form) -> bytes:
    """What describes the records."""
    described = bytearray(808 if form.wide else 480)
    described[: form.word] = form.signature(0xF7F7F7F7)
    for place, value in {5: width, 6: n, 9: n_columns, 13: form.page_size, 15: on_page}.items():
        described[place * form.word : (place + 1) * form.word] = form.pack("W", value)
    if form.compression:
        described[-118:-112] = form.pack("3H", 0, 10, 8)
    return bytes(described)


def _pages(records: np.ndarray, described: list[bytes], form: Form) -> list[bytes]:
    """All pages, descriptions first."""
    n, width = records.shape
    order = "little" if form.order == "<" else "big"
    n_columns = int.from_bytes(described[0][form.word : 2 * form.word], order)

    def parts(on_page: int) -> list[tuple[bytes, int]]:
        return [(one, 0) for one in [_first_description(width, n, on_page, n_columns, form), *described]]

    if form.compression:
        return _pages_of_compressed(records, parts(0), form)
    *_, last = _packed(parts(0), form)
    used = form.page_header + sum(len(one) + 3 * form.word for one, _ in last) + 8
    on_page = min(n, max(0, form.page_size - used) // width)
    *before, last = _packed(parts(on_page), form)
    pages = [_described_page(_META, part, b"", 0, form) for part in before]
    kind = _MIX if on_page or not n else _META
    pages.append(_described_page(kind, last, records[:on_page].tobytes(), on_page, form))
    per_page = (form.page_size - form.page_header) // width
    for start in range(on_page, n, per_page):
        part = records[start : start + per_page]
        pages.append(_page(_DATA, len(part), 0, part.tobytes(), form))
    return pages


def _pages_of_compressed(records: np.ndarray, parts: list[tuple[bytes, int]], form: Form) -> list[bytes]:
    """Pages of descriptions and records alike; SAS keeps a record as it is where compression does not help."""
    compress = sas_rows.run_lengths if form.compression == "SASYZCRL" else sas_rows.ross
    rows = [(record, compress(record)) for record in map(np.ndarray.tobytes, records)]
    kept = [(small, _COMPRESSED) if len(small) < len(record) else (record, 0) for record, small in rows]
    first, *others = (_described_page(_META, part, b"", 0, form) for part in _packed([*parts, *kept], form))
    return [first, _page(_INDEX, 0, 0, b"", form), *others]


def _packed(parts: list[tuple[bytes, int]], form: Form) -> Iterator[list[tuple[bytes, int]]]:
    """What each page has."""
    unused = form.page_header + 3 * form.word + 8  # with an empty pointer, and aligned
    page, used = list[tuple[bytes, int]](), unused
    for part in parts:
        size = len(part[0]) + 3 * form.word
        if used + size > form.page_size:
            yield page
            page, used = [], unused
        page.append(part)
        used += size
    yield page


def _described_page(kind: int, parts: list[tuple[bytes, int]], records: bytes, n: int, form: Form) -> bytes:
    """Pointers and records from the front of a page, what is pointed at from its back."""
    end, pointers, behind = form.page_size, b"", b""
    for content, compression in parts:
        end -= len(content)
        pointers += form.pack("WWBB", end, len(content), compression, 1).ljust(3 * form.word, b"\0")
        behind = content + behind
    if form.compression:
        pointers += form.pack("WWBB", 0, 0, _EMPTY, 0).ljust(3 * form.word, b"\0")
    n_pointers = len(pointers) // (3 * form.word)
    gap = form.gap * (-(form.page_header + len(pointers)) % 8)
    front = (pointers + gap + records).ljust(end - form.page_header, b"\0")
    assert len(front) == end - form.page_header
    return _page(kind, n_pointers + n, n_pointers, front + behind, form)


def _page(kind: int, blocks: int, pointers: int, rest: bytes, form: Form) -> bytes:
    head = form.pack("HHH2x", kind, blocks, pointers).rjust(form.page_header, b"\0")
    return (head + rest).ljust(form.page_size, b"\0")


def _header(form: Form, pages: int) -> bytes:
    shift = 4 if form.wide else 0
    header = bytearray(form.page_size if form.wide else 1024)
    header[:32], header[84:92] = _MAGIC, b"SAS FILE"
    header[32], header[35] = (0x33, 0x33) if form.wide else (0x22, 0x22)
    header[37], header[39], header[70] = int(form.order == "<"), 0x31, _ENCODINGS[form.encoding]
    header[92:124], header[156:164] = b"DATA".ljust(32), b"DATA    "
    sizes = form.pack("IIW", len(header), form.page_size, pages)
    header[196 + shift : 196 + shift + len(sizes)] = sizes
    start = 212 + shift + form.word
    header[start : start + 8] = form.release
    return bytes(header)
