"""Records in the order of their keys, however many: sorted bucket by bucket (METHODS §1).

The keys of a sample cut all keys into ranges. The records of a range, a bucket, fit into memory and are sorted there;
equal keys share a range, whichever file they are in. Nothing but memory depends on the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake import keys
from reident.intake.spool import Spool

BUCKET = 2**18
"""Records that are sorted at a time, approximately."""

STRIDE = 64
"""Of this number of records, one has its key in the sample."""

_ROW = "\0row"
"""A column of positions, which no column of a file is called."""


class Bucket(NamedTuple):
    """The records of one range of keys, in the order of their keys, in one chunk with the columns of the spool.

    `row` is the position of each record in the spool, int64 (n,).
    """

    table: pa.Table
    row: np.ndarray


class KeyedSpool(Spool):
    """A spool whose first `parts` columns are a key of text without nulls.

    Attributes
    ----------
    ascending : bool
        Whether each key is greater than the one before it.
    """

    def __init__(self, schema: pa.Schema, parts: int, folder: Path | None = None) -> None:
        super().__init__(schema, folder)
        self.parts = parts
        self.ascending = True
        self._last: pa.Table | None = None
        self._sample: list[pa.Table] = []

    def append(self, batch: pa.RecordBatch) -> int:
        """Add a batch of at least one record and return its number."""
        key = self.key(pa.Table.from_batches([batch]))
        before = [] if self._last is None else [self._last]
        self.ascending = self.ascending and is_ascending(pa.concat_tables([*before, key]))
        # Copies: a slice would keep the whole batch in memory.
        self._last = key.take(pa.array([key.num_rows - 1]))
        self._sample.append(key.take(pa.array(np.arange(0, key.num_rows, STRIDE))))
        return super().append(batch)

    def key(self, table: pa.Table) -> pa.Table:
        """Return the columns of the key, with numbers as names."""
        return table.select(range(self.parts)).rename_columns([str(part) for part in range(self.parts)])

    def splitters(self) -> pa.Table:
        """Return the first keys of ranges with about the records of a bucket, all but that of the first range."""
        sample = pa.concat_tables(self._sample).combine_chunks()
        cuts = np.linspace(0, sample.num_rows, -(-self.rows // BUCKET) + 1)[1:-1]
        return sample.take(sorted_rows(sample).take(pa.array(np.unique(cuts.astype(np.int64)))))


class Ranges:
    """Consecutive ranges of keys, `n` of them, from the first key of each but the first one, sorted."""

    def __init__(self, first: pa.Table) -> None:
        self._first = first
        self.n = first.num_rows + 1

    def locate(self, key: pa.Table) -> np.ndarray:
        """Return the range of each key; int (n,)."""
        if key.num_columns == 1:
            first, text = _chunk(self._first, 0), _chunk(key, 0)
            return pc.search_sorted(first, text, side="right").to_numpy(zero_copy_only=False).astype(np.int64)
        names = self._first.column_names
        first, codes = keys.codes([self._first, key.rename_columns(names)], [names, names])
        return np.searchsorted(first, codes, side="right")


class Scattered:
    """The records of a spool by the range of a key, each range in the order of the spool.

    Parameters
    ----------
    columns : sequence of int
        The columns that are kept; the first of them are the key.
    parts : int
        The number of columns of the key.
    """

    def __init__(self, spool: Spool, columns: Sequence[int], parts: int, ranges: Ranges, folder: Path | None) -> None:
        fields = [spool.schema.field(at) for at in columns]
        self._spool = Spool(pa.schema([*fields, (_ROW, pa.int64())]), folder)
        self._of_range: list[list[int]] = [[] for _ in range(ranges.n)]
        start = 0
        for numbers in groups(spool, range(len(spool))):
            table = spool.table(numbers).select(columns)
            row = pa.array(np.arange(start, start + table.num_rows))
            start += table.num_rows
            self._append(table.append_column(_ROW, row), ranges.locate(table.select(range(parts))))

    def _append(self, table: pa.Table, of: np.ndarray) -> None:
        order = np.argsort(of, kind="stable")
        (batch,) = table.take(pa.array(order)).combine_chunks().to_batches()
        stops = np.cumsum(np.bincount(of, minlength=len(self._of_range)))
        for numbers, start, stop in zip(self._of_range, np.append(0, stops), stops, strict=False):
            if stop > start:
                numbers.append(self._spool.append(batch.slice(start, stop - start)))

    def whole(self, at: int) -> Bucket:
        """Return all records of a range, in the order of the spool."""
        return self._bucket(self._of_range[at])

    def pieces(self, at: int) -> Iterator[Bucket]:
        """Yield the records of a range, in the order of the spool."""
        return map(self._bucket, groups(self._spool, self._of_range[at]))

    def close(self) -> None:
        """Free the memory and the file."""
        self._spool.close()

    def _bucket(self, numbers: Sequence[int]) -> Bucket:
        table = self._spool.table(numbers)
        return Bucket(table.select(range(table.num_columns - 1)), table[_ROW].to_numpy())


class Ordered:
    """The records of a spool by key, range by range.

    Attributes
    ----------
    ranges : Ranges
        Of the buckets.
    repeats : bool
        Whether a key is known to repeat, and may do so in more records than fit into memory. Buckets then have the
        columns of the key only.
    """

    def __init__(self, spool: KeyedSpool, folder: Path | None = None) -> None:
        self._spool = spool
        self._scattered: Scattered | None = None
        self._groups = list(groups(spool, range(len(spool))))
        self.repeats = False
        if spool.ascending:
            starts = [spool.key(spool.table(numbers[:1])).slice(0, 1) for numbers in self._groups[1:]]
        elif spool.rows <= BUCKET:
            self._groups, starts = [list(range(len(spool)))], []
        else:
            starts = [spool.splitters()]
        self.ranges = Ranges(pa.concat_tables([spool.key(spool.schema.empty_table()), *starts]).combine_chunks())
        if not spool.ascending and self.ranges.n > 1:
            self.repeats = not is_ascending(starts[0])
            columns = range(spool.parts if self.repeats else len(spool.schema))
            self._scattered = Scattered(spool, columns, spool.parts, self.ranges, folder)

    def __iter__(self) -> Iterator[Bucket]:
        """Yield the bucket of each range; records with the same key are in the order of the spool."""
        if self._scattered is not None:
            for at in range(self.ranges.n):
                yield self._sorted(self._scattered.whole(at))
            return
        start = 0
        for numbers in self._groups:
            table = self._spool.table(numbers)
            bucket = Bucket(table, np.arange(start, start + table.num_rows))
            yield bucket if self._spool.ascending else self._sorted(bucket)
            start += table.num_rows

    def close(self) -> None:
        """Free the sorted copy, but not the spool."""
        if self._scattered is not None:
            self._scattered.close()

    def _sorted(self, bucket: Bucket) -> Bucket:
        order = sorted_rows(self._spool.key(bucket.table))
        return Bucket(bucket.table.take(order).combine_chunks(), bucket.row[order.to_numpy()])


def groups(spool: Spool, numbers: Sequence[int]) -> Iterator[list[int]]:
    """Yield numbers of batches that follow one another and together have about the records of a bucket."""
    group, rows = list[int](), 0
    for number in numbers:
        group.append(number)
        rows += spool.sizes[number]
        if rows >= BUCKET:
            yield group
            group, rows = [], 0
    if group:
        yield group


def sorted_rows(columns: pa.Table) -> pa.Array:
    """Return the stable order of rows, column by column, texts by code point."""
    if columns.num_columns == 1:
        return pc.sort_indices(_chunk(columns, 0))
    # By number, because a name that begins with a point is a path to Arrow.
    numbered = [str(at) for at in range(columns.num_columns)]
    return pc.sort_indices(columns.rename_columns(numbered), sort_keys=[(name, "ascending") for name in numbered])


def _chunk(table: pa.Table, at: int) -> pa.Array:
    """Return a column of a table that has one chunk or no row."""
    column = table.column(at)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def is_ascending(key: pa.Table) -> bool:
    """Return whether each key is greater than the one before it, part by part, by code point."""
    n = max(key.num_rows - 1, 0)
    less, equal = np.zeros(n, bool), np.ones(n, bool)
    for part in range(key.num_columns):
        text = _chunk(key, part)
        less |= equal & pc.less(text[:-1], text[1:]).to_numpy(zero_copy_only=False)
        equal &= pc.equal(text[:-1], text[1:]).to_numpy(zero_copy_only=False)
    return bool(less.all())
