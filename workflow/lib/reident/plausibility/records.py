"""The records and links of a study as arrays, and samples of them that depend on keys alone (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake import keys
from reident.intake.records import SOURCE_ROW
from reident.linkage.batches import is_of_members
from reident.linkage.strata import links_inside, stratum_of_records
from reident.linkage.tally import Groups, grouped
from reident.linkage.unit_pairing import profile_codes
from reident.plausibility.hashing import hashes, mixed
from reident.plausibility.settings import DescriptionCheckSettings

MAX_LINKS = 20_000
"""Links that are looked at; of more links, those with the smallest hashes of their keys."""

FIFTHS = 5
"""Classes of equal size into which numbers are cut: as coarse as the metrics do by default, and finer."""

Sides = Mapping[str, np.ndarray]
"""One array for each of ``puf`` and ``eif``."""


class Values(NamedTuple):
    """A linking variable in both files, by side.

    Attributes
    ----------
    numbers : float64 (n,), NaN where missing; None of a categorical variable
    codes : int32 (n,), equal across the files, -1 where missing: categories, or the fifths of the PUF's numbers
    places : float32 (n,), the share of the numbers of both files that are smaller, NaN where missing; None of a
        categorical variable
    n_codes : the number of codes
    is_date : whether the numbers are those of days
    """

    numbers: Sides | None
    codes: Sides
    places: Sides | None
    n_codes: int
    is_date: bool = False

    def without(self, side: str, gone: np.ndarray) -> Values:
        """Return the values without some codes, or numbers, of one file."""
        hidden = np.isin((self.numbers or self.codes)[side], gone)
        codes = {**self.codes, side: np.where(hidden, -1, self.codes[side])}
        if self.numbers is None or self.places is None:
            return self._replace(codes=codes)
        numbers, places = (
            {**columns, side: np.where(hidden, np.nan, columns[side])} for columns in (self.numbers, self.places)
        )
        return self._replace(codes=codes, numbers=numbers, places=places)

    def changed(self, change: Callable[[np.ndarray, str], np.ndarray]) -> Values:
        """Return the values with numbers of each file, and its side, changed."""
        return of_numbers(*(change(column, side) for side, column in (self.numbers or {}).items()))


class Links(NamedTuple):
    """True links inside the strata, in the order of the hashes of their keys: row numbers of both records.

    `half` tells for each whether what is learnt is learnt from it, or tried on it.
    """

    puf: np.ndarray
    eif: np.ndarray
    half: np.ndarray

    @property
    def n(self) -> int:
        """The number of links."""
        return len(self.puf)


class Records(NamedTuple):
    """The input of the checks.

    Attributes
    ----------
    variables : the values of each linking variable
    strata : the stratum of each record, -1 for none
    profiles : of units, the values of their members by variable, each multiset of exact values one category
    groups : the records of each stratum
    links : a sample of the links inside the strata
    every_link : the row numbers of all links
    queries : by side, the rows of a sample of the records inside the strata
    rows : by side, the place of each record in its source
    """

    variables: Mapping[str, Values]
    profiles: Mapping[str, Values]
    strata: Sides
    groups: Mapping[str, Groups]
    links: Links
    every_link: Sides
    queries: Sides
    rows: Sides

    @property
    def every_value(self) -> dict[str, Values]:
        """The values of all linking variables, of members those of the unit as a whole."""
        return {**self.variables, **self.profiles}

    def chance(self, codes: Sides) -> np.ndarray:
        """Return for each link the share of the EIF records of its stratum that have the code of its PUF record."""
        width = int(max(codes["puf"].max(initial=0), codes["eif"].max(initial=0))) + 2
        cells = np.sort(self.strata["eif"].astype(np.int64) * width + codes["eif"])
        stratum = self.strata["puf"][self.links.puf].astype(np.int64)
        cell = stratum * width + codes["puf"][self.links.puf]
        n = np.searchsorted(cells, cell, "right") - np.searchsorted(cells, cell)
        sizes = np.diff(self.groups["eif"].bounds)
        return n / np.maximum(sizes[stratum], 1)


def read(
    settings: DescriptionCheckSettings, prepared: Mapping[str, pa.Table], iuf: pa.Table, strata: Mapping[str, pa.Table]
) -> Records:
    """Return the input of the checks: the prepared files, their links and the strata of their records."""
    stratum = {side: stratum_of_records(table) for side, table in strata.items()}
    n_strata = 1 + int(max(column.max(initial=-1) for column in stratum.values()))
    columns = {
        variable.name: [prepared[side][variable.name] for side in ("puf", "eif")] for variable in settings.variables
    }
    dates = {variable.name: variable.type == "date" for variable in settings.variables}
    values = {
        name: _values(both)._replace(is_date=dates[name])
        for name, both in columns.items()
        if not is_of_members(both[0])
    }
    profiles = {name: _profiles(both) for name, both in columns.items() if is_of_members(both[0])}
    inside = links_inside(iuf, stratum["puf"], stratum["eif"])
    rows = {side: iuf[side].to_numpy() for side in ("puf", "eif")}
    linked = {side: column[inside] for side, column in rows.items()}
    hashed = {side: _hashes(prepared[side], settings.keys[side], linked[side]) for side in linked}
    link = mixed(hashed["puf"] ^ mixed(hashed["eif"]))
    order = smallest(link, MAX_LINKS)
    links = Links(linked["puf"][order], linked["eif"][order], (link[order] >> np.uint64(13)) % 2 == 1)
    queries = {}
    for side, column in stratum.items():
        within = np.flatnonzero(column >= 0)
        if len(within) > MAX_LINKS:
            within = within[smallest(_hashes(prepared[side], settings.keys[side], within), MAX_LINKS)]
        queries[side] = within
    groups = {side: grouped(column, n_strata) for side, column in stratum.items()}
    places = {side: _places(prepared[side]) for side in stratum}
    return Records(values, profiles, stratum, groups, links, rows, queries, places)


def _places(table: pa.Table) -> np.ndarray:
    """Return the place of each record in its source, as far as it is known, from 0."""
    if SOURCE_ROW not in table.column_names:
        return np.arange(table.num_rows)
    return np.argsort(np.argsort(table[SOURCE_ROW].to_numpy(), kind="stable"))


def smallest(hashed: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of the smallest hashes, in their order."""
    if len(hashed) > most:
        chosen = np.argpartition(hashed, most)[:most]
        return chosen[np.argsort(hashed[chosen], kind="stable")]
    return np.argsort(hashed, kind="stable")


