"""The keys of a source file as they are read, and where another file names them (METHODS §1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import Guard, InputError
from reident.intake import keys
from reident.intake.ordering import Bucket, Ranges, Scattered
from reident.intake.spool import Spool
from reident.sections.files import SourceFile

_ROUNDED = r"^\s*[+-]?\d([.,]\d+)?[eE][+]?\d+\s*$"
"""What a spreadsheet makes of a long number: 1.2E+15."""


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
        rows = bucket.row[as_before(key) & ~keys.without_key(key, key.column_names)]
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


def as_before(key: pa.Table) -> np.ndarray:
    """Return the records with the key of the record before them; bool (n,)."""
    same = np.arange(key.num_rows) > 0
    for column in key.columns:
        text = column.combine_chunks()
        same[1:] &= pc.equal(text[1:], text[:-1]).to_numpy(zero_copy_only=False)
    return same
