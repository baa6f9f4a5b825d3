"""The suspected pairs of units by a metric that ranks them (METHODS §4.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from reident.kernels.units import Units
    from reident.linkage.metrics.contract import Measure, ScoringContext
    from reident.linkage.unit_pairing import UnitPairing


class RankedUnits(NamedTuple):
    """The suspected pairs of units.

    Attributes
    ----------
    puf, eif : int64 (m,)
        Positions in the pairing.
    level : int64 (m,)
        What pairs are ranked by: that of a pair of records with the same evidence, the lowest first.
    members : int64 (m,)
        How many members count.
    total : int64 (m,)
        The level of the pair itself, times these members.
    ambiguous : bool (n_puf,)
    next_level, n_next : int64 (n_puf,)
        See :class:`reident.kernels.toplist.Pairs`.
    """

    puf: np.ndarray
    eif: np.ndarray
    level: np.ndarray
    members: np.ndarray
    total: np.ndarray
    ambiguous: np.ndarray
    next_level: np.ndarray
    n_next: np.ndarray


def sides(pairing: UnitPairing) -> tuple[Units, Units]:
    """Return both files as the kernels take them."""
    from reident.kernels.units import Units  # compiled code: loaded only where pairs are scored

    puf, eif = (
        Units(records.start, np.repeat(np.arange(len(starts) - 1), np.diff(starts)), *records.own, *records.members)
        for records, starts in zip((pairing.puf, pairing.eif), pairing.starts, strict=True)
    )
    return puf, eif


def nearest(pairing: UnitPairing, measure: Measure, context: ScoringContext) -> RankedUnits:
    """Return the suspected pairs of units at the ranks with at most as many pairs as the context keeps."""
    from reident.kernels import units

    scale = units.Scale(
        measure.norm, measure.factor, len(pairing.variables), measure.threshold, measure.charge, pairing.whole
    )
    pairs = units.nearest(
        *sides(pairing),
        measure.own,
        measure.of_members,
        scale,
        n_strata=pairing.n_strata,
        keep=context.keep,
        threads=context.threads,
        progress=context.progress,
    )
    members = pairing.counted(pairs.puf, pairs.eif)
    total = pairs.level + (members - 1) * measure.threshold
    of_record = pairs.ambiguous, pairs.next_level, pairs.n_next
    return RankedUnits(pairs.puf, pairs.eif, pairs.level, members, total, *of_record)


def in_reach(measure: Measure, v: int, left: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return whether units can be suspected if all but the members left over agree, by these and those that count."""
    from reident.kernels.units import LINEAR, PRIMER

    if measure.norm == LINEAR:
        return np.rint(left * measure.charge) * measure.factor < counted * measure.threshold
    cost = left * measure.charge / counted
    score = np.sqrt(cost) / v if measure.norm == PRIMER else np.sqrt(cost / v)
    return np.rint(score * measure.factor) < measure.threshold


def name_members(pairing: UnitPairing, measure: Measure, pairs: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Return which linked members have their own record in every least-cost assignment of the members of a pair.

    Parameters
    ----------
    pairs : int64 (m, 2)
        Positions of units in the pairing.
    links : int64 (k, 3)
        The place of a pair, and the places of a member of each of its units.

    Returns
    -------
    bool (k,)
    """
    from reident.kernels import unit_assignment

    named, (puf, eif) = np.zeros(len(links), np.bool_), sides(pairing)
    longest = int(max(np.diff(puf.start).max(initial=1), np.diff(eif.start).max(initial=1)))
    scratch = unit_assignment.empty_scratch(longest, measure.own, measure.of_members)
    unit_assignment.name_members(
        measure.of_members, puf, eif, np.ascontiguousarray(pairs), np.ascontiguousarray(links), scratch, named
    )
    return named
