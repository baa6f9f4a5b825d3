"""How closely the counts behind an edition can be told from everything that is published (METHODS §11).

The counts are the integer points of a system of relations. A *witness* is such a point; two witnesses prove that the
interval of a count is at least as wide as they are apart. Witnesses are checked by whole-number arithmetic, so that no
proof depends on the tolerance of the solver. Large systems are solved in parts: the strata of a part and the totals
move, and the other strata stay as in a first witness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from scipy import optimize, sparse

from reident.linkage.ranking import WHOLE
from reident.release.cells import Cell
from reident.release.linear import Relation

TOLERANCE = 1e-6
PASSES = 60
"""The most passes over all relations in which bounds are drawn closer."""

PART = 3000
"""Counts that are solved at once, about; larger systems are solved in parts."""

ROUNDS = 2
"""Objectives with random signs by quantity, and by cell, each with its opposite, before counts are solved singly."""


class Width(NamedTuple):
    """How wide the feasible interval of a count is.

    Attributes
    ----------
    low, high : int
        The smallest and the largest count of a witness.
    outer_low, outer_high : int
        No count outside of these is possible. Equal to `low` and `high` where the interval is known exactly.
    """

    low: int
    high: int
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


class System:
    """Counts, their intervals, and the relations between them.

    Attributes
    ----------
    cells : list of Cell
        In sorted order.
    place : dict of int
        The position of each cell.
    matrix : scipy.sparse.csr_array (relations, cells)
    row_low, row_high : float64 (relations,)
    low, high : int64 (cells,)
    group : int64 (cells,)
        The number of the stratum of each cell; -1 for the whole study.
    names : list of str
        What the relations say.
    """

    def __init__(self, relations: Iterable[Relation], intervals: Mapping[Cell, tuple[int, int]], largest: int) -> None:
        """Collect a system.

        Parameters
        ----------
        relations : iterable of Relation
        intervals : mapping of (int, int)
            What is published of each cell.
        largest : int
            The end of the interval of a cell that only relations name, well above every published count.
        """
        rows = [relation for relation in relations if relation.terms]
        self.cells = sorted({*intervals, *(cell for row in rows for cell in row.terms)})
        self.place = {cell: at for at, cell in enumerate(self.cells)}
        sizes = [len(row.terms) for row in rows]
        columns = np.fromiter((self.place[cell] for row in rows for cell in row.terms), np.int64, sum(sizes))
        values = np.fromiter((value for row in rows for value in row.terms.values()), float, sum(sizes))
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.matrix = sparse.csr_array((values, columns, starts), shape=(len(rows), len(self.cells)))
        self.matrix.sort_indices()
        self.row_low, self.row_high = (np.array([row[at] for row in rows], float) for at in (1, 2))
        hidden = (0, largest)
        ends = np.array([intervals.get(cell, hidden) for cell in self.cells], np.int64).reshape(-1, 2)
        self.low, self.high = ends[:, 0].copy(), ends[:, 1].copy()
        self.names = [row.name for row in rows]
        strata = {name: at for at, name in enumerate(sorted({cell.stratum for cell in self.cells} - {WHOLE}))}
        self.group = np.array([strata.get(cell.stratum, -1) for cell in self.cells], np.int64)

    def with_bounds(self, low: np.ndarray, high: np.ndarray) -> System:
        """Return the same relations with other intervals."""
        other = object.__new__(System)
        other.__dict__.update(self.__dict__, low=low, high=high)
        return other


def propagate(system: System, passes: int = PASSES) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds that every feasible point respects, drawn closer relation by relation; int64 (cells,) each.

    Raises
    ------
    ValueError
        If the relations contradict each other.
    """
    matrix = system.matrix.tocoo()
    rows, columns, values = matrix.row, matrix.col, matrix.data
    low, high = system.low.astype(float), system.high.astype(float)
    n, m = len(low), system.matrix.shape[0]
    up = values > 0
    for _ in range(passes):
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
            raise ValueError("the relations between the published counts contradict each other")
        if (closer_low == low).all() and (closer_high == high).all():
            break
        low, high = closer_low, closer_high
    return low.astype(np.int64), high.astype(np.int64)


