"""The zip file of a bag, of which every byte must be the one that a bag has there (METHODS §10).

Programs that read zip files disagree about damaged and crafted ones, and what one of them does not show can be hidden
from it. No such program reads a bag here: the file must be its entries, one right after the other, the table of
contents and the end, and each header is compared with the only bytes that it may have.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from reident.archive import layout
from reident.errors import InputError

MAX_ENTRIES = 100_000
MAX_SIZE = 2**40
"""Bytes of a file, and of all files, when they are unpacked: 1 TiB."""

MAX_RATIO = 100
FREE_SIZE = 2**26
"""How much larger than its compressed bytes a file, and the whole bag, may be beyond 64 MiB."""

MAX_PATH = 1_000
"""Bytes of the name of an entry."""

REMEDY = "Do not use the file; get the bag again from those who sealed it."

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_MAX_16, _MAX_32 = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED, _SIZE_BEHIND, _UTF_8 = 0x41, 0x08, 0x800
_STORED, _DEFLATED = 0, 8
_PLAIN, _WIDE = 20, 45
"""Versions of the format: the one with compressed files, and the one with numbers of 64 bits."""

_UNIX = 3 << 8
_DATE = 0x21
"""1980-01-01, the date of every entry; its time is 0."""

_ATTRIBUTES = (stat.S_IFREG | 0o600) << 16
_BLOCK, _PACKED_BLOCK = 2**20, 2**14
"""Bytes that are read at once, and of compressed ones: these become at most a thousand times as many."""


class Entry(NamedTuple):
    """One file of a zip.

    Attributes
    ----------
    name : str
    method : int
        0 for stored, 8 for deflated.
    crc : int
    packed : int
        Bytes of its content in the zip.
    size : int
        Bytes of its content.
    offset : int
        Where its header begins.
    wide : bool
        Whether a number of its headers has 64 bits.
    """

    name: str
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    wide: bool


class Container:
    """The zip file of a bag, read from its table of contents on.

    Parameters
    ----------
    path : pathlib.Path

    Attributes
    ----------
    entries : list of Entry
    packed_otherwise : list of str
        The entries read so far whose compressed bytes are not those that the writer of bags makes of their content:
        another version of zlib made them, or somebody changed them in a way that has no effect.

    Raises
    ------
    InputError
        Unless the file consists of entries, table of contents and end alone, each as a bag has it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise InputError(f"{path} is not a file. Name the zip file of a bag.")
        try:
            self._file = os.open(path, os.O_RDONLY)
        except PermissionError:
            raise InputError(f"{path} cannot be read. Change its permissions.") from None
        self.size = os.fstat(self._file).st_size
        self.packed_otherwise: list[str] = []
        try:
            n, start, end = self._find_directory()
            self.entries = self._read_directory(n, self._bytes(start, end - start))
            self._starts = self._check_headers(start)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def refusal(self, what: str) -> InputError:
        """Return the error for a file that is not a bag."""
        return refusal(self.path, what)

    def _bytes(self, start: int, n: int) -> bytes:
        return os.pread(self._file, n, start) if start >= 0 else b""

    def _find_directory(self) -> tuple[int, int, int]:
        """Return the number of entries, and where the table of contents begins and ends."""
        if self._bytes(0, 4) not in {b"PK\3\4", b"PK\5\6"}:
            raise self.refusal("the file must begin as a zip file does")
        last = self._bytes(self.size - _END.size, _END.size)
        if len(last) < _END.size or not last.startswith(b"PK\5\6"):
            raise self.refusal("the zip file does not end as it must: it was cut, or something was appended")
        _, disk, first_disk, n_here, n, length, start, _ = _END.unpack(last)
        if disk or first_disk or n_here != n:
            raise self.refusal("the zip file must not be one part of several")
        n_end = _END.size
        wide = self._bytes(self.size - n_end - _LOCATOR_64.size, 4) == b"PK\6\7"
        if wide:
            n_end += _LOCATOR_64.size + _END_64.size
            record = self._bytes(self.size - n_end, _END_64.size)
            *_, n, length, start = _END_64.unpack(record.ljust(_END_64.size, b"\0"))
        if n > MAX_ENTRIES:
            raise self.refusal(f"the bag must have at most {MAX_ENTRIES:,} files")
        if not n:
            raise self.refusal("the zip file must not be empty")
        if start + length + n_end != self.size or length > n * 4 * MAX_PATH:
            raise self.refusal("the zip file has bytes that belong to none of its parts")
        if self._bytes(self.size - n_end, n_end) != _end(n, length, start, wide=wide):
            raise self.refusal("the end of the zip file is damaged")
        return n, start, start + length

    def _read_directory(self, n: int, directory: bytes) -> list[Entry]:
        """Return the entries of the table of contents."""
        entries: list[Entry] = []
        names: set[str] = set()
        at = 0
        for number in range(1, n + 1):
            entry, at = self._read_record(directory, at, f"entry {number}")
            if entry.name in names:
                raise self.refusal(f"{shown(entry.name)} is given twice")
            names.add(entry.name)
            entries.append(entry)
        if at != len(directory):
            raise self.refusal("the table of contents of the zip file has bytes that belong to no entry")
        total = sum(entry.size for entry in entries)
        if total > MAX_SIZE or _bursts(total, self.size):
            raise self.refusal(f"the unpacked files must have {_LIMITS}")
        return entries

    def _read_record(self, directory: bytes, at: int, place: str) -> tuple[Entry, int]:
        """Return an entry of the table of contents, and where the next one begins."""
        header = directory[at : at + _CENTRAL.size]
        if len(header) < _CENTRAL.size or not header.startswith(b"PK\1\2"):
            raise self.refusal("the table of contents of the zip file is damaged")
        _, _, version, flags, method, _, _, crc, packed, size, n_name, n_extra, *_, mode, offset = (
            _CENTRAL.unpack(header)
        )
        name_end = at + len(header) + n_name
        raw, extra = directory[at + len(header) : name_end], directory[name_end : name_end + n_extra]
        try:
            name = raw.decode()
        except UnicodeDecodeError:
            raise self.refusal(f"the name of {place} must be UTF-8") from None
        if n_name > MAX_PATH:
            raise self.refusal(f"the name of {place} must have at most {MAX_PATH:,} bytes")
        if problem := _problem(flags, method, stat.S_IFMT(mode >> 16), folder=name.endswith("/")):
            raise self.refusal(f"{shown(name)} {problem}")
        numbers = _widened([size, packed, offset], extra)
        if numbers is None:
            raise self.refusal(f"{shown(name)} must not have an extra field in the zip file")
        version = version if version == _PLAIN and not extra else _WIDE
        expected = (b"PK\1\2", _UNIX | version, version, _flags(raw), method, 0, _DATE, crc, packed, size)
        if header != _CENTRAL.pack(*expected, n_name, n_extra, 0, 0, 0, _ATTRIBUTES, offset):
            raise self.refusal(f"{shown(name)} does not have the attributes of a file in a bag")
        entry = Entry(name, method, crc, numbers[1], numbers[0], numbers[2], version == _WIDE)
        if entry.size > MAX_SIZE or _bursts(entry.size, entry.packed):
            raise self.refusal(f"{shown(name)} must have {_LIMITS}")
        return entry, name_end + n_extra

    def _check_headers(self, end: int) -> dict[str, int]:
        """Return where the content of each entry begins: each right after the one before, up to `end`."""
        starts, at = {}, 0
        for entry in self.entries:
            if entry.offset != at:
                what = (
                    "overlaps another file"
                    if entry.offset < at
                    else "comes after bytes that belong to no file"
                )
                raise self.refusal(f"{shown(entry.name)} {what} of the zip")
            header = _local(entry, wide=False)
            found = self._bytes(at, len(header) + 20)
            if entry.wide and not found.startswith(header):
                header = _local(entry, wide=True)
            if not found.startswith(header):
                raise self.refusal(
                    f"{shown(entry.name)} must be the same in its header and in the table of contents"
                )
            starts[entry.name] = at + len(header)
            at = starts[entry.name] + entry.packed
        if at != end:
            what = "overlaps the last file" if at > end else "comes after bytes that belong to no file"
            raise self.refusal(f"the table of contents of the zip file {what}")
        return starts

    def blocks(self, entry: Entry) -> Iterator[bytes]:
        """Yield the content of an entry block by block, each of at most some megabytes.

        Raises
        ------
        InputError
            If the content does not have the size and the check sum of its header, or its compressed bytes are damaged
            or followed by others.
        """
        size = crc = 0
        for block in self._stored(entry) if entry.method == _STORED else self._inflated(entry):
            size += len(block)
            if size > entry.size:
                break
            crc = zlib.crc32(block, crc)
            yield block
        if size != entry.size or crc != entry.crc:
            raise self._damage(entry)

    def _stored(self, entry: Entry) -> Iterator[bytes]:
        start = self._starts[entry.name]
        for at in range(start, start + entry.packed, _BLOCK):
            yield self._bytes(at, min(_BLOCK, start + entry.packed - at))

    def _inflated(self, entry: Entry) -> Iterator[bytes]:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        again = zlib.compressobj(layout.LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        here = there = (0, 0)
        start = self._starts[entry.name]
        try:
            for at in range(start, start + entry.packed, _PACKED_BLOCK):
                packed = self._bytes(at, min(_PACKED_BLOCK, start + entry.packed - at))
                block = inflater.decompress(packed)
                here, there = _tally(here, packed), _tally(there, again.compress(block))
                yield block
        except zlib.error:
            raise self._damage(entry) from None
        if not inflater.eof or inflater.unused_data:
            raise self._damage(entry)
        if here != _tally(there, again.flush()):
            self.packed_otherwise.append(entry.name)

    def _damage(self, entry: Entry) -> InputError:
        return self.refusal(f"the content of {shown(entry.name)} is damaged")


def refusal(path: Path, what: str) -> InputError:
    """Return the error for a file that is not a bag, or not as it was sealed."""
    return InputError(f"{path}: {what}. {REMEDY}")


def shown(name: str) -> str:
    """Return a name from a stranger as a message may show it."""
    text = printable(name)
    return f"`{text if len(text) <= 80 else '...' + text[-77:]}`"


def printable(text: str) -> str:
    """Return a text from a stranger without characters that steer a terminal."""
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


_LIMITS = f"at most {MAX_SIZE:,} bytes, and at most {MAX_RATIO} times as many as in the zip file"


def _bursts(size: int, packed: int) -> bool:
    """Return whether compressed bytes become more than an honest file does."""
    return size > max(FREE_SIZE, MAX_RATIO * packed)


def _problem(flags: int, method: int, kind: int, *, folder: bool) -> str | None:
    """Return what an entry of a bag must not be."""
    if flags & _ENCRYPTED:
        return "must not be encrypted"
    if flags & _SIZE_BEHIND:
        return "must have its size before its content"
    if method not in {_STORED, _DEFLATED}:
        return "must be stored or deflated, not compressed by another method"
    if stat.S_ISLNK(kind):
        return "must not be a link"
    if folder or stat.S_ISDIR(kind):
        return "must not be a folder"
    if not stat.S_ISREG(kind):
        return "must be a regular file"
    return None


def _widened(numbers: list[int], extra: bytes) -> list[int] | None:
    """Return numbers, those that need 64 bits from the extra field; None if the field is another one."""
    at = [number for number, value in enumerate(numbers) if value == _MAX_32]
    if not at:
        return None if extra else numbers
    if len(extra) != 4 + 8 * len(at) or extra[:4] != struct.pack("<2H", 1, 8 * len(at)):
        return None
    wide = dict(zip(at, struct.unpack_from(f"<{len(at)}Q", extra, 4), strict=True))
    # Python's writer takes 64 bits from 2 GiB on; below that they are of no use to an honest one.
    return (
        [wide.get(number, value) for number, value in enumerate(numbers)]
        if max(wide.values()) >= 2**31
        else None
    )


def _flags(raw: bytes) -> int:
    """Return the flags of an entry: whether its name is UTF-8 beyond ASCII."""
    return 0 if raw.isascii() else _UTF_8


def _local(entry: Entry, *, wide: bool) -> bytes:
    """Return the header before the content of an entry, with its sizes in 32 bits or in 64."""
    raw = entry.name.encode()
    sizes = (_MAX_32, _MAX_32) if wide else (entry.packed, entry.size)
    extra = struct.pack("<2H2Q", 1, 16, entry.size, entry.packed) if wide else b""
    version = _WIDE if wide else _PLAIN
    start = (b"PK\3\4", version, _flags(raw), entry.method, 0, _DATE, entry.crc, *sizes)
    return _LOCAL.pack(*start, len(raw), len(extra)) + raw + extra


def _end(n: int, length: int, start: int, *, wide: bool) -> bytes:
    """Return the end of a zip file, with its numbers in 32 bits or in 64."""
    few = min(n, _MAX_16)
    end = _END.pack(b"PK\5\6", 0, 0, few, few, min(length, _MAX_32), min(start, _MAX_32), 0)
    if not wide:
        return end
    record = _END_64.pack(b"PK\6\6", _END_64.size - 12, _WIDE, _WIDE, 0, 0, n, n, length, start)
    return record + _LOCATOR_64.pack(b"PK\6\7", 0, start + length, 1) + end


def _tally(before: tuple[int, int], block: bytes) -> tuple[int, int]:
    """Return the number and the check sum of bytes with those of a block after them."""
    return before[0] + len(block), zlib.crc32(block, before[1])
