"""The zip file of a bag, of which every byte must be the one that its writer puts there (METHODS §10.1).

Programs that read zip files disagree about damaged and crafted ones, and what one of them does not show can be hidden
from it. The names, sizes and check sums of the files determine every byte of a bag but their contents: `zipfile` writes
these bytes once more, and they are compared.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from reident.errors import InputError

MAX_ENTRIES = 100_000
MAX_TABLE = 2**25
"""Bytes of the table of contents."""

MAX_SIZE = 2**40
"""Bytes of a file, and of all files, when they are unpacked: 1 TiB."""

MAX_RATIO = 100
FREE_SIZE = 2**26
"""How much larger than its compressed bytes a file, and the whole bag, may be beyond 64 MiB."""

REMEDY = "Do not use the file; get the bag again from those who sealed it."

_LIMITS = f"at most {MAX_SIZE:,} bytes, and at most {MAX_RATIO} times as many as in the zip file"
_BLOCK, _PACKED_BLOCK = 2**20, 2**14
"""Bytes that are read at once, and of compressed ones: these become at most a thousand times as many."""


def header(name: str, size: int) -> zipfile.ZipInfo:
    """Return the header of a file of a bag, which tells nothing of the machine and of the time.

    Parameters
    ----------
    name : str
        With the folder of the bag.
    size : int
        Bytes of its content.
    """
    made = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    made.create_system, made.external_attr, made.file_size = 3, 0o100600 << 16, size
    return made


class Container:
    """The zip file of a bag.

    Parameters
    ----------
    path : pathlib.Path

    Attributes
    ----------
    entries : list of zipfile.ZipInfo

    Raises
    ------
    InputError
        If the files are too many or too large, or a byte that belongs to none of them is not as it is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise InputError(f"{path} is not a file. Name the zip file of a bag.")
        try:
            self._file = _Limited(path)
        except PermissionError:
            raise InputError(f"{path} cannot be read. Change its permissions.") from None
        self._starts: dict[str, int] = {}
        try:
            with zipfile.ZipFile(self._file) as archive:
                self.entries = archive.infolist()
            self._check_limits()
            self._compare()
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error):
            self.close()
            raise self.refusal("the file is not a complete zip file, or not as a bag is written") from None
        except InputError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def refusal(self, what: str) -> InputError:
        """Return the error for a file that is not a bag."""
        return refusal(self.path, what)

    def _check_limits(self) -> None:
        """See that the files are few, small and of different names before one of them is read."""
        if not 0 < len(self.entries) <= MAX_ENTRIES:
            raise self.refusal(f"the bag must have at least one file, and at most {MAX_ENTRIES:,} files")
        names = set()
        for entry in self.entries:
            if entry.filename in names:
                raise self.refusal(f"{shown(entry.filename)} is given twice")
            names.add(entry.filename)
            if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise self.refusal(f"{shown(entry.filename)} must be stored or deflated")
            if _bursts(entry.file_size, entry.compress_size):
                raise self.refusal(f"{shown(entry.filename)} must have {_LIMITS}")
        if _bursts(sum(entry.file_size for entry in self.entries), self._file.size):
            raise self.refusal(f"the unpacked files must have {_LIMITS}")

    def _compare(self) -> None:
        """Write the zip file once more, without the contents of its files, and compare it."""
        at, written = 0, []
        for entry in self.entries:
            made = header(entry.filename, entry.file_size)
            made.compress_type, made.compress_size = entry.compress_type, entry.compress_size
            made.CRC, made.header_offset = entry.CRC, at
            before = made.FileHeader(zip64=entry.file_size * 1.05 > zipfile.ZIP64_LIMIT)  # as `ZipFile.open`
            if self._bytes(at, len(before)) != before:
                raise self.refusal(f"the header of {shown(entry.filename)} is not as a bag is written")
            self._starts[entry.filename] = at + len(before)
            at += len(before) + entry.compress_size
            written.append(made)
        table = _Behind(at)
        with zipfile.ZipFile(table, "w") as archive:
            archive.filelist += written
        if self._bytes(at, len(table.getvalue()) + 1) != table.getvalue():
            raise self.refusal("the table of contents is not as a bag is written")

    def _bytes(self, start: int, n: int) -> bytes:
        return os.pread(self._file.fileno(), n, start)

    def blocks(self, entry: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield the content of a file block by block, each of at most some megabytes.

        Raises
        ------
        InputError
            If the content does not have the size and the check sum of its header, or its compressed bytes are damaged
            or followed by others.
        """
        start = self._starts[entry.filename]
        end = start + entry.compress_size
        inflater = zlib.decompressobj(-zlib.MAX_WBITS) if entry.compress_type else None
        step = _PACKED_BLOCK if inflater else _BLOCK
        size = crc = 0
        for at in range(start, end, step):
            block = self._bytes(at, min(step, end - at))
            if inflater:
                try:
                    block = inflater.decompress(block)
                except zlib.error:
                    break
            size += len(block)
            if size > entry.file_size or (inflater and inflater.unused_data):
                break
            crc = zlib.crc32(block, crc)
            yield block
        ended = inflater is None or (inflater.eof and not inflater.unused_data)
        if not ended or (size, crc) != (entry.file_size, entry.CRC):
            raise self.refusal(f"the content of {shown(entry.filename)} is damaged")


class _Limited(io.FileIO):
    """A file of which no more is read at once than the largest table of contents."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.size = path.stat().st_size

    def read(self, n: int | None = -1, /) -> bytes:
        if n is not None and n > MAX_TABLE:
            raise zipfile.BadZipFile
        return super().read(n) or b""


class _Behind(io.BytesIO):
    """The end of a file whose beginning is not kept."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self._start = start

    def tell(self) -> int:
        return self._start + super().tell()

    def seek(self, at: int, whence: int = 0, /) -> int:
        return self._start + super().seek(at - self._start, whence)


def _bursts(size: int, packed: int) -> bool:
    """Return whether compressed bytes become more than an honest file does."""
    return size > MAX_SIZE or size > max(FREE_SIZE, MAX_RATIO * packed)


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
