"""SAS data sets for tests, written by hand after the public descriptions of the format: no library writes them.

They are not compressed, have 32 bits and the lowest byte first. The tests compare what two libraries read from them
(tests/reading/test_formats.py).
"""

import struct
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

Cell = float | str | bytes
"""A number, a text, or the eight bytes of a number as :func:`special` gives them."""

_MAGIC = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_ENCODINGS = {"utf-8": 20, "latin-1": 29}
_META, _DATA, _MIX = 0x0000, 0x0100, 0x0200
_ROW_SIZE, _COLUMN_SIZE, _FORMAT, _NAMES, _COLUMNS, _TEXTS = (
    0xF7F7F7F7, 0xF6F6F6F6, 0xFFFFFBFE, 0xFFFFFFFF, 0xFFFFFFFC, 0xFFFFFFFD,
)  # fmt: skip
"""How descriptions begin."""

_PER_DESCRIPTION = 20
"""Columns in a description of names, texts or positions; SAS has more."""

_HEADER, _PAGE_HEADER, _POINTER = 1024, 24, 12
_PAGE = 65_536
"""Bytes of a page, which has at least a record."""


def special(letter: str) -> bytes:
    """The bytes of a missing value: ``.``, ``_`` or ``A`` to ``Z``."""
    return struct.pack("<Q", 0xFFFF << 48 | (~ord(letter) & 0xFF) << 40)


def content(
    columns: Mapping[str, Sequence[Cell]], formats: Mapping[str, str] | None = None, encoding: str = "utf-8"
) -> bytes:
    """The bytes of a data set, each column numbers or text; `formats` names the display formats of some."""
    texts = [len(cells) > 0 and all(isinstance(cell, str) for cell in cells) for cells in columns.values()]
    stored = [
        _text_bytes(cells, encoding) if text else _number_bytes(cells)
        for text, cells in zip(texts, columns.values(), strict=True)
    ]
    records = np.ascontiguousarray(np.concatenate(stored, axis=1))
    widths = [cells.shape[1] for cells in stored]
    pages = _pages(records, _described(list(columns), formats or {}, texts, widths))
    return _header(encoding, len(pages)) + b"".join(pages)


def _text_bytes(cells: Sequence[str], encoding: str) -> np.ndarray:
    encoded = [cell.encode(encoding) for cell in cells]
    width = max(1, *map(len, encoded))
    return np.frombuffer(b"".join(cell.ljust(width) for cell in encoded), np.uint8).reshape(-1, width)


def _number_bytes(cells: Sequence[Cell]) -> np.ndarray:
    if isinstance(cells, np.ndarray):
        bits = np.where(np.isnan(cells), int.from_bytes(special("."), "little"), cells.view(np.uint64))
    else:
        bits = np.array([int.from_bytes(_number(cell), "little") for cell in cells], np.uint64)
    return bits.view(np.uint8).reshape(-1, 8)


def _number(cell: Cell) -> bytes:
    if isinstance(cell, bytes):
        return cell
    return special(".") if cell != cell else struct.pack("<d", cell)


def _described(names: list[str], formats: Mapping[str, str], texts: list[bool], widths: list[int]) -> list[bytes]:
    """What describes the columns, after the first description; each finds its name in a text."""
    starts = np.cumsum([0, *widths]).tolist()
    kinds = [
        struct.pack("<IIHBx", start, width, 4, 2 if text else 1)
        for start, width, text in zip(starts, widths, texts, strict=False)
    ]
    words, places = _words([*names, *formats.values()])
    named = [struct.pack("<3H2x", *places[name]) for name in names]
    shown = [struct.pack("<3H", *places[formats[name]]) if name in formats else bytes(6) for name in names]
    return [
        struct.pack("<3I", _COLUMN_SIZE, len(names), 0),
        *words,
        *_in_parts(_NAMES, named),
        *_in_parts(_COLUMNS, kinds),
        *(struct.pack("<I", _FORMAT).ljust(34, b"\0") + place + bytes(12) for place in shown),
    ]


