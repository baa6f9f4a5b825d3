"""CSV tables of millions of lines: the text that pandas writes and reads, column by column.

A study of very many strata has a line for each of them and every rank limit. What this module does not know to be what
pandas does it leaves to pandas: cells with quotes or line ends, and columns of other types.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

_SPECIAL = '[",\r\n]'
_INTEGER = "^-?[0-9]{1,18}$"
_NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$"


def text_of(table: pd.DataFrame) -> bytes | None:
    """Return what pandas writes without the index, or None if that is for pandas to say."""
    if table.shape[1] < 2 or not len(table):
        return None
    header = pa.array([str(name) for name in table.columns], pa.string())
    columns = [_cells(table.iloc[:, at]) for at in range(table.shape[1])]
    if pc.any(pc.match_substring_regex(header, _SPECIAL)).as_py() or any(
        column is None for column in columns
    ):
        return None
    rows = pc.binary_join_element_wise(*columns, pa.scalar(",", pa.large_string()))
    rows = pc.binary_join_element_wise(
        rows, pa.scalar("\n", pa.large_string()), pa.scalar("", pa.large_string())
    )
    return (",".join(header.to_pylist()) + "\n").encode() + b"".join(_bytes(chunk) for chunk in _chunks(rows))


def _chunks(rows: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return rows.chunks if isinstance(rows, pa.ChunkedArray) else [rows]


def _bytes(rows: pa.Array) -> bytes:
    """Return the texts of an array, one after another."""
    _, offsets, data = rows.buffers()
    places = np.frombuffer(offsets, np.int64, len(rows) + 1, rows.offset * 8)
    return data.slice(int(places[0]), int(places[-1] - places[0])).to_pybytes()


def _cells(column: pd.Series) -> pa.Array | None:
    """Return the cells of a column as text, or None."""
    if column.dtype == np.bool_:
        return pc.if_else(
            pa.array(column), pa.scalar("True", pa.large_string()), pa.scalar("False", pa.large_string())
        )
    if pd.api.types.is_integer_dtype(column.dtype):
        return pc.fill_null(pc.cast(pa.array(column), pa.large_string()), "")
    if column.dtype == np.float64:
        # The bits, since 0.0 and -0.0 are written differently.
        bits, place = np.unique(column.to_numpy().view(np.int64), return_inverse=True)
        texts = ["" if value != value else repr(value) for value in bits.view(np.float64).tolist()]
        return pa.array(texts, pa.large_string()).take(pa.array(place))
    if column.dtype != object and not isinstance(column.dtype, pd.StringDtype):
        return None
    try:
        known = pa.array(column, pa.large_string(), from_pandas=True)
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return None
    whole = (
        known.combine_chunks() if isinstance(known, pa.ChunkedArray) else known
    )  # pandas joins tables in chunks
    encoded = whole.dictionary_encode()
    if pc.any(pc.match_substring_regex(encoded.dictionary, _SPECIAL)).as_py():
        return None
    return pc.fill_null(encoded.cast(pa.large_string()), "")


def texts(path: Path, columns: Sequence[str] | None = None) -> pa.Table | None:
    """Return the cells of a CSV table as text, as pandas reads them, or None if that is for pandas to say.

    Of some columns where they are named.
    """
    data = path.read_bytes()
    if b'"' in data or b"\r" in data or not data.strip():
        return None
    names = data.partition(b"\n")[0].decode().split(",")
    if len(set(names)) < len(names) or len(names) < 2:
        return None
    try:
        return pacsv.read_csv(
            pa.BufferReader(data),
            read_options=pacsv.ReadOptions(use_threads=False),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
                include_columns=columns,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None


def integers(column: pa.ChunkedArray) -> pd.Series | None:
    """Return whole numbers, int64, or Int64 where a cell is empty; None if a cell is anything else."""
    known = _matching(column, _INTEGER)
    if known is None:
        return None
    values = pc.cast(known, pa.int64())
    if not values.null_count:
        return pd.Series(values.to_numpy(), dtype="int64")
    return values.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)


def numbers(column: pa.ChunkedArray) -> pd.Series | None:
    """Return numbers, NaN where a cell is empty; None if a cell is anything else."""
    known = _matching(column, _NUMBER)
    return (
        None
        if known is None
        else pd.Series(pc.fill_null(pc.cast(known, pa.float64()), np.nan).to_numpy(), dtype="float64")
    )


def _matching(column: pa.ChunkedArray, pattern: str) -> pa.ChunkedArray | None:
    """Return a column without its empty cells; None if another cell does not match."""
    known = pc.if_else(pc.equal(column, ""), None, column)
    return known if pc.all(pc.match_substring_regex(known, pattern)).as_py() in (True, None) else None


def booleans(column: pa.ChunkedArray) -> pd.Series | None:
    """Return truth values; None if a cell is anything else."""
    known = pc.is_in(column, value_set=pa.array(["True", "False"]))
    return (
        pc.equal(column, "True").to_pandas().astype(bool) if pc.all(known).as_py() in (True, None) else None
    )


def labels(column: pa.ChunkedArray) -> pd.Series:
    """Return text as it is."""
    return column.to_pandas().astype("str")
