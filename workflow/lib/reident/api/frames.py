"""What callers give, in one form: data frames of any library as pandas ones, single items as lists, values as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_float_dtype

from reident import reading
from reident.errors import InputError
from reident.reading.names import MissingColumnError, check_header
from reident.reading.numbers import first_inexact

_STREAMS = "__arrow_c_stream__", "__arrow_c_array__"
"""How data frames of other libraries (Polars, Arrow, DuckDB …) offer their columns, in the interface of Arrow."""

_TYPES = ("numeric", "categorical", "date")


class ArrowFrame(Protocol):
    """A data frame of Arrow, Polars or another library that offers its columns in the interface of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream of its batches."""


Frame: TypeAlias = pd.DataFrame | ArrowFrame
Names: TypeAlias = str | Iterable[str]
"""One column, or several."""
Variables: TypeAlias = str | Mapping[str, Any] | Iterable[str | Mapping[str, Any]]
"""One variable or several, each as a name or a section; or by name their type or section."""
Metrics: TypeAlias = str | Iterable[str] | Mapping[str, Mapping[str, Any] | None]
"""One metric or several; or by name its section."""


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame, of pandas or of another library."""
    return isinstance(value, pd.DataFrame) or (
        hasattr(value, "columns") and any(hasattr(value, name) for name in _STREAMS)
    )


def data_frame(name: str, value: Any, *, index: bool = True) -> pd.DataFrame:
    """Return a data frame as one of pandas whose columns are named by text.

    The named levels of its index are columns too, in front, unless a column has their name.

    Raises
    ------
    TypeError
        If it is no data frame; `name` is that of the argument.
    InputError
        If a column has several names, or two have the same.
    """
    frame = value if isinstance(value, pd.DataFrame) else _of_arrow(name, value)
    if frame.columns.nlevels > 1:
        raise InputError(
            f"{name}: the columns of the data frame must have one name each. Join the levels of the names."
        )
    frame = frame.set_axis([as_text(one) for one in frame.columns], axis=1)
    check_header(Path(name), list(frame.columns), (), row="")
    names = [as_text(level) if level is not None else None for level in frame.index.names]
    levels = [at for at, level in enumerate(names) if level is not None and level not in frame.columns]
    if not index or not levels:
        return frame
    columns = {names[at]: frame.index.get_level_values(at) for at in levels}
    return pd.concat([pd.DataFrame(columns), frame.reset_index(drop=True)], axis=1)


