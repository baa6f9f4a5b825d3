"""The categories of a key variable that several files have, and measures of sets of variables (METHODS §7, §12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake import keys
from reident.linkage.bins import bin_labels, bin_values, cut_points
from reident.sections.codes import normaliser
from reident.sections.keys import KeyVariable

Item = TypeVar("Item")
Measured = TypeVar("Measured")


def coded(
    variable: KeyVariable,
    columns: Mapping[str, pa.Array],
    first: str,
    decimal: str,
    bins: int,
    ranks: Literal["mean", "high"] | None,
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the codes of a variable in each file, and their meanings.

    Parameters
    ----------
    columns : mapping of pyarrow.Array
        Its typed values by file, null where missing.
    first : str
        The file whose values tell where a numeric variable is cut, and whose decimal sign is `decimal`.
    bins, ranks
        As :func:`reident.linkage.bins.cut_points` takes them.

    Returns
    -------
    codes : dict of int32 (n,)
        By file; from 0, in the declared order, otherwise by code point; -1 where missing.
    labels : list of str
    """
    if variable.is_numeric:
        values = {name: column.to_numpy(zero_copy_only=False).astype(np.float64) for name, column in columns.items()}
        cuts = cut_points(values[first], bins, ranks)
        binned = (bin_values(column, cuts) for column in values.values())
        codes = [np.where(column < 0, -1, column - 1) for column in binned]
        labels = bin_labels(cuts, dates=variable.date is not None)
    else:
        codes, texts = keys.text_codes(list(columns.values()))
        labels = [str(label) for label in texts.to_pylist()]
        if variable.order is not None:
            order = [*map(normaliser(variable.coding(decimal)), variable.order)]
            place = {label: at for at, label in enumerate(order)}
            new = np.array([*(place[label] for label in labels), -1], np.int64)
            codes, labels = [new[code] for code in codes], order
    return {name: code.astype(np.int32) for name, code in zip(columns, codes, strict=True)}, labels


def counted(labels: list[str], codes: Mapping[str, Iterable[np.ndarray]], *, with_missing: bool) -> dict[str, Any]:
    """Return columns: the code and label of each category, its records in the files of each name, and ``missing``.

    The last category may be that of missing values.
    """
    at = np.arange(len(labels))
    counts = {name: np.zeros(len(at), np.int64) for name in codes}
    for name, columns in codes.items():
        for column in columns:
            counts[name] += np.bincount(column[column >= 0], minlength=len(at))
    return {"code": at, "label": labels, **counts, "missing": (at == len(at) - 1) & with_missing}


def codes_of(column: pa.ChunkedArray) -> np.ndarray:
    """Return a coded variable of a prepared table: int32 (n,), -1 where missing."""
    codes: np.ndarray = pc.fill_null(column, -1).to_numpy().astype(np.int32)
    return codes


def key_columns(tables: Sequence[pa.Table], names: Iterable[str]) -> dict[str, tuple[np.ndarray, int]]:
    """Return the codes of each key in all tables, one after the other, and a number above them."""
    columns = {}
    for name in dict.fromkeys(names):
        codes = np.concatenate([codes_of(table[name]) for table in tables])
        columns[name] = codes, int(codes.max(initial=0)) + 1
    return columns


def set_name(keys: Sequence[str]) -> str:
    """Return a set of key variables as the tables name it."""
    return " + ".join(keys)


def measure_each(
    function: Callable[[Item], Measured], items: Sequence[Item], threads: int, progress: Callable[[float], None] | None
) -> list[Measured]:
    """Return the measurement of each item by a function, in their order; `progress` takes the share that is done."""
    results = []
    with ThreadPoolExecutor(threads) as pool:
        for result in pool.map(function, items):
            results.append(result)
            if progress is not None:
                progress(len(results) / len(items))
    return results
