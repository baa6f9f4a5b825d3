"""Composite keys as tuples of text: dense codes shared by several tables (METHODS §1).

Parts are never joined into one string and never parsed: ("1", "23") and ("12", "3") differ,
and so do "01" and "1". Codes follow the sorted order of the tuples, part by part, by
Unicode code point: sorting codes sorts keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError

MISSING_LABEL = "(missing)"
"""The label of the category of missing values."""


def add_missing(codes: Mapping[str, np.ndarray], labels: list[str]) -> bool:
    """Make missing values, -1, the last category of the codes of every file, in place; return whether there is one."""
    if not any((column < 0).any() for column in codes.values()):
        return False
    for column in codes.values():
        column[column < 0] = len(labels)
    labels.append(MISSING_LABEL)
    return True


def text_codes(columns: Sequence[pa.Array | pa.ChunkedArray]) -> tuple[list[np.ndarray], pa.Array]:
    """Return codes of text columns in their common sorted vocabulary.

    Parameters
    ----------
    columns : sequence of pyarrow.Array or pyarrow.ChunkedArray
        Text columns, or dictionaries of text without null; null takes the code -1.

    Returns
    -------
    codes : list of int64 (n,)
    labels : pyarrow.Array
        The distinct texts in code point order; code k means ``labels[k]``.
    """
    encoded = list(map(encode, columns))
    vocabulary = pc.unique(pa.concat_arrays([array.dictionary.cast(pa.string()) for array in encoded]))
    labels = vocabulary.take(pc.sort_indices(vocabulary))
    codes = []
    for array in encoded:
        place = pc.index_in(array.dictionary.cast(pa.string()), labels).to_numpy(zero_copy_only=False)
        indices = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)
        codes.append(np.append(place, -1)[indices].astype(np.int64))
    return codes, labels


def encode(column: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """Return a column in one piece, with each distinct value once."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column.dictionary_encode()


def codes(tables: Sequence[pa.Table], names: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """Return one code per record and table: equal codes where the key tuples are equal.

    Parameters
    ----------
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
        columns = [table[key[part]] for table, key in zip(tables, names, strict=True)]
        parts, labels = text_codes(columns)
        code = np.concatenate(parts) if parts else np.empty(0, np.int64)
        if not part:  # every text occurs: its codes are dense
            total = code
            continue
        missing = (total < 0) | (code < 0)
        total = np.where(missing, -1, total * max(len(labels), 1) + code)
        total[~missing] = _dense(total[~missing])
    return np.split(total, np.cumsum(sizes)[:-1])


def _dense(codes: np.ndarray) -> np.ndarray:
    """Return the rank of each code among those that occur, from 0."""
    n = int(codes.max(initial=-1)) + 1
    if n > len(codes):
        return np.unique(codes, return_inverse=True)[1]
    occurs = np.zeros(n, bool)
    occurs[codes] = True
    return (np.cumsum(occurs) - 1)[codes]


def check(table: pa.Table, names: Sequence[str], file: str, first_row: int = 2) -> np.ndarray:
    """Return the codes of a file's key.

    Raises
    ------
    InputError
        If a key repeats or is empty, in all its columns; with the file and row.
    """
    code, empty = codes([table], [names])[0], without_key(table, names)
    repeated = ~empty  # a key that is empty in several records is no key that repeats
    repeated[np.unique(code, return_index=True)[1]] = False  # the first record of each key
    first, other = ((int(rows.argmax()) + first_row, int(rows.sum())) for rows in (empty, repeated))
    for problem in described(names, file, first, other):
        raise InputError(problem)
    return code


def described(names: Sequence[str], file: str, empty: tuple[int, int], repeats: tuple[int, int]) -> Iterator[str]:
    """Yield the problems of a file's key.

    `empty` is the row number of the first record without a key, and the number of these records; `repeats` is the same
    of the records whose key an earlier record has.
    """
    row, n = empty
    if n:
        listed = f"columns {', '.join(names)}" if len(names) > 1 else f"column `{names[0]}`"
        yield (f"{file}, row {row}, {listed}: the key must not be empty{_further(n)}. Give every record a key.")
    row, n = repeats
    if n:
        yield (
            f"{file}, row {row}: the key ({', '.join(names)}) is not unique; an earlier row has it"
            f"{_further(n)}. Keep one record per key, name every column of the key, or, if "
            "the rows of one person or household belong together, declare `units`."
        )


def without_key(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """Return the records that have an empty key, in all its columns; bool (n,)."""
    return np.all([pc.equal(table[name], "").to_numpy() for name in names], axis=0)


def _further(rows: int) -> str:
    return f" ({rows:,} such rows)" if rows > 1 else ""


def positions(table: pa.Table, names: Sequence[str], others: pa.Table, other_names: Sequence[str]) -> np.ndarray:
    """Return where a table has the keys of another one, by key columns in the same order of parts.

    Returns
    -------
    int64 (others.num_rows,)
        The row number in `table`, the last one of a key that repeats; -1 where the table does not have the key.
    """
    reference, code = codes([table, others], [names, other_names])
    rows = np.full(max(reference.max(initial=-1), code.max(initial=-1)) + 2, -1)
    rows[reference] = np.arange(len(reference))
    rows[-1] = -1  # a key with a null part has the code -1
    return rows[code]


def looked_up(reference: pa.Table, queries: pa.Table) -> np.ndarray:
    """Return the rows of a table of distinct keys that have those of another one; -1 without one; int64 (n,)."""
    if reference.num_columns == 1:
        rows = pc.index_in(queries.column(0).combine_chunks(), reference.column(0).combine_chunks())
        return pc.fill_null(rows, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return positions(reference, reference.column_names, queries, queries.column_names)
