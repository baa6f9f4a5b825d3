"""Text files: encodings, gzip, line ends, and the line of the first byte that cannot be decoded (METHODS §1)."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from reident.errors import InputError
from reident.reading.names import DAMAGE, GZIP, damaged
from reident.sections.files import SourceFile

_CHUNK = 1 << 20
MARKS = {
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
"""Byte order marks by encoding; the mark of UTF-16 is the beginning of that of UTF-32, so the order matters."""


@contextlib.contextmanager
def opened(path: Path, source: SourceFile) -> Iterator[io.TextIOBase]:
    """Open a file as decoded text with its original line ends.

    Raises
    ------
    InputError
        Within the context, for bytes that cannot be decoded or decompressed.
    """
    codec = encoding_of(path, source)
    try:
        try:
            with io.TextIOWrapper(unpacked(path), codec, "strict", newline="") as text:
                yield text
        except UnicodeError:
            raise _undecodable(path, source) from None  # which may find that the gzip file is damaged too
    except DAMAGE:
        raise damaged(path) from None


def unpacked(path: Path) -> BinaryIO:
    """Open the bytes of a file, decompressed if it is a gzip file, whatever its name."""
    with path.open("rb") as stream:
        packed = stream.read(2) == GZIP
    return cast("BinaryIO", gzip.open(path, "rb")) if packed else path.open("rb")


def encoding_of(path: Path, source: SourceFile) -> str:
    """Return Python's name for the encoding, in a form that skips the byte order mark if there is one.

    The mark of an encoding other than the declared one is refused: it would silently give wrong letters.
    """
    codec, start = source.codec, b""
    if codec == "utf-8-sig":
        return codec
    with contextlib.suppress(*DAMAGE), unpacked(path) as stream:
        start = stream.read(4)
    marked = [name for name, mark in MARKS.items() if start.startswith(mark)]
    if not marked or any(name.rsplit("-", 1)[0] == codec for name in marked):
        return codec
    if codec in marked:
        return codec.rsplit("-", 1)[0]  # this codec takes the byte order from the mark, and skips it
    raise InputError(
        f"{path.name}: the file has the byte order mark of {marked[0].removesuffix('-sig').upper()}, but is declared "
        f"as {source.encoding}. Correct the `encoding`."
    )


def lines(path: Path, text: io.TextIOBase) -> Iterator[str]:
    """Yield the lines, each with its end; a NUL byte is an error, and so is a byte order mark inside the file."""
    for number, line in enumerate(text, start=1):
        if line.startswith("\ufeff"):  # it would silently be a part of the first value, which may be a key
            raise InputError(
                f"{path.name}, line {number}: the line begins with a byte order mark, as where two files were joined. "
                "Remove the mark."
            )
        if "\0" in line:
            raise InputError(
                f"{path.name}, line {number}: the line contains a NUL byte. Export the file again as plain text."
            )
        yield line


def _undecodable(path: Path, source: SourceFile) -> InputError:
    return InputError(
        f"{path.name}, line {_undecodable_line(path, source)}: the text is not {source.encoding or 'utf-8'}. Declare "
        "the `encoding` of the file."
    )


def _undecodable_line(path: Path, source: SourceFile) -> int:
    """Return the line of the first byte that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(encoding_of(path, source))("strict")
    line = 1
    with unpacked(path) as stream:
        while True:
            chunk = stream.read(_CHUNK)
            state = decoder.getstate()
            try:
                line += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeDecodeError as error:
                decoder.reset()
                decoder.setstate(state)
                good = max(error.start - len(state[0]), 0)
                with contextlib.suppress(UnicodeError):
                    line += decoder.decode(chunk[:good]).count("\n")
                return line
            except UnicodeError:  # UTF-16 without its mark
                return line
            if not chunk:
                return line