def _of_arrow(name: str, value: Any) -> pd.DataFrame:
    """Return a data frame of another library, each column with its type in Arrow."""
    try:
        if not is_frame(value):
            raise TypeError
        table = pa.table(value)
        plain = [_plain(column) for column in table.columns]
        return pa.table(plain, names=table.column_names).to_pandas(types_mapper=pd.ArrowDtype)
    except (pa.ArrowException, TypeError, ValueError):
        raise TypeError(
            f"`{name}` must be a data frame of pandas, Polars or Arrow, not {type(value).__name__}. Convert it."
        ) from None


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without categories, views and NaN, which pandas and our readers take otherwise."""
    if pa.types.is_dictionary(column.type):
        kind, chunks = column.type.value_type, column.chunks
        parts = [_plain(pa.chunked_array([chunk.dictionary])).combine_chunks().take(chunk.indices) for chunk in chunks]
        return pa.chunked_array(parts, pa.large_string() if pa.types.is_string_view(kind) else kind)
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def items(value: Any) -> list[Any]:
    """Return a list of what is one item, several, or sections by name: ``{"age": "numeric", "sex": {…}}``."""
    if value is None:
        return []
    if isinstance(value, str) or is_frame(value):
        return [value]
    if isinstance(value, Mapping):
        name = value.get("name")
        if isinstance(name, str) and name not in _TYPES:
            return [value]
        return [
            {"name": name, **(section if isinstance(section, Mapping) else {"type": section})}
            for name, section in value.items()
        ]
    if isinstance(value, set | frozenset):  # whose order would be another one in each process
        return sorted(value, key=str)
    return list(value) if isinstance(value, Iterable) else [value]


def by_name(value: Any) -> dict[str, Any]:
    """Return sections by their names, of a mapping, or of one or several names alone."""
    return dict(value) if isinstance(value, Mapping) else {name: {} for name in items(value)}


def written(value: Any) -> Any:
    """Return a section as a study file has it: mappings, lists and text."""
    if isinstance(value, Mapping):
        return {as_text(key): written(item) for key, item in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if is_frame(value):
        raise TypeError("a data frame must be given as an argument of its own, not in a section")
    return [written(item) for item in items(value)] if isinstance(value, Iterable) else as_text(value)


def as_text(value: Any) -> str:
    """Return a name, a code or a number as columns of data frames are read: 1.0 as `1`, True as `true`, NaN as ``."""
    if value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else str(value).replace("nan", "")
    return str(value)


def with_codes(variables: Any, frames: Mapping[str, pd.DataFrame], *, by_side: bool = False) -> list[dict[str, Any]]:
    """Return the sections of variables, with NaN as a missing code where one of the files has it.

    `by_side` tells whether a variable has columns and missing codes for each side.
    """
    return [
        _with_codes(one if isinstance(one, Mapping) else {"name": one}, frames, by_side) for one in items(variables)
    ]


def _with_codes(section: Mapping[str, Any], frames: Mapping[str, pd.DataFrame], by_side: bool) -> dict[str, Any]:
    name = section.get("column", section.get("name"))
    columns = {side: frame.get(as_text(section.get(side, name) if by_side else name)) for side, frame in frames.items()}
    incomplete = {side for side, column in columns.items() if column is not None and _has_missing(column)}
    if not incomplete:
        return dict(section)
    declared: Any = section.get("missing")
    if not by_side:
        return {**section, "missing": _with_empty(declared)}
    codes = declared if isinstance(declared, Mapping) else dict.fromkeys(columns, declared)
    return {
        **section,
        "missing": {
            side: _with_empty(codes.get(side)) if side in incomplete else items(codes.get(side)) for side in columns
        },
    }


def _has_missing(column: pd.Series) -> bool:
    return bool(column.isna().any() or (is_float_dtype(column) and (column != column).any()))


def _with_empty(codes: Any) -> list[Any]:
    return list(dict.fromkeys([*items(codes), ""]))


def frame_text(file: str, frame: pd.DataFrame, names: Sequence[str], keys: Iterable[str]) -> pa.Table:
    """Return columns of a data frame as text, as those of a Parquet file are read; NaN is empty text.

    Keys may be whole floating point numbers, as in SAS: pandas makes these of integers beside NaN.
    """
    path, columns = Path(file), list(frame.columns)
    try:
        check_header(path, columns, names, row="")
    except MissingColumnError as error:
        raise InputError(
            f"{file}: the data frame has no column `{error.missing[0]}`. Correct the name, or add the column."
        ) from None
    return pa.table({name: _column_text(path, name, frame[name], key=name in keys) for name in names})


def _column_text(path: Path, name: str, column: pd.Series, *, key: bool) -> pa.ChunkedArray:
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    try:
        values = pa.Array.from_pandas(column)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:  # whose messages have values
        problem = "the values have no unambiguous text. Convert them to text."
        if isinstance(error, UnicodeError):
            problem = "the text is not Unicode. Correct it."
        elif isinstance(error, pa.ArrowInvalid | pa.ArrowTypeError):
            problem = "the values have several types. Convert them to one type, such as text."
        raise InputError(f"{path}, column `{name}`: {problem}") from None
    if key and pa.types.is_floating(values.type):
        wrong = first_inexact(values.to_numpy(zero_copy_only=False))
        if wrong is not None:
            raise InputError(
                f"{path}, row {wrong + 1}, column `{name}`: a numeric key must be an integer below 2^53 (2^24 in "
                "single precision). Store keys as text."
            )
        key = False
    return reading.stored_text(path, name, values, key=key)


def with_keys(table: pd.DataFrame, keys: Mapping[str, pd.Series]) -> pd.DataFrame:
    """Return a table whose keys, which are text, are again the values of the columns of the caller.

    `keys` has the column of a data frame by that of the table; one that the table does not have is left out.
    """
    for name, column in keys.items():
        if name not in table.columns or column.dtype == table[name].dtype:
            continue
        texts = pd.Index(_column_text(Path(name), name, column, key=True).to_pandas())
        first = np.flatnonzero(~texts.duplicated())
        place = texts[first].get_indexer(table[name])
        if (place >= 0).all():
            table = table.assign(**{name: column.iloc[first[place]].set_axis(table.index)})
    return table
