"""Two readers of one format: a fast one, as long as it provably gives what the exact one gives (METHODS §1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa


class UnprovenError(Exception):
    """The fast reader may not give what the exact reader gives."""


def proven(
    fast: Iterator[pa.RecordBatch], exact: Callable[[], Iterator[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    """Yield the records of the fast reader, and from where it raises :class:`UnprovenError` those of the exact one.

    Parameters
    ----------
    fast : iterator of pyarrow.RecordBatch
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
