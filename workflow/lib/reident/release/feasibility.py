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

ROUNDS = 6
"""Objectives with random signs, each with its opposite, before counts are solved one by one."""


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

    def holds(self, points: np.ndarray) -> bool:
        """Return whether a point of whole numbers (cells,) satisfies everything."""
        if not ((points >= self.low) & (points <= self.high)).all():
            return False
        sums = self.matrix @ points
        slack = TOLERANCE * np.maximum(1, abs(sums))
        return bool(((sums >= self.row_low - slack) & (sums <= self.row_high + slack)).all())


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


def narrow(system: System, required: Mapping[Cell, int] | None = None) -> dict[Cell, Width]:
    """Prove for every cell that its feasible interval is wide enough, or find the interval.

    Parameters
    ----------
    system : System
    required : mapping of int, optional
        The width that is asked for; a cell that is absent needs none. Without the mapping every interval is found
        exactly.

    Returns
    -------
    dict of Width
        Of every cell of the system. Where the proven width is less than the required one, the interval is exact.

    Raises
    ------
    ValueError
        If no counts satisfy the system.
    """
    if not system.cells:
        return {}
    search = _Search(system)
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
    low, high : int64 (cells,)
        No count outside of these is possible.
    least, most : int64 (cells,)
        The smallest and the largest count of a witness so far.
    """

    def __init__(self, system: System) -> None:
        self.low, self.high = propagate(system)
        self.system = system.with_bounds(self.low, self.high)
        self.by_column = system.matrix.tocsc()
        n = len(system.cells)
        everything = Part(self.system, np.arange(n), None)
        point = everything.solve(np.zeros(n))
        if point is None:
            raise ValueError("the relations between the published counts contradict each other")
        self.point = point
        self.least, self.most = point.copy(), point.copy()
        self.core = np.flatnonzero(system.group < 0)
        self.parts = [everything] if n <= PART else self._parts()

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

    def _part(self, own: np.ndarray) -> Part:
        return Part(self.system, own, self.point, self.by_column)

    def run(self, wanted: np.ndarray) -> None:
        """Look for witnesses until every cell is proven or its interval is exact."""
        order = np.arange(len(wanted))
        quantities = np.unique([cell.quantity for cell in self.system.cells], return_inverse=True)[1]
        objectives: list[Callable[[int], np.ndarray]] = [lambda _: np.ones(len(order))]
        objectives += [
            lambda seed: np.random.default_rng(seed).choice([-1.0, 1.0], quantities.max() + 1)[quantities]
        ] * 2
        objectives += [lambda seed: np.random.default_rng(seed).choice([-1.0, 1.0], len(order))] * ROUNDS
        for seed, objective in enumerate(objectives):
            for part in self.parts:
                open_ones = self._open(wanted)[part.own]
                if open_ones.any():
                    signs = np.where(open_ones, objective(seed)[part.own], 0.0)
                    for sign in (1, -1):
                        self._add(part, part.solve(sign * signs))
        for at in np.flatnonzero(self._open(wanted)):
            self._single(int(at), wanted)

    def _open(self, wanted: np.ndarray) -> np.ndarray:
        """Return which cells are neither proven nor known exactly; bool (cells,)."""
        known = (self.least == self.low) & (self.most == self.high)
        return ~known & (self.most - self.least < wanted)

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
        group = self.system.group[at]
        if not whole:
            near = np.flatnonzero((self.system.group < 0) | (self.system.group == group))
            self._ends(self._part(near), at, is_bound=False)
            if self._open(wanted)[at]:
                self._ends(Part(self.system, near, None, self.by_column), at, is_bound=True, is_witness=False)
            if self._open(wanted)[at]:
                fitting = next((part for part in self.parts if at in part.own), self.parts[0])
                self._ends(fitting, at, is_bound=False)
        if self._open(wanted)[at]:
            everything = self.parts[0] if whole else Part(self.system, np.arange(len(wanted)), None)
            self._ends(everything, at, is_bound=True)

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
