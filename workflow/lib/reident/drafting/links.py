"""The true links: which columns are the keys of both files, and the records of both files that are linked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.drafting import keys, names, scan
from reident.drafting.profile import DraftColumn, File
from reident.drafting.sheet import listed, number, percent
from reident.drafting.source import Source
from reident.errors import InputError
from reident.intake.keys import positions
from reident.plausibility.grouping import names_units
from reident.plausibility.hashing import hashes

MAX_LINKS = 50_000
"""Links whose records are compared; of more links, those with the smallest hashes."""

_TRIED = 5_000
"""Distinct values of a column of links that are looked up in the files."""

MIN_OVERLAP = 0.5
"""The smallest share of them that a key column has."""


MIN_SINGLE = 50
"""Links of units of one row from which they tell about rows."""

_MARGIN = 0.1
"""By how much more linked records agree with the right keys than with others."""


class Key(NamedTuple):
    """The key of a file, and the columns of the links that have it in the same order.

    Without columns the key is still to be decided; without links no columns are linked. A key that repeats is that of a
    person or household with several rows.
    """

    columns: tuple[str, ...]
    linked: tuple[str, ...]
    reason: str
    repeats: bool = False


class Links(NamedTuple):
    """The true links: `n` of them, `unknown` of which name a record that is not in one of the files.

    `records` are the linked records of both files, row by row, and `rows` their places in the files; `single` tells
    which of them are the only ones with their keys.
    """

    source: Source
    puf: Key
    eif: Key
    n: int
    unknown: int
    records: tuple[pa.Table, pa.Table]
    rows: tuple[np.ndarray, np.ndarray]
    single: np.ndarray

    def of_units(self, constant: Sequence[Collection[str]]) -> Links:
        """Return the links of units of one row, or where these are few the columns with one value in each unit.

        Which rows of two larger units belong together is not known.
        """
        if self.single.sum() < MIN_SINGLE:
            sides = zip(self.records, constant, strict=True)
            return self._replace(records=tuple(table.select([*kept]) for table, kept in sides))
        mask = pa.array(self.single)
        ours, theirs = self.records
        rows = self.rows[0][self.single], self.rows[1][self.single]
        return self._replace(records=(ours.filter(mask), theirs.filter(mask)), rows=rows)

    @property
    def compared(self) -> int:
        """The links whose records are compared."""
        return self.records[0].num_rows


def alone(file: File) -> Key:
    """Return the key of a file without links.

    Raises
    ------
    InputError
        If no set of up to three columns identifies a record.
    """
    unique = keys.single(file)
    if unique:
        best = [name for name in unique if names.names_key(name) == names.names_key(unique[0])]
        if len(best) == 1 and (names.names_key(best[0]) or best[0] == next(iter(file.columns))):
            return Key((best[0],), (), f"unique in all {number(file.records, 'record')}, none empty")
        return Key((), (), f"each of these columns is unique: {listed(unique)}; write the one that is the key")
    sets = keys.composite(file)
    if not sets:
        if (column := _named_key(file)) is None:
            raise no_key(file)
        return Key((column.name,), (), _repeats(column), repeats=True)
    return _composite(sets, file)


def _composite(sets: Sequence[tuple[str, ...]], file: File) -> Key:
    best = sets[0]
    if all(map(names.names_key, best)):
        return Key(best, (), f"unique together in all {number(file.records, 'record')}; no column is unique alone")
    several = "; ".join(listed(columns) for columns in sets[:3])
    return Key((), (), f"no column is unique alone, and these are together: {several}. Write the key")


def no_key(file: File) -> InputError:
    """Return the error of a file without a key."""
    column = _named_key(file)
    about = "" if column is None else f" (column `{column.name}`: {_repeats(column)})"
    return InputError(
        f"{file.name}: the key repeats; no set of up to three columns identifies every record{about}. Remove the "
        "records that repeat, or add a column with a number for each record."
    )


def _named_key(file: File) -> DraftColumn | None:
    """Return the column whose name is most like that of a key, of those in which no value is missing."""
    named = [
        column
        for column in file.columns.values()
        if names.names_key(column.name) and column.levels and column.valid == column.records
    ]
    return max(named, key=lambda column: (names.names_key(column.name), column.levels), default=None)


def _repeats(column: DraftColumn) -> str:
    levels = "more values than are counted" if column.levels is None else f"{column.levels:,} distinct values"
    return f"{levels} in {number(column.records, 'record')}"


def find(puf: File, eif: File, iuf: File) -> Links:
    """Return the keys of both files as the links have them, and linked records.

    Raises
    ------
    InputError
        If no key of a file is among the columns of the links, or no link joins two records.
    """
    tried = {column.name: _distinct(iuf.source, column) for column in iuf.columns.values()}
    options = [_options(file, tried, role) for file, role in ((puf, "puf"), (eif, "eif"))]
    for file, keys_in_links in zip((puf, eif), options, strict=True):
        if not keys_in_links:
            raise InputError(
                f"{iuf.name}: no column has the keys of {file.name}. Write the keys exactly as that file does, "
                "with leading zeros, in a column for each column of the key."
            )
    pairs = [
        (first[0] + second[0], first[1], second[1])
        for first in options[0]
        for second in options[1]
        if not set(first[1].linked) & set(second[1].linked)
    ]
    if not pairs:
        raise InputError(
            f"{iuf.name}: the keys of {puf.name} and {eif.name} must be in columns of their own. Write one column "
            "for each column of each key."
        )
    links = _best(puf, eif, iuf, pairs)
    if not links.compared:
        raise InputError(
            f"{iuf.name}: no link joins a record of {puf.name} with one of {eif.name}. Check that the keys are those "
            "of these files."
        )
    return links


def _best(puf: File, eif: File, iuf: File, pairs: list[tuple[float, Key, Key]]) -> Links:
    """Return the links by the likeliest keys: of rows or of units, as linked records agree more often."""
    best: Links | None = None
    kinds = dict[tuple[bool, bool], list[tuple[float, Key, Key]]]()
    for pair in sorted(pairs, key=lambda pair: -pair[0]):
        kinds.setdefault((pair[1].repeats, pair[2].repeats), []).append(pair)
    for (score, first, second), *others in kinds.values():
        links = _joined(puf, eif, iuf, first, second)
        tie = [pair for pair in others if pair[0] > score - 0.1]
        if exchanged := [pair for pair in tie if {pair[1].linked, pair[2].linked} == {first.linked, second.linked}]:
            links = _better(links, _joined(puf, eif, iuf, *exchanged[0][1:]))
        if best is None or _agreement(links) >= _agreement(best) + _MARGIN:
            best = links
    if best is None:
        raise ValueError("no keys are given")
    return best


def _distinct(source: Source, column: DraftColumn) -> pa.Array:
    """Return up to :data:`_TRIED` distinct values of a column of the links."""
    if column.counts is not None:
        return pa.array(sorted(column.counts)[:_TRIED], pa.string())
    first = next(scan.batches(source, [column.name])).column(0)
    return pc.unique(first)[:_TRIED]


def _options(file: File, tried: dict[str, pa.Array], role: str) -> list[tuple[float, Key]]:
    """Return keys of a file whose columns the links have, each with how well they fit."""
    overlaps = _overlaps(file, tried)
    unique = [(name,) for name in keys.single(file)]
    options = [option for key in unique for option in _assigned(file, key, overlaps, role)]
    if not options:
        likely = sorted(
            {column for (_, column), share in overlaps.items() if share >= MIN_OVERLAP},
            key=lambda column: -max(names.names_key(column), *(names.similarity(column, link) for link in tried)),
        )
        sets = keys.composite(file, likely[:8])
        options = [option for key in sets for option in _assigned(file, key, overlaps, role)]
    # The links may name persons or households, which have several rows.
    taken = {column for _, key in options for column in key.columns}
    likely = [column for (_, column), share in overlaps.items() if share >= MIN_OVERLAP and column not in taken]
    for name in dict.fromkeys(likely):
        if names.names_key(name) or names_units(name):
            reason = f"repeats: {_repeats(file.columns[name])}"
            found = _assigned(file, (name,), overlaps, role)
            options += [(score, key._replace(reason=reason, repeats=True)) for score, key in found]
    return sorted(options, key=lambda option: -option[0])[:20]


def _overlaps(file: File, tried: dict[str, pa.Array]) -> dict[tuple[str, str], float]:
    """Return by column of the links and of the file which share of the values the file's column has."""
    columns = [column for column in file.columns.values() if column.valid == column.records]
    many = [column.name for column in columns if column.counts is None]
    seen = {(link, name): np.zeros(len(values), bool) for link, values in tried.items() for name in many}
    if many:
        for batch in scan.batches(file.source, many):
            for (link, name), hit in seen.items():
                place = pc.drop_null(pc.index_in(batch.column(name), tried[link]))
                hit[place.to_numpy()] = True
    for column in columns:
        if column.counts is not None:
            texts = pa.array(list(column.counts), pa.string())
            for link, values in tried.items():
                seen[link, column.name] = pc.is_in(values, texts).to_numpy(zero_copy_only=False)
    return {pair: float(hit.mean()) for pair, hit in seen.items() if len(hit)}


