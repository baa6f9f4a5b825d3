"""Links that matching made: right values that they lack, and records without a link that no other resembles.

The records of a link that a join made agree on the variables of the join, whoever they are, and no comparison of links
with strangers shows it (METHODS §1.1). What is compared here is the records without a link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from reident.intake.severity import UNDERSTATES
from reident.linkage.links import among, numbers
from reident.plausibility.conversions import precision
from reident.plausibility.files import joined
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.records import Records, Sides

OTHER = {"puf": "eif", "eif": "puf"}

MIN_VALUES = 30
"""The fewest different numbers of the PUF of a variable that tells records apart."""

SHIFTS = (-7, -5, -3, 3, 5, 7)
"""Steps by which the numbers of the EIF are moved to see how many are equal by chance."""

MIN_EXCESS = 0.1
"""The smallest number of pairs beyond links and chance, as a share of the links; at least :data:`MIN_LINKS`."""

JOINS = ("join", "unique_join", "first_join")
"""Links to every record with equal values, to those that are single with them in both files, or to the first ones."""

MIN_EXPECTED = {"join": 15, "unique_join": 15, "first_join": 2}
"""The fewest records of a file without a link that resemble one of the other by chance, for the links to be a join."""

MIN_SUM, MAX_SHARE = 30, 0.1
"""How many they are of both files together at least, and the share of them that are there at most."""


def check(records: Records) -> Iterator[Finding]:
    """Yield the variables whose single equal values the links lack, and whether the links are a join."""
    yield from _values_without_link(records)
    yield from _joins(records)


def _values_without_link(records: Records) -> Iterator[Finding]:
    links = np.sort(numbers(records.every_link["puf"], records.every_link["eif"]))
    for name, values in records.variables.items():
        if values.numbers is None:
            continue
        own = values.numbers["puf"]
        present = np.unique(own[~np.isnan(own)])
        step = precision(present)
        if len(present) < MIN_VALUES or not step or not len(links):
            continue
        found, *moved = single_equal(values.numbers, records.strata, [shift * step for shift in (0, *SHIFTS)])
        linked = int(among(links, numbers(*found)).sum())
        chance = float(np.mean([len(puf) for puf, _ in moved]))
        excess = len(found[0]) - linked - chance
        is_more = excess - 2 * np.sqrt(chance + 1) > max(MIN_LINKS, MIN_EXCESS * len(links))
        yield Finding(
            name, "values_without_link", excess / len(links), chance, len(found[0]), UNDERSTATES if is_more else ""
        )


def single_equal(columns: Sides, strata: Sides, shifts: Sequence[float]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the records of both files whose number is that of one record of their stratum in each, shift by shift.

    Each shift is added to the numbers of the EIF, which moves none of them past another.
    """
    single = {}
    for side, column in columns.items():
        rows = np.flatnonzero(~np.isnan(column) & (strata[side] >= 0))
        value = np.round(column[rows], 6) + 0.0
        order = np.lexsort((value, strata[side][rows]))
        rows, value = rows[order], value[order]
        stratum = strata[side][rows]
        new = np.r_[True, (value[1:] != value[:-1]) | (stratum[1:] != stratum[:-1]), True]
        alone = (new[1:] & new[:-1])[: len(rows)]
        single[side] = rows[alone], stratum[alone], value[alone]
    (puf, stratum, value), (eif, others, theirs) = single["puf"], single["eif"]
    for shift in shifts:
        moved = np.round(theirs + shift, 6) + 0.0
        both = np.concatenate([stratum, others]), np.concatenate([value, moved])
        order = np.lexsort((both[1], both[0]))
        codes, numbers = both[0][order], both[1][order]
        same = (codes[1:] == codes[:-1]) & (numbers[1:] == numbers[:-1])
        first, second = order[:-1][same], order[1:][same]  # the sort is stable: the PUF comes first
        yield puf[first], eif[second - len(puf)]


