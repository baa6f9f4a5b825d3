"""Minimal sample uniques size by size, of files with many of them (METHODS §7).

A set is a minimal sample unique (MSU) of a record if the record is alone in its cell, and in none of the cells of
the sets without one of the variables. The search of a size therefore asks, of each record that is alone on a set,
whether it is unique on a set of the size before; it keeps none of the MSUs, which can be billions. The argument:

- All sets of a size are searched alike, depth first, so that each is met once. Of the size before it is known for
  *every* set and record whether the record is unique, minimal or not: a bit for each cell or, where a set has more
  cells than the file has records, for each record.
- A value that only one record has is an MSU of size 1. It is in no MSU of another size, and separates no other records,
  so that it is a missing value from then on. No record is then unique on one variable.
- Where the variables have few values, `suda_pairs` searches all pairs of values of a cell at once, and the bits are of
  cells: a matrix for each cell of all variables of the set but two. Otherwise `suda_sizes` searches record by record.
- Bits are asked for only of sets whose *last* variable, the one with the least information, is that of the set
  searched. Sets are hence searched in groups by last variable, if the bits of all do not fit into memory; and if those
  of one variable do not, in blocks of records that may be unique, while all others only count.

Threads count for themselves, and counts are added: the result does not depend on their number, nor on groups and
blocks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from math import comb
from threading import Lock

import numpy as np

from reident.kernels import suda_pairs, suda_rows, suda_sizes
from reident.kernels.bits import WORD
from reident.kernels.cells import drop_copies
from reident.kernels.coding import entropy, frequencies, recode
from reident.kernels.suda_counts import MinimalUniques, none_yet
from reident.kernels.suda_pairs import Values
from reident.kernels.suda_rows import MAX_SIZE, MAX_VARIABLES, File, Job, Order, Tally, Uniques

Progress = Callable[[float], None]

MAX_SETS = 300_000_000
"""Sets of the largest size: where each row of bits begins is kept for all sets of one variable less."""

_ROW_BYTES = 1 << 30
"""Approximate memory of the bits of a group."""

_MAX_VALUES, _MAX_SPACE, _MAX_GROUPS = 4096, 16, 4
"""Up to which values of all variables, bits of the matrices for each set and record, and groups of last variables
`suda_pairs` searches, which is then faster, and otherwise `suda_sizes`."""

_TASKS = 256
"""Tasks of a size, about: sets that begin with the same variable, and go on with the same ones."""

_NO_SET = np.uint64(2**64 - 1)
"""Greater than the positions of every set."""

_NOTHING = Uniques(np.zeros(0, np.int64), np.zeros(0, np.uint64))


def largest_order(v: int) -> int:
    """Return the largest size of a set for which the sets of v variables can be searched; 0 for too many variables."""
    if v > MAX_VARIABLES:
        return 0
    return next(size for size in range(MAX_SIZE, 0, -1) if comb(v, min(size, v // 2)) <= MAX_SETS)


def minimal_uniques(
    codes: np.ndarray, most: int, threads: int, progress: Progress | None = None
) -> MinimalUniques:
    """Count the minimal sample uniques of at most ``most`` variables, which is at most :func:`largest_order`.

    See `suda.minimal_uniques`, which describes what is returned.
    """
    counts = [frequencies(column) for column in codes.T]
    result = none_yet(len(codes), most, [len(count) for count in counts])
    _single_values(codes, counts, result)
    shared = [count > 1 for count in counts]
    variables = [j for j in range(codes.shape[1]) if shared[j].any()]
    variables.sort(key=lambda j: entropy(counts[j][shared[j]]))
    if most > 1 and len(variables) > 1:
        _Search(codes, shared, variables, result, threads, progress).run(min(most, len(variables)))
    return result


def _single_values(codes: np.ndarray, counts: list[np.ndarray], result: MinimalUniques) -> None:
    """Note the sets of one variable: the values that one record has."""
    for j, count in enumerate(counts):
        alone = np.flatnonzero((codes[:, j] >= 0) & (np.append(count, 0)[codes[:, j]] == 1))
        result.counts[alone, 1] += 1
        result.by_level[j][codes[alone, j], 1] = 1
        first = alone[result.order[alone] == 0]
        result.order[first] = 1
        result.variables[first, j // WORD] = np.uint64(1) << np.uint64(j % WORD)


class _Search:
    """The search for sets of two variables and more."""

    def __init__(
        self,
        codes: np.ndarray,
        shared: list[np.ndarray],
        variables: list[int],
        result: MinimalUniques,
        threads: int,
        progress: Progress | None,
    ) -> None:
        levels = np.array([shared[j].sum() for j in variables], np.int64)
        numbers = [recode(codes[:, j], shared[j], int(levels.max())) for j in variables]
        self.records, self.n = drop_copies(np.stack(numbers[::-1], axis=1))
        columns = np.stack([column[self.records] for column in numbers])
        begins = np.concatenate([[0], np.cumsum(levels)])
        self.file = File(
            np.ascontiguousarray(columns.T), columns, levels, begins, np.array(variables, np.uint64)
        )
        self.places = [np.flatnonzero(shared[j]) for j in variables]
        self.least = np.full(len(self.records), _NO_SET)
        self.result, self.threads, self.progress = result, threads, progress
        self.done, self.total = 0.0, 1.0
        self.matrix: suda_pairs.Matrix | None = None

    def run(self, most: int) -> None:
        """Search all sets of at most ``most`` variables, and add their counts to the result."""
        v = len(self.file.levels)
        ranks = np.array([[comb(a, b) for b in range(most + 1)] for a in range(v + 1)], np.int64)
        groups, block = self._plan_matrices(most), max(self.n, 1)
        by_pairs = bool(groups)
        if not by_pairs:
            block, groups = self._plan(most, ranks)
        firsts = range(0, self.n, block)
        self.total = float(len(firsts) * ranks[v, 2:].sum())
        for first in firsts:
            for low, high in groups:
                known = _NOTHING
                if by_pairs:
                    self.matrix = suda_pairs.matrix(self.file.levels, low, high)
                for size in range(2, most + 1):
                    n, found = min(block, self.n - first), _NOTHING
                    if size < most:
                        found = self._empty_uniques(n, size, low, high, ranks)
                    order = self.result.order[self.records[first : first + n]]
                    job = Job(size, size == most, low, high, n, ranks, known, found, order)
                    self._search(job, first)
                    known = found
        self._name_sets()

    def _empty_uniques(self, n: int, size: int, low: int, high: int, ranks: np.ndarray) -> Uniques:
        """Allocate the bits that tell who is unique on the sets of a size."""
        if self.matrix is not None:
            return suda_pairs.empty_matrices(self.file.levels, self.matrix, size, ranks)
        begins, words = suda_rows.layout(self.file.levels, n, size, low, high, ranks)
        return Uniques(begins, np.zeros(words.sum(), np.uint64))

    def _plan_matrices(self, most: int) -> list[tuple[int, int]]:
        """Return the groups of last variables whose matrices fit into memory; none if there would be too many."""
        levels, groups, low = self.file.levels, list[tuple[int, int]](), 0
        v = len(levels)

        def words(low: int, high: int) -> int:
            return max(suda_pairs.words_of_all(levels, low, high, size) for size in range(2, max(most, 3)))

        if levels.sum() > _MAX_VALUES or words(0, v) * WORD > _MAX_SPACE * self.n * comb(v, most - 1):
            return []
        while low < v - 1:
            high = low + bisect_left(
                range(low + 1, v + 1), True, key=lambda e: words(low, e) * 8 > _ROW_BYTES
            )
            if high == low or len(groups) == _MAX_GROUPS:
                return []
            groups.append((low, high))
            low = high
        return groups

    def _plan(self, most: int, ranks: np.ndarray) -> tuple[int, list[tuple[int, int]]]:
        """Return the records of a block, and the groups of last variables, whose bits fit into memory."""
        v, block = len(self.file.levels), max(self.n, 1)
        while True:
            words = suda_rows.layout(self.file.levels, block, most - 1, 0, v, ranks)[1]
            if words.max() * 8 <= _ROW_BYTES or block <= WORD:
                break
            block = max(-(-block // 2), WORD)
        groups, low = [], 0
        for e in range(1, v):
            if words[low : e + 1].sum() * 8 > _ROW_BYTES:
                groups.append((low, e))
                low = e
        return block, [*groups, (low, v)]

    def _search(self, job: Job, first: int) -> None:
        """Search the sets of a job, for the block of records that begins with ``first``, in tasks."""
        lock, tasks = Lock(), _tasks(job, len(self.file.levels))
        views: dict[int, tuple[File, Order, Values | None]] = {}

        def work(task: tuple[int, int, int], share: float) -> None:
            variable = task[0] if job.size > 2 else 0
            with lock:
                if variable not in views:
                    views.clear()
                    views[variable] = self._view(variable, first, job)
                view = views[variable]
            file, records, values = view
            n = job.n if values is None else len(file.rows)
            tally = Tally(
                np.zeros(n, np.int32), np.full(n, _NO_SET), np.zeros(self.file.begins[-1], np.int64)
            )
            if self.matrix is None or values is None:
                suda_sizes.search(file, records, job, tally, *task)
            else:
                suda_pairs.search(file, values, self.matrix, records, job, tally, task)
                tally = _by_place(tally, records.places)
            with lock:
                self._add(job.size, first, tally)
                self.done += share
                if self.progress is not None:
                    self.progress(min(self.done / self.total, 1.0))

        with ThreadPoolExecutor(self.threads) as pool:
            futures = [pool.submit(work, *task) for task in tasks]
            try:
                for future in as_completed(futures):
                    future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _view(self, variable: int, first: int, job: Job) -> tuple[File, Order, Values | None]:
        """Return the file in the order of a variable's values, and the block in it."""
        by_value = np.argsort(self.file.columns[variable], kind="stable")
        places = (by_value - first).astype(np.int32)
        inside = (places >= 0) & (places < job.n)
        ids = np.concatenate([np.flatnonzero(inside), np.flatnonzero(~inside)]).astype(np.uint32)
        rows = self.file.rows[by_value]
        file = self.file._replace(rows=rows, columns=np.ascontiguousarray(rows.T))
        values = None
        if self.matrix is not None:
            order = np.append(job.order, 1)[np.minimum(places, job.n)]
            values = suda_pairs.number_values(file, self.matrix, (order == 0) | (order >= job.size))
        return file, Order(ids, places), values

    def _add(self, size: int, first: int, tally: Tally) -> None:
        """Add what a task counted for the block that begins with record ``first``."""
        result = self.result
        at = np.flatnonzero(tally.counts)
        records = self.records[first + at]
        result.counts[records, size] += tally.counts[at]
        for place, begin, end, j in zip(
            self.places, self.file.begins, self.file.begins[1:], self.file.positions, strict=False
        ):
            result.by_level[j][place, size] += tally.by_level[begin:end]
        at = np.flatnonzero(tally.least != _NO_SET)
        records, own = self.records[first + at], first + at
        better = (result.order[records] == 0) | (result.order[records] > size)
        better |= (result.order[records] == size) & (tally.least[at] < self.least[own])
        result.order[records[better]] = size
        self.least[own[better]] = tally.least[at[better]]

    def _name_sets(self) -> None:
        """Write the first smallest sets of more than one variable as bits."""
        own = np.flatnonzero(self.least != _NO_SET)
        own = own[self.result.order[self.records[own]] > 1]
        records = self.records[own]
        for i in range(MAX_SIZE):
            has = self.result.order[records] > i
            position = self.least[own[has]] >> np.uint64(8 * (MAX_SIZE - 1 - i)) & np.uint64(255)
            word = (records[has], (position // WORD).astype(np.int64))
            self.result.variables[word] |= np.uint64(1) << position % np.uint64(WORD)


def _by_place(tally: Tally, places: np.ndarray) -> Tally:
    """Return what was counted for the records in the order of a variable's values, by their place in the file."""
    counts, least = np.empty_like(tally.counts), np.empty_like(tally.least)
    counts[places], least[places] = tally.counts, tally.least
    return tally._replace(counts=counts, least=least)


def _tasks(job: Job, v: int) -> list[tuple[tuple[int, int, int], float]]:
    """Return tasks, each a first variable and the range of the second one, with the number of their sets."""

    def sets(below: int, size: int) -> int:
        """Count the sets of variables below one, whose last one is of the job."""
        return comb(max(below - job.low, 0), size) - comb(max(below - job.high, 0), size)

    tasks = []
    share = sum(sets(j, job.size - 1) for j in range(v)) / _TASKS
    for variable in range(v - 1, job.low + job.size - 2, -1):
        stop, n = variable, 0
        for second in range(variable - 1, job.low + job.size - 3, -1):
            n += sets(second, job.size - 2) if job.size > 2 else second < job.high
            if (n >= share and job.size > 2) or second == job.low + job.size - 2:
                tasks.append(((variable, second, stop), float(n)))
                stop, n = second, 0
    return tasks
