"""Tables of pairs that may be larger than memory, batch by batch.

What is made of batches does not depend on their size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from reident.intake import keys

Source: TypeAlias = pa.Table | pq.ParquetFile
Sink: TypeAlias = Callable[[pa.Table], None]
"""Takes the rows of a table, batch by batch: at least one batch, which may be empty."""

ROWS = 2**20
"""About so many rows are in memory at a time."""


class Batch(NamedTuple):
    """Some records with all their pairs.

    Attributes
    ----------
    pairs : pyarrow.Table
        Sorted by key; the pairs of a record in the order in which they came.
    record : int64 (m,)
        Codes of the keys, ascending; they count for this batch alone.
    """

    pairs: pa.Table
    record: np.ndarray


def of(source: Source, rows: int = ROWS) -> Iterator[pa.Table]:
    """A table in batches of at most `rows` rows, at least one batch."""
    if isinstance(source, pa.Table):
        for start in range(0, max(source.num_rows, 1), rows):
            yield source.slice(start, rows)
        return
    if not source.metadata.num_rows:
        yield source.schema_arrow.empty_table()
    for batch in source.iter_batches(rows, use_threads=False):
        yield pa.Table.from_batches([batch])


class _Run:
    """A sorted source, and those of its rows that have been read and not taken."""

    def __init__(self, source: Source, names: Sequence[str], rows: int) -> None:
        self.names = names
        self.ahead = of(source, rows)
        self.rows = next(self.ahead)
        self.over = False
        self.read_on()

    def read_on(self) -> None:
        """Read a batch more; only with the next one at hand it is known that a source is not over."""
        following = next(self.ahead, None)
        self.over = following is None
        if following is not None:
            self.rows = pa.concat_tables([self.rows, following])

    def key(self, at: int) -> tuple[str, ...]:
        return tuple(self.rows[name][at].as_py() for name in self.names)

    def take(self, bound: tuple[str, ...] | None) -> pa.Table:
        """Take the rows with keys below the bound; all of them if there is none."""
        n = self.rows.num_rows
        if bound is not None:
            n = bisect_left(range(n), bound, key=self.key)
        taken, self.rows = self.rows.slice(0, n), self.rows.slice(n)
        return taken


def merged(sources: Sequence[Source], names: Sequence[str], rows: int = ROWS) -> Iterator[Batch]:
    """Merge tables, each sorted by key, in the order of keys; all pairs of a record stand in one batch.

    Parameters
    ----------
    sources : sequence of pyarrow.Table or pyarrow.parquet.ParquetFile
        At least one; no record is in two of them.
    names : sequence of str
        The key columns.
    rows : int
        About so many rows are held at a time, more if a record alone has more pairs.

    Yields
    ------
    Batch
        At least one, which may be empty.
    """
    runs = [_Run(source, names, max(rows // len(sources), 1)) for source in sources]
    while True:
        reading = [run for run in runs if not run.over]
        bound = min((run.key(run.rows.num_rows - 1) for run in reading), default=None)
        table = pa.concat_tables([run.take(bound) for run in runs]).combine_chunks()
        if table.num_rows or not reading:
            code = keys.codes([table], [names])[0]
            order = np.argsort(code, kind="stable")
            yield Batch(table.take(pa.array(order)), code[order])
        if not reading:
            return
        for run in reading:
            if run.key(0) == bound or run.rows.num_rows < rows // len(sources):
                run.read_on()