def _joins(records: Records) -> Iterator[Finding]:
    """Yield whether the links are those of a join on the variables on which all of them agree.

    Every record with a partner has a link, or every pair of records that are alone with their values is one, or all
    values of both files have one.
    """
    names = exact(records)
    if not names or records.links.n < MIN_LINKS:
        return
    columns = [records.variables[name].numbers or records.variables[name].codes for name in names]
    cells = _cells(records, columns)
    for code in JOINS:
        measured = [resembling(cells, records.every_link, side, code) for side in ("puf", "eif")]
        n, expected = (sum(column) for column in zip(*measured, strict=True))
        if min(one[1] for one in measured) >= MIN_EXPECTED[code] and expected >= MIN_SUM and n <= MAX_SHARE * expected:
            yield Finding("+".join(names), code, n, expected, records.links.n, UNDERSTATES)
            return


def exact(records: Records) -> list[str]:
    """Return the variables on which all links agree exactly."""
    return [name for name, values in records.variables.items() if _all_agree(records, values.codes, values.numbers)]


def _all_agree(records: Records, codes: Sides, values: Sides | None) -> bool:
    puf, eif = ((values or codes)[side][getattr(records.links, side)] for side in ("puf", "eif"))
    return len(puf) > 0 and bool((puf == eif).all()) and (values is not None or bool((puf >= 0).all()))


def _cells(records: Records, columns: list[Sides]) -> Sides:
    """Return the number of the values of each record and of its stratum.

    It is -1 outside the strata, with a value missing, or with a number beyond those of the other file, as where people
    of one age left a panel: no record of the other file can resemble such a record.
    """
    hashed = {side: joined(records, side, columns) for side in OTHER}
    codes = np.unique(np.concatenate(list(hashed.values())), return_inverse=True)[1]
    n = len(hashed["puf"])
    sides = {"puf": codes[:n], "eif": codes[n:]}
    for side, own in sides.items():
        own[records.strata[side] < 0] = -1
        for column in columns:
            values, others = column[side], column[OTHER[side]]
            if values.dtype.kind == "f":
                own[~((values >= np.nanmin(others)) & (values <= np.nanmax(others)))] = -1
            else:
                own[values < 0] = -1
    return sides


def resembling(cells: Sides, links: Sides, side: str, join: str) -> tuple[int, float]:
    """Return how many records without a link have the values of a record of the other file, and how many by chance.

    Chance is the share of the records of their own file that have the values of another one, or of exactly one other,
    at the size of the other file.

    Parameters
    ----------
    cells : int (n,) by side
        The number of the values of each record, -1 for none.
    links : int (k,) by side
        The row numbers of the links.
    side : str
        The file whose records are counted.
    join : str
        One of :data:`JOINS`: of a `unique_join` only those are counted that are single with their values in both files,
        of a `first_join` those whose values no link has.
    """
    width = int(max(cells["puf"].max(initial=0), cells["eif"].max(initial=0))) + 1
    n = {file: np.bincount(cells[file][cells[file] >= 0], minlength=width) for file in OTHER}
    rows = np.flatnonzero(cells[side] >= 0)
    if join == "first_join":
        unlinked = rows[~np.isin(cells[side][rows], cells[side][links[side]])]
    else:
        unlinked = rows[~np.isin(rows, links[side])]
    own, others = n[side][cells[side][unlinked]], n[OTHER[side]][cells[side][unlinked]]
    size = n[OTHER[side]].sum() / max(n[side].sum(), 1)
    twins = own - 1
    if join == "unique_join":
        return int(((own == 1) & (others == 1)).sum()), float((twins == 1).sum()) * min(size, 1) / 3
    by_chance = 1 - (1 - np.minimum(twins > 0, 1 - 1e-9)) ** size if len(twins) else np.zeros(0)
    return int((others > 0).sum()), float(by_chance.sum())
