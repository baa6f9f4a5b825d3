"""CSV tables of millions of lines: the text that pandas writes, column by column.

A study of very many strata has a line for each of them and every rank limit. What this module does not know to be what
pandas does it leaves to pandas: cells with quotes or line ends, and columns of other types.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

_SPECIAL = '[",\r\n]'
_LINES = 2**14
"""Lines that are written at a time."""


def text_of(table: pd.DataFrame, change: Callable[[str], str] = str) -> bytes | None:
    """Return the text that pandas writes without the index, or None to leave it to pandas.

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
        return pc.if_else(pa.array(column), pa.scalar("True", pa.large_string()), pa.scalar("False", pa.large_string()))
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
    # Each different text is changed once: very many lines have few.
    encoded = pa.chunked_array(chunks, pa.large_string()).dictionary_encode().combine_chunks()
    written = pa.array([change(text) for text in encoded.dictionary.to_pylist()], pa.large_string())
    if pc.any(pc.match_substring_regex(written, _SPECIAL)).as_py():
        return None
    return pc.fill_null(written.take(encoded.indices), "")
