"""CSV tables of millions of lines: the text that pandas writes and reads, column by column.

A study of very many strata has a line for each of them and every rank limit. What this module does not know to be what
pandas does it leaves to pandas: cells with quotes or line ends, and columns of other types.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

_SPECIAL = '[",\r\n]'
_TYPES = {"integer": pa.int64(), "number": pa.float64()}
_LINES = 2**14
"""Lines that are written at a time."""


def text_of(table: pd.DataFrame, change: Callable[[str], str] = str) -> bytes | None:
    """Return what pandas writes without the index, or None if that is for pandas to say.

    What is written for a text, in cells and header, is what `change` returns.
    """
    if table.shape[1] < 2 or not len(table):
        return None
    names = [change(str(name)) for name in table.columns]
    columns = [_cells(table.iloc[:, at], change) for at in range(table.shape[1])]
    if any(re.search(_SPECIAL, name) for name in names) or any(column is None for column in columns):
        return None
    lines = pa.BufferOutputStream()
    options = pacsv.WriteOptions(include_header=False, quoting_style="none", batch_size=_LINES)
    pacsv.write_csv(pa.table(columns, [str(at) for at in range(len(names))]), lines, options)
    return (",".join(names) + "\n").encode() + lines.getvalue().to_pybytes()


def _cells(column: pd.Series, change: Callable[[str], str]) -> pa.Array | pa.ChunkedArray | None:
    """Return the cells of a column as text, or None."""
    if column.dtype == np.bool_:
        return pc.if_else(
            pa.array(column), pa.scalar("True", pa.large_string()), pa.scalar("False", pa.large_string())
        )
    if pd.api.types.is_integer_dtype(column.dtype):
        return pc.fill_null(pc.cast(pa.array(column), pa.large_string()), "")
    if column.dtype == np.float64:
        # The bits, since 0.0 and -0.0 are written differently.
        place, bits = pd.factorize(column.to_numpy().view(np.int64))
        texts = ["" if value != value else repr(value) for value in bits.view(np.float64).tolist()]
        return pa.array(texts, pa.large_string()).take(pa.array(place))
    if column.dtype != object and not isinstance(column.dtype, pd.StringDtype):
        return None
    try:
        cells = pa.array(column, pa.large_string(), from_pandas=True)
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return None
    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]  # pandas joins tables in chunks
    place, texts = _different(pa.chunked_array(chunks, pa.large_string()), change)
    written = pa.array(texts, pa.large_string())
    if pc.any(pc.match_substring_regex(written, _SPECIAL)).as_py():
        return None
    return pc.fill_null(written.take(place), "")


def _different(column: pa.ChunkedArray, change: Callable[[str], str]) -> tuple[pa.Array, list[str]]:
    """Return the place of each text among the different ones, and these changed: very many lines have few."""
    encoded = column.dictionary_encode().combine_chunks()
    return encoded.indices, [change(text) for text in encoded.dictionary.to_pylist()]


def values(
    path: Path, types: Mapping[str, str], columns: Sequence[str] | None, change: Callable[[str], str]
) -> pd.DataFrame | None:
    """Return a CSV table as :func:`reident.ledger.stored.read_csv` describes it, or None if that takes a closer look.

    None where a cell is not what its column holds in most tables, or only pandas knows where cells end. `types` has
    ``integer``, ``number``, ``boolean`` or ``text`` by column; other columns are text. `change` is applied to every
    text, in cells and header.
    """
    data = path.read_bytes()
    # What a byte order mark precedes is no name of a column.
    if data.startswith(codecs.BOM_UTF8):
        return None
    # Arrow takes 0x10 for a number, and Python does not. One byte is found much faster than two.
    if b'"' in data or b"\r" in data or any(x in data and b"0" + x in data for x in (b"x", b"X")):
        return None
    names = data[: max(data.find(b"\n"), 0)].decode().split(",")
    if len(set(names)) < len(names) or len(names) < 2:
        return None
    try:
        table = pacsv.read_csv(
            pa.BufferReader(data),
            read_options=pacsv.ReadOptions(use_threads=False),
            convert_options=pacsv.ConvertOptions(
                column_types={name: _TYPES.get(types.get(name, "text"), pa.string()) for name in names},
                null_values=[""],
                strings_can_be_null=False,
                include_columns=columns,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    read = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = types.get(name, "text")
        series = _labels(column, change) if kind == "text" else _READ[kind](column)
        if series is None:
            return None
        read[change(name)] = series
    return pd.DataFrame(read, copy=False)


def _integers(column: pa.ChunkedArray) -> pd.Series:
    """Return whole numbers: int64, or Int64 where a cell is empty."""
    if not column.null_count:
        return _series(column)
    return column.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)


def _numbers(column: pa.ChunkedArray) -> pd.Series | None:
    """Return numbers, NaN where a cell is empty; None if a cell is not a number but written as one."""
    if pc.any(pc.is_nan(column)).as_py():
        return None
    return _series(pc.fill_null(column, np.nan))


def _series(column: pa.ChunkedArray) -> pd.Series:
    """Return numbers that may be changed."""
    numbers = column.to_numpy()
    return pd.Series(numbers if numbers.flags.writeable else numbers.copy())


def _booleans(column: pa.ChunkedArray) -> pd.Series | None:
    """Return truth values; None if a cell is anything else."""
    if pc.all(pc.is_in(column, value_set=pa.array(["True", "False"]))).as_py() is False:
        return None
    return pc.equal(column, "True").to_pandas().astype(bool)


def _labels(column: pa.ChunkedArray, change: Callable[[str], str]) -> pd.Series:
    """Return text as Python strings, one for all cells with the same text."""
    place, texts = _different(column, change)
    return pd.Series(np.array([*texts, None], object)[place.to_numpy()], dtype=object)


_READ = {"integer": _integers, "number": _numbers, "boolean": _booleans}
