"""The records of a file as text, in batches: fast where the file is regular, otherwise as reading reads it.

The fast reader gives the same text as :mod:`reident.reading`, or fails. Where it fails, reading reads the file from
its start, and says what is wrong and in which row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.csv as pv

from reident import reading
from reident.drafting.source import Source
from reident.errors import InputError
from reident.reading.textfile import unpacked

_BLOCK = 4 << 20
"""Bytes that are parsed at once; memory grows with it."""


class _NotRegularError(Exception):
    """The fast reader cannot read the file."""


def batches(source: Source, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the columns of a file as text, without nulls.

    Parameters
    ----------
    source : Source
    columns : sequence of str, optional
        By default all that can be read.

    Raises
    ------
    InputError
        With file and row, for a file that is irregular or has no record.
    """
    names = list(source.columns if columns is None else columns)
    rows = 0
    try:
        for batch in _fast(source, names):
            rows += batch.num_rows
            yield batch
    except _NotRegularError:
        done = rows
        for batch in reading.batches(source.path, source.described, names):
            fresh = batch.slice(min(done, batch.num_rows))
            done -= batch.num_rows - fresh.num_rows
            rows += fresh.num_rows
            yield fresh
    if not rows:
        raise InputError(f"{source.name}: the file has a header and no records. Check the export.") from None


def _fast(source: Source, names: list[str]) -> Iterator[pa.RecordBatch]:
    described = source.described
    if described.kind != "csv" or not (described.delimiter + described.quote).isascii():
        raise _NotRegularError
    try:
        with unpacked(source.path) as stream:
            yield from pv.open_csv(
                stream,
                pv.ReadOptions(block_size=_BLOCK, encoding=described.encoding or "utf8"),
                pv.ParseOptions(
                    delimiter=described.delimiter,
                    quote_char=described.quote or False,
                    newlines_in_values=bool(described.quote),
                    ignore_empty_lines=False,
                ),
                pv.ConvertOptions(include_columns=names, column_types=dict.fromkeys(names, pa.string())),
            )
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError, OSError, EOFError):
        raise _NotRegularError from None
