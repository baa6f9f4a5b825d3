"""The system of everything that is published, and the subsystem that a solver is given (METHODS §11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from scipy import sparse

from reident.linkage.settings import WHOLE
from reident.release.calls import Calls
from reident.release.cells import Cell
from reident.release.linear import Relation
from reident.release.solver import Program, Solution

TOLERANCE = 1e-6


class System:
    """Counts, their intervals, and the relations between them."""

    def __init__(
        self,
        relations: Iterable[Relation],
        intervals: Mapping[Cell, tuple[int, int]],
        largest: int,
        calls: Calls | None = None,
    ) -> None:
        """Collect the relations of a system, and the bounds of each cell.

        `largest` ends the interval of a cell that only relations name, well above every published count.
        """
        rows = [relation for relation in relations if relation.terms]
        self.cells = sorted({*intervals, *(cell for row in rows for cell in row.terms)})
        self.place = {cell: at for at, cell in enumerate(self.cells)}  # the position of each cell
        sizes = [len(row.terms) for row in rows]
        columns = np.fromiter((self.place[cell] for row in rows for cell in row.terms), np.int64, sum(sizes))
        values = np.fromiter((value for row in rows for value in row.terms.values()), float, sum(sizes))
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.matrix = sparse.csr_array((values, columns, starts), shape=(len(rows), len(self.cells)))
        self.matrix.sort_indices()
        self.row_low, self.row_high = (np.array([row[at] for row in rows], float) for at in (1, 2))
        self.calls = calls or Calls()
        self.program = Program(self.matrix, self.row_low, self.row_high, self.calls)
        hidden = (0, largest)
        ends = np.array([intervals.get(cell, hidden) for cell in self.cells], np.int64).reshape(-1, 2)
        self.low, self.high = ends[:, 0].copy(), ends[:, 1].copy()
        strata = {name: at for at, name in enumerate(sorted({cell.stratum for cell in self.cells} - {WHOLE}))}
        # The number of the stratum of each cell, int64 (cells,); -1 for the whole study.
        self.group = np.array([strata.get(cell.stratum, -1) for cell in self.cells], np.int64)

    def with_bounds(self, low: np.ndarray, high: np.ndarray) -> System:
        """Return the same relations with other intervals."""
        system = object.__new__(System)
        system.__dict__.update(self.__dict__, low=low, high=high)
        return system


class Subsystem:
    """Some cells of a system, at ascending `positions`, and the relations that they are in.

    The other cells have the values of a `point`, or without one are anywhere within their intervals. `by_column` is the
    matrix of the system.
    """

    def __init__(
        self, system: System, positions: np.ndarray, point: np.ndarray | None, by_column: sparse.csc_array | None = None
    ) -> None:
        self.positions, self.low, self.high = positions, system.low[positions], system.high[positions]
        matrix, low, high, self.calls = system.matrix, system.row_low, system.row_high, system.calls
        self.rows, self.program = np.arange(matrix.shape[0]), system.program
        if len(positions) < len(system.cells):
            columns = (matrix.tocsc() if by_column is None else by_column)[:, positions]
            self.rows = np.unique(columns.indices)
            matrix = matrix[self.rows]
            inside = np.zeros(len(system.cells), bool)
            inside[positions] = True
            entries, owners = matrix.data, np.repeat(np.arange(len(self.rows)), np.diff(matrix.indptr))
            outside = ~inside[matrix.indices]
            least, most = (system.low, system.high) if point is None else (point, point)
            up = entries > 0
            few = entries * np.where(up, least[matrix.indices], most[matrix.indices]) * outside
            many = entries * np.where(up, most[matrix.indices], least[matrix.indices]) * outside
            low = low[self.rows] - np.bincount(owners, many, len(self.rows))
            high = high[self.rows] - np.bincount(owners, few, len(self.rows))
            matrix = columns.tocsr()[self.rows]
            self.program = Program(matrix, low, high, self.calls)
        self.matrix, self.row_low, self.row_high = matrix, low, high

    def solve(self, objective: np.ndarray, *, is_exact: bool = False) -> np.ndarray | None:
        """Return a whole-number point with a small objective, or the smallest; None where the solver has none."""
        solution = self.relax(objective)
        if solution is None:
            return None
        point = np.rint(solution)
        if abs(solution - point).max(initial=0) > TOLERANCE or not self._holds(point):
            whole = self._whole(objective, is_exact=is_exact)
            if whole is None or (is_exact and not whole.is_best):
                return None
            point = np.rint(whole.point)
            if not self._holds(point):
                return None
        return point.astype(np.int64)

    def _whole(self, objective: np.ndarray, *, is_exact: bool) -> Solution | None:
        """Return a whole-number point with a small objective, or the smallest one.

        The solver can err where it simplifies a program of whole numbers: it has found no point where there is one, and
        2 where 0 is possible. What must be right is therefore solved as it is.
        """
        solution, program = None, (objective, self.low, self.high)
        if not is_exact:
            solution = self.program.smallest(*program, whole=True, gap=0.02)
        return solution or self.program.smallest(*program, whole=True, presolve=False)

    def keep_groups(self, group: np.ndarray) -> np.ndarray:
        """Keep the relations that are inside one group, by the group of each cell; return that of each relation."""
        entries = np.repeat(np.arange(len(self.rows)), np.diff(self.matrix.indptr))
        first, last = np.full(len(self.rows), np.iinfo(np.int64).max), np.full(len(self.rows), -1)
        np.minimum.at(first, entries, group[self.matrix.indices])
        np.maximum.at(last, entries, group[self.matrix.indices])
        rows = np.flatnonzero(first == last)
        self.rows, self.matrix = self.rows[rows], self.matrix[rows]
        self.row_low, self.row_high = self.row_low[rows], self.row_high[rows]
        self.program = Program(self.matrix, self.row_low, self.row_high, self.calls)
        return first[rows]

    def inner_box(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return intervals inside those of the cells, up to a quarter of the width from each end; int64 (k,) each."""
        k, width = len(self.positions), (self.high - self.low).astype(float)
        identity = sparse.eye_array(k)
        matrix = sparse.vstack(
            [
                sparse.hstack([self.matrix, sparse.csr_array((len(self.rows), k))]),
                sparse.hstack([identity, -identity]),
                sparse.hstack([identity, identity]),
            ]
        )
        infinite = np.full(k, np.inf)
        box = Program(
            matrix.tocsr(),
            np.concatenate([self.row_low, self.low, -infinite]),
            np.concatenate([self.row_high, infinite, self.high]),
            self.calls,
        )
        solution = box.smallest(
            np.concatenate([np.zeros(k), -1 / np.maximum(width, 1)]),
            np.concatenate([self.low, np.zeros(k)]),
            np.concatenate([self.high, width / 4]),
        )
        if solution is None:
            return None
        room = solution.point[k:] + TOLERANCE
        return np.floor(self.low + room).astype(np.int64), np.ceil(self.high - room).astype(np.int64)

    def duals(self, objective: np.ndarray) -> np.ndarray | None:
        """Return the dual values of the relations for the smallest objective, float64 (rows,); None without a solution.

        A value is positive where the lower end of the relation holds the objective up, negative for the upper end.
        """
        solution = self.program.smallest(objective, self.low, self.high, presolve=False)
        return None if solution is None else np.where(abs(solution.duals) < TOLERANCE / 1000, 0, solution.duals)

    def relax(self, objective: np.ndarray) -> np.ndarray | None:
        """Return a point with the smallest objective, whole numbers or not; None where the solver has none."""
        solution = self.program.smallest(objective, self.low, self.high)
        return None if solution is None else solution.point

    def _holds(self, point: np.ndarray) -> bool:
        """Return whether a point of whole numbers satisfies everything."""
        if not ((point >= self.low) & (point <= self.high)).all():
            return False
        sums = self.matrix @ point
        slack = TOLERANCE * np.maximum(1, abs(sums))
        return bool(((sums >= self.row_low - slack) & (sums <= self.row_high + slack)).all())
