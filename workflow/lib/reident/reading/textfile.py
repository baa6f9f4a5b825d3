"""Text files: decoding, gzip, line ends, and where the first byte stands that does not decode."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn, cast

from reident.errors import InputError

if TYPE_CHECKING:
    from reident.sections.files import SourceFile

_CHUNK = 1 << 20
_MARKS = {
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
"""What a file may begin with, to say its encoding; that of UTF-16 is the begin of that of UTF-32."""


@contextlib.contextmanager
def opened(path: Path, source: SourceFile) -> Iterator[io.TextIOBase]:
    """The decoded text, line ends as they stand; what does not decode or unpack is an InputError."""
    codec = _codec(path, source)
    try:
        with io.TextIOWrapper(unpacked(path), codec, "strict", newline="") as text:
            yield text
    except UnicodeError:
        _say_encoding(path, source)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(
            f"{path.name}: the archive is truncated or damaged; copy the file again and compare its size."
        ) from None


def unpacked(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked if gzip packed it, whatever its name."""
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return cast("BinaryIO", gzip.open(path, "rb")) if packed else path.open("rb")


def lines(path: Path, text: io.TextIOBase) -> Iterator[str]:
    """The lines, each with its end; a NUL byte is an error."""
    for number, line in enumerate(text, start=1):
        if "\0" in line:
            raise InputError(f"{path.name}, line {number}: a NUL byte; export the file again as plain text.")
        yield line


def _codec(path: Path, source: SourceFile) -> str:
    """The encoding by Python's name, one that skips the byte order mark where the file has one.

    The mark of another encoding than the declared one would make wrong letters, silently.
    """
    codec, start = source.codec, b""
    if codec == "utf-8-sig":
        return codec
    with contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile), unpacked(path) as stream:
        start = stream.read(4)
    found = [name for name, mark in _MARKS.items() if start.startswith(mark)]
    if not found or any(name.rsplit("-", 1)[0] == codec for name in found):
        return codec
    if codec in found:
        return codec.rsplit("-", 1)[0]  # the mark says the order, and is skipped
    raise InputError(
        f"{path.name}: the file begins with the mark of {found[0].removesuffix('-sig').upper()} and is declared as "
        f"{source.encoding}; correct the `encoding`."
    )


def _say_encoding(path: Path, source: SourceFile) -> NoReturn:
    raise InputError(
        f"{path.name}, line {_undecodable_line(path, source)}: a byte that is not {source.encoding or 'utf-8'}; "
        "declare the `encoding` of the file."
    ) from None


def _undecodable_line(path: Path, source: SourceFile) -> int:
    """The line of the first byte that does not decode."""
    decoder = codecs.getincrementaldecoder(_codec(path, source))("strict")
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
