"""SAS data sets for tests, written by hand after the public description of the format: no library writes them.

As small as the format allows: little-endian, 32 bits, UTF-8, not compressed, all records on one page.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

Cell = float | str | bytes
"""A number, a text, or the eight bytes of a number."""

_MAGIC = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_HEADER = 1024


def special(letter: str) -> bytes:
    """The bytes of a missing value: ``.``, ``_`` or ``A`` to ``Z``."""
    return struct.pack("<Q", 0xFFFF << 48 | (~ord(letter) & 0xFF) << 40)


def content(columns: Mapping[str, Sequence[Cell]], formats: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a data set, each column numbers or text; `formats` names the display formats of some."""
    texts = [all(isinstance(cell, str) for cell in cells) and bool(cells) for cells in columns.values()]
    widths = [
        max(1, *(len(str(cell).encode()) for cell in cells)) if text else 8
        for text, cells in zip(texts, columns.values(), strict=True)
    ]
    starts = [sum(widths[:at]) for at in range(len(widths))]
    cells = zip(*columns.values(), strict=True)
    records = [b"".join(map(_cell, record, widths)) for record in cells]
    return _whole(records, sum(widths), _subheaders(columns, formats or {}, texts, widths, starts))


def _cell(cell: Cell, width: int) -> bytes:
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, str):
        return cell.encode().ljust(width)
    return special(".") if cell != cell else struct.pack("<d", cell)


def _subheaders(
    columns: Mapping[str, Sequence[Cell]],
    formats: Mapping[str, str],
    texts: list[bool],
    widths: list[int],
    starts: list[int],
) -> list[bytes]:
    """What describes the columns: their count, all names in one text, and where each finds its own."""
    words, places = bytearray(8), {}
    for word in [*columns, *formats.values()]:
        places[word] = struct.pack("<HHH", 0, len(words), len(word.encode()))
        words += word.encode() + bytes(-len(word.encode()) % 4)
    names = b"".join(places[name] + bytes(2) for name in columns)
    kinds = b"".join(
        struct.pack("<IIHBx", start, width, 4, 2 if text else 1)
        for start, width, text in zip(starts, widths, texts, strict=True)
    )
    shown = [places[formats[name]] if name in formats else bytes(6) for name in columns]
    return [
        struct.pack("<III", 0xF6F6F6F6, len(columns), 0),
        _sized(0xFFFFFFFD, bytes(words[2:]) + bytes(8)),
        _sized(0xFFFFFFFF, bytes(6) + names + bytes(8)),
        _sized(0xFFFFFFFC, bytes(6) + kinds + bytes(8)),
        *(struct.pack("<I30x6s12x", 0xFFFFFBFE, place) for place in shown),
    ]


def _sized(signature: int, rest: bytes) -> bytes:
    return struct.pack("<IH", signature, len(rest) + 6 - 12) + rest


def _whole(records: list[bytes], width: int, subheaders: list[bytes]) -> bytes:
    """File header, and one page: pointers and records from its front, subheaders from its back."""
    row_size = bytearray(480)
    subheaders = [bytes(row_size), *subheaders]
    needed = 64 + 12 * len(subheaders) + sum(map(len, [*subheaders, *records]))
    page = bytearray(max(4096, 1 << (needed - 1).bit_length()))
    struct.pack_into("<I", row_size, 0, 0xF7F7F7F7)
    struct.pack_into("<II", row_size, 20, width, len(records))
    struct.pack_into("<I", row_size, 60, len(records))
    subheaders[0] = bytes(row_size)
    struct.pack_into("<HHH", page, 16, 0x0200, len(subheaders) + len(records), len(subheaders))
    end, pointer = len(page), 24
    for subheader in subheaders:
        end -= len(subheader)
        page[end : end + len(subheader)] = subheader
        struct.pack_into("<II", page, pointer, end, len(subheader))
        pointer += 12
    begin = pointer + -pointer % 8
    page[begin : begin + width * len(records)] = b"".join(records)
    header = bytearray(_HEADER)
    header[:32], header[84:92] = _MAGIC, b"SAS FILE"
    header[32], header[35], header[37], header[39], header[70] = 0x22, 0x32, 1, 0x31, 20
    header[92:124], header[156:164], header[216:224] = b"DATA".ljust(32), b"DATA    ", b"9.0401M1"
    struct.pack_into("<III", header, 196, _HEADER, len(page), 1)
    return bytes(header) + bytes(page)
