"""How precisely the published numbers determine the counts behind an edition (METHODS §11).

The counts are the integer points of a system of relations. A *witness* is such a point; two witnesses prove that the
interval of a count is at least as wide as they are apart. Witnesses are checked by whole-number arithmetic, so that no
proof depends on the tolerance of the solver. Large systems are solved as subsystems: the strata of a subsystem and
the totals move, and the other strata stay as in a first witness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from reident.release.cells import Cell
from reident.release.linear import ContradictionError
from reident.release.system import TOLERANCE, Subsystem, System

PASSES = 60
"""The most passes over all relations in which bounds are drawn closer."""

MAX_CELLS = 3000
"""Counts that are solved at once, about; larger systems are solved as subsystems."""

ROUNDS = 2
"""Objectives with random signs by quantity, and by cell, each with its opposite, before counts are solved singly."""


class Width(NamedTuple):
    """The width of the feasible interval of a count."""

    # The smallest and the largest count of a witness.
    low: int
    high: int
    # No count outside of these is possible. Equal to `low` and `high` where the interval is known exactly.
    outer_low: int
    outer_high: int

    @property
    def proven(self) -> int:
        """The width that is proven."""
        return self.high - self.low

    @property
    def is_exact(self) -> bool:
        """Whether the interval is known exactly."""
        return (self.low, self.high) == (self.outer_low, self.outer_high)

    def possible(self, required: int) -> int:
        """Return the proven width if it is the required or the largest possible one; otherwise the outer one."""
        is_known = self.is_exact or self.proven >= required
        return self.proven if is_known else self.outer_high - self.outer_low


def propagate(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds that every feasible point respects, drawn closer relation by relation; int64 (cells,) each.

    Relations that contradict each other are an error.
    """
    matrix = system.matrix.tocoo()
    rows, columns, values = matrix.row, matrix.col, matrix.data
    low, high = system.low.astype(float), system.high.astype(float)
    n, m = len(low), system.matrix.shape[0]
    up = values > 0
    for _ in range(PASSES):
        least = values * np.where(up, low[columns], high[columns])
        most = values * np.where(up, high[columns], low[columns])
        row_least, row_most = (np.bincount(rows, ends, m) for ends in (least, most))
        above = (system.row_high[rows] - row_least[rows] + least) / values
        below = (system.row_low[rows] - row_most[rows] + most) / values
        new_high, new_low = np.full(n, np.inf), np.full(n, -np.inf)
        np.minimum.at(new_high, columns, np.where(up, above, below))
        np.maximum.at(new_low, columns, np.where(up, below, above))
        closer_high = np.minimum(high, np.floor(new_high + TOLERANCE))
        closer_low = np.maximum(low, np.ceil(new_low - TOLERANCE))
        if (closer_low > closer_high).any():
            raise ContradictionError
        if (closer_low == low).all() and (closer_high == high).all():
            break
        low, high = closer_low, closer_high
    return low.astype(np.int64), high.astype(np.int64)


def witness(system: System) -> np.ndarray:
    """Return counts that satisfy a system, away from the ends of their intervals where that is cheap; int64 (cells,).

    It is an error if there are none.
    """
    return _Search(system, None).point


def narrow(
    system: System, required: Mapping[Cell, int] | None = None, point: np.ndarray | None = None
) -> dict[Cell, Width]:
    """Prove for every cell of a system that its feasible interval is wide enough, or find the interval.

    `required` is the width that is asked for; a cell that is absent needs none. Without it, every interval is found
    exactly. `point` are counts that satisfy the system, as :func:`witness` returns them; it is an error if there are
    none.

    Where the proven width is less than the required one, the interval is exact, or in a large system its outer bounds
    are closer than required, or the solver calls are spent.
    """
    if not system.cells:
        return {}
    search = _Search(system, point)
    search.is_exact = required is None
    widths = np.full(len(system.cells), np.iinfo(np.int64).max)
    if required is not None:
        widths = np.array([required.get(cell, 0) for cell in system.cells], np.int64)
    search.run(widths)
    ends = zip(*(ends.tolist() for ends in (search.least, search.most, search.low, search.high)), strict=True)
    return {cell: Width(*four) for cell, four in zip(system.cells, ends, strict=True)}


