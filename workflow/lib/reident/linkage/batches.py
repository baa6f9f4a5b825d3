"""Tables of pairs that may be larger than memory, batch by batch.

A record is its row number in the prepared table of its file. Results do not depend on the size of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

Source: TypeAlias = pa.Table | pq.ParquetFile
Sink: TypeAlias = Callable[[pa.Table], None]
"""Takes the rows of a table, batch by batch: at least one batch, which may be empty."""

ROWS = 2**20
"""The number of rows that are in memory at a time, approximately, where it is not given."""


def size(source: Source) -> int:
    """Return the number of rows of a table."""
    return source.num_rows if isinstance(source, pa.Table) else source.metadata.num_rows


def schema(source: Source) -> pa.Schema:
    """Return the columns of a table."""
    return source.schema if isinstance(source, pa.Table) else source.schema_arrow


def split(source: Source, rows: int | None = None, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Yield a table, or some of its columns, in batches of at most `rows` rows, at least one batch."""
    rows = rows or ROWS
    if isinstance(source, pa.Table):
        table = source if columns is None else source.select(columns)
        for start in range(0, max(table.num_rows, 1), rows):
            # Without columns, a slice would have as many rows as it is asked for.
            yield table.slice(start, min(rows, table.num_rows - start))
        return
    if not source.metadata.num_rows:
        nothing = source.schema_arrow.empty_table()
        yield nothing if columns is None else nothing.select(columns)
    for batch in source.iter_batches(rows, columns=columns, use_threads=False):
        table = pa.Table.from_batches([batch])
        yield table if columns is None else table.select(columns)


def column(source: Source, name: str) -> pa.ChunkedArray:
    """Return one column of a table."""
    return (source if isinstance(source, pa.Table) else source.read([name], use_threads=False))[name]


class SortedRows:
    """Columns of a table with a row for each record, read once, in step with records in ascending order."""

    def __init__(self, source: Source, columns: Sequence[str]) -> None:
        self._batches = split(source, columns=columns)
        self._batch = next(self._batches)
        self._start = 0

    def take(self, records: np.ndarray) -> pa.Table:
        """Return the rows of records in ascending order, none of them before the last record of the call before."""
        pieces = []
        while True:
            end = int(np.searchsorted(records, self._start + len(self._batch)))
            pieces.append(self._batch.take(pa.array(records[:end] - self._start)))
            records = records[end:]
            if not len(records):
                return pa.concat_tables(pieces)
            self._start += len(self._batch)
            self._batch = next(self._batches)


def is_of_members(column: pa.ChunkedArray) -> bool:
    """Return whether a column has the values of members."""
    return pa.types.is_list(column.type)


def values_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the single values of a column, of units or of their members."""
    return pc.list_flatten(column) if is_of_members(column) else column


def is_new(values: np.ndarray) -> np.ndarray:
    """Return whether each value differs from the one before it; bool (n,)."""
    new = np.ones(len(values), bool)
    new[1:] = values[1:] != values[:-1]
    return new


class _Reader:
    """A source that is sorted by `puf`, with the rows that have been read but not merged yet."""

    def __init__(self, source: Source, rows: int, columns: Sequence[str] | None) -> None:
        self.rows = rows
        self.at_end = False
        self._batches = split(source, rows, columns)
        self._table = next(self._batches)

    def fill(self) -> None:
        """Read on until at least `rows` rows of at least two records are at hand, or the source ends."""
        while not self.at_end and (len(self._table) < self.rows or self._puf(0) == self.last()):
            batch = next(self._batches, None)
            self.at_end = batch is None
            if batch is not None:
                self._table = pa.concat_tables([self._table, batch])

    def last(self) -> int:
        """Return the last record that has been read; it may have more pairs."""
        return self._puf(-1)

    def take(self, end: int | None) -> pa.Table:
        """Remove and return the rows of the records before `end`, or all rows."""
        n = len(self._table)
        if end is not None:
            n = int(np.searchsorted(self._table["puf"].to_numpy(), end))
        table, self._table = self._table.slice(0, n), self._table.slice(n)
        return table

    def _puf(self, at: int) -> int:
        return self._table["puf"][at].as_py()


def merge(
    sources: Sequence[Source], rows: int | None = None, columns: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """Merge tables of pairs in the order of their PUF records.

    Parameters
    ----------
    sources : sequence of Source
        At least one, each sorted by the column `puf`.
    rows : int, optional
        About twice this number of rows is in memory at a time, more if a single record has more pairs.
    columns : sequence of str, optional
        Those that are needed, `puf` among them; by default all.

    Yields
    ------
    pyarrow.Table
        At least one table, which may be empty. It has all pairs of its records, in the order of the sources.
    """
    readers = [_Reader(source, max((rows or ROWS) // len(sources), 1), columns) for source in sources]
    end: int | None = 0
    while end is not None:
        for reader in readers:
            reader.fill()
        end = min((reader.last() for reader in readers if not reader.at_end), default=None)
        table = pa.concat_tables([reader.take(end) for reader in readers]).combine_chunks()
        if len(readers) > 1:
            table = table.take(pa.array(np.argsort(table["puf"].to_numpy(), kind="stable")))
        yield table