def _words(words: list[str]) -> tuple[list[bytes], dict[str, tuple[int, int, int]]]:
    """Texts of names, and where each name is: text, position, length."""
    blobs, places = list[bytes](), {}
    for first in range(0, max(1, len(words)), _PER_DESCRIPTION):
        blob = bytearray(28)
        for word in words[first : first + _PER_DESCRIPTION]:
            places[word] = len(blobs), len(blob), len(word)
            blob += word.encode("ascii") + bytes(-len(word) % 4)
        blobs.append(_sized(_TEXTS, bytes(blob[2:]) + bytes(8)))
    return blobs, places


def _in_parts(kind: int, entries: list[bytes]) -> Iterator[bytes]:
    for first in range(0, len(entries), _PER_DESCRIPTION):
        part = b"".join(entries[first : first + _PER_DESCRIPTION])
        yield _sized(kind, bytes(6) + part + bytes(8))


def _sized(kind: int, rest: bytes) -> bytes:
    return struct.pack("<IH", kind, len(rest) - 6) + rest


def _first_description(width: int, n: int, on_page: int, n_columns: int) -> bytes:
    """What describes the records."""
    places = {0: _ROW_SIZE, 5: width, 6: n, 9: n_columns, 13: _PAGE, 15: on_page}
    return struct.pack("<120I", *(places.get(at, 0) for at in range(120)))


def _pages(records: np.ndarray, described: list[bytes]) -> list[bytes]:
    """All pages, descriptions first."""
    n, width = records.shape
    n_columns = int.from_bytes(described[0][4:8], "little")

    def packed(on_page: int) -> list[list[bytes]]:
        return list(_packed([_first_description(width, n, on_page, n_columns), *described]))

    used = _PAGE_HEADER + sum(len(one) + _POINTER for one in packed(0)[-1]) + 8
    on_page = min(n, max(0, _PAGE - used) // width)
    *before, last = packed(on_page)
    pages = [_described_page(_META, part, b"", 0) for part in before]
    kind = _MIX if on_page or not n else _META
    pages.append(_described_page(kind, last, records[:on_page].tobytes(), on_page))
    per_page = (_PAGE - _PAGE_HEADER) // width
    for start in range(on_page, n, per_page):
        part = records[start : start + per_page]
        pages.append(_page(_DATA, len(part), 0, part.tobytes()))
    return pages


def _packed(parts: list[bytes]) -> Iterator[list[bytes]]:
    """What each page has."""
    unused = _PAGE_HEADER + 8  # when aligned
    page, used = list[bytes](), unused
    for part in parts:
        size = len(part) + _POINTER
        if used + size > _PAGE:
            yield page
            page, used = [], unused
        page.append(part)
        used += size
    yield page


def _described_page(kind: int, parts: list[bytes], records: bytes, n: int) -> bytes:
    """Pointers and records from the front of a page, what is pointed at from its back."""
    end, pointers, behind = _PAGE, b"", b""
    for part in parts:
        end -= len(part)
        pointers += struct.pack("<IIBB2x", end, len(part), 0, 1)
        behind = part + behind
    gap = bytes(-(_PAGE_HEADER + len(pointers)) % 8)
    front = (pointers + gap + records).ljust(end - _PAGE_HEADER, b"\0")
    return _page(kind, len(parts) + n, len(parts), front + behind)


def _page(kind: int, blocks: int, pointers: int, rest: bytes) -> bytes:
    head = struct.pack("<HHH2x", kind, blocks, pointers).rjust(_PAGE_HEADER, b"\0")
    return (head + rest).ljust(_PAGE, b"\0")


def _header(encoding: str, pages: int) -> bytes:
    header = bytearray(_HEADER)
    header[:32], header[84:92] = _MAGIC, b"SAS FILE"
    header[32], header[35] = 0x22, 0x22
    header[37], header[39], header[70] = 1, 0x31, _ENCODINGS[encoding]
    header[92:124], header[156:164] = b"DATA".ljust(32), b"DATA    "
    header[196:208] = struct.pack("<III", _HEADER, _PAGE, pages)
    header[216:224] = b"9.0401M1"
    return bytes(header)
