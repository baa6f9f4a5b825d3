"""Zip files that no honest writer makes: each case is what a refusal must say, and how the file is made."""

import io
import struct
import zipfile
import zlib

from making.bags import header

TOP = "plain-0123456789abcdef"
ZEROS = bytes(2**20)
MAX_32 = 2**32 - 1


def zipped(*items, comment=b""):
    """A zip of pairs of a name or header and a content; names without a folder are in that of the bag."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in items or (("a", b"first"), ("b", b"second")):
            made = name if isinstance(name, zipfile.ZipInfo) else header(f"{TOP}/{name}")
            archive.writestr(made, content)
        archive.comment = comment
    return file.getvalue()


def named(name, **changes):
    """A zip with a file of a name as it is."""
    made = header("x", changes.pop("method", zipfile.ZIP_STORED), changes.pop("mode", 0o100600))
    made.filename = name
    for attribute, value in changes.items():
        setattr(made, attribute, value)
    return zipped((made, b"content"))


def end(archive):
    """Where the end of a zip begins, and where its table of contents does."""
    at = len(archive) - 22
    return at, struct.unpack_from("<L", archive, at + 16)[0]


def patched(archive, at, form, *values):
    """A zip with other bytes at one place."""
    content = bytearray(archive)
    struct.pack_into(form, content, at, *values)
    return bytes(content)


def in_table(offset, form, *values, archive=None):
    """A zip whose first line of the table of contents has another field."""
    archive = archive or zipped()
    return patched(archive, end(archive)[1] + offset, form, *values)


def in_both(local, central, form, *values, archive=None):
    """A zip whose first file has another field in its header and in the table of contents."""
    return patched(in_table(central, form, *values, archive=archive), local, form, *values)


def at_end(offset, form, *values):
    """A zip whose end has another field."""
    archive = zipped()
    return patched(archive, end(archive)[0] + offset, form, *values)


def rebuilt(before, table, n, start=None):
    """A zip from the bytes before its table of contents, and the table."""
    start = len(before) if start is None else start
    return before + table + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, n, n, len(table), start, 0)


def parts(archive=None):
    """The bytes before the table of contents, and the lines of the table."""
    archive = archive or zipped()
    at, start = end(archive)
    lines = archive[start:at].split(b"PK\1\2")[1:]
    return archive[:start], [b"PK\1\2" + line for line in lines]


def overlapping():
    """Two names for the same bytes."""
    before, (first, second) = parts(zipped(("a", b"same"), ("b", b"same")))
    return rebuilt(before, first + second[:42] + first[42:46] + second[46:], 2)


def nested():
    """A file whose content is the header and the content of the next one, as in the densest bombs."""
    inner, (line,) = parts(zipped((header(f"{TOP}/b", zipfile.ZIP_STORED), b"kernel")))
    before, (outer,) = parts(zipped((header(f"{TOP}/a", zipfile.ZIP_STORED), inner)))
    at = struct.pack("<L", len(before) - len(inner))
    return rebuilt(before, outer + line[:42] + at + line[46:], 2)


def with_gap(at):
    """Bytes of no file: before the first one, after it, or after the last one."""
    before, lines = parts()
    first = 30 + len(TOP) + 2 + struct.unpack_from("<L", before, 18)[0]
    cut = {"first": 0, "second": first, "table": len(before)}[at]
    moved = []
    for line in lines:
        (offset,) = struct.unpack_from("<L", line, 42)
        moved.append(patched(line, 42, "<L", offset + (10 if offset >= cut else 0)))
    filler = b"PK\3\4hidden"
    return rebuilt(before[:cut] + filler + before[cut:], b"".join(moved), 2)


def with_extra(local, central, *, where):
    """An extra field in the header of the first file, or in the table of contents."""
    before, lines = parts(zipped(("a", b"first")))
    size = 30 + len(TOP) + 2
    if "local" in where:
        before = patched(before[:size] + local + before[size:], 28, "<H", len(local))
    if "central" in where:
        lines = [patched(lines[0] + central, 30, "<H", len(central))]
    return rebuilt(before, b"".join(lines), 1)


def wide(size, packed, *, claimed):
    """A file of a few bytes with sizes in 64 bits."""
    extra = struct.pack("<2H2Q", 1, 16, size, packed)
    archive = with_extra(extra, extra, where="local central")
    fields = {"local": 18, "central": end(archive)[1] + 20}
    for at in fields.values():
        archive = patched(archive, at, "<2L", claimed, claimed)
    archive = patched(archive, 4, "<H", 45)
    return patched(archive, end(archive)[1] + 4, "<2H", 3 << 8 | 45, 45)


def wide_end(n=2, offset=0, sizes=0):
    """A zip whose end has numbers of 64 bits."""
    before, lines = parts()
    table = b"".join(lines)
    at = len(before) + len(table)
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44 + sizes, 45, 45, 0, 0, n, n, len(table), len(before))
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at + offset, 1)
    last = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 2, 2, len(table), len(before), 0)
    return before + table + record + locator + last


def deflated(stream, content):
    """A file with a stream of compressed bytes as it is."""
    raw = f"{TOP}/a".encode()
    numbers = (zlib.crc32(content), len(stream), len(content), len(raw), 0)
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0x21, *numbers)
    line = struct.pack("<4s6H3L5H2L", b"PK\1\2", 3 << 8 | 20, 20, 0, 8, 0, 0x21, *numbers, 0, 0, 0, 0o100600 << 16, 0)
    return rebuilt(local + raw + stream, line + raw, 1)


def stream(content=b"content " * 9):
    """The compressed bytes of a content."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def unseekable():
    """A zip whose files have their sizes behind their contents."""

    class Pipe(io.RawIOBase):
        def __init__(self):
            self.content = b""

        def writable(self):
            return True

        def write(self, block):
            self.content += bytes(block)
            return len(block)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w") as archive:
        archive.writestr(header(f"{TOP}/a"), b"first")
    return pipe.content


