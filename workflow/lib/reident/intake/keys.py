"""Composite keys as tuples of text: dense codes shared by several tables (METHODS §1).

Parts are never joined into one string and never parsed: ("1", "23") and ("12", "3") differ,
and so do "01" and "1". Codes follow the sorted order of the tuples, part by part, by
Unicode code point, so that sorting codes sorts keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError


def text_codes(columns: Sequence[pa.ChunkedArray]) -> tuple[list[np.ndarray], pa.Array]:
    """Codes of text columns in their common sorted vocabulary.

    Parameters
    ----------
    columns : sequence of pyarrow.ChunkedArray
        Text columns; null takes the code -1.

    Returns
    -------
    codes : list of int64 (n,)
    labels : pyarrow.Array
        The distinct texts in code point order; code k stands for ``labels[k]``.
    """
    encoded = [_combined(column).dictionary_encode() for column in columns]
    vocabulary = pc.unique(pa.concat_arrays([array.dictionary.cast(pa.string()) for array in encoded]))
    labels = vocabulary.take(pc.sort_indices(vocabulary))
    codes = []
    for array in encoded:
        place = pc.index_in(array.dictionary.cast(pa.string()), labels).to_numpy(zero_copy_only=False)
        indices = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)
        codes.append(np.append(place, -1)[indices].astype(np.int64))
    return codes, labels


def _combined(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def codes(tables: Sequence[pa.Table], names: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """One code per record and table: equal codes where the key tuples are equal.

    Parameters
    ----------
    tables : sequence of pyarrow.Table
    names : sequence of sequences of str
        The key columns of each table, equally many, in the same order of parts.

    Returns
    -------
    list of int64 (n,)
        Dense ranks of the tuples over all tables; -1 where a part is null.
    """
    sizes = [table.num_rows for table in tables]
    total = np.zeros(sum(sizes), np.int64)
    for part in range(len(names[0])):
        columns = [table[own[part]] for table, own in zip(tables, names, strict=True)]
        parts, labels = text_codes(columns)
        code = np.concatenate(parts) if parts else np.empty(0, np.int64)
        missing = (total < 0) | (code < 0)
        total = np.where(missing, -1, total * max(len(labels), 1) + code)
        total[~missing] = np.unique(total[~missing], return_inverse=True)[1]
    return np.split(total, np.cumsum(sizes)[:-1])


def first_repeat(code: np.ndarray) -> int | None:
    """The position of the first record whose code an earlier record has, or None."""
    order = np.argsort(code, kind="stable")
    repeats = order[1:][code[order][1:] == code[order][:-1]]
    return int(repeats.min()) if repeats.size else None


def check(table: pa.Table, names: Sequence[str], file: str, first_row: int = 2) -> np.ndarray:
    """The codes of a file's key.

    Parameters
    ----------
    first_row : int
        The number of the first record, for messages.

    Raises
    ------
    InputError
        If a key repeats or is empty, in all its columns; with the file and row.
    """
    empty = pc.equal(table[names[0]], "")
    for name in names[1:]:
        empty = pc.and_(empty, pc.equal(table[name], ""))
    if (place := pc.index(empty, True).as_py()) >= 0:
        listed = f"columns {', '.join(names)}" if len(names) > 1 else f"column `{names[0]}`"
        raise InputError(
            f"{file}, row {place + first_row}, {listed}: the key must not be empty. Give every record a key."
        )
    code = codes([table], [names])[0]
    if (repeat := first_repeat(code)) is not None:
        raise InputError(
            f"{file}, row {repeat + first_row}: the key ({', '.join(names)}) is not unique; an earlier row has it. "
            "Keep one record per key, or name every column of the key."
        )
    return code


class Index:
    """Finds the keys of a table, for questions that come batch by batch.

    Parameters
    ----------
    table : pyarrow.Table
    names : sequence of str
        Its key columns; of a key that repeats the last record is found.
    """

    def __init__(self, table: pa.Table, names: Sequence[str]) -> None:
        self._parts: list[tuple[pa.Array, np.ndarray]] = []
        code = np.zeros(table.num_rows, np.int64)
        for name in names:
            (part,), labels = text_codes([table[name]])
            code = _joined(code, part, len(labels))
            known = np.unique(code[code >= 0])
            code = _found(known, code)
            self._parts.append((labels, known))
        self._place = np.full(int(code.max(initial=-1)) + 2, -1, np.int64)
        self._place[code] = np.arange(len(code))
        self._place[-1] = -1  # a null part has the code -1

    def positions(self, asked: pa.Table, names: Sequence[str]) -> np.ndarray:
        """Where each asked key stands: int64 (asked.num_rows,), -1 where the table has no such key."""
        code = np.zeros(asked.num_rows, np.int64)
        for name, (labels, known) in zip(names, self._parts, strict=True):
            place = pc.fill_null(pc.index_in(_combined(asked[name]), labels), -1)
            code = _found(known, _joined(code, place.to_numpy(zero_copy_only=False), len(labels)))
        return self._place[code]


def _joined(code: np.ndarray, part: np.ndarray, n: int) -> np.ndarray:
    """The code of a tuple and one more part of n labels; -1 where either is missing."""
    return np.where((code < 0) | (part < 0), -1, code * max(n, 1) + part)


def _found(known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Where each number stands among sorted ones; -1 where it does not."""
    if not known.size:
        return np.full(len(asked), -1, np.int64)
    place = np.minimum(np.searchsorted(known, asked), known.size - 1)
    return np.where(known[place] == asked, place, -1)


def positions(
    table: pa.Table, names: Sequence[str], asked: pa.Table, asked_names: Sequence[str]
) -> np.ndarray:
    """Where each asked key stands in a table whose keys do not repeat, see :meth:`Index.positions`."""
    return Index(table, names).positions(asked, asked_names)
