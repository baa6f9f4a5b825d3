"""Compressed records of SAS data sets, byte by byte after the public descriptions of both methods."""

from __future__ import annotations

from collections.abc import Iterator

NAMED = {5: b"@", 6: b" ", 7: b"\0", 13: b"@", 14: b" ", 15: b"\0"}


class Short(Exception):  # noqa: N818 - the content ends too early, or is not known
    """The content is not a record."""


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content, self.at = content, 0

    @property
    def left(self) -> int:
        return len(self._content) - self.at

    def take(self, n: int = 1) -> bytes:
        if n > self.left:
            raise Short
        self.at += n
        return self._content[self.at - n : self.at]

    def number(self) -> int:
        return self.take()[0]


def by_runs(content: bytes, width: int) -> bytes | None:
    """The record of a content that is compressed by runs; None if it has not so many bytes."""
    try:
        record = b"".join(_runs(_Reader(content)))
    except Short:
        return None
    return record if len(record) == width else None


def _runs(reader: _Reader) -> Iterator[bytes]:
    while reader.left:
        control = reader.number()
        command, low = control // 16, control % 16
        if command in (0, 1):
            yield reader.take(low * 256 + reader.number() + 64 + command * 4096)
        elif command == 2:
            yield reader.take(low + 96)
        elif command == 4:
            n = low * 256 + reader.number() + 18
            yield reader.take() * n
        elif command in (5, 6, 7):
            yield NAMED[command] * (low * 256 + reader.number() + 17)
        elif command in (8, 9, 10, 11):
            yield reader.take(low + {8: 1, 9: 17, 10: 33, 11: 49}[command])
        elif command == 12:
            yield reader.take() * (low + 3)
        elif command in (13, 14, 15):
            yield NAMED[command] * (low + 2)
        else:
            raise Short


def by_repeats(content: bytes, width: int) -> bytes | None:
    """The record of a content that is compressed by runs and repeats; None if it has not so many bytes."""
    reader, record = _Reader(content), b""
    try:
        while reader.left >= 2:
            for mark in f"{int.from_bytes(reader.take(2), 'big'):016b}":
                if mark == "1":
                    record += _command(reader, record)
                elif reader.left:
                    record += reader.take()
                else:
                    break
    except Short:
        return None
    return record if len(record) == width else None


def _command(reader: _Reader, record: bytes) -> bytes:
    first, second = reader.take(2)
    command, low = first // 16, first % 16
    if command == 0:
        return bytes([second]) * (low + 3)
    if command == 1:
        return reader.take() * (low + second * 16 + 19)
    n = reader.number() + 16 if command == 2 else command
    back = low + second * 16 + 3
    if back > len(record) or n > back:
        raise Short
    start = len(record) - back
    return record[start : start + n]