def witness(system: System) -> np.ndarray:
    """Return counts that satisfy a system, away from the ends of their intervals where that is cheap; int64 (cells,).

    Raises
    ------
    ValueError
        If no counts satisfy the system.
    """
    return _Search(system, None).point


def narrow(
    system: System, required: Mapping[Cell, int] | None = None, point: np.ndarray | None = None
) -> dict[Cell, Width]:
    """Prove for every cell that its feasible interval is wide enough, or find the interval.

    Parameters
    ----------
    system : System
    required : mapping of int, optional
        The width that is asked for; a cell that is absent needs none. Without the mapping every interval is found
        exactly.
    point : int64 (cells,), optional
        Counts that satisfy the system, as :func:`witness` returns them.

    Returns
    -------
    dict of Width
        Of every cell of the system. Where the proven width is less than the required one, the interval is exact, or in
        a large system its outer bounds are closer than required.

    Raises
    ------
    ValueError
        If no counts satisfy the system.
    """
    if not system.cells:
        return {}
    search = _Search(system, point)
    search.is_exact = required is None
    wanted = np.full(len(system.cells), np.iinfo(np.int64).max)
    if required is not None:
        wanted = np.array([required.get(cell, 0) for cell in system.cells], np.int64)
    search.run(wanted)
    ends = zip(*(ends.tolist() for ends in (search.least, search.most, search.low, search.high)), strict=True)
    return {cell: Width(*four) for cell, four in zip(system.cells, ends, strict=True)}


