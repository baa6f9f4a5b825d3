"""A new edition together with earlier ones: one system of all that is published (METHODS §11).

The counts of an earlier edition are further counts of the system, under the name of their file with the number of the
edition. Counts that mean the same in both editions differ by at most D, the smallest number that the two allow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from reident.linkage.settings import WHOLE
from reident.release.calls import Calls, limit
from reident.release.cells import ATTACK, CLUSTERS, FILES, SUPPRESSED, Cell, Published
from reident.release.earlier import UNKNOWN, Edition, is_own
from reident.release.feasibility import propagate, witness
from reident.release.linear import ContradictionError, Relation
from reident.release.solver import Program
from reident.release.suppression import BEYOND, Protected, default_weights, protect
from reident.release.system import TOLERANCE, System


class Joined(NamedTuple):
    """A new edition and earlier ones in one system."""

    cells: dict[Cell, Published]  # cells of an earlier edition have the file ``released@1`` …; see :func:`of_edition`
    relations: list[Relation]
    distances: tuple[int, ...]  # D of each earlier edition


def of_edition(cell: Cell, number: int) -> Cell:
    """Return the cell of an earlier edition, counted from 1, under the name that it has in the joint system."""
    return cell._replace(file=f"{cell.file}@{number}")


def edition_of(cell: Cell) -> int:
    """Return the number of the edition of a cell of the joint system, 0 for the new one."""
    return int(cell.file.partition("@")[2] or 0)


def in_strata(cells: Mapping[Cell, Published], strata: Iterable[str]) -> dict[Cell, Published]:
    """Return the cells of an edition, and one without a number for each stratum of each count of the whole study.

    Rank limits that are not in force, and variants, are published of the whole study alone. Where editions have other
    strata, the difference of their totals is that of such hidden cells.
    """
    hidden = Published(SUPPRESSED, None, 0, UNKNOWN)
    totals = [cell for cell in cells if cell.stratum == WHOLE and cell.quantity in ATTACK and cell.file == "released"]
    cells_of_strata = [cell._replace(stratum=label) for cell in totals for label in strata]
    return {**dict.fromkeys(cells_of_strata, hidden), **cells}


def _linked(cells: Iterable[Cell], edition: Edition) -> list[Cell]:
    """Return the cells that mean the same in a new and an earlier edition.

    Cells of the whole study do so only where both editions have the same strata; otherwise the difference of the two
    totals belongs to the strata that one edition lacks.
    """
    cells = set(cells)
    strata = {cell.stratum for cell in cells if is_own(cell)} - {WHOLE}
    same = cells & set(edition.cells)
    if edition.counts_otherwise:
        same = {cell for cell in same if cell.quantity not in (*FILES, *ATTACK, *CLUSTERS)}
    if strata != set(edition.strata):
        same = {cell for cell in same if cell.stratum != WHOLE}
    return sorted(same)


def _join(
    cells: Mapping[Cell, Published],
    relations: Iterable[Relation],
    editions: Sequence[tuple[Edition, Iterable[Relation]]],
    public_counts: Mapping[Cell, int],
) -> Joined:
    """Put a new edition and earlier ones into one system, with the relations that link them."""
    joint, rows = dict(cells), list(relations)
    distances = []
    for number, (edition, edition_rows) in enumerate(editions, start=1):
        others = {of_edition(cell, number): count for cell, count in edition.cells.items()}
        other_rows = [
            row._replace(terms={of_edition(cell, number): factor for cell, factor in row.terms.items()})
            for row in edition_rows
        ]
        pairs = [(cell, of_edition(cell, number)) for cell in _linked(cells, edition)]
        distance = _smallest_distance({**cells, **others}, [*relations, *other_rows], pairs, public_counts)
        joint |= others
        rows += other_rows + _links(pairs, distance)
        distances.append(distance)
    return Joined(joint, rows, tuple(distances))


def _links(pairs: Iterable[tuple[Cell, Cell]], distance: int) -> list[Relation]:
    """Return that the counts of each pair differ by at most a distance."""
    name = f"the editions differ by at most {distance}"
    return [Relation({new: 1.0, old: -1.0}, -distance, distance, name) for new, old in pairs]


def _smallest_distance(
    cells: Mapping[Cell, Published],
    relations: Iterable[Relation],
    pairs: Sequence[tuple[Cell, Cell]],
    public_counts: Mapping[Cell, int],
) -> int:
    """Return the smallest D for which counts that satisfy everything differ by at most D in every pair."""
    if not pairs:
        return 0
    largest = BEYOND * max(
        [100, *public_counts.values(), *(count.high for count in cells.values() if count.high < UNKNOWN)]
    )
    intervals = {cell: (count.low, min(count.high, largest)) for cell, count in cells.items()}
    intervals |= {cell: (count, count) for cell, count in public_counts.items()}
    rows = list(relations)
    system = System(rows, intervals, largest)
    distance = math.ceil(_fractional_distance(system, pairs, largest) - TOLERANCE)
    while True:
        try:
            witness(System([*rows, *_links(pairs, distance)], intervals, largest))
        except ContradictionError:
            if distance >= largest:
                raise
            distance += 1
        else:
            return distance


def _fractional_distance(system: System, pairs: Sequence[tuple[Cell, Cell]], largest: int) -> float:
    """Return the smallest distance of counts that need not be whole numbers."""
    low, high = propagate(system)
    n, m = len(system.cells), len(pairs)
    new, old = (np.array([system.place[pair[side]] for pair in pairs]) for side in (0, 1))
    ones, lines = np.ones(m), np.arange(m)
    places = np.append(lines, lines), np.append(new, old)
    apart = sparse.csr_array((np.append(ones, -ones), places), shape=(m, n))
    column = sparse.csr_array(np.ones((m, 1)))
    none = sparse.csr_array((system.matrix.shape[0], 1))
    infinite = np.full(m, np.inf)
    solution = Program(
        sparse.vstack(
            [sparse.hstack(pair) for pair in ((system.matrix, none), (apart, -column), (apart, column))]
        ).tocsr(),
        np.concatenate([system.row_low, -infinite, np.zeros(m)]),
        np.concatenate([system.row_high, np.zeros(m), infinite]),
    ).smallest(np.append(np.zeros(n), 1.0), np.append(low, 0), np.append(high, largest))
    if solution is None:
        raise ContradictionError
    return float(solution.point[-1])


def protect_jointly(
    cells: Mapping[Cell, Published],
    relations: Iterable[Relation],
    editions: Sequence[tuple[Edition, Iterable[Relation]]],
    public_counts: Mapping[Cell, int],
    required: Callable[[Cell, Published], float],
    progress: Callable[[float], None] | None = None,
) -> Protected:
    """Choose suppressions in a new edition that also protect the counts of earlier ones (METHODS §11).

    Parameters are as in :func:`reident.release.suppression.protect`. `public_counts` may be about cells of earlier
    editions too, under the names of :func:`of_edition`. `required` gives the width that the interval of each count must
    have, earlier ones included; these cannot be suppressed. The audit has the cells of all editions.
    """
    relations, editions = list(relations), [(edition, list(rows)) for edition, rows in editions]
    weights = default_weights(cell for cell in cells if cell not in public_counts)
    published, suppressed, is_least = dict(cells), list[Cell](), True
    joint = _join(published, relations, editions, public_counts)
    needs = {cell: required(cell, count) for cell, count in joint.cells.items()}
    calls = Calls(limit(len(joint.cells)), progress)
    while True:
        open_ones = {cell: weights[cell] for cell in weights if published[cell].text != SUPPRESSED}
        protection = protect(joint.cells, joint.relations, public_counts, needs, open_ones, calls)
        suppressed += protection.suppressed
        is_least &= protection.is_least
        published |= dict.fromkeys(protection.suppressed, Published(SUPPRESSED, None, 0, UNKNOWN))
        after = _join(published, relations, editions, public_counts)
        if after.distances == joint.distances:
            loss = math.fsum(weights[cell] for cell in suppressed)
            return Protected(tuple(sorted(suppressed)), protection.audit, loss, is_least)
        joint = after
