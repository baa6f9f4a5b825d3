"""Records that do not fit into memory, on the disk between two passes over them.

The file has no name: nobody else can open it, it cannot be taken for a result, and the system frees it however the
process ends. Without a folder everything stays in memory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Self

import pyarrow as pa

MAX_ROWS = 2**19
"""Rows of a spool that stays in memory."""


class Spool:
    """A table that grows batch by batch and is read in any order of its batches.

    Parameters
    ----------
    folder : pathlib.Path, optional
        Where the file lies.

    Attributes
    ----------
    sizes : list of int
        The rows of each batch.
    """

    def __init__(self, schema: pa.Schema, folder: Path | None = None) -> None:
        self.schema = schema
        self.rows = 0
        self.sizes: list[int] = []
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._batches: list[pa.RecordBatch] = []
        self._places: list[tuple[int, int]] = []
        """The first byte and the number of bytes of each batch in the file."""

    def append(self, batch: pa.RecordBatch) -> int:
        """Add a batch and return its number."""
        self.rows += batch.num_rows
        self.sizes.append(batch.num_rows)
        self._batches.append(batch)
        if self._folder is not None and (self._file is not None or self.rows > MAX_ROWS):
            self._write()
        return len(self) - 1

    def __len__(self) -> int:
        return len(self.sizes)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches in their order."""
        return (self._read(number) for number in range(len(self)))

    def table(self, numbers: Sequence[int]) -> pa.Table:
        """Return some batches as a table of one chunk."""
        return pa.Table.from_batches([self._read(number) for number in numbers], self.schema).combine_chunks()

    def close(self) -> None:
        """Free the memory and the file."""
        self._batches, self._places = [], []
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self) -> None:
        """Move the batches in memory to the file."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - `close` closes it
        for batch in self._batches:
            content = batch.serialize()
            self._places.append((self._file.tell(), content.size))
            self._file.write(content)
        self._file.flush()
        self._batches = []

    def _read(self, number: int) -> pa.RecordBatch:
        if self._file is None:
            return self._batches[number]
        start, size = self._places[number]
        content = os.pread(self._file.fileno(), size, start)
        return pa.ipc.read_record_batch(pa.py_buffer(content), self.schema)