class _Search:
    """The search for witnesses.

    Attributes
    ----------
    is_exact : bool
        Whether every interval must be found exactly.
    low, high : int64 (cells,)
        No count outside of these is possible.
    least, most : int64 (cells,)
        The smallest and the largest count of a witness so far.
    """

    def __init__(self, system: System, point: np.ndarray | None) -> None:
        self.is_exact = False
        self.low, self.high = propagate(system)
        self.system = system.with_bounds(self.low, self.high)
        self.by_column = system.matrix.tocsc()
        n = len(system.cells)
        self.everything = everything = Part(self.system, np.arange(n), None)
        self.core = np.flatnonzero(system.group < 0)
        if point is None and n > PART:
            point = self._central()
        if point is None:
            point = everything.solve(np.zeros(n))
        if point is None:
            raise ValueError("the relations between the published counts contradict each other")
        self.point = point
        self.least, self.most = point.copy(), point.copy()
        self.quantity = np.unique([cell.quantity for cell in system.cells], return_inverse=True)[1]
        self.parts = [everything] if n <= PART else self._parts()
        self.loose = [self._loose(part.own) for part in self.parts] if n > PART else []

    def _parts(self) -> list[Part]:
        """Return the strata in parts, each with all totals."""
        sizes = np.bincount(self.system.group[self.system.group >= 0])
        room = max(PART - len(self.core), PART // 2, len(self.core) // 2)
        part_of = (np.cumsum(sizes) - 1) // room
        parts = []
        for number in np.unique(part_of):
            strata = np.flatnonzero(part_of == number)
            own = np.flatnonzero((self.system.group < 0) | np.isin(self.system.group, strata))
            parts.append(self._part(own))
        return parts

    def _central(self) -> np.ndarray | None:
        """Return a witness whose totals are away from the ends of their intervals, so that strata can move both ways."""
        box = Part(self.system, self.core, None, self.by_column).inner_box()
        if box is None:
            return None
        low, high = self.low.copy(), self.high.copy()
        low[self.core], high[self.core] = box
        return Part(self.system.with_bounds(low, high), np.arange(len(low)), None).solve(np.zeros(len(low)))

    def _loose(self, own: np.ndarray) -> Part:
        """Return the strata of a part with the relations inside each stratum alone."""
        part = Part(self.system, own[self.system.group[own] >= 0], None, self.by_column)
        part.keep_groups(self.system.group[part.own])
        return part

    def _part(self, own: np.ndarray) -> Part:
        return Part(self.system, own, self.point, self.by_column)

    def run(self, wanted: np.ndarray) -> None:
        """Look for witnesses until every cell is proven, too narrow for certain, or known exactly."""
        for seed in range(1 + 2 * ROUNDS):
            self._together(wanted, seed)
        if len(self.parts) > 1:
            self._by_stratum(wanted, self._bound)
            self._by_stratum(wanted, self._reach)
        for at in np.flatnonzero(self._open(wanted)):
            self._single(int(at), wanted)

    def _open(self, wanted: np.ndarray) -> np.ndarray:
        """Return which cells need a witness still; bool (cells,).

        In a system of several parts a cell that is too narrow for certain needs none; in a small one its interval is
        found exactly.
        """
        known = (self.least == self.low) & (self.most == self.high)
        if len(self.parts) > 1 and not self.is_exact:
            known |= self.high - self.low < wanted
        return ~known & (self.most - self.least < wanted)

    def _together(self, wanted: np.ndarray, seed: int) -> None:
        """Draw all open cells up and down at once: all alike, by quantity, or each by chance."""
        rng, n = np.random.default_rng(seed), len(wanted)
        signs = np.ones(n)
        if 0 < seed <= ROUNDS:
            signs = rng.choice([-1.0, 1.0], self.quantity.max() + 1)[self.quantity]
        elif seed:
            signs = rng.choice([-1.0, 1.0], n)
        for part in self.parts:
            if (open_ones := self._open(wanted)[part.own]).any():
                for sign in (1, -1):
                    self._add(part, part.solve(sign * np.where(open_ones, signs[part.own], 0.0)))

    def _by_stratum(self, wanted: np.ndarray, solve: Callable[[np.ndarray], None]) -> None:
        """Hand on one open cell of every stratum at a time, until each has been tried."""
        tried = self.system.group < 0
        while len(rest := np.flatnonzero(self._open(wanted) & ~tried)):
            chosen = rest[np.unique(self.system.group[rest], return_index=True)[1]]
            tried[chosen] = True
            solve(chosen)

    def _bound(self, chosen: np.ndarray) -> None:
        """Draw the outer intervals of cells closer by the relations inside their strata."""
        for part in self.loose:
            places = np.flatnonzero(np.isin(part.own, chosen))
            if len(places):
                objective = np.zeros(len(part.own))
                objective[places] = 1.0
                at = part.own[places]
                if (values := part.relax(objective)) is not None:
                    self.low[at] = np.maximum(self.low[at], np.ceil(values[places] - TOLERANCE).astype(np.int64))
                if (values := part.relax(-objective)) is not None:
                    self.high[at] = np.minimum(self.high[at], np.floor(values[places] + TOLERANCE).astype(np.int64))

    def _reach(self, chosen: np.ndarray) -> None:
        """Draw cells of different strata, half of them up and half of them down, so that totals stay in place."""
        signs = np.zeros(len(self.low))
        signs[chosen] = np.where(np.arange(len(chosen)) % 2, 1.0, -1.0)
        for part in self.parts:
            if signs[part.own].any():
                for sign in (1, -1):
                    self._add(part, part.solve(sign * signs[part.own]))

    def _add(self, part: Part, values: np.ndarray | None) -> None:
        """Count a witness: the values of the cells of a part, the others being those of the first witness."""
        if values is not None:
            self.least[part.own] = np.minimum(self.least[part.own], values)
            self.most[part.own] = np.maximum(self.most[part.own], values)

    def _single(self, at: int, wanted: np.ndarray) -> None:
        """Find the interval of one cell: in its part, then beyond its part, then in the whole system."""
        if not self._open(wanted)[at]:
            return
        whole = len(self.parts) == 1
        if not whole:
            near = np.flatnonzero((self.system.group < 0) | (self.system.group == self.system.group[at]))
            self._ends(self._part(near), at, is_bound=False)
            if self._open(wanted)[at]:
                self._ends(Part(self.system, near, None, self.by_column), at, is_bound=True, is_witness=False)
            if self._open(wanted)[at]:
                fitting = next((part for part in self.parts if at in part.own), self.parts[0])
                self._ends(fitting, at, is_bound=False)
        if self._open(wanted)[at]:
            self._ends(self.everything, at, is_bound=True)

    def _ends(self, part: Part, at: int, *, is_bound: bool, is_witness: bool = True) -> None:
        """Solve a part for the smallest and the largest value of a cell."""
        objective = (part.own == at).astype(float)
        place = int(np.flatnonzero(part.own == at)[0])
        for sign in (1, -1):
            if (self.least[at] == self.low[at]) if sign > 0 else (self.most[at] == self.high[at]):
                continue
            values = part.solve(sign * objective, is_exact=True)
            if values is None:
                continue
            if is_witness:
                self._add(part, values)
            if is_bound and sign > 0:
                self.low[at] = max(self.low[at], values[place])
            elif is_bound:
                self.high[at] = min(self.high[at], values[place])


class Part:
    """Some cells of a system, and the relations that they are in.

    Parameters
    ----------
    system : System
    own : int64 (k,)
        The positions of the cells, ascending.
    point : int64 (cells,) or None
        The values of the other cells; None where they are anywhere within their intervals.
    by_column : scipy.sparse.csc_array, optional
        The matrix of the system.
    """

    def __init__(
        self, system: System, own: np.ndarray, point: np.ndarray | None, by_column: sparse.csc_array | None = None
    ) -> None:
        self.own, self.low, self.high = own, system.low[own], system.high[own]
        matrix, low, high = system.matrix, system.row_low, system.row_high
        self.rows = np.arange(matrix.shape[0])
        if len(own) < len(system.cells):
            columns = (matrix.tocsc() if by_column is None else by_column)[:, own]
            self.rows = np.unique(columns.indices)
            matrix = matrix[self.rows]
            inside = np.zeros(len(system.cells), bool)
            inside[own] = True
            entries, owners = matrix.data, np.repeat(np.arange(len(self.rows)), np.diff(matrix.indptr))
            outside = ~inside[matrix.indices]
            least, most = (system.low, system.high) if point is None else (point, point)
            up = entries > 0
            few = entries * np.where(up, least[matrix.indices], most[matrix.indices]) * outside
            many = entries * np.where(up, most[matrix.indices], least[matrix.indices]) * outside
            low = low[self.rows] - np.bincount(owners, many, len(self.rows))
            high = high[self.rows] - np.bincount(owners, few, len(self.rows))
            matrix = columns.tocsr()[self.rows]
        self.matrix, self.row_low, self.row_high = matrix, low, high

    def solve(self, objective: np.ndarray, *, is_exact: bool = False) -> np.ndarray | None:
        """Return a whole-number point with a small objective; None where the solver has none.

        Parameters
        ----------
        objective : float64 (k,)
        is_exact : bool
            Whether the objective must be the smallest one.
        """
        found = self._milp(objective, whole=False)
        if found is None:
            return None
        point = np.rint(found)
        if abs(found - point).max(initial=0) > TOLERANCE or not self._holds(point):
            found = self._milp(objective, whole=True, gap=0.0 if is_exact else 0.02)
            point = np.rint(found) if found is not None else np.zeros(0)
            if found is None or not self._holds(point):
                return None
        return point.astype(np.int64)

    def keep_groups(self, group: np.ndarray) -> np.ndarray:
        """Keep the relations that are inside one group, by the group of each cell; return that of each relation."""
        entries = np.repeat(np.arange(len(self.rows)), np.diff(self.matrix.indptr))
        first, last = np.full(len(self.rows), np.iinfo(np.int64).max), np.full(len(self.rows), -1)
        np.minimum.at(first, entries, group[self.matrix.indices])
        np.maximum.at(last, entries, group[self.matrix.indices])
        rows = np.flatnonzero(first == last)
        self.rows, self.matrix = self.rows[rows], self.matrix[rows]
        self.row_low, self.row_high = self.row_low[rows], self.row_high[rows]
        return first[rows]

    def inner_box(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return intervals inside those of the cells, up to a quarter of the width from each end; int64 (k,) each."""
        k, width = len(self.own), (self.high - self.low).astype(float)
        one = sparse.eye_array(k)
        matrix = sparse.vstack(
            [
                sparse.hstack([self.matrix, sparse.csr_array((len(self.rows), k))]),
                sparse.hstack([one, -one]),
                sparse.hstack([one, one]),
            ]
        )
        infinite = np.full(k, np.inf)
        found = optimize.milp(
            np.concatenate([np.zeros(k), -1 / np.maximum(width, 1)]),
            constraints=[
                optimize.LinearConstraint(
                    matrix,
                    np.concatenate([self.row_low, self.low, -infinite]),
                    np.concatenate([self.row_high, infinite, self.high]),
                )
            ],
            bounds=optimize.Bounds(
                np.concatenate([self.low, np.zeros(k)]), np.concatenate([self.high, width / 4])
            ),
        )
        if found.x is None:
            return None
        room = found.x[k:] + TOLERANCE
        return np.floor(self.low + room).astype(np.int64), np.ceil(self.high - room).astype(np.int64)

    def duals(self, objective: np.ndarray) -> np.ndarray | None:
        """Return the dual values of the relations for the smallest objective, float64 (rows,); None without a solution.

        A value is positive where the lower end of the relation holds the objective up, negative for the upper end.
        """
        exact = self.row_low == self.row_high
        upper, lower = np.isfinite(self.row_high) & ~exact, np.isfinite(self.row_low) & ~exact
        found = optimize.linprog(
            objective,
            A_ub=sparse.vstack([self.matrix[upper], -self.matrix[lower]]),
            b_ub=np.concatenate([self.row_high[upper], -self.row_low[lower]]),
            A_eq=self.matrix[exact],
            b_eq=self.row_low[exact],
            bounds=np.stack([self.low, self.high], axis=1),
            method="highs",
        )
        if found.x is None:
            return None
        values, n = np.zeros(len(self.rows)), int(upper.sum())
        values[exact] = found.eqlin.marginals
        values[upper] += np.minimum(found.ineqlin.marginals[:n], 0)
        values[lower] -= np.minimum(found.ineqlin.marginals[n:], 0)
        return np.where(abs(values) < TOLERANCE / 1000, 0, values)

    def relax(self, objective: np.ndarray) -> np.ndarray | None:
        """Return a point with the smallest objective, whole numbers or not; None where the solver has none."""
        return self._milp(objective, whole=False)

    def _milp(self, objective: np.ndarray, *, whole: bool, gap: float = 0.0) -> np.ndarray | None:
        constraints = (
            [optimize.LinearConstraint(self.matrix, self.row_low, self.row_high)] if len(self.rows) else []
        )
        found = optimize.milp(
            objective,
            constraints=constraints,
            bounds=optimize.Bounds(self.low, self.high),
            integrality=np.full(len(objective), int(whole)),
            options={"mip_rel_gap": gap},
        )
        return found.x

    def _holds(self, point: np.ndarray) -> bool:
        """Return whether a point of whole numbers satisfies everything."""
        if not ((point >= self.low) & (point <= self.high)).all():
            return False
        sums = self.matrix @ point
        slack = TOLERANCE * np.maximum(1, abs(sums))
        return bool(((sums >= self.row_low - slack) & (sums <= self.row_high + slack)).all())
