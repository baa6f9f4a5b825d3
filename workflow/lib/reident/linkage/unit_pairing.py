"""The units of strata of both files as arrays, the form that metrics compare (METHODS §4.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake import keys
from reident.intake.grouping import N_MEMBERS
from reident.linkage.batches import values_of
from reident.linkage.pairing import Pairing, Records, Scope, encode, spreads
from reident.linkage.strata import stratum_of_records
from reident.linkage.tally import grouped

if TYPE_CHECKING:
    from reident.linkage.settings import Variable

SIDES = ("puf", "eif")


class UnitRecords(NamedTuple):
    """The units of one file: the members of unit u are the rows start[u] to start[u + 1] − 1."""

    start: np.ndarray
    own: Records
    members: Records

    def take(self, rows: np.ndarray) -> UnitRecords:
        """Return the units at the given positions."""
        size = np.diff(self.start)[rows]
        start = np.append(0, np.cumsum(size))
        members = np.arange(start[-1]) + np.repeat(self.start[rows] - start[:-1], size)
        return UnitRecords(start, self.own.take(rows), self.members.take(members))


class UnitPairing(NamedTuple):
    """The units of strata of both files, one stratum after another; each is compared with those of its own.

    Attributes
    ----------
    variables : tuple of Variable
    own, of_members : tuple of int
        The positions of the variables with one value for a unit, and of the others.
    labels : tuple
        As :class:`reident.linkage.pairing.Pairing` has them, by position of the variable.
    spread : float64 (n_strata, v)
        The sample standard deviation of each numeric variable, of units or of members of the PUF.
    starts : tuple of int64 (n_strata + 1,)
        Where each stratum starts in the PUF and in the EIF, and in the end the number of units.
    whole : bool
        Whether the intruder knows every member of a unit.
    """

    variables: tuple[Variable, ...]
    own: tuple[int, ...]
    of_members: tuple[int, ...]
    puf: UnitRecords
    eif: UnitRecords
    labels: tuple[list[str] | None, ...]
    spread: np.ndarray
    starts: tuple[np.ndarray, np.ndarray]
    whole: bool

    @property
    def n_strata(self) -> int:
        """The number of strata."""
        return len(self.spread)

    def rows(self) -> Pairing:
        """Return the members of the units as records, each with the values of its unit, by stratum and unit."""
        sides, starts = [], []
        for units, bounds in ((self.puf, self.starts[0]), (self.eif, self.starts[1])):
            unit = np.repeat(np.arange(len(units.start) - 1), np.diff(units.start))
            codes = np.empty((len(unit), len(self.variables)), np.int32)
            values = np.empty(codes.shape)
            for places, records, rows in ((self.own, units.own, unit), (self.of_members, units.members, slice(None))):
                codes[:, places], values[:, places] = records.codes[rows], records.values[rows]
            sides.append(Records(codes, values))
            starts.append(units.start[bounds])
        scope = Scope(sides[0].values, sides[1].values)
        return Pairing(self.variables, sides[0], sides[1], self.labels, self.spread, scope, (starts[0], starts[1]))

    def counted(self, puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
        """Return how many members count in pairs of units."""
        sizes = np.diff(self.puf.start)[puf], np.diff(self.eif.start)[eif]
        return np.maximum(*sizes) if self.whole else sizes[1]


class UnitComparison:
    """Both files of a study of units, see :class:`reident.linkage.pairing.Comparison`."""

    def __init__(
        self,
        variables: tuple[Variable, ...],
        files: Mapping[str, pa.Table],
        strata: Mapping[str, pa.Table],
        n_strata: int,
        scope: Literal["stratum", "study"],
    ) -> None:
        self._variables, self._scope = variables, scope
        self._rows = {side: grouped(stratum_of_records(strata[side]), n_strata) for side in SIDES}
        lists = [pa.types.is_list(files["puf"].schema.field(variable.name).type) for variable in variables]
        self._own = tuple(at for at, is_list in enumerate(lists) if not is_list)
        self._of_members = tuple(at for at, is_list in enumerate(lists) if is_list)
        self._labels: list[list[str] | None] = [None] * len(variables)
        own = self._encoded(self._own, files)
        members = self._encoded(self._of_members, {side: flat(table) for side, table in files.items()})
        self._units = {side: UnitRecords(starts_of(files[side]), own[side], members[side]) for side in SIDES}

    def _encoded(self, places: Sequence[int], files: Mapping[str, pa.Table]) -> dict[str, Records]:
        records, labels = encode(tuple(self._variables[at] for at in places), files)
        for at, of_variable in zip(places, labels, strict=True):
            self._labels[at] = of_variable
        return records

    def rows(self, side: str, stratum: int) -> np.ndarray:
        """Return the row numbers in the whole file of a stratum's units; a stratum is its line of the manifest."""
        return self._rows[side].members(stratum)

    def pairing(self, strata: np.ndarray, puf_rows: Sequence[np.ndarray], *, whole: bool) -> UnitPairing:
        """Return the units of some strata, those of the PUF given by their row numbers in the whole file."""
        eif_rows = [self.rows("eif", stratum) for stratum in strata.tolist()]
        puf, eif = (
            self._units[side].take(np.concatenate([np.empty(0, np.int64), *rows]))
            for side, rows in zip(SIDES, (puf_rows, eif_rows), strict=True)
        )
        starts = [np.append(0, np.cumsum([len(one) for one in rows])).astype(np.int64) for rows in (puf_rows, eif_rows)]
        spread = np.empty((len(strata), len(self._variables)))
        for line, stratum in enumerate(strata.tolist()):
            rows = slice(None) if self._scope == "study" else self.rows("puf", stratum)
            spread[line] = self._spread(np.arange(len(self._units["puf"].start) - 1)[rows])
        return UnitPairing(
            self._variables,
            self._own,
            self._of_members,
            puf,
            eif,
            tuple(self._labels),
            spread,
            (starts[0], starts[1]),
            whole,
        )

    def _spread(self, units: np.ndarray) -> np.ndarray:
        """Return the standard deviations of PUF units, of their own variables and of those of their members."""
        chosen, out = self._units["puf"].take(units), np.empty(len(self._variables))
        for places, values in ((self._own, chosen.own.values), (self._of_members, chosen.members.values)):
            out[list(places)] = spreads(values, np.array([0, len(values)]))[0]
        return out