def _assigned(
    file: File, key: tuple[str, ...], overlaps: dict[tuple[str, str], float], role: str
) -> list[tuple[float, Key]]:
    """Return the ways in which columns of the links have the columns of a key."""
    fitting = list(
        dict.fromkeys(link for (link, column), share in overlaps.items() if column in key and share >= MIN_OVERLAP)
    )
    options = []
    for linked in permutations(fitting[:8], len(key)):
        shares = [overlaps.get(pair, 0.0) for pair in zip(linked, key, strict=True)]
        if min(shares) < MIN_OVERLAP:
            continue
        alike = [
            max(names.similarity(link, column), _side(link, file)) for link, column in zip(linked, key, strict=True)
        ]
        score = float(np.mean(shares)) + 0.5 * float(np.mean(alike)) + 0.2 * min(map(names.names_key, key))
        score += 0.3 * float(np.mean([_role(link, role) for link in linked]))
        options.append((score, Key(key, linked, _shares(file, key, linked, shares))))
    return options


def _side(link: str, file: File) -> float:
    """Return whether the name of a column of the links has that of the file, as `puf_key` has that of puf.csv."""
    words_of_file = set(names.words(file.source.path.name.partition(".")[0]))
    return 0.5 if words_of_file & set(names.words(link)) else 0.0