class _Search:
    """The search for witnesses."""

    def __init__(self, system: System, point: np.ndarray | None) -> None:
        self.is_exact = False  # whether every interval must be found exactly
        self.low, self.high = propagate(system)  # no count outside of these is possible
        self.system = system.with_bounds(self.low, self.high)
        self.by_column = system.matrix.tocsc()
        n = len(system.cells)
        self.everything = everything = Subsystem(self.system, np.arange(n), None)
        self.core = np.flatnonzero(system.group < 0)
        if point is None and n > MAX_CELLS:
            point = self._central()
        if point is None:
            point = everything.solve(np.zeros(n))
        if point is None:
            raise ContradictionError
        self.point = point
        self.least, self.most = point.copy(), point.copy()  # the extreme counts of a witness so far
        self.quantity = np.unique([cell.quantity for cell in system.cells], return_inverse=True)[1]
        self.subsystems = [everything] if n <= MAX_CELLS else self._subsystems()
        self.loose = [self._loose(subsystem.positions) for subsystem in self.subsystems] if n > MAX_CELLS else []

    def _subsystems(self) -> list[Subsystem]:
        """Return subsystems of strata, each with all totals."""
        sizes = np.bincount(self.system.group[self.system.group >= 0])
        room = max(MAX_CELLS - len(self.core), MAX_CELLS // 2, len(self.core) // 2)
        part_of = (np.cumsum(sizes) - 1) // room
        subsystems = []
        for number in np.unique(part_of):
            strata = np.flatnonzero(part_of == number)
            positions = np.flatnonzero((self.system.group < 0) | np.isin(self.system.group, strata))
            subsystems.append(self._subsystem(positions))
        return subsystems

    def _central(self) -> np.ndarray | None:
        """Return a witness whose totals are away from their ends, so that strata can move both ways."""
        box = Subsystem(self.system, self.core, None, self.by_column).inner_box()
        if box is None:
            return None
        low, high = self.low.copy(), self.high.copy()
        low[self.core], high[self.core] = box
        return Subsystem(self.system.with_bounds(low, high), np.arange(len(low)), None).solve(np.zeros(len(low)))

    def _loose(self, positions: np.ndarray) -> Subsystem:
        """Return the strata of a subsystem with the relations inside each stratum alone."""
        subsystem = Subsystem(self.system, positions[self.system.group[positions] >= 0], None, self.by_column)
        subsystem.keep_groups(self.system.group[subsystem.positions])
        return subsystem

    def _subsystem(self, positions: np.ndarray) -> Subsystem:
        return Subsystem(self.system, positions, self.point, self.by_column)

    def run(self, required: np.ndarray) -> None:
        """Look for witnesses until every cell is proven, too narrow for certain, or known exactly."""
        for seed in range(1 + 2 * ROUNDS):
            self._together(required, seed)
        if len(self.subsystems) > 1:
            self._by_stratum(required, self._bound)
            self._by_stratum(required, self._reach)
        for at in np.flatnonzero(self._open(required)):
            self._single(int(at), required)

    def _open(self, required: np.ndarray) -> np.ndarray:
        """Return the cells that need a witness still; bool (cells,).

        In a system of several subsystems a cell that is too narrow for certain needs none; in a small one its
        interval is found exactly. None needs one when the solver calls are spent.
        """
        if self.system.calls.are_spent:
            return np.zeros(len(required), bool)
        is_closed = (self.least == self.low) & (self.most == self.high)
        if len(self.subsystems) > 1 and not self.is_exact:
            is_closed |= self.high - self.low < required
        return ~is_closed & (self.most - self.least < required)

    def _together(self, required: np.ndarray, seed: int) -> None:
        """Draw all open cells up and down at once: all alike, by quantity, or each by chance."""
        rng, n = np.random.default_rng(seed), len(required)
        signs = np.ones(n)
        if 0 < seed <= ROUNDS:
            signs = rng.choice([-1.0, 1.0], self.quantity.max() + 1)[self.quantity]
        elif seed:
            signs = rng.choice([-1.0, 1.0], n)
        for subsystem in self.subsystems:
            if (open_ones := self._open(required)[subsystem.positions]).any():
                for sign in (1, -1):
                    self._add(subsystem, subsystem.solve(sign * np.where(open_ones, signs[subsystem.positions], 0.0)))

    def _by_stratum(self, required: np.ndarray, solve: Callable[[np.ndarray], None]) -> None:
        """Hand on one open cell of every stratum at a time, until each has been tried."""
        tried = self.system.group < 0
        while len(open_cells := np.flatnonzero(self._open(required) & ~tried)):
            chosen = open_cells[np.unique(self.system.group[open_cells], return_index=True)[1]]
            tried[chosen] = True
            solve(chosen)

    def _bound(self, chosen: np.ndarray) -> None:
        """Draw the outer intervals of cells closer by the relations inside their strata."""
        for subsystem in self.loose:
            places = np.flatnonzero(np.isin(subsystem.positions, chosen))
            if len(places):
                objective = np.zeros(len(subsystem.positions))
                objective[places] = 1.0
                at = subsystem.positions[places]
                if (values := subsystem.relax(objective)) is not None:
                    self.low[at] = np.maximum(self.low[at], np.ceil(values[places] - TOLERANCE).astype(np.int64))
                if (values := subsystem.relax(-objective)) is not None:
                    self.high[at] = np.minimum(self.high[at], np.floor(values[places] + TOLERANCE).astype(np.int64))

    def _reach(self, chosen: np.ndarray) -> None:
        """Draw cells of different strata, half of them up and half of them down, so that totals stay in place."""
        signs = np.zeros(len(self.low))
        signs[chosen] = np.where(np.arange(len(chosen)) % 2, 1.0, -1.0)
        for subsystem in self.subsystems:
            if signs[subsystem.positions].any():
                for sign in (1, -1):
                    self._add(subsystem, subsystem.solve(sign * signs[subsystem.positions]))

    def _add(self, subsystem: Subsystem, values: np.ndarray | None) -> None:
        """Count a witness: the values of the cells of a subsystem, the others being those of the first witness."""
        if values is not None:
            self.least[subsystem.positions] = np.minimum(self.least[subsystem.positions], values)
            self.most[subsystem.positions] = np.maximum(self.most[subsystem.positions], values)

    def _single(self, at: int, required: np.ndarray) -> None:
        """Find the interval of one cell: in its subsystem, then beyond it, then in the whole system."""
        if not self._open(required)[at]:
            return
        whole = len(self.subsystems) == 1
        if not whole:
            near = np.flatnonzero((self.system.group < 0) | (self.system.group == self.system.group[at]))
            self._ends(self._subsystem(near), at, is_bound=False)
            if self._open(required)[at]:
                self._ends(Subsystem(self.system, near, None, self.by_column), at, is_bound=True, is_witness=False)
            if self._open(required)[at]:
                fitting = next(
                    (subsystem for subsystem in self.subsystems if at in subsystem.positions), self.subsystems[0]
                )
                self._ends(fitting, at, is_bound=False)
        if self._open(required)[at]:
            self._ends(self.everything, at, is_bound=True)

    def _ends(self, subsystem: Subsystem, at: int, *, is_bound: bool, is_witness: bool = True) -> None:
        """Solve a subsystem for the smallest and the largest value of a cell."""
        objective = (subsystem.positions == at).astype(float)
        place = int(np.flatnonzero(subsystem.positions == at)[0])
        for sign in (1, -1):
            if (self.least[at] == self.low[at]) if sign > 0 else (self.most[at] == self.high[at]):
                continue
            values = subsystem.solve(sign * objective, is_exact=True)
            if values is None:
                continue
            if is_witness:
                self._add(subsystem, values)
            if is_bound and sign > 0:
                self.low[at] = max(self.low[at], values[place])
            elif is_bound:
                self.high[at] = min(self.high[at], values[place])