WRITTEN = "not as a bag is written"
ORDER = "not in the order in which a bag is written"
CONTROL = "must not have a control character"
PORTABLE = "must not have characters that some file systems refuse or change"
TAKEN = "must not be that of another file or folder"
LEAVES = "must not leave its folder"
ONE_FOLDER = "all files must be in one folder"
LIMITS = "at most 100 times as many as in the zip file"

HOSTILE = {
    "a link": (WRITTEN, lambda: named(f"{TOP}/a", mode=0o120777)),
    "a device": (WRITTEN, lambda: named(f"{TOP}/a", mode=0o020600)),
    "a pipe": (WRITTEN, lambda: named(f"{TOP}/a", mode=0o010600)),
    "a socket": (WRITTEN, lambda: named(f"{TOP}/a", mode=0o140600)),
    "a file of no type": (WRITTEN, lambda: named(f"{TOP}/a", mode=0o600)),
    "a folder by its mode": (WRITTEN, lambda: named(f"{TOP}/a", mode=0o040700)),
    "a folder by its name": (LEAVES, lambda: named(f"{TOP}/a/")),
    "a program that runs as its owner": (WRITTEN, lambda: named(f"{TOP}/a", mode=0o104755)),
    "attributes of Windows": (WRITTEN, lambda: named(f"{TOP}/a", create_system=0)),
    "a time": (WRITTEN, lambda: named(f"{TOP}/a", date_time=(2026, 1, 1, 0, 0, 0))),
    "a comment of a file": (WRITTEN, lambda: named(f"{TOP}/a", comment=b"hidden")),
    "an absolute path": ("must not be an absolute path", lambda: named("/etc/cron.d/a")),
    "a drive": ("must not be an absolute path", lambda: named("C:/Windows/a")),
    "a drive in the folder": (PORTABLE, lambda: named(f"{TOP}/C:a")),
    "a path above": (LEAVES, lambda: named(f"{TOP}/../a")),
    "a path above from below": (LEAVES, lambda: named(f"{TOP}/data/../../../a")),
    "a path that begins above": (LEAVES, lambda: named("../a")),
    "a dot for a folder": (LEAVES, lambda: named(f"{TOP}/./a")),
    "a folder without a name": (LEAVES, lambda: named(f"{TOP}//a")),
    "backslashes": (PORTABLE, lambda: named(f"{TOP}/..\\..\\a")),
    "a stream of NTFS": (PORTABLE, lambda: named(f"{TOP}/a.csv:hidden")),
    "a dot at the end": (PORTABLE, lambda: named(f"{TOP}/a.")),
    "a blank at the end": (PORTABLE, lambda: named(f"{TOP}/a /b")),
    "NUL": (WRITTEN, lambda: named(f"{TOP}/a.csv\0.sh")),
    "a line end": (CONTROL, lambda: named(f"{TOP}/a\nb")),
    "an escape sequence": (CONTROL, lambda: named(f"{TOP}/\x1b[2Ja")),
    "reversed reading": (CONTROL, lambda: named(f"{TOP}/a\u202evsc.sh")),
    "a letter without width": (CONTROL, lambda: named(f"{TOP}/a\u200bb")),
    "letters that are not composed": (PORTABLE, lambda: named(f"{TOP}/A\u030aland")),
    "names that differ by case": (TAKEN, lambda: zipped(("data/A", b""), ("data/a", b""))),
    "folders that differ by case": (TAKEN, lambda: zipped(("Data/a", b""), ("data/b", b""))),
    "names that look the same": (TAKEN, lambda: zipped(("file", b""), ("\ufb01le", b""))),
    "long s": (TAKEN, lambda: zipped(("s", b""), ("\u017f", b""))),
    "a file that is a folder": (TAKEN, lambda: zipped(("a", b""), ("a/b", b""))),
    "a name of 1,020 bytes": ("more than 1,000 bytes", lambda: named(f"{TOP}/{'abc/' * 249}abc")),
    "a name of 256 bytes": ("or 255 bytes in one of them", lambda: named(f"{TOP}/{'a' * 256}")),
    "21 levels": ("more than 20 levels", lambda: named(f"{TOP}/{'a/' * 19}a")),
    "a name in Latin 1": (ORDER, lambda: in_both(30 + 23, 46 + 23, "B", 0xE5)),
    "UTF-8 without its flag": (WRITTEN, lambda: in_both(6, 8, "<H", 0, archive=zipped(("å", b"")))),
    "a flag of UTF-8 for ASCII": (WRITTEN, lambda: in_both(6, 8, "<H", 0x800)),
    "two folders": (ONE_FOLDER, lambda: zipped(("a", b""), (header(f"{TOP[:-1]}0/a"), b""))),
    "no folder": (ONE_FOLDER, lambda: named("a")),
    "a folder without a digest": (ONE_FOLDER, lambda: named("plain/a")),
    "a hidden folder": (ONE_FOLDER, lambda: named(f".{TOP}/a")),
    "encryption": (WRITTEN, lambda: in_both(6, 8, "<H", 1)),
    "strong encryption": (WRITTEN, lambda: in_both(6, 8, "<H", 0x41)),
    "encryption in the header alone": (WRITTEN, lambda: patched(zipped(), 6, "<H", 1)),
    "sizes behind the contents": (WRITTEN, unseekable),
    "bzip2": ("must be stored or deflated", lambda: named(f"{TOP}/a", method=zipfile.ZIP_BZIP2)),
    "LZMA": ("must be stored or deflated", lambda: named(f"{TOP}/a", method=zipfile.ZIP_LZMA)),
    "an unknown method": ("must be stored or deflated", lambda: in_both(8, 10, "<H", 99)),
    "another method in the header": (WRITTEN, lambda: patched(zipped(), 8, "<H", 0)),
    "another name in the header": (WRITTEN, lambda: patched(zipped(), 30 + 23, "B", ord("c"))),
    "another size in the header": (WRITTEN, lambda: patched(zipped(), 22, "<L", 6)),
    "another check sum in the header": (WRITTEN, lambda: patched(zipped(), 14, "<L", 6)),
    "another check sum": (WRITTEN, lambda: in_both(14, 16, "<L", 6)),
    "more content than declared": (WRITTEN, lambda: in_both(22, 24, "<L", 4)),
    "less content than declared": (WRITTEN, lambda: in_both(22, 24, "<L", 6)),
    "a stored file of another size": (WRITTEN, lambda: in_both(22, 24, "<L", 6, archive=named(f"{TOP}/a"))),
    "bytes after a compressed stream": (WRITTEN, lambda: deflated(stream() + b"hidden", b"content " * 9)),
    "a compressed stream that was cut": (WRITTEN, lambda: deflated(stream()[:-1], b"content " * 9)),
    "no compressed stream": (WRITTEN, lambda: deflated(b"", b"")),
    "no compressed stream but noise": (WRITTEN, lambda: deflated(b"\xff" * 30, b"content " * 9)),
    "two names for the same bytes": (WRITTEN, overlapping),
    "a file inside a file": (WRITTEN, nested),
    "a name twice": ("is given twice", lambda: zipped().replace(f"{TOP}/b".encode(), f"{TOP}/a".encode())),
    "bytes before the first file": (WRITTEN, lambda: with_gap("first")),
    "bytes between files": (WRITTEN, lambda: with_gap("second")),
    "bytes after the last file": (WRITTEN, lambda: with_gap("table")),
    "a program before the zip": (WRITTEN, lambda: b"#!/bin/sh\n" + zipped()),
    "bytes after the zip": (WRITTEN, lambda: zipped() + b"\0"),
    "a comment": (WRITTEN, lambda: zipped(comment=b"hidden")),
    "a zip as comment": (WRITTEN, lambda: zipped(comment=zipped())),
    "a zip after the zip": (WRITTEN, lambda: zipped() + zipped(("c", b"third"))),
    "one part of several": (WRITTEN, lambda: at_end(4, "<H", 1)),
    "fewer files in the end": (WRITTEN, lambda: at_end(8, "<2H", 1, 1)),
    "more files in the end": (WRITTEN, lambda: at_end(8, "<2H", 3, 3)),
    "another place of the table": (WRITTEN, lambda: at_end(16, "<L", 0)),
    "a table of another length": (WRITTEN, lambda: at_end(12, "<L", 100)),
    "an extra field in the header": (WRITTEN, lambda: with_extra(b"UP\2\0ab", b"", where="local")),
    "an extra field in the table": (WRITTEN, lambda: with_extra(b"", b"UP\2\0ab", where="central")),
    "an empty extra field": (WRITTEN, lambda: with_extra(b"", b"\0\0\0\0", where="central")),
    "64 bits for a few bytes": (WRITTEN, lambda: wide(5, 7, claimed=MAX_32)),
    "64 bits beside 32": (WRITTEN, lambda: wide(5, 7, claimed=5)),
    "2 TiB in 64 bits": (LIMITS, lambda: wide(2**41, 7, claimed=MAX_32)),
    "more than all numbers": (LIMITS, lambda: wide(2**64 - 1, 2**64 - 1, claimed=MAX_32)),
    "an end of 64 bits elsewhere": (WRITTEN, lambda: wide_end(offset=1)),
    "an end of 64 bits with more": (WRITTEN, lambda: wide_end(sizes=1)),
    "another number in 64 bits": (WRITTEN, lambda: wide_end(n=3)),
    "an end of 64 bits without need": (WRITTEN, wide_end),
    "files in another order": (ORDER, lambda: zipped(("b", b"first"), ("a", b"second"))),
    "a tag file before the payload": (ORDER, lambda: zipped(("a", b"first"), ("data/b", b"second"))),
    "a signature before the payload": (ORDER, lambda: zipped(("signatures/a", b"first"), ("data/b", b"second"))),
    "a billion files": (WRITTEN, lambda: wide_end(n=10**9)),
    "an end of 64 bits that was cut": (WRITTEN, lambda: b"PK\3\4" + wide_end()[-42:]),
    "a bomb": (LIMITS, lambda: zipped(("a", ZEROS * 65))),
    "a bomb in parts": (LIMITS, lambda: zipped(("a", ZEROS * 40), ("b", ZEROS * 40))),
    "no file": ("must have at least one file", lambda: rebuilt(b"", b"", 0)),
    "no byte": (WRITTEN, lambda: b""),
    "text": (WRITTEN, lambda: b"BagIt-Version: 1.0\n" * 9),
    "four bytes": (WRITTEN, lambda: b"PK\3\4"),
}
"""What a refusal says and how the file is made, by what is wrong with it."""