def starts_of(table: pa.Table) -> np.ndarray:
    """Return where the members of each unit of a table begin, and in the end their number; int64 (n + 1,)."""
    return np.append(0, np.cumsum(table[N_MEMBERS].to_numpy().astype(np.int64)))


def flat(table: pa.Table) -> pa.Table:
    """Return the variables of members with a row for each member, its unit in a column without a name."""
    unit = np.repeat(np.arange(table.num_rows), table[N_MEMBERS].to_numpy())
    lists = (field.name for field in table.schema if pa.types.is_list(field.type))
    return pa.table({"": unit, **{name: pc.list_flatten(table[name]) for name in lists}})


def profile_codes(columns: Sequence[pa.ChunkedArray]) -> tuple[list[np.ndarray], int]:
    """Return codes of the multisets of members' values, equal across files, -1 where one is missing; and how many."""
    values = [values_of(column) for column in columns]
    if pa.types.is_string(values[0].type):
        single, _ = keys.text_codes(values)
    else:
        both = np.concatenate([column.to_numpy() for column in values])
        _, codes = np.unique(both, return_inverse=True)
        single = np.split(np.where(np.isnan(both), -1, codes) if both.dtype.kind == "f" else codes, [len(values[0])])
    profiles: dict[bytes, int] = {}
    out = []
    for codes, column in zip(single, columns, strict=True):
        start = np.append(0, np.cumsum(pc.list_value_length(column).to_numpy()))
        unit = np.repeat(np.arange(len(column)), np.diff(start))
        ordered = np.ascontiguousarray(codes[np.lexsort((codes, unit))].astype(np.int64))
        of_unit = np.full(len(column), -1, np.int64)
        for u in range(len(column)):
            members = ordered[start[u] : start[u + 1]]
            if not len(members) or members[0] >= 0:
                of_unit[u] = profiles.setdefault(members.tobytes(), len(profiles))
        out.append(of_unit)
    return out, len(profiles)
