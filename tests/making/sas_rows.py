"""Compressed records of SAS data sets for tests, with the commands of the public descriptions of both methods."""

from __future__ import annotations

from itertools import groupby

_NAMED = {ord("@"): (0x50, 0xD0), ord(" "): (0x60, 0xE0), 0: (0x70, 0xF0)}
"""Commands for runs of characters that have their own: a long run, and a short one."""


def run_lengths(record: bytes) -> bytes:
    """A record by runs of one character, and what is between them (SASYZCRL)."""
    compressed, literal = b"", b""
    for byte, same in groupby(record):
        n = len(list(same))
        if n < (2 if byte in _NAMED else 3):
            literal += bytes([byte]) * n
            continue
        compressed += _literal(literal) + _run(byte, n)
        literal = b""
    return compressed + _literal(literal)


def _run(byte: int, n: int) -> bytes:
    if n > 4112:
        return (
            _run(byte, 4096) + _run(byte, n - 4096)
            if n - 4096 > 2
            else _run(byte, 4000) + _run(byte, n - 4000)
        )
    if byte in _NAMED:
        long, short = _NAMED[byte]
        return bytes([short | n - 2]) if n <= 17 else bytes([long | n - 17 >> 8, n - 17 & 0xFF])
    return bytes([0xC0 | n - 3, byte]) if n <= 18 else bytes([0x40 | n - 18 >> 8, n - 18 & 0xFF, byte])


def _literal(content: bytes) -> bytes:
    n = len(content)
    if not n:
        return b""
    if n > 8255:
        return _literal(content[:8000]) + _literal(content[8000:])
    if n <= 64:
        command = bytes([(0x80, 0x90, 0xA0, 0xB0)[(n - 1) // 16] | (n - 1) % 16])
    elif 96 <= n <= 111:
        command = bytes([0x20 | n - 96])
    elif n <= 4159:
        command = bytes([n - 64 >> 8, n - 64 & 0xFF])
    else:
        command = bytes([0x10 | n - 4160 >> 8, n - 4160 & 0xFF])
    return command + content


def ross(record: bytes) -> bytes:
    """A record by runs of one character and by what precedes (SASYZCR2)."""
    items, at = list[tuple[bool, bytes]](), 0
    while at < len(record):
        run = len(record) - at - len(record[at:].lstrip(record[at : at + 1]))
        back, size = _repeated(record, at)
        if run >= 3 and run >= size:
            run = min(run, 4114)
            items.append((True, _ross_run(record[at], run)))
            at += run
        elif size >= 3:
            items.append((True, _ross_copy(back, size)))
            at += size
        else:
            items.append((False, record[at : at + 1]))
            at += 1
    compressed = b""
    for first in range(0, len(items), 16):
        part = items[first : first + 16]
        marks = sum(1 << 15 - place for place, (is_command, _) in enumerate(part) if is_command)
        compressed += marks.to_bytes(2, "big") + b"".join(content for _, content in part)
    return compressed


def _repeated(record: bytes, at: int) -> tuple[int, int]:
    """How far back the longest text is that follows too, and its length."""
    for size in range(min(271, at, len(record) - at), 2, -1):
        back = at - record.rfind(record[at : at + size], max(0, at - 4098), at)
        if (
            size <= back <= at
            and back <= 4098
            and record[at - back : at - back + size] == record[at : at + size]
        ):
            return back, size
    return 0, 0


def _ross_run(byte: int, n: int) -> bytes:
    return bytes([n - 3, byte]) if n <= 18 else bytes([0x10 | n - 19 & 0x0F, n - 19 >> 4, byte])


def _ross_copy(back: int, size: int) -> bytes:
    place = bytes([back - 3 & 0x0F, back - 3 >> 4])
    if size >= 16:
        return bytes([0x20 | place[0], place[1], size - 16])
    return bytes([size << 4 | place[0], place[1]])