def _role(link: str, role: str) -> int:
    """Return 1 if the name of a column of the links has `puf` or `eif` as the file is, and -1 if it has the other."""
    parts = set(names.words(link)) & {"puf", "eif"}
    return 0 if len(parts) != 1 else 1 if role in parts else -1


def _shares(file: File, key: Sequence[str], linked: Sequence[str], shares: Sequence[float]) -> str:
    together = " together" if len(key) > 1 else ""
    having = ", ".join(
        f"{percent(share)} of the values of `{column}`" for column, share in zip(linked, shares, strict=True)
    )
    return f"unique{together} in all {number(file.records, 'record')}, none empty; has {having} in the links"


def _joined(puf: File, eif: File, iuf: File, first: Key, second: Key) -> Links:
    """Join the links with both files."""
    columns = [*first.linked, *second.linked]
    batches = list(scan.batches(iuf.source, columns))
    table = pa.Table.from_batches(batches).group_by(columns).aggregate([])
    sides, places = [], []
    n = table.num_rows
    if n > MAX_LINKS:
        order = np.argsort(hashes([table[name].combine_chunks() for name in columns]), kind="stable")
        sampled = table.take(np.sort(order[:MAX_LINKS]))
    else:
        sampled = table
    complete = np.ones(n, bool)
    for file, key in ((puf, first), (eif, second)):
        records, rows, has = _records(file, key, table, sampled)
        sides.append((records, positions(records, key.columns, sampled, key.linked)))
        places.append(rows)
        complete &= has
    joint = (sides[0][1] >= 0) & (sides[1][1] >= 0)
    linked = [(table_.take(of[joint]), place[of[joint]]) for (table_, of), place in zip(sides, places, strict=True)]
    (ours, our_rows), (theirs, their_rows) = linked
    alone = [_are_alone(table_, key)[of[joint]] for (table_, of), key in zip(sides, (first, second), strict=True)]
    unknown = int((~complete).sum())
    return Links(iuf.source, first, second, n, unknown, (ours, theirs), (our_rows, their_rows), alone[0] & alone[1])


