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
from reident.intake.columns import ColumnReader
from reident.intake.grouping import CLUSTER, N_MEMBERS, Grouping, UnitKeyReader
from reident.intake.key_reader import KeyReader, Lookup, as_before
from reident.intake.ordering import KeyedSpool, Ordered
from reident.intake.settings import PreparationSettings
from reident.intake.undeclared import Counts
from reident.sections.files import SourceFile

PERSON = "external_person"
"""The column of the prepared EIF with the person of each record, where the study names one."""

SOURCE_ROW = "source_row"
"""The column of the prepared files with the place of each record in its source, from 0; of a unit, that of its
first row. Only what asks for the order of the source reads it (METHODS §1.1)."""

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
                code = n + np.cumsum(~as_before(key)) - 1
                number[members[bucket.row]] = code
                n = int(code.max(initial=n - 1)) + 1
        number[alone] = n + np.arange(alone.sum())
        return number

    def close(self) -> None:
        """Free the memory and the file."""
        self._spool.close()


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
        source, names = getattr(settings.files, side), settings.key_names[side]
        self.keys = (KeyReader if settings.units is None else UnitKeyReader)(settings.keys_of(side), source)
        self.columns = {column.name: ColumnReader(column, side, source) for column in settings.columns}
        self.cluster = settings.cluster if side == "puf" else ()
        self.n_alone = 0
        types = {name: pa.string() for name in names} | {name: reader.type for name, reader in self.columns.items()}
        self.person = settings.person_of(side)
        types |= dict.fromkeys([PERSON] if self.person else [], pa.string())
        self.schema = pa.schema(types)
        clusters = [(f"{CLUSTER}{at}", pa.string()) for at in range(len(self.cluster))]
        self.grouping = None if settings.units is None else Grouping(settings, side, self.schema, folder)
        self._columns = [*self.schema.names, *([] if self.grouping is None else [N_MEMBERS])]
        self._row_key = settings.row_key_of(side)
        row_key = [(f"\0row {at}", pa.string()) for at in range(len(self._row_key))]
        self.spool = KeyedSpool(pa.schema([*self.schema, *clusters, *row_key]), len(names), folder)
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
            columns += [chunk(text, name) for name in (*self.cluster, *self._row_key)]
            if self.cluster:
                self.n_alone += int(without_cluster(text.select(self.cluster)).sum())
            self.spool.append(pa.record_batch(columns, schema=self.spool.schema))

    def sort(
        self, sink: Sink, lookups: Sequence[Lookup], clusters: Clusters | None, folder: Path | None, guard: Guard
    ) -> np.ndarray:
        """Give the records, or the units, to a sink by key, and look up the keys of other files among them.

        Returns
        -------
        int32 (n,)
            The place of each row of the file in this order.

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
                records, row, source_row = bucket.table, np.arange(start, start + len(bucket.row)), bucket.row
                if self.grouping is not None:
                    records, row = self.grouping.group(records, key)
                    first = np.searchsorted(row, np.arange(start, self.grouping.n))
                    key, source_row = key.take(pa.array(first)), np.minimum.reduceat(bucket.row, first)
                sink(records.select(self._columns).append_column(SOURCE_ROW, pa.array(source_row.astype(np.int32))))
                for lookup, others in zip(lookups, scattered, strict=True):
                    lookup.look(others.pieces(at), key, start)
                if clusters is not None:
                    clusters.add(records.select(range(len(self.schema), len(self.schema) + len(self.cluster))))
                place[bucket.row] = row
                start += key.num_rows
        if self.grouping is not None:
            self.grouping.refuse(guard, overflows=ordered.repeats)
        self.keys.refuse(contextlib.nullcontext if ordered.repeats else guard)
        for reader in self.columns.values():
            if reader.problem is not None:
                raise reader.problem
        return place

    @property
    def n_units(self) -> int:
        """The number of records, or of units, once they are sorted."""
        return self.n if self.grouping is None else self.grouping.n

    def close(self) -> None:
        """Free the memory and the files."""
        self.spool.close()
        if self.grouping is not None and self.grouping.rows is not None:
            self.grouping.rows.close()

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


def _batch(table: pa.Table, schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([column.combine_chunks() for column in table.columns], schema=schema)


def chunk(table: pa.Table, name: str) -> pa.Array:
    """Return a column of a batch in one piece."""
    return table[name].combine_chunks().cast(pa.string())
