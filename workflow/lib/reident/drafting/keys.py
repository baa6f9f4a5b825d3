"""Columns that identify the records of a file: unique alone, or together (METHODS §1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from reident.drafting import names, scan
from reident.drafting.profile import MAX_LEVELS, DraftColumn, File
from reident.plausibility.hashing import has_repeats, hashes

_MAX_PARTS = 3
_MAX_COLUMNS = 8
"""Columns of which sets are tried as a key: those whose names tell, then those with most levels."""

_AT_ONCE = 16
"""Sets whose hashes are held at the same time: 80 MB each for ten million records."""


def single(file: File) -> list[str]:
    """Return the columns that identify a record alone, the likeliest key first; amounts are no keys."""
    unique = [column for column in file.columns.values() if column.unique and _may_identify(column)]
    return [column.name for column in sorted(unique, key=lambda column: -names.names_key(column.name))]


def composite(file: File, among: Sequence[str] | None = None) -> list[tuple[str, ...]]:
    """Return the smallest sets of columns that identify a record together, the likeliest key first.

    By default the columns without missing values are tried whose names, or levels, are likeliest.
    """
    if among is None:
        whole = [column for column in file.columns.values() if column.valid == column.records and _may_identify(column)]
        whole.sort(key=lambda column: (-names.names_key(column.name), -(column.levels or MAX_LEVELS + 1)))
        among = [column.name for column in whole[:_MAX_COLUMNS]]
    ordered = [name for name in file.columns if name in set(among)]
    for size in range(2, _MAX_PARTS + 1):
        sets = [names_ for names_ in combinations(ordered, size) if _may_be_unique(file, names_)]
        unique = [names_ for at in range(0, len(sets), _AT_ONCE) for names_ in _unique(file, sets[at : at + _AT_ONCE])]
        if unique:
            return sorted(unique, key=lambda names_: -sum(map(names.names_key, names_)))
    return []


def _may_identify(column: DraftColumn) -> bool:
    """Whether a column may be part of a key: no fraction, no date, and no amount or weight by its name."""
    fractions = column.is_numeric and not column.whole
    amount = names.names_amount(column.name) or (column.is_numeric and names.names_weight(column.name))
    return not (fractions or column.dates or (amount and not names.names_key(column.name)))


def _may_be_unique(file: File, columns: Sequence[str]) -> bool:
    levels = [file.columns[name].levels or file.records for name in columns]
    return prod(levels) >= file.records


def _unique(file: File, sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the sets of columns whose tuples are distinct in the whole file; distinct hashes prove it."""
    kept: dict[tuple[str, ...], list[np.ndarray]] = {names_: [] for names_ in sets}
    columns = list(dict.fromkeys(name for names_ in sets for name in names_))
    if not columns:
        return []
    for batch in scan.batches(file.source, columns):
        for names_ in list(kept):
            values = hashes([batch.column(name) for name in names_])
            if has_repeats(values):
                del kept[names_]
            else:
                kept[names_].append(values)
        if not kept:
            return []
    return [names_ for names_, parts in kept.items() if not has_repeats(np.concatenate(parts))]
