"""Columns of both files that group their rows, such as the number of a household: a proposal of `units`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.drafting import names, scan
from reident.drafting.links import Key, Links
from reident.drafting.profile import DraftColumn, File
from reident.drafting.sheet import Sheet, key, number
from reident.intake import keys
from reident.plausibility.grouping import MAX_MEAN, MIN_GROUPED, agreement, names_units
from reident.plausibility.grouping import MIN_AGREEMENT as MIN_SAME
from reident.plausibility.hashing import hashes
from reident.study.reading import TODO


class Units(NamedTuple):
    """A column of each file that groups its rows, with the evidence.

    Where the study cannot do without it, `constant` are the columns of each file with one value in each unit, itself
    among them.
    """

    puf: str
    eif: str
    reason: str
    constant: tuple[frozenset[str], frozenset[str]] | None = None


def find(puf: File, eif: File, keys_: tuple[Key, Key], links: Links | None) -> Units | None:
    """Return the columns that group the rows of both files; None if there are none."""
    if any(one.repeats for one in keys_):
        if all(len(one.columns) == 1 for one in keys_):
            first, second = keys_[0].columns[0], keys_[1].columns[0]
            constant = _constant(puf, first), _constant(eif, second)
            return Units(first, second, "rows of one person or household", constant)
        return None
    ours, theirs = (list(_candidates(file, one)) for file, one in zip((puf, eif), keys_, strict=True))
    if links is None or not links.compared:
        pairs = ((first, second) for first in ours for second in theirs)
        return next((_by_name(*pair) for pair in pairs if _is_named(*pair)), None)
    # Each column is looked at once: wide files have very many pairs.
    groups = [
        [(column, *coded) for column in side if (coded := _groups(table, column)) is not None]
        for table, side in zip(links.records, (ours, theirs), strict=True)
    ]
    found = (_by_links(first, second) for first in groups[0] for second in groups[1])
    return next((units for units in found if units is not None), None)


def _constant(file: File, unit: str) -> frozenset[str]:
    """Return the columns of a file with one text in the rows of each unit."""
    pairs: dict[str, list[np.ndarray]] = {name: [] for name in file.columns}
    for batch in scan.batches(file.source):
        for name, parts in pairs.items():
            parts.append(hashes([batch.column(unit), batch.column(name)]))
    n = {name: len(np.unique(np.concatenate(parts))) for name, parts in pairs.items()}
    return frozenset(name for name in pairs if n[name] == n[unit])


def _candidates(file: File, key_: Key) -> Iterator[DraftColumn]:
    """Yield the columns that may group the rows of a file: no amount, no code, and neither its key nor one value."""
    for column in file.columns.values():
        whole = key_.columns == (column.name,)
        usual = names.names_amount(column.name) or names.names_code(column.name) or names.names_area(column.name)
        fractions = column.is_numeric and not column.whole
        if not (whole or column.unique or column.dates or fractions or usual or column.levels in (0, 1)):
            yield column


def _is_named(first: DraftColumn, second: DraftColumn) -> bool:
    """Return whether two columns of about the same name are named as units are, and group rows as these do."""
    named = names_units(first.name) or names_units(second.name)
    return named and names.similarity(first.name, second.name) >= 0.95 and is_small(first) and is_small(second)


def _by_name(first: DraftColumn, second: DraftColumn) -> Units:
    return Units(first.name, second.name, f"`{first.name}` groups the rows of both files, by its name")


def _groups(table: pa.Table, column: DraftColumn) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the groups of linked rows by a column, and their sizes; None if they are not like those of units."""
    (codes,), _ = keys.text_codes([table[column.name]])
    sizes = np.unique(codes, return_counts=True)[1]
    if not len(sizes) or sizes.mean() > MAX_MEAN or sizes[sizes > 1].sum() < MIN_GROUPED * sizes.sum():
        return None
    return codes, sizes


def _by_links(
    first: tuple[DraftColumn, np.ndarray, np.ndarray], second: tuple[DraftColumn, np.ndarray, np.ndarray]
) -> Units | None:
    """Return two columns that group the same linked rows, if one of them is named as units or numbers of them are."""
    (puf, codes, sizes), (eif, others, _) = first, second
    if not (names_units(puf.name) or names_units(eif.name) or _identifies(puf, eif)):
        return None
    if agreement(codes, others) < MIN_SAME:
        return None
    reason = (
        f"`{puf.name}` and `{eif.name}` group the same linked rows: {number(len(sizes), 'group')} of up to "
        f"{number(int(sizes.max()), 'row')}"
    )
    return Units(puf.name, eif.name, reason)


def _identifies(first: DraftColumn, second: DraftColumn) -> bool:
    """Return whether the name of a column of either file is that of a number of persons, cases or the like."""
    return max(names.names_key(first.name), names.names_key(second.name)) > 0


def is_small(column: DraftColumn) -> bool:
    """Return whether the values of a column group its records as units do: few to a value, and some together."""
    grouped = sum(rows for rows in column.values.values() if rows > 1)
    return 0 < column.records <= MAX_MEAN * len(column.values) and grouped >= MIN_GROUPED * column.records


def lines(sheet: Sheet, units: Units) -> None:
    """Add `units` to a draft: as a question, unless a key repeats."""
    written = f"{{puf: {key((units.puf,))}, eif: {key((units.eif,))}}}"
    if units.constant is not None:
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
