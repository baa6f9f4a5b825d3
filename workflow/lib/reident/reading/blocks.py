"""CSV block by block, by a compiled reader, where this provably gives the result of the exact reader (METHODS §1).

Two readers of CSV agree on regular files and differ on others: on quotes inside fields, single carriage returns, blank
lines, NUL bytes. A block of records is therefore inspected before it is parsed. What is not provably regular raises
:class:`UnprovenError`, and the exact reader then reads the file, and says what is wrong.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from reident.reading.names import DAMAGE, TEXT
from reident.reading.textfile import encoding_of, unpacked
from reident.sections.files import SourceFile

BLOCK = 1 << 23
"""Bytes that are read at a time."""

MAX_RECORD = 1_000_000
"""Bytes of a record; no field of it has more characters than the exact reader accepts."""

_LINE_FEED, _CARRIAGE_RETURN = ord("\n"), ord("\r")


class UnprovenError(Exception):
    """The fast reader may differ from the exact reader."""


def proven(fast: Iterator[pa.RecordBatch], exact: Callable[[], Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Yield the records of the fast reader, and from where it raises :class:`UnprovenError` those of the exact one.

    Parameters
    ----------
    exact : callable
        Gives the same records in the same order, in batches of any size.
    """
    done = 0
    try:
        for batch in fast:
            done += batch.num_rows
            yield batch
    except UnprovenError:
        for batch in exact():
            if done < batch.num_rows:
                yield batch.slice(done)
            done = max(done - batch.num_rows, 0)


def batches(path: Path, source: SourceFile, header: Sequence[str], wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the given columns as text, field by field.

    Parameters
    ----------
    header : sequence of str
        The names of all columns, without a repeated one.
    wanted : sequence of str
        At least one column.

    Raises
    ------
    UnprovenError
        Where the next records are not provably regular. Those before were.
    """
    if not source.delimiter.isascii() or not source.quote.isascii():
        raise UnprovenError
    # Numbers as names: those of the file may be empty.
    names = [str(position) for position in range(len(header))]
    included = [names[header.index(name)] for name in wanted]
    dialect = csv.ParseOptions(
        delimiter=source.delimiter, quote_char=source.quote or False, newlines_in_values=True, ignore_empty_lines=False
    )
    types = csv.ConvertOptions(
        check_utf8=False,  # the inspection has
        column_types=dict.fromkeys(included, TEXT),
        include_columns=included,
        null_values=[],
        strings_can_be_null=False,
    )
    first = 1  # the header
    for block in _blocks(path, source):
        n = _inspect(block, source)
        whole = csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names)
        try:
            table = csv.read_csv(pa.BufferReader(block), whole, dialect, types)
        except pa.ArrowInvalid as error:  # a row has not as many fields as the header
            raise UnprovenError from error
        if table.num_rows != n:
            raise UnprovenError
        if n > first:
            (records,) = table.combine_chunks().to_batches()
            yield records.rename_columns(list(wanted)).slice(first)
        first = 0


def _blocks(path: Path, source: SourceFile) -> Iterator[bytes]:
    """Yield whole records in UTF-8, each with its line end."""
    rest, quote = b"", source.quote.encode()
    for text in _utf8(path, source):
        rest += text
        if end := _end_of_last_record(rest, quote):
            yield rest[:end]
            rest = rest[end:]
        elif len(rest) > max(BLOCK, MAX_RECORD):
            raise UnprovenError
    if rest.endswith(b"\r"):
        raise UnprovenError
    if rest:
        yield rest + b"\n"


def _utf8(path: Path, source: SourceFile) -> Iterator[bytes]:
    """Yield the bytes of a file in UTF-8, without its byte order mark; only those of a UTF-8 file may be invalid."""
    codec = encoding_of(path, source)
    decoder = None if codec == "utf-8-sig" else codecs.getincrementaldecoder(codec)("strict")
    try:
        with unpacked(path) as stream:
            if decoder is None:
                start = stream.read(len(codecs.BOM_UTF8))
                yield start.removeprefix(codecs.BOM_UTF8)
            while content := stream.read(BLOCK):
                yield content if decoder is None else decoder.decode(content).encode()
            if decoder is not None:
                yield decoder.decode(b"", final=True).encode()
    except (UnicodeError, *DAMAGE) as error:
        raise UnprovenError from error


def _end_of_last_record(text: bytes, quote: bytes) -> int:
    """Return where the last line end outside quotes ends; 0 without one."""
    if not quote or quote not in text:
        return text.rfind(b"\n") + 1
    content = np.frombuffer(text, np.uint8)
    ends = _record_ends(content, np.flatnonzero(content == ord(quote)))
    return int(ends[-1]) + 1 if len(ends) else 0


def _record_ends(content: np.ndarray, quotes: np.ndarray) -> np.ndarray:
    """Return the positions of line feeds with an even number of quotes before them; int64 (n,)."""
    ends = np.flatnonzero(content == _LINE_FEED)
    return ends[np.searchsorted(quotes, ends) % 2 == 0] if len(quotes) else ends


def _inspect(block: bytes, source: SourceFile) -> int:
    """Return the number of whole records in a block on which two readers provably agree."""
    if b"\0" in block or block.count(b"\r") != block.count(b"\r\n"):
        raise UnprovenError
    if block.startswith(codecs.BOM_UTF8) or b"\n" + codecs.BOM_UTF8 in block:
        raise UnprovenError
    if source.codec == "utf-8-sig" and not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeError as error:
            raise UnprovenError from error
    content = np.frombuffer(block, np.uint8)
    quotes = np.empty(0, np.int64)
    if source.quote and source.quote.encode() in block:
        quotes = np.flatnonzero(content == ord(source.quote))
        _check_quotes(content, quotes, ord(source.delimiter))
    ends = _record_ends(content, quotes)
    length = np.diff(ends, prepend=-1)
    blank = (length == 1) | ((length == len(b"\r\n")) & (content[ends - 1] == _CARRIAGE_RETURN))
    if length.max() > MAX_RECORD or blank.any():
        raise UnprovenError
    return len(ends)


def _check_quotes(content: np.ndarray, quotes: np.ndarray, delimiter: int) -> None:
    """Take quotes in pairs: the first opens a field, the second closes it, or the next pair follows at once.

    Such a sequence has one reading only: two quotes side by side inside a field are a quote of its text.
    """
    if len(quotes) % 2:
        raise UnprovenError
    opening, closing = quotes[::2], quotes[1::2]
    doubled = opening[1:] == closing[:-1] + 1
    beside = np.zeros(256, bool)  # by byte, whether a quote beside it opens or closes a field
    beside[[delimiter, _LINE_FEED]] = True
    # The byte before the first one is the last one: the line end of the block.
    opens = beside[content[opening - 1]]
    beside[_CARRIAGE_RETURN] = True  # behind a quote it is part of a line end
    closes = beside[content[closing + 1]]
    opens[1:] |= doubled
    closes[:-1] |= doubled
    if not (opens.all() and closes.all()):
        raise UnprovenError
