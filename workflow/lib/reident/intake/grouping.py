"""The rows of a file that are members of one unit, such as a household, as one record (METHODS §4.7).

A unit has one value of each strata variable and of each variable with ``level: unit``, and a list of the values of its
members for every other linking variable. Members are in the order of their values, so that nothing depends on the order
of rows in the source.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import Guard, InputError
from reident.intake.key_reader import KeyReader, Lookup, as_before
from reident.intake.ordering import KeyedSpool, Ordered, sorted_rows
from reident.intake.settings import PreparationSettings
from reident.sections.linkage import LinkingVariable

MAX_MEMBERS = 1000
"""Rows of a unit: sums over them are exact in double precision."""

CLUSTER = "\0cluster "
"""What the columns of a cluster are called while rows are grouped, with their number; no column of a file is."""

MEMBER_LINKS = ("puf_members", "eif_members")
"""The columns of the prepared links with the linked members of both units: their places in the units."""

N_MEMBERS = "n_members"
"""The column of prepared and binned tables of units with the number of members."""

SEVERAL = -2
"""In place of its unit, for the key of rows of several units."""


class UnitKeyReader(KeyReader):
    """The columns that identify the units of a file: they repeat, and none of them may be empty."""

    def read(self, text: pa.Table, before: int) -> None:
        """Take the next rows; `before` is the number of rows before them."""
        for name, counts in self.counts.items():
            counts.add(text[name].combine_chunks())
        empty = np.any([pc.equal(text[name], "").to_numpy() for name in self._names], axis=0)
        if empty.any():
            row, n = self._empty
            self._empty = row or before + int(empty.argmax()) + self._source.first_row, n + int(empty.sum())

    def look(self, *_: object) -> None:
        """Accept keys that repeat."""

    def refuse(self, guard: Guard) -> None:
        """Refuse rows without a unit."""
        row, n = self._empty
        if n:
            with guard():
                raise InputError(
                    f"{self._source.file_name}, row {row}: the unit ({', '.join(self._names)}) must not be empty "
                    f"({n:,} such rows). Give every row a unit; a person who lives alone is a unit too."
                )


class Grouping:
    """Groups the rows of a file into units, range by range of their keys.

    Attributes
    ----------
    n : int
        The units so far.
    """

    def __init__(self, settings: PreparationSettings, side: str, schema: pa.Schema, folder: Path | None) -> None:
        self._settings, self._side = settings, side
        self.members = [
            column.name
            for column in settings.variables
            if isinstance(column, LinkingVariable) and column.level != "unit"
        ]
        self._width = len(schema)
        self._keys = list(settings.key_names[side])
        names = settings.row_key_of(side)
        self.rows = RowKeys(names, settings.file_name(side), folder) if names else None
        self.n = 0
        self._largest, self._differing = 0, dict[str, int]()

    def group(self, table: pa.Table, key: pa.Table) -> tuple[pa.Table, np.ndarray]:
        """Return the units of all rows of a range, which are sorted by key, and the number of each row's unit.

        The table has key, variables, clusters and the keys of rows; in place of the last, units have their number of
        members.
        """
        new = ~as_before(key)
        unit, starts = np.cumsum(new) - 1, np.flatnonzero(new)
        sizes = np.diff(starts, append=len(new))
        self._largest = max(self._largest, int(sizes.max(initial=0)))
        by_unit = sorted_rows(table.select(self.members).add_column(0, "", pa.array(unit)))
        n_row_keys = len(self.rows.names) if self.rows is not None else 0
        columns: dict[str, pa.Array] = {}
        for at, name in enumerate(table.column_names[: table.num_columns - n_row_keys]):
            column = table.column(at).combine_chunks()
            if name in self._keys:
                columns[name] = column.take(pa.array(starts))
            elif name in self.members:
                offsets = pa.array(np.append(starts, len(new)).astype(np.int32))
                columns[name] = pa.ListArray.from_arrays(offsets, column.take(by_unit))
            else:
                columns[name] = self._common(name, column, starts, cluster=at >= self._width)
        if self.rows is not None:
            place = by_unit.to_numpy()
            keys = table.select(range(table.num_columns - n_row_keys, table.num_columns)).take(by_unit)
            self.rows.add(keys, unit[place] + self.n, np.arange(len(place)) - starts[unit[place]])
        unit += self.n
        self.n += len(starts)
        return pa.table({**columns, N_MEMBERS: pa.array(sizes.astype(np.int32))}), unit

    def _common(self, name: str, column: pa.Array, starts: np.ndarray, *, cluster: bool) -> pa.Array:
        """Return the one value that each unit has, missing ones left out, and count the units that have several."""
        if cluster:
            column = pc.if_else(pc.equal(column, ""), None, column)
        encoded = column.dictionary_encode()
        codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        last = np.maximum.reduceat(codes, starts)
        first = np.minimum.reduceat(np.where(codes < 0, len(codes), codes), starts)
        several = int(((last >= 0) & (first != last)).sum())
        self._differing[name] = self._differing.get(name, 0) + several
        values = encoded.dictionary.take(pa.array(last, mask=last < 0))
        return pc.fill_null(values, "") if cluster else values

    def refuse(self, guard: Guard, *, overflows: bool) -> None:
        """Refuse units that are too large, and those that have several values where they must have one."""
        file = self._settings.file_name(self._side)
        if overflows or self._largest > MAX_MEMBERS:
            with guard():
                raise InputError(
                    f"{file}: a unit ({', '.join(self._keys)}) must have at most {MAX_MEMBERS:,} rows. Correct "
                    f"`units.{self._side}`."
                )
        strata = {column.name for column in self._settings.strata}
        for name, n in self._differing.items():
            if n:
                kind, remedy = "cluster column", "or remove it from `rates.cluster`"
                if name in strata:
                    kind, remedy = "strata variable", "or remove it from `strata`"
                elif name in {column.name for column in self._settings.variables}:
                    kind, remedy = "linking variable", "or remove its `level: unit`"
                shown = self._settings.cluster[int(name.removeprefix(CLUSTER))] if kind == "cluster column" else name
                with guard():
                    raise InputError(
                        f"{file}: the {kind} `{shown}` must have one value in each unit, but has several in {n:,} of "
                        f"{self.n:,} units. Correct the file, {remedy}."
                    )


class RowLinks(NamedTuple):
    """The rows that each link names: where they begin in `member`, their number, and their places in their units."""

    start: np.ndarray
    number: np.ndarray
    member: np.ndarray


class RowKeys:
    """The keys of rows in a file of units: the unit of each, and its place among the members."""

    def __init__(self, names: Sequence[str], file: str, folder: Path | None) -> None:
        self.names, self._file, self._folder = names, file, folder
        fields = [(str(at), pa.string()) for at in range(len(names))]
        self._spool = KeyedSpool(pa.schema([*fields, ("unit", pa.int32()), ("member", pa.int32())]), len(names), folder)

    def add(self, keys: pa.Table, unit: np.ndarray, member: np.ndarray) -> None:
        """Take rows; those without a key are not linked."""
        named = ~np.all([pc.equal(column, "").to_numpy() for column in keys.columns], axis=0)
        if named.any():
            columns = [column.combine_chunks() for column in keys.filter(pa.array(named)).columns]
            columns += [pa.array(values[named].astype(np.int32)) for values in (unit, member)]
            self._spool.append(pa.record_batch(columns, schema=self._spool.schema))

    def find(self, lookup: Lookup) -> RowLinks:
        """Write the unit of each key of a lookup into it, and return the rows; see :data:`SEVERAL`."""
        units, starts, numbers, n = list[np.ndarray](), list[np.ndarray](), list[np.ndarray](), 0
        members = [np.empty(0, np.int32)]
        for key, unit, member, look in self._ranges(lookup):
            first = np.flatnonzero(~as_before(key))
            ends = np.append(first, len(unit))[1:]
            look(key.take(pa.array(first)), sum(len(part) for part in units))
            several = np.minimum.reduceat(unit, first) != np.maximum.reduceat(unit, first)
            units.append(np.where(several, SEVERAL, unit[first]))
            starts.append(first + n)
            numbers.append(ends - first)
            members.append(member)
            n += len(unit)
        unit, start, number = (np.concatenate([np.array([-1]), *parts]) for parts in (units, starts, numbers))
        place = lookup.position + 1
        lookup.position = unit[place].astype(np.int32)
        return RowLinks(start[place], np.where(place > 0, number[place], 0), np.concatenate(members))

    def _ranges(self, lookup: Lookup) -> Iterator:
        with (
            contextlib.closing(Ordered(self._spool, self._folder)) as ordered,
            contextlib.closing(lookup.scattered(ordered.ranges, self._folder)) as scattered,
        ):
            if ordered.repeats:
                raise InputError(
                    f"{self._file}: the key ({', '.join(self.names)}) is that of rows of very many units. Name every "
                    "column of the key, or leave out `id` and link units."
                )
            for at, bucket in enumerate(ordered):
                unit, member = (bucket.table[name].to_numpy() for name in ("unit", "member"))
                pieces = scattered.pieces(at)
                yield (
                    self._spool.key(bucket.table),
                    unit,
                    member,
                    lambda key, start, pieces=pieces: lookup.look(pieces, key, start),
                )

    def close(self) -> None:
        """Free the memory and the file."""
        self._spool.close()


def member_links(
    rows: Mapping[str, RowLinks], units: Mapping[str, np.ndarray], links: Mapping[str, np.ndarray], n_eif: int
) -> dict[str, pa.Array]:
    """Return the linked members of both units of each true link, as lists: those of a link of the IUF are paired.

    Parameters
    ----------
    rows, units : mapping
        By side, of every link of the IUF the rows that it names, and their unit, negative for none.
    links : mapping of int32 (m,)
        The true links, in their order.
    n_eif : int
        The units of the EIF.
    """
    known = np.flatnonzero((units["puf"] >= 0) & (units["eif"] >= 0))
    puf, eif = rows["puf"], rows["eif"]
    sizes = puf.number[known] * eif.number[known]
    link = np.repeat(known, sizes)
    within = np.arange(len(link)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    pair, linked = (side["puf"].astype(np.int64) * n_eif + side["eif"] for side in (links, units))
    members = np.column_stack(
        [
            np.searchsorted(pair, linked[link]),
            puf.member[puf.start[link] + within // np.maximum(eif.number[link], 1)],
            eif.member[eif.start[link] + within % np.maximum(eif.number[link], 1)],
        ]
    )
    place, *columns = np.unique(members, axis=0).T
    offsets = pa.array(np.searchsorted(place, np.arange(len(pair) + 1)).astype(np.int32))
    return {
        name: pa.ListArray.from_arrays(offsets, pa.array(column.astype(np.int32)))
        for name, column in zip(MEMBER_LINKS, columns, strict=True)
    }
