"""The keys of records that are asked for in any order, from a table that may be larger than memory."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from reident.intake.spool import Spool
from reident.linkage import batches

if TYPE_CHECKING:
    from reident.linkage.batches import Source

RANGE = 2**24
"""Records whose keys are in memory at a time."""


@contextlib.contextmanager
def keys_of(
    source: Source, columns: Sequence[str], requests: Iterable[np.ndarray], folder: Path | None = None
) -> Iterator[Callable[[np.ndarray], pa.Table]]:
    """Give a function that returns the keys of the next batch of records.

    Parameters
    ----------
    source : Source
        A table with a row for each record.
    columns : sequence of str
        The parts of a key.
    requests : iterable of int32 (m,)
        The records of each batch, in the order in which their keys will be taken. It is read only if the table has
        more than `RANGE` records: the keys are then fetched range by range, and wait on the disk for their batch.
    folder : pathlib.Path, optional
        Where they wait, in files without a name; by default in memory.
    """
    n_ranges = -(-batches.size(source) // RANGE)
    if n_ranges <= 1:
        (keys,) = _ranges(source, columns)
        yield lambda records: keys.take(pa.array(records))
        return
    schema = batches.schema(source)
    with (
        Spool(pa.schema([("record", pa.int32())]), folder) as records,
        Spool(pa.schema([schema.field(name) for name in columns]), folder) as fetched,
    ):
        for batch in requests:
            order, bounds = _by_range(batch, n_ranges)
            for start, stop in itertools.pairwise(bounds):
                records.append(pa.record_batch({"record": batch[order[start:stop]]}))
        n_batches = len(records) // n_ranges
        for at, keys in enumerate(_ranges(source, columns)):
            for number in range(n_batches):
                rows = records.table([number * n_ranges + at])["record"].to_numpy() - at * RANGE
                taken = [column.combine_chunks() for column in keys.take(pa.array(rows)).columns]
                fetched.append(pa.RecordBatch.from_arrays(taken, schema=fetched.schema))
        numbers = itertools.count()

        def take(batch: np.ndarray) -> pa.Table:
            number, (order, _) = next(numbers), _by_range(batch, n_ranges)
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            return fetched.table(range(number, len(fetched), n_batches)).take(pa.array(place))

        yield take


def _ranges(source: Source, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the columns of `RANGE` records at a time, at least once."""
    waiting: list[pa.Table] = []
    n = 0
    for batch in batches.split(source, min(batches.ROWS, RANGE), columns):
        waiting.append(batch)
        n += len(batch)
        if n >= RANGE:
            table = pa.concat_tables(waiting)
            yield table.slice(0, RANGE).combine_chunks()
            waiting = [table.slice(RANGE)]
            n -= RANGE
    if n or not batches.size(source):
        yield pa.concat_tables(waiting).combine_chunks()


def _by_range(records: np.ndarray, n_ranges: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of records by range, and where each range begins in it."""
    number = (records // RANGE).astype(np.uint8)
    order = np.argsort(number, kind="stable")
    return order, np.searchsorted(number[order], np.arange(n_ranges + 1))
