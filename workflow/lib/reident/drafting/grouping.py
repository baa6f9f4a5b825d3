"""Columns of both files that group their rows, such as the number of a household: a proposal of `units`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.drafting import names
from reident.drafting.links import Key, Links
from reident.drafting.profile import DraftColumn, File
from reident.drafting.sheet import Sheet, key, number
from reident.intake import keys
from reident.plausibility.grouping import MAX_MEAN, MIN_GROUPED, agreement, names_units
from reident.plausibility.grouping import MIN_AGREEMENT as MIN_SAME
from reident.study.reading import TODO


class Units(NamedTuple):
    """A column of each file that groups its rows, with the evidence; `sure` if the study cannot do without it."""

    puf: str
    eif: str
    reason: str
    sure: bool = False


def find(puf: File, eif: File, keys_: tuple[Key, Key], links: Links | None) -> Units | None:
    """Return the columns that group the rows of both files; None if there are none."""
    if any(one.repeats for one in keys_):
        if all(len(one.columns) == 1 for one in keys_):
            return Units(keys_[0].columns[0], keys_[1].columns[0], "rows of one person or household", sure=True)
        return None
    ours, theirs = (list(_candidates(file, one)) for file, one in zip((puf, eif), keys_, strict=True))
    pairs = ((first, second) for first in ours for second in theirs)
    found = [units for first, second in pairs if (units := _units(first, second, links)) is not None]
    return found[0] if found else None


def _candidates(file: File, key_: Key) -> Iterator[DraftColumn]:
    """Yield the columns that may group the rows of a file: no amount, no code, and neither its key nor one value."""
    for column in file.columns.values():
        whole = key_.columns == (column.name,)
        usual = names.names_amount(column.name) or names.names_code(column.name) or names.names_area(column.name)
        fractions = column.is_numeric and not column.whole
        if not (whole or column.unique or column.dates or fractions or usual or column.levels in (0, 1)):
            yield column


def _units(first: DraftColumn, second: DraftColumn, links: Links | None) -> Units | None:
    named = names_units(first.name) or names_units(second.name)
    if links is None or not links.compared:
        alike = names.similarity(first.name, second.name) >= 0.95
        counted = first.counts is not None and second.counts is not None
        small = counted and all(one.records <= MAX_MEAN * len(one.values) for one in (first, second))
        if not (named and alike and small and min(map(_grouped, (first, second))) >= MIN_GROUPED):
            return None
        return Units(first.name, second.name, f"`{first.name}` groups the rows of both files, by its name")
    codes = [_codes(table, column) for table, column in zip(links.records, (first, second), strict=True)]
    sizes = [np.unique(code, return_counts=True)[1] for code in codes]
    grouped = min(float(one[one > 1].sum() / one.sum()) if len(one) else 0.0 for one in sizes)
    small = all(len(one) and one.mean() <= MAX_MEAN for one in sizes)
    if grouped < MIN_GROUPED or not small or not (named or _identifies(first, second)):
        return None
    if agreement(*codes) < MIN_SAME:
        return None
    reason = (
        f"`{first.name}` and `{second.name}` group the same linked rows: {number(len(sizes[0]), 'group')} of up to "
        f"{number(int(sizes[0].max()), 'row')}"
    )
    return Units(first.name, second.name, reason)


def _identifies(first: DraftColumn, second: DraftColumn) -> bool:
    """Return whether the name of a column of either file is that of a number of persons, cases or the like."""
    return max(names.names_key(first.name), names.names_key(second.name)) > 0


def _grouped(column: DraftColumn) -> float:
    """Return the share of the records with a value that another record has."""
    return sum(rows for rows in column.values.values() if rows > 1) / max(column.records, 1)


def _codes(table: pa.Table, column: DraftColumn) -> np.ndarray:
    (codes,), _ = keys.text_codes([table[column.name]])
    return codes


def lines(sheet: Sheet, units: Units) -> None:
    """Add `units` to a draft: as a question, unless a key repeats."""
    written = f"{{puf: {key((units.puf,))}, eif: {key((units.eif,))}}}"
    if units.sure:
        sheet.add(f"units: {written}", f"a key repeats: {units.reason} are compared as one")
    else:
        question = f"write {written} to compare households or persons as a whole, or remove the line"
        sheet.add(f"units: {TODO}", f"{units.reason}; {question}")
    sheet.gap()


def fact(units: Units) -> str:
    """Return the sentence on the proposal for the terminal."""
    return (
        f"Rows are grouped by `{units.puf}` in the public use file and by `{units.eif}` in the other one: see `units`"
    )


def with_keys(units: Units | None, keys_: tuple[Key, Key]) -> tuple[Key, Key]:
    """Return the keys of both files with the columns that group rows, which are no variables either."""
    if units is None:
        return keys_
    puf, eif = keys_
    return (
        puf._replace(columns=tuple(dict.fromkeys([*puf.columns, units.puf]))),
        eif._replace(columns=tuple(dict.fromkeys([*eif.columns, units.eif]))),
    )
