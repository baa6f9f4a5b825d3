"""The members of suspected and confirmed units, and what the sizes of units decide (METHODS §4.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.grouping import MEMBER_LINKS, N_MEMBERS
from reident.linkage import batches
from reident.linkage.links import numbers
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Measure
from reident.linkage.metrics.unit_pairs import in_reach, name_members
from reident.linkage.rates import by_line, shares
from reident.linkage.settings import WHOLE, MemberSettings
from reident.linkage.strata import links_inside, stratum_of_records
from reident.linkage.unit_pairing import SIDES, UnitComparison, UnitPairing

if TYPE_CHECKING:
    from reident.linkage.batches import Source

CLASSES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100)
"""The smallest number of members of each class of sizes."""


class MemberTables(NamedTuple):
    """The counts of members by metric and stratum, and of units by metric and size."""

    members: pd.DataFrame
    sizes: pd.DataFrame


class _Pairs(NamedTuple):
    """The suspected pairs of a metric: which PUF units are suspected and confirmed, and the confirmed pairs."""

    suspected: np.ndarray
    confirmed: np.ndarray
    puf: np.ndarray
    eif: np.ndarray


class _Truth(NamedTuple):
    """The true links inside the strata.

    Attributes
    ----------
    puf, eif : int (k,)
        The units, by row number.
    members : int64 (m, 3) or None
        The place of a link and the linked members of both units; None where links name units alone.
    """

    puf: np.ndarray
    eif: np.ndarray
    members: np.ndarray | None

    def of_pairs(self, puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
        """Return the linked members of pairs that are true links, with the place of the pair; int64 (k, 3)."""
        place = np.full(len(self.puf), -1)
        place[np.searchsorted(numbers(self.puf, self.eif), numbers(puf, eif))] = np.arange(len(puf))
        members = np.empty((0, 3), np.int64) if self.members is None else self.members
        of_pair = place[members[:, 0]]
        chosen = of_pair >= 0
        return np.column_stack([of_pair[chosen], members[chosen, 1], members[chosen, 2]]).astype(np.int64)


def count(
    settings: MemberSettings,
    compared: Mapping[str, Mapping[str, pa.Table]],
    iuf: pa.Table,
    strata: Mapping[str, pa.Table],
    manifest: pd.DataFrame,
    pairs: Mapping[str, Source],
) -> MemberTables:
    """Count the members of suspected and confirmed units, and the units by their size.

    Parameters
    ----------
    compared : mapping
        The tables that metrics compare, ``prepared`` and ``binned``, by side.
    pairs : mapping of Source
        By metric, the suspected pairs by row number, as confirmation leaves them.

    Returns
    -------
    MemberTables
        With the columns that `columns.csv` declares.
    """
    size = {side: compared["prepared"][side][N_MEMBERS].to_numpy().astype(np.int64) for side in SIDES}
    stratum = {side: stratum_of_records(strata[side]) for side in SIDES}
    truth = _truth(iuf, links_inside(iuf, stratum["puf"], stratum["eif"]))
    linked = _distinct(truth.members[:, :2] if truth.members is not None else None, truth.puf, len(size["puf"]))
    members, sizes = [], []
    for metric, scoring in settings.scoring.items():
        found = _read(pairs[metric], len(size["puf"]))
        table = compared[settings.tables[metric]]
        comparison = UnitComparison(scoring.variables, table, strata, len(manifest), scoring.scope)
        lines = np.arange(len(manifest))
        rows = {side: [comparison.rows(side, line) for line in lines.tolist()] for side in SIDES}
        pairing = comparison.pairing(lines, rows["puf"], whole=scoring.members == "all")
        measure = REGISTRY[metric].measure
        if measure is None:
            raise ValueError(f"{metric} compares single records")
        compares = measure(pairing, scoring.options)
        named = None
        if truth.members is not None:
            places = {side: _places(rows[side], len(size[side])) for side in SIDES}
            of_pairs = truth.of_pairs(found.puf, found.eif)
            positions = np.column_stack([places["puf"][found.puf], places["eif"][found.eif]])
            own = name_members(pairing, compares, positions, of_pairs)
            named = _distinct(np.column_stack([of_pairs[own, 0], of_pairs[own, 1]]), found.puf, len(size["puf"]))
        members.append(_member_lines(metric, stratum, manifest, size, found, linked, named))
        reached = _reached(metric, compares, pairing, size, truth)
        sizes.append(_size_lines(metric, size["puf"], found, truth, reached))
    return MemberTables(*(pd.concat(tables, ignore_index=True) for tables in (members, sizes)))


def _truth(iuf: pa.Table, inside: np.ndarray) -> _Truth:
    links = iuf.filter(pa.array(inside))
    members = None
    if set(MEMBER_LINKS) <= set(iuf.column_names):
        of_link = np.repeat(np.arange(len(links)), pc.list_value_length(links[MEMBER_LINKS[0]]).to_numpy())
        columns = (pc.list_flatten(links[name]).to_numpy() for name in MEMBER_LINKS)
        members = np.column_stack([of_link, *columns]).astype(np.int64)
    return _Truth(links["puf"].to_numpy(), links["eif"].to_numpy(), members)


def _read(source: Source, n: int) -> _Pairs:
    """Return the suspected pairs of a metric, read batch by batch."""
    suspected, confirmed = np.zeros(n, bool), np.zeros(n, bool)
    pairs = [np.empty((0, 2), np.int64)]
    for batch in batches.split(source, columns=["puf", "eif", "confirmed"]):
        puf, eif, right = (column.to_numpy() for column in batch.columns)
        suspected[puf] = confirmed[puf[right]] = True
        pairs.append(np.column_stack([puf[right], eif[right]]).astype(np.int64))
    puf, eif = np.concatenate(pairs).T
    order = np.argsort(numbers(puf, eif))
    return _Pairs(suspected, confirmed, puf[order], eif[order])


def _places(rows: list[np.ndarray], n: int) -> np.ndarray:
    """Return the place of each record among those that lie one after another, -1 for none; int64 (n,)."""
    place = np.full(n, -1, np.int64)
    joined = np.concatenate([np.empty(0, np.int64), *rows])
    place[joined] = np.arange(len(joined))
    return place


def _distinct(members: np.ndarray | None, unit: np.ndarray, n: int) -> np.ndarray | None:
    """Return how many different members of each PUF unit are named, each by a place among units and its own place."""
    if members is None:
        return None
    named = np.unique(np.column_stack([unit[members[:, 0]], members[:, 1]]), axis=0)
    return np.bincount(named[:, 0], minlength=n)


def _member_lines(
    metric: str,
    stratum: Mapping[str, np.ndarray],
    manifest: pd.DataFrame,
    sizes: Mapping[str, np.ndarray],
    found: _Pairs,
    linked: np.ndarray | None,
    named: np.ndarray | None,
) -> pd.DataFrame:
    """Return the counts of members of one metric, one line for the whole study and one for each stratum."""
    size = sizes["puf"]
    counts = {
        name: by_line(stratum["puf"], values, len(manifest))
        for name, values in (
            ("n_units", np.ones(len(size), np.int64)),
            ("n_members", size),
            ("n_suspected_members", size * found.suspected),
            ("n_confirmed_members", size * found.confirmed),
            ("n_linked_members", linked),
            ("n_named_members", named),
        )
        if values is not None
    }
    rates = {
        f"{kind}_member_rate": shares(counts[f"n_{kind}_members"], counts["n_members"])
        for kind in ("suspected", "confirmed", "named")
        if f"n_{kind}_members" in counts
    }
    counts["n_eif_members"] = by_line(stratum["eif"], sizes["eif"], len(manifest))
    return pd.DataFrame({"metric": metric, "stratum": [WHOLE, *manifest["stratum"]], **counts, **rates})


def _reached(
    metric: str, compares: Measure, pairing: UnitPairing, size: Mapping[str, np.ndarray], truth: _Truth
) -> np.ndarray:
    """Return whether the sizes of the units of each link let the pair be suspected; bool (k,)."""
    a, b = size["puf"][truth.puf], size["eif"][truth.eif]
    if not REGISTRY[metric].ranked:
        return a == b
    if REGISTRY[metric].weighs:  # members left over count for nothing
        return np.ones(len(a), bool)
    counted = np.maximum(a, b) if pairing.whole else b
    return in_reach(compares, len(pairing.variables), counted - np.minimum(a, b), counted)


def _size_lines(metric: str, size: np.ndarray, found: _Pairs, truth: _Truth, reached: np.ndarray) -> pd.DataFrame:
    """Return the counts of PUF units of one metric by their size."""
    linked, reachable = np.zeros(len(size), bool), np.zeros(len(size), bool)
    linked[truth.puf], reachable[truth.puf[reached]] = True, True
    of_unit = np.searchsorted(CLASSES, size, side="right") - 1
    counts = {
        name: np.bincount(of_unit, values, minlength=len(CLASSES)).astype(np.int64)
        for name, values in (
            ("n_units", None),
            ("n_suspected", found.suspected),
            ("n_confirmed", found.confirmed),
            ("n_linked", linked),
            ("n_out_of_reach", linked & ~reachable),
        )
    }
    lines = pd.DataFrame(
        {"metric": metric, "least": CLASSES, "most": [*(c - 1 for c in CLASSES[1:]), np.nan], **counts}
    )
    return lines[lines["n_units"] > 0]
