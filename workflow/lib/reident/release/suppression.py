"""Suppressed counts of an edition, chosen so that no other one can be told too closely (METHODS §11).

Fischetti and Salazar-González (2000, 2001): the dual values of the two problems that find the interval of a count bound
its width for every pattern of suppressions. Each such bound is a *cut*; a pattern of least weight that satisfies all
cuts so far is found, audited, and cut off until it protects every count. All cuts hold for every pattern that protects,
so that the last pattern has the least weight of all. A search that spends its solver calls ends otherwise: whole groups
of cells are suppressed, until every count is protected.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from reident.linkage.settings import WHOLE
from reident.release import groups
from reident.release.calls import Calls, limit
from reident.release.cells import Cell, Published
from reident.release.feasibility import MAX_CELLS, Width, narrow, propagate, witness
from reident.release.linear import Relation
from reident.release.solver import Program
from reident.release.system import TOLERANCE, Subsystem, System

DEAR, CHEAP = 10.0, 1.0
"""The weight of a total, and of a stratum or a rank limit that is not in force."""

BEYOND = 4
"""A suppressed count may be up to this many times the largest number of the edition, for all that a reader knows."""

NOISE = 1e-9
"""Reduced costs of less than this are 0."""


class Audit(NamedTuple):
    """The finding of the audit on a count."""

    policy_width: int  # the width that the policy asks for
    required: int  # the same, or the width with all counts of the edition suppressed, if that is less
    width: Width  # the feasible interval, as far as it is proven


class Protected(NamedTuple):
    """The suppressed counts, and the audit of all counts."""

    suppressed: tuple[Cell, ...]  # in sorted order
    audit: dict[Cell, Audit]  # of every published cell, in sorted order
    weight: float  # of the suppressed cells together
    # False where the search ended at its limit, and whole groups of cells are suppressed.
    is_least: bool = True


def default_weights(cells: Iterable[Cell]) -> dict[Cell, float]:
    """Return the weights of cells: totals are dear, strata and rank limits that are not in force cheap."""
    cells = sorted(cells)
    in_force = {
        (cell.file, cell.variant, cell.metric, cell.rank_limit)
        for cell in cells
        if cell.stratum != WHOLE or cell.quantity.startswith("n_single")
    }
    others = {cell[1:4] for cell in cells if cell.rank_limit} & {line[:3] for line in in_force}
    weights = {}
    for cell in cells:
        is_alternative = bool(cell.rank_limit) and cell[1:4] in others and (*cell[1:4], cell.rank_limit) not in in_force
        weights[cell] = CHEAP if cell.stratum != WHOLE or is_alternative else DEAR
    return weights


def protect(
    cells: Mapping[Cell, Published],
    relations: Iterable[Relation],
    public_counts: Mapping[Cell, int],
    required: Mapping[Cell, float],
    weights: Mapping[Cell, float],
    calls: Calls,
    largest: int | None = None,
) -> Protected:
    """Choose the suppressions of least weight that protect every count (METHODS §11).

    Parameters
    ----------
    cells : mapping of Published
        What is published of each count by the rounding rule alone.
    relations : iterable of Relation
    public_counts : mapping of int
        Counts that the public knows exactly. They are neither protected nor suppressed.
    required : mapping of float
        The width that the feasible interval of each count must have; a cell that is absent needs none. Where a count
        is narrower with every count suppressed, that width is required.
    weights : mapping of float
        The loss by suppressing each cell, more than 0; a cell that is absent must not be suppressed.
    calls : Calls
        The solver calls that may be spent.
    largest : int, optional
        The largest number that a suppressed count may be, for all that a reader knows. If absent: well above every
        number of the edition.

    Returns
    -------
    Protected
        The same for every order of the cells and relations.

    Raises
    ------
    ValueError
        If the published counts contradict the relations, or a weight is not positive.
    """
    calls.renew()
    ends = [count.high for count in cells.values() if count.high < 2**53] + list(public_counts.values())
    largest = largest or BEYOND * max([100, *ends])
    intervals = {cell: (count.low, min(count.high, largest)) for cell, count in cells.items()}
    intervals |= {cell: (count, count) for cell, count in public_counts.items()}
    system = System(_in_order(relations), intervals, largest, calls)
    work = _Work(cells, public_counts, required, weights, system, largest)
    while (bad := work.audit()).size:
        if calls.are_spent:
            work.suppress_groups()
            break
        work.cut(bad)
    return work.result()


def unpublished(
    cells: Iterable[Cell], relations: Iterable[Relation], public_counts: Mapping[Cell, int], widths: Mapping[Cell, int]
) -> dict[Cell, Width]:
    """Return how wide the intervals of counts are where no count of the edition is published (METHODS §11.2).

    `widths` has the cells that are asked for, each with the width that is of interest: a wider one need not be proven.
    """
    calls = Calls(limit(len(widths)))
    largest = BEYOND * max([100, *public_counts.values(), *widths.values()])
    intervals = dict.fromkeys(cells, (0, largest)) | {cell: (count, count) for cell, count in public_counts.items()}
    return narrow(System(_in_order(relations), intervals, largest, calls), widths)


def _in_order(relations: Iterable[Relation]) -> list[Relation]:
    return sorted(relations, key=lambda row: (row.name, sorted(row.terms.items()), row.low, row.high))


class _Work:
    """The search for a pattern."""

    def __init__(
        self,
        published: Mapping[Cell, Published],
        public_counts: Mapping[Cell, int],
        required: Mapping[Cell, float],
        weights: Mapping[Cell, float],
        system: System,
        largest: int,
    ) -> None:
        self.published, self.public_counts = published, public_counts
        self.system, self.calls, self.largest = system, system.calls, largest
        n = len(self.system.cells)
        self.weight, self.policy_width = np.full(n, math.inf), np.zeros(n, np.int64)
        for cell in published.keys() - public_counts.keys():
            at = self.system.place[cell]
            self.weight[at] = weights.get(cell, math.inf)
            self.policy_width[at] = math.ceil(min(required.get(cell, 0), self.largest) - TOLERANCE)
        if (self.weight <= 0).any():
            raise ValueError("the weight of a suppression must be positive")
        self.free = np.isfinite(self.weight)
        self.full = self._system(self.free)
        low, high = propagate(self.full)
        self.required = np.minimum(self.policy_width, high - low)
        self.suppressed = np.zeros(n, bool)  # the pattern
        self.by_column = self.system.matrix.tocsc()
        self.cuts: list[sparse.csr_array] = []
        self.final: dict[Cell, Width] = {}
        self.protected: dict[int, bytes] = {}
        self.safe: dict[int, list[np.ndarray]] = {}
        # Cells of one stratum, or totals of one metric, have the same block.
        self.block, self.ties = groups.blocks(self.system), groups.Ties(self.full)
        self.component = self.ties.component
        self.stubborn: set[int] = set()
        self.is_least = True
        self.widths: dict[Cell, Width] = {}
        self.point = witness(self.system)
        # The cells that are not protected where nothing is suppressed; a pattern cannot make others narrow.
        self.doubtful = self._doubtful()

    def _system(self, suppressed: np.ndarray) -> System:
        """Return the system with a pattern of suppressions."""
        low = np.where(suppressed, 0, self.system.low)
        return self.system.with_bounds(low, np.where(suppressed, self.largest, self.system.high))

    def _short(self, system: System, among: np.ndarray | None = None) -> tuple[np.ndarray, dict[Cell, Width]]:
        """Return the positions of cells that are narrower than required, and the widths of all cells."""
        cells = self.system.cells
        places = np.arange(len(cells)) if among is None else among
        widths = narrow(system, {cells[at]: int(self.required[at]) for at in places}, self.point)
        short = [at for at in places if widths[cells[at]].proven < self.required[at]]
        return np.array(short, np.int64), widths

    def _doubtful(self) -> np.ndarray:
        """Return the cells that suppressions must protect; require no more of them than suppressing all gives."""
        doubtful, self.widths = self._short(self.system)
        short = doubtful
        while short.size and not self.calls.are_spent:
            short, widths = self._short(self.full, short)
            before = self.required[short]
            for at in short:
                width = widths[self.system.cells[at]]
                self.required[at] = min(self.required[at], width.outer_high - width.outer_low)
                if width.is_exact:
                    self.required[at] = width.proven
            short = short[self.required[short] < before]
        proven = np.array([self.widths[self.system.cells[at]].proven for at in doubtful], np.int64)
        return doubtful[proven < self.required[doubtful]]

    def audit(self) -> np.ndarray:
        """Return the cells that the pattern does not protect, after cutting it off where that is cheap to prove."""
        if not self.doubtful.size:
            return self.doubtful
        while not self.calls.are_spent and (fresh := self._proofs()):
            self._solve(fresh)
        return self._audit() if self.suppressed.any() else self.doubtful

    def _audit(self) -> np.ndarray:
        """Return the cells that the pattern is not proven to protect, and that further suppressions could widen."""
        short, self.final = self._short(self._system(self.suppressed), self.doubtful)
        return short[self._open()[short]]

    def _open(self) -> np.ndarray:
        """Return the cells that a further suppression could widen; bool (cells,)."""
        return (np.bincount(self.component, self.free & ~self.suppressed) > 0)[self.component]

    def suppress_groups(self) -> None:
        """Suppress the groups of cells that are not proven to be protected, in larger and larger groups: this ends."""
        self.is_least = False
        self.calls.renew()
        for group in groups.levels(self.system.cells):
            while (bad := self._audit()).size:
                more = self.free & np.isin(group, group[bad]) & ~self.suppressed
                if not more.any():
                    break
                self.suppressed |= more

    def cut(self, bad: np.ndarray) -> None:
        """Cut the pattern off for cells that it does not protect."""
        everything, cuts = np.arange(len(self.weight)), []
        self.stubborn |= set(bad.tolist())
        for at in map(int, bad):
            cut = self._proof(at, self._near(at))
            cut = self._proof(at, everything) if cut is None else cut
            cuts.append(self._no_good(at) if cut is None else cut)
        self._solve(cuts)

    def _near(self, at: int) -> np.ndarray:
        """Return the cells of the stratum of a cell, and the totals, in a large system."""
        group = self.system.group
        if len(group) <= MAX_CELLS:
            return np.arange(len(group))
        return np.flatnonzero((group < 0) | (group == group[at]))

    def _proofs(self) -> list[np.ndarray]:
        """Return the cuts that the pattern violates by the relations inside blocks, if there are any."""
        if len(self.weight) <= MAX_CELLS:
            cuts = [self._proof_unless_safe(int(at)) for at in self.doubtful]
            return [cut for cut in cuts if cut is not None]
        proofs, queue = [], self.doubtful
        while queue.size:
            first = np.unique(self.block[queue], return_index=True)[1]
            chosen, queue = queue[first], np.delete(queue, first)
            proofs += self._proofs_of_blocks(chosen)
        return proofs or [cut for at in sorted(self.stubborn) if (cut := self._proof(at, self._near(at))) is not None]

    def _proof_unless_safe(self, at: int) -> np.ndarray | None:
        """Return the cut of a cell that the pattern violates; none if a subset of the pattern was enough before."""
        safe = self.safe.setdefault(at, [])
        if any(not (pattern & ~self.suppressed).any() for pattern in safe):
            return None
        cut = self._proof(at, self._near(at))
        if cut is None:
            safe.append(self.suppressed.copy())
        return cut

    def _proofs_of_blocks(self, chosen: np.ndarray) -> list[np.ndarray]:
        """Return the violated cuts of cells of different blocks, all found at once."""
        group, pattern = self.block, self._system(self.suppressed)
        states = [self.suppressed[group == group[at]].tobytes() for at in chosen]
        chosen = np.array(
            [at for at, state in zip(chosen, states, strict=True) if self.protected.get(int(at)) != state], np.int64
        )
        if not chosen.size:
            return []
        near = np.flatnonzero(np.isin(group, group[chosen]))
        subsystem = Subsystem(pattern, near, None, self.by_column)
        owner = subsystem.keep_groups(group[near])
        objective = np.isin(near, chosen).astype(float)
        duals = [subsystem.duals(sign * objective) for sign in (1.0, -1.0)]
        cuts = []
        for at in map(int, chosen):
            rows = np.flatnonzero(owner == group[at])
            cut = self._cut(at, subsystem.rows[rows], [None if dual is None else dual[rows] for dual in duals])
            if cut is None:
                self.protected[at] = self.suppressed[group == group[at]].tobytes()
            else:
                cuts.append(cut)
        return cuts

    def _proof(self, at: int, near: np.ndarray) -> np.ndarray | None:
        """Return the cut of a cell that the pattern violates, None if the relations among some cells give none."""
        subsystem = Subsystem(self._system(self.suppressed), near, None, self.by_column)
        objective = (near == at).astype(float)
        return self._cut(at, subsystem.rows, [subsystem.duals(sign * objective) for sign in (1.0, -1.0)])

    def _cut(self, at: int, rows: np.ndarray, duals: Sequence[np.ndarray | None]) -> np.ndarray | None:
        """Return the cut that dual values of some relations give, None if the pattern does not violate it.

        The dual values bound the width of the cell by a constant and a gain from each suppression. The gains that are
        needed are at least the shortfall; they are divided by it, and count as 1 at most.
        """
        width, gains, system = 0.0, np.zeros(len(self.weight)), self.system
        for sign, dual in zip((1.0, -1.0), duals, strict=True):
            if dual is None:
                return None
            support = np.flatnonzero(dual)
            lines, values = rows[support], dual[support]
            matrix = system.matrix[lines]
            columns = np.union1d(matrix.indices, at)
            terms = matrix.data * np.repeat(values, np.diff(matrix.indptr))
            reduced = -np.bincount(np.searchsorted(columns, matrix.indices), terms, len(columns))
            reduced[np.searchsorted(columns, at)] += sign
            reduced[abs(reduced) < NOISE] = 0
            ends = np.where(values > 0, system.row_low[lines], system.row_high[lines])
            low, high, up = system.low[columns], system.high[columns], reduced > 0
            width -= float(values @ ends) + float(reduced @ np.where(up, low, high))
            gains[columns] += reduced * np.where(up, low, high - self.largest)
        shortfall = self.required[at] - width
        if shortfall < TOLERANCE:
            return None
        cut = np.where(self.free, np.minimum(gains / shortfall, 1), 0)
        return cut if cut[self.suppressed].sum() < 1 - TOLERANCE else None

    def _no_good(self, at: int) -> np.ndarray:
        """Return the cut that one of few cells must be suppressed: with all the others, a cell is narrow still."""
        near = np.intersect1d(self._near(at), np.flatnonzero(self.component == self.component[at]))
        subsystem, others = Subsystem(self.full, near, None, self.by_column), self.free.copy()
        others[near] = self.suppressed[near]
        if not self._is_narrow(subsystem, at, others):
            return np.where(self.free & ~self.suppressed, 1.0, 0.0)
        # The farthest cells first, which are least likely to matter.
        candidates = np.flatnonzero(self.free & ~others)
        queue = [candidates[np.argsort(-self.ties.distances(at)[candidates], kind="stable")]]
        while queue and not self.calls.are_spent:
            cells = queue.pop()
            more = others.copy()
            more[cells] = True
            if self._is_narrow(subsystem, at, more):
                others = more
            elif len(cells) > 1:
                queue += [cells[len(cells) // 2 :], cells[: len(cells) // 2]]
        return np.where(self.free & ~others, 1.0, 0.0)

    def _is_narrow(self, subsystem: Subsystem, at: int, suppressed: np.ndarray) -> bool:
        """Return whether a cell is proven to be narrower than required with a pattern."""
        system = self._system(suppressed)
        subsystem.low, subsystem.high = system.low[subsystem.positions], system.high[subsystem.positions]
        place = int(np.searchsorted(subsystem.positions, at))
        objective = np.eye(1, len(subsystem.positions), place)[0]
        ends = [subsystem.relax(sign * objective) for sign in (1, -1)]
        if ends[0] is None or ends[1] is None:
            return False
        if math.floor(ends[1][place] + TOLERANCE) - math.ceil(ends[0][place] - TOLERANCE) < self.required[at]:
            return True
        ends = [subsystem.solve(sign * objective, is_exact=True) for sign in (1, -1)]
        if ends[0] is None or ends[1] is None:
            return False
        return bool(ends[1][place] - ends[0][place] < self.required[at])

    def _solve(self, cuts: list[np.ndarray]) -> None:
        """Add cuts, and find the pattern of least weight that satisfies all of them."""
        self.cuts += [sparse.csr_array(cut[None]) for cut in cuts]
        matrix = sparse.vstack(self.cuts, format="csr")
        columns = np.flatnonzero(np.bincount(matrix.indices, minlength=len(self.weight)))
        ends = np.full(matrix.shape[0], 1 - TOLERANCE), np.full(matrix.shape[0], np.inf)
        zeros, ones = np.zeros(len(columns)), np.ones(len(columns))
        program, task = Program(matrix[:, columns], *ends, self.calls), (self.weight[columns], zeros, ones)
        solution = program.smallest(*task, whole=True) or program.smallest(*task, whole=True, presolve=False)
        if solution is None:  # Widths are required that no pattern gives, as a cap is not known exactly.
            self.calls.end()
            return
        self.suppressed = np.zeros(len(self.weight), bool)
        self.suppressed[columns[solution.point > 0.5]] = True

    def result(self) -> Protected:
        """Return the pattern, and the audit of every published cell."""
        cells, widths = self.system.cells, self.widths
        chosen = tuple(cells[at] for at in np.flatnonzero(self.suppressed))
        if chosen:
            widths = self._final()
        audit, is_open = {}, self._open()
        for cell in sorted(self.published):
            at, width = self.system.place[cell], widths[cell]
            # Of a cell that no suppression can widen, the width is the required one, whatever is proven of it.
            required = int(self.required[at] if is_open[at] else min(self.required[at], width.proven))
            audit[cell] = Audit(int(self.policy_width[at]), required, width)
        return Protected(chosen, audit, float(self.weight[self.suppressed].sum()), self.is_least)

    def _final(self) -> dict[Cell, Width]:
        """Return the widths under the final pattern: those that are proven without suppressions hold with them too."""
        system, cells = self._system(self.suppressed), self.system.cells
        widths: dict[Cell, Width] = {}
        if len(cells) <= MAX_CELLS:
            self.calls.renew()
            widths = narrow(system, dict(zip(cells, self.required.tolist(), strict=True)), self.point)
        low, high = propagate(system)
        for at, cell in enumerate(cells):
            if cell not in widths or widths[cell].proven < self.required[at]:
                initial, final = self.widths[cell], self.final[cell]
                ends = min(initial.low, final.low), max(initial.high, final.high)
                widths[cell] = Width(*ends, int(low[at]), int(high[at]))
        return widths
