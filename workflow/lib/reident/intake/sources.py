"""The text of a source file of any size: its key on the disk, its other columns as codes of their distinct texts.

What grows in memory with the file is four bytes for each record, one to four for each of its values, and the distinct
texts of each column.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident import reading
from reident.errors import Guard
from reident.intake import keys
from reident.intake.key_reader import KeyReader, Lookup, as_before
from reident.intake.ordering import KeyedSpool, Ordered
from reident.intake.records import Sink, chunk
from reident.intake.settings import Extract
from reident.sections.files import SourceFile

ROWS = 2**18
"""Rows that are given to a sink at a time."""

_STORED = {pa.lib.Type_DICTIONARY: pa.string(), pa.lib.Type_INT8: pa.int32(), pa.lib.Type_INT16: pa.int32()}
_CODED = pa.dictionary(pa.int32(), pa.string())


def batches(extract: Extract, path: Path) -> Iterator[pa.Table]:
    """Return the text of an extract of a file, batch by batch."""
    return reading.tables(path, extract.source, extract.names, extract.key)


@contextlib.contextmanager
def opened(
    extracts: Mapping[str, Extract], texts: Mapping[str, Iterable[pa.Table]], folder: Path | None = None
) -> Iterator[dict[str, Source]]:
    """Read the text of files, by name, in batches; in the end, free their memory."""
    with contextlib.ExitStack() as stack:
        yield {
            name: stack.enter_context(contextlib.closing(Source(*extracts[name], folder))).read(tables)
            for name, tables in texts.items()
        }


class Source:
    """The text of a source file.

    Parameters
    ----------
    key : sequence of str
        The columns that name a record; may be empty.
    columns : sequence of str
        The other columns.
    folder : pathlib.Path, optional
        See :class:`reident.intake.spool.Spool`.

    Attributes
    ----------
    spool : KeyedSpool
        The key columns, in the order of the study.
    again : bool (n,)
        In the order of the key, the records with the key of the one before them; none before the file is ordered.
    """

    def __init__(
        self, source: SourceFile, key: Sequence[str], columns: Sequence[str], folder: Path | None = None
    ) -> None:
        self.source, self._key, self._folder = source, list(key), folder
        self.num_rows = 0
        self.keys = KeyReader(self._key, source)
        self.spool = KeyedSpool(pa.schema([(name, pa.string()) for name in self._key]), len(self._key), folder)
        self._batches: dict[str, list[pa.Array]] = {name: [] for name in columns}
        self._order: np.ndarray | None = None
        self.again = np.empty(0, bool)

    def read(self, batches: Iterable[pa.Table]) -> Self:
        """Take all records of the file."""
        for batch in batches:
            if not batch.num_rows:
                continue
            for name, arrays in self._batches.items():
                arrays.append(narrow(chunk(batch, name).dictionary_encode()))
            if self._key:
                self.keys.read(batch, self.num_rows)
                columns = [chunk(batch, name) for name in self._key]
                self.spool.append(pa.record_batch(columns, schema=self.spool.schema))
            self.num_rows += batch.num_rows
        return self

    def __getitem__(self, name: str) -> pa.DictionaryArray:
        """Return a column, each distinct text once, in the order in which they first occur."""
        chunks = pa.chunked_array([batch.cast(_CODED) for batch in self._batches[name]], _CODED)
        whole = chunks.unify_dictionaries().combine_chunks()
        return whole if isinstance(whole, pa.DictionaryArray) else pa.array([], _CODED)

    @property
    def sound(self) -> bool:
        """Whether no key is empty or repeats; known once the file is ordered."""
        return self.keys.sound

    def order(self, guard: Guard = contextlib.nullcontext, *, repeats: bool = False) -> np.ndarray:
        """Return the rows in the order of the key; of a file without one, in their own; int32 (n,).

        With `repeats`, a key may be that of several records, which are then in the order of the file.

        Raises
        ------
        InputError
            A key that is empty or repeats.
        """
        if self._order is None and not self._key:
            self._order, self.again = np.arange(self.num_rows, dtype=np.int32), np.zeros(self.num_rows, bool)
        if self._order is None:
            self.keys.refuse(guard)  # an empty one, which needs no order
            rows, again = [np.empty(0, np.int32)], [self.again]
            with contextlib.closing(Ordered(self.spool, self._folder)) as ordered:
                for bucket in ordered:
                    key = self.spool.key(bucket.table)
                    if not repeats:
                        self.keys.look(bucket, key)
                    rows.append(bucket.row.astype(np.int32))
                    again.append(as_before(key))
            self.keys.refuse(guard)
            self._order, self.again = np.concatenate(rows), np.concatenate(again)
        return self._order

    def places(self, other: Source) -> np.ndarray:
        """Return the place of each key of another file in the order of this file's keys; -1 without one; int32.

        Both files have keys of equally many columns, and this file's are known to be unique.
        """
        lookup, start = Lookup(other.spool, range(len(self._key))), 0
        with (
            contextlib.closing(Ordered(self.spool, self._folder)) as ordered,
            contextlib.closing(lookup.scattered(ordered.ranges, self._folder)) as scattered,
        ):
            for at, bucket in enumerate(ordered):
                lookup.look(scattered.pieces(at), self.spool.key(bucket.table), start)
                start += len(bucket.row)
        return lookup.position

    def rows(self, other: Source) -> np.ndarray:
        """Return the row that has each key of another file, -1 without one; see :meth:`places`."""
        return np.append(self.order(), np.int32(-1))[self.places(other)]

    def sorted_keys(self) -> Iterator[pa.Table]:
        """Yield the columns of the key in its order."""
        with contextlib.closing(Ordered(self.spool, self._folder)) as ordered:
            yield from (bucket.table for bucket in ordered)

    def key_batches(self) -> Iterator[pa.Table]:
        """Yield the columns of the key in the order of the file; tables without a column for a file without one."""
        if self._key:
            return (pa.Table.from_batches([batch]) for batch in self.spool)
        return (
            pa.table({"": range(start, min(start + ROWS, self.num_rows))}).select([])
            for start in range(0, self.num_rows, ROWS)
        )

    def codes(self, names: Sequence[str]) -> np.ndarray:
        """Return codes of tuples of columns in their sorted order, see :func:`reident.intake.keys.codes`."""
        columns = pa.table({str(at): self[name] for at, name in enumerate(names)})
        return keys.codes([columns], [columns.column_names])[0]

    def is_empty(self, name: str) -> np.ndarray:
        """Return the records that have an empty text in a column; bool (n,)."""
        column = self[name]
        return np.append(pc.equal(column.dictionary, "").to_numpy(zero_copy_only=False), False)[
            column.indices.to_numpy()
        ]

    def forget(self, names: Iterable[str]) -> None:
        """Free the memory of columns that are not needed any more."""
        for name in names:
            self._batches.pop(name, None)

    def close(self) -> None:
        """Free the memory and the file."""
        self._batches = {}
        self.spool.close()


def give(
    sink: Sink, columns: Mapping[str, pa.Array] | pa.Table, rows: np.ndarray, front: Iterable[pa.Table] | None = None
) -> None:
    """Give rows of columns to a sink, some at a time.

    Parameters
    ----------
    columns : mapping of pyarrow.Array, or pyarrow.Table
        Dictionaries of text are given as text, narrow codes as int32.
    rows : int (n,)
        In the order in which they are given.
    front : iterable of pyarrow.Table, optional
        The columns before these, in the order in which they are given.
    """
    table, start = columns if isinstance(columns, pa.Table) else pa.table(dict(columns)), 0
    if front is None:
        for start in range(0, max(len(rows), 1), ROWS):
            sink(_as_stored(table.take(pa.array(rows[start : start + ROWS]))))
        return
    for before in front:
        block = _as_stored(table.take(pa.array(rows[start : start + before.num_rows])))
        start += before.num_rows
        sink(pa.table({**_columns(before), **_columns(block)}))


def narrow(codes: pa.Array) -> pa.Array:
    """Return integers, or a dictionary, with codes of the fewest bytes; :func:`give` gives them as int32, or text."""
    if pa.types.is_dictionary(codes.type):
        return pa.DictionaryArray.from_arrays(narrow(codes.indices), codes.dictionary)
    most = pc.max(codes).as_py() or 0
    return codes.cast(pa.int8() if most < 2**7 else pa.int16() if most < 2**15 else pa.int32())


def _as_stored(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries and narrow codes."""
    fields = [field.with_type(_STORED.get(field.type.id, field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))
