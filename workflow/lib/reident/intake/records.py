"""One source file on its way to its prepared table: read in batches, typed, then sorted by key (METHODS §1)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import Guard, InputError
from reident.intake import keys
from reident.intake.columns import ColumnReader
from reident.intake.ordering import Bucket, KeyedSpool, Ordered, Ranges, Scattered
from reident.intake.settings import PreparationSettings
from reident.intake.spool import Spool
from reident.intake.undeclared import Counts
from reident.sections.files import SourceFile

PERSON = "external_person"
"""The column of the prepared EIF with the person of each record, where the study names one."""

_ROUNDED = r"^\s*[+-]?\d([.,]\d+)?[eE][+]?\d+\s*$"
"""What a spreadsheet makes of a long number: 1.2E+15."""

Sink = Callable[[pa.Table], None]
"""Takes the rows of a table, batch by batch: at least one batch, which may be empty."""


def in_memory(names: Iterable[str], prepare: Callable[[Mapping[str, Sink]], Mapping[str, Any]]) -> dict[str, Any]:
    """Return the tables of these names that a function gives to sinks, each in one piece, and the function's result."""
    batches: dict[str, list[pa.Table]] = {name: [] for name in names}
    others = prepare({name: parts.append for name, parts in batches.items()})
    return {name: pa.concat_tables(parts).combine_chunks() for name, parts in batches.items()} | dict(others)


def require_records(source: SourceFile, n: int) -> None:
    """Refuse a file without a record."""
    if not n:
        raise InputError(f"{source.file_name}: the file has a header and no records. Check the export.")


class KeyCounts:
    """Numbers of texts of a key column that look as if a program had changed them."""

    def __init__(self) -> None:
        self.n = self.rounded = self.changed = 0

    def add(self, text: pa.Array) -> None:
        """Count some texts."""
        self.n += len(text)
        self.rounded += pc.match_substring_regex(text, _ROUNDED).true_count
        self.changed += pc.not_equal(pc.utf8_normalize(pc.utf8_trim_whitespace(text), "NFC"), text).true_count


class KeyReader:
    """The key columns of one source file, and the problems of its keys.

    Attributes
    ----------
    counts : dict of KeyCounts
        By name of the column.
    """

    def __init__(self, names: Sequence[str], source: SourceFile) -> None:
        self._names, self._source = list(names), source
        self.counts = {name: KeyCounts() for name in self._names}
        self._empty = self._repeats = (0, 0)

    def read(self, text: pa.Table, before: int) -> None:
        """Take the next records; `before` is the number of records before them."""
        for name, counts in self.counts.items():
            counts.add(text[name].combine_chunks())
        empty = keys.without_key(text, self._names)
        if empty.any():
            row, n = self._empty
            self._empty = row or before + int(empty.argmax()) + self._source.first_row, n + int(empty.sum())

    def look(self, bucket: Bucket, key: pa.Table) -> None:
        """Count the records of a bucket whose key an earlier record has, other than an empty key."""
        rows = bucket.row[_as_before(key) & ~keys.without_key(key, key.column_names)]
        if len(rows):
            row, n = self._repeats
            first = int(rows.min()) + self._source.first_row
            self._repeats = min(row or first, first), n + len(rows)

    @property
    def sound(self) -> bool:
        """Whether no key is empty or repeats, as far as this is known by now."""
        return not (self._empty[1] or self._repeats[1])

    def refuse(self, guard: Guard) -> None:
        """Refuse a key that is empty or repeats, as far as this is known by now."""
        for problem in keys.described(self._names, self._source.file_name, self._empty, self._repeats):
            with guard():
                raise InputError(problem)


class Clusters:
    """The cluster of each record, by the order of the records; `parts` columns identify it."""

    def __init__(self, parts: int, folder: Path | None) -> None:
        self._folder = folder
        self._spool = KeyedSpool(pa.schema([(str(at), pa.string()) for at in range(parts)]), parts, folder)
        self._alone: list[np.ndarray] = []

    def add(self, table: pa.Table) -> None:
        """Take the cluster columns of the next records."""
        alone = without_cluster(table)
        self._alone.append(alone)
        if not alone.all():
            self._spool.append(_batch(table.filter(pa.array(~alone)), self._spool.schema))

    def numbers(self) -> np.ndarray:
        """Return the number of each record's cluster; a record with an empty value is a cluster of its own.

        Returns
        -------
        int64 (n,)
            From 0, in the order of clusters; those of single records follow.
        """
        alone = np.concatenate(self._alone)
        number, members, n = np.empty(len(alone), np.int64), np.flatnonzero(~alone), 0
        with contextlib.closing(Ordered(self._spool, self._folder)) as ordered:
            for bucket in ordered:
                key = self._spool.key(bucket.table)
                code = n + np.cumsum(~_as_before(key)) - 1
                number[members[bucket.row]] = code
                n = int(code.max(initial=n - 1)) + 1
        number[alone] = n + np.arange(alone.sum())
        return number

    def close(self) -> None:
        """Free the memory and the file."""
        self._spool.close()


class Lookup:
    """The positions of the keys of another file, in some columns of its spool, among records that are sorted by key.

    `position`, int32 (n,), has the place by row of the other file; -1 for a key that no record has.
    """

    def __init__(self, spool: Spool, columns: Sequence[int]) -> None:
        self._spool, self._columns = spool, columns
        self.position = np.full(spool.rows, -1, np.int32)

    def scattered(self, ranges: Ranges, folder: Path | None) -> Scattered:
        """Return the keys by the ranges of the records."""
        return Scattered(self._spool, self._columns, len(self._columns), ranges, folder)

    def look(self, pieces: Iterable[Bucket], key: pa.Table, start: int) -> None:
        """Find the keys of a range among those of its records, the first of which is at `start`."""
        for piece in pieces:
            rows = keys.looked_up(key, piece.table)
            self.position[piece.row] = np.where(rows < 0, -1, rows + start)


