"""The records of a file as text, in batches: fast where the file is regular, otherwise as reading reads it.

The fast reader gives the same text as :mod:`reident.reading`, or fails. Where it fails, reading reads the file from
its start, and says what is wrong and in which row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from reident import reading
from reident.drafting.source import Source
from reident.intake.records import require_records
from reident.reading.blocks import UnprovenError, proven
from reident.reading.textfile import unpacked
from reident.sections.codes import THOUSANDS

_BLOCK = 4 << 20
"""Bytes that are parsed at once; memory grows with it."""


def batches(source: Source, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield columns of a file, by default all that can be read, as text without nulls.

    Raises
    ------
    InputError
        With file and row, for a file that is irregular or has no record.
    """
    names, rows = list(source.columns if columns is None else columns), 0
    for batch in proven(_fast(source, names), lambda: reading.batches(source.path, source.described, names)):
        rows += batch.num_rows
        yield _ungrouped(batch, source)
    require_records(source.described, rows)


def _ungrouped(batch: pa.RecordBatch, source: Source) -> pa.RecordBatch:
    """Return records without separators between the thousands of numbers."""
    if not (names := set(source.grouped) & set(batch.schema.names)):
        return batch
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    marks = f"[{THOUSANDS[source.described.thousands]}]"
    # Arrow has no reference to a group: what is between thousands may differ within a number here.
    form = rf"^\s*[+-]?\d{{1,3}}({marks}\d{{3}})+({re.escape(source.decimal)}\d*)?\s*$"
    for name in names:
        text = columns[name]
        plain = pc.replace_substring_regex(text, marks, "")
        columns[name] = pc.if_else(pc.match_substring_regex(text, form), plain, text)
    return pa.record_batch(columns)


def _fast(source: Source, names: list[str]) -> Iterator[pa.RecordBatch]:
    described = source.described
    if described.kind != "csv" or not (described.delimiter + described.quote).isascii():
        raise UnprovenError
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
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError, OSError, EOFError) as error:
        raise UnprovenError from error