def _hashes(table: pa.Table, names: tuple[str, ...], rows: np.ndarray) -> np.ndarray:
    columns = [pc.fill_null(table[name].take(pa.array(rows)), "") for name in names]
    return hashes([column.combine_chunks() for column in columns])


def _values(columns: list[pa.ChunkedArray]) -> Values:
    if not pa.types.is_floating(columns[0].type):
        codes, labels = keys.text_codes(columns)
        by_side = _sides(*(column.astype(np.int32) for column in codes))
        return Values(None, by_side, None, len(labels))
    return of_numbers(*(column.to_numpy() for column in columns))


def of_numbers(*numbers: np.ndarray) -> Values:
    """Return the values of a variable from the numbers of both files."""
    present = [column[~np.isnan(column)] for column in numbers]
    fifths = cut(list(numbers), quantiles(present[0], FIFTHS))
    both = np.sort(np.concatenate(present))
    places = (
        np.where(np.isnan(column), np.nan, np.searchsorted(both, column) / max(len(both), 1)).astype(np.float32)
        for column in numbers
    )
    return Values(_sides(*numbers), _sides(*fifths), _sides(*places), FIFTHS)


def _profiles(columns: list[pa.ChunkedArray]) -> Values:
    codes, n = profile_codes(columns)
    return Values(None, _sides(*(column.astype(np.int32) for column in codes)), None, n)


def _sides(puf: np.ndarray, eif: np.ndarray) -> dict[str, np.ndarray]:
    return {"puf": puf, "eif": eif}


def quantiles(values: np.ndarray, classes: int) -> np.ndarray:
    """Return the upper ends of all but the last of some classes of equal size; empty without a value."""
    if not len(values):
        return np.empty(0)
    return np.quantile(values, np.arange(1, classes) / classes, method="inverted_cdf")


def cut(columns: list[np.ndarray], points: np.ndarray) -> list[np.ndarray]:
    """Return the class of each number, -1 where it is missing; int32."""
    return [np.where(np.isnan(column), -1, np.searchsorted(points, column)).astype(np.int32) for column in columns]