def _are_alone(records: pa.Table, key: Key) -> np.ndarray:
    """Return the records with a key that no other one has; bool (n,)."""
    if not key.repeats:
        return np.ones(records.num_rows, bool)
    _, place, sizes = np.unique(
        hashes([records[name].combine_chunks() for name in key.columns]), return_inverse=True, return_counts=True
    )
    return sizes[place] == 1


def _records(file: File, key: Key, links: pa.Table, sampled: pa.Table) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """Return the records of a file that sampled links name, their rows, and which of all links name a record of it."""
    every = hashes([links[name].combine_chunks() for name in key.linked])
    sampled_hashes = np.sort(hashes([sampled[name].combine_chunks() for name in key.linked]))
    ordered = np.sort(every)
    has = np.zeros(len(ordered), bool)
    kept, rows, start = [], [], 0
    for batch in scan.batches(file.source):
        of_batch = hashes([batch.column(name) for name in key.columns])
        at = np.searchsorted(ordered, of_batch).clip(max=max(len(ordered) - 1, 0))
        has[at[ordered[at] == of_batch]] = True
        at = np.searchsorted(sampled_hashes, of_batch).clip(max=max(len(sampled_hashes) - 1, 0))
        named = sampled_hashes[at] == of_batch
        kept.append(batch.filter(pa.array(named)))
        rows.append(np.flatnonzero(named) + start)
        start += len(named)
    first = np.searchsorted(ordered, every)
    return pa.Table.from_batches(kept), np.concatenate(rows), has[first]


def _better(first: Links, second: Links) -> Links:
    """Return the assignment of keys whose linked records agree more on the columns that have the same name."""
    agreements = [_agreement(links) for links in (first, second)]
    if agreements[1] > agreements[0]:
        first, second = second, first
    gap = abs(agreements[0] - agreements[1])
    if gap >= _MARGIN:
        reason = "linked records agree more often than with the two columns exchanged"
        return first._replace(puf=first.puf._replace(reason=f"{first.puf.reason}; {reason}"))
    columns = f"{listed(first.puf.linked)} and {listed(first.eif.linked)}"
    reason = f"{columns} each fit either file; write which belongs to which"
    return first._replace(
        puf=first.puf._replace(linked=(), reason=reason), eif=first.eif._replace(linked=(), reason=reason)
    )


def _agreement(links: Links) -> float:
    """Return the share of linked records that agree, on average over columns of similar names."""
    puf, eif = links.records
    if not puf.num_rows:
        return 0.0
    pairs = [
        (first, second)
        for first in puf.column_names
        for second in eif.column_names
        if names.similarity(first, second) >= 0.8 and first not in links.puf.columns and second not in links.eif.columns
    ]
    shares = [pc.mean(pc.equal(puf[first], eif[second])).as_py() for first, second in pairs]
    return float(np.mean(shares)) if shares else 0.0