class RecordReader:
    """The PUF or the EIF, read in batches and typed; a folder as :class:`reident.intake.spool.Spool` takes it.

    Attributes
    ----------
    columns : dict of ColumnReader
        By name of the variable.
    n_alone : int
        The number of records without a cluster.
    links_of_row : int64 (n,)
        The number of true links of each record, in the order of the file; set once they are known.
    """

    def __init__(self, settings: PreparationSettings, side: str, folder: Path | None) -> None:
        self._settings, self._side = settings, side
        source, names = getattr(settings.files, side), settings.files.keys[side]
        self.keys = KeyReader(settings.keys_of(side), source)
        self.columns = {column.name: ColumnReader(column, side, source) for column in settings.columns}
        self.cluster = settings.cluster if side == "puf" else ()
        self.n_alone = 0
        types = {name: pa.string() for name in names} | {name: reader.type for name, reader in self.columns.items()}
        self.person = settings.person_of(side)
        types |= dict.fromkeys([PERSON] if self.person else [], pa.string())
        self.schema = pa.schema(types)
        clusters = [(str(at), pa.string()) for at in range(len(self.cluster))]
        self.spool = KeyedSpool(pa.schema([*self.schema, *clusters]), len(names), folder)
        self.links_of_row = np.zeros(0, np.int64)

    @property
    def n(self) -> int:
        """The number of records."""
        return self.spool.rows

    def read(self, batches: Iterable[pa.Table]) -> None:
        """Take all records of the file as text."""
        for batch in batches:
            if not batch.num_rows:
                continue
            text = batch.combine_chunks()
            self.keys.read(text, self.n)
            columns = [chunk(text, name) for name in self._settings.keys_of(self._side)]
            for column in self._settings.columns:
                reader = self.columns[column.name]
                if not self.n:
                    reader.declare(batch.schema.field(getattr(column, self._side)))
                columns.append(reader.read(chunk(text, getattr(column, self._side)), self.n))
            columns += [pc.if_else(pc.equal(one, ""), None, one) for one in (chunk(text, name) for name in self.person)]
            columns += [chunk(text, name) for name in self.cluster]
            if self.cluster:
                self.n_alone += int(without_cluster(text.select(self.cluster)).sum())
            self.spool.append(pa.record_batch(columns, schema=self.spool.schema))

    def sort(
        self, sink: Sink, lookups: Sequence[Lookup], clusters: Clusters | None, folder: Path | None, guard: Guard
    ) -> np.ndarray:
        """Give the records to a sink by key, and look up the keys of other files among them.

        Returns
        -------
        int32 (n,)
            The place of each record of the file in this order.

        Raises
        ------
        InputError
            A key or a value that is wrong.
        """
        self.keys.refuse(guard)  # an empty one, which needs no order
        place, start = np.empty(self.n, np.int32), 0
        with contextlib.ExitStack() as stack:
            ordered = stack.enter_context(contextlib.closing(Ordered(self.spool, folder)))
            scattered = [
                stack.enter_context(contextlib.closing(one.scattered(ordered.ranges, folder))) for one in lookups
            ]
            for at, bucket in enumerate(ordered):
                key = self.spool.key(bucket.table)
                self.keys.look(bucket, key)
                if ordered.repeats:
                    continue
                sink(bucket.table.select(range(len(self.schema))))
                for lookup, others in zip(lookups, scattered, strict=True):
                    lookup.look(others.pieces(at), key, start)
                if clusters is not None:
                    clusters.add(bucket.table.select(range(len(self.schema), len(self.spool.schema))))
                place[bucket.row] = np.arange(start, start + len(bucket.row), dtype=np.int32)
                start += len(bucket.row)
        self.keys.refuse(contextlib.nullcontext if ordered.repeats else guard)
        for reader in self.columns.values():
            if reader.problem is not None:
                raise reader.problem
        return place

    def counts(self, variable: str) -> Counts:
        """Return the records by value, without missing ones; of numbers, see :attr:`ColumnReader.counts`."""
        return self.columns[variable].counts

    def linked(self, variable: str, codes: Collection[str | float]) -> int:
        """Return the number of true links of the records that have some codes."""
        rows = self.columns[variable].rows(codes)
        if rows is not None:
            return int(self.links_of_row[rows].sum())
        at, links, start = self.schema.get_field_index(variable), 0, 0
        for batch in self.spool:
            values = batch.column(at)
            has = pc.is_in(values, pa.array(list(codes), values.type)).to_numpy(zero_copy_only=False)
            links += int(self.links_of_row[start : start + len(has)][has].sum())
            start += len(has)
        return links


def without_cluster(columns: pa.Table) -> np.ndarray:
    """Return the records that have an empty value in a cluster column; bool (n,)."""
    return np.any([pc.equal(column, "").to_numpy() for column in columns.columns], axis=0)


def _as_before(key: pa.Table) -> np.ndarray:
    """Return the records with the key of the record before them; bool (n,)."""
    same = np.arange(key.num_rows) > 0
    for column in key.columns:
        text = column.combine_chunks()
        same[1:] &= pc.equal(text[1:], text[:-1]).to_numpy(zero_copy_only=False)
    return same


def _batch(table: pa.Table, schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([column.combine_chunks() for column in table.columns], schema=schema)


def chunk(table: pa.Table, name: str) -> pa.Array:
    """Return a column of a batch in one piece."""
    return table[name].combine_chunks().cast(pa.string())
