"""Pairs of shared sample uniques: alone in the same cell, each in its own file (METHODS §4.1).

Sets are visited depth first, variables with much information first; a cell of a set S is split into cells
of S and one later variable. The search is exact and fast because:

- A cell without a PUF record or without an EIF record that may be unique has no pair, nor have its parts.
- A pair that is alone in a cell of S is alone in the cell of every larger set on which its two records agree. Those
  sets have higher orders, so that S is noted and the cell is finished.
- A record with an exact copy in its own file is never unique; two copies represent all of them.
- In a cell of at most 64 records, a set of records is one word and a split one AND.
- With ``jointly_observed`` a pair has one set, its joint set. At each variable a pair takes one of three branches:
  both records have the variable (split as above), the PUF record misses it, or only the EIF record does. A pair is
  hence met once. Records that are in no pair of a branch stay in its cells to be counted. ``full`` takes only the
  first branch.

A pair met on several sets keeps the first smallest one: this is a minimum over a total order, so that neither the
order of the visits nor the number of threads can change it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Literal

import numpy as np

from reident.kernels import strata, unicity_pairs, unicity_search
from reident.kernels.bits import WORD
from reident.kernels.cells import drop_copies
from reident.kernels.coding import entropy, frequencies, recode
from reident.kernels.strata import Starts
from reident.kernels.toplist import run_all
from reident.kernels.unicity_search import Ranking, Task, UnicityFiles

Sets = Literal["all", "full", "jointly_observed"]
Progress = Callable[[float], None]
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

_NO_TABLE = np.zeros((0, 0), np.int64)

_MAX_PENDING = 8_000_000
"""Pairs that wait before they are merged into those kept: about 100 MB."""


def shared_uniques(
    puf: np.ndarray,
    eif: np.ndarray,
    *,
    sets: Sets = "all",
    max_order: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Pairs:
    """Find the pairs whose records are sample uniques, each of its own file, in the same cell of a set of variables.

    Parameters
    ----------
    puf, eif : int32 (n_puf, v), (n_eif, v)
        Category codes shared by both files, -1 for missing; v at most 64.
    sets : {'all', 'full', 'jointly_observed'}
        All non-empty sets, with an EIF of at most :func:`max_records`; only the set of all variables; for each pair
        the set of variables present in both records.
    max_order : int, optional
        With ``all``: the largest size of a set; by default all sizes.
    threads, progress
        See `toplist.Workers`.

    Returns
    -------
    puf, eif : int64 (m,)
        Positions of the pairs' records, sorted by puf, order, eif; each pair once.
    order : int8 (m,)
        Size of the smallest set on which the two records are unique, 1 … v.
    variables : uint64 (m,)
        The first set of that size (by its tuple of positions): bit j for variable j.

    Notes
    -----
    If a file has no record, or the files no value in common, the result has no pair. Memory grows with the records and
    the pairs returned, not with the sets. Source: METHODS §4.1; Singer and Dajani 2020, §2.1.1.
    """
    v = _check(puf, eif)
    files = _number(puf, eif, every=sets != "all")
    if files is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8), np.zeros(0, np.uint64)
    if sets == "all":
        most = v if max_order is None else min(max_order, v)
        return _all_sets(files, len(puf), len(eif), most, threads, progress)
    return _joint_sets(files, puf, eif, sets == "full", threads, progress)


def forecast(puf: np.ndarray, eif: np.ndarray, max_order: int | None = None, n_records: int = 200) -> float:
    """Forecast how many pairs `shared_uniques` finds over all sets, from those of some PUF records.

    Parameters
    ----------
    puf, eif, max_order
        As there.
    n_records : int
        PUF records whose pairs are counted, evenly spaced in the order of their values; those of the others are as many
        on average. The number is exact if no more PUF records have no copy.

    Returns
    -------
    float
    """
    v = _check(puf, eif)
    files = _number(puf, eif, every=False)
    if files is None or not files.parts[0]:
        return 0.0
    part, n = _sample(files, n_records)
    most = v if max_order is None else min(max_order, v)
    return len(_all_sets(part, len(puf), len(eif), most, 1, None)[0]) * float(files.parts[0]) / n


def _sample(files: UnicityFiles, n: int) -> tuple[UnicityFiles, int]:
    """Return files in which some of the PUF records may be unique and the others only count, and how many may."""
    single, several = files.parts[:2].tolist()
    n = min(n, single)
    chosen = (2 * np.arange(n) + 1) * single // (2 * n)
    order = np.arange(len(files.rows))
    order[: single + several] = np.concatenate([chosen, np.setdiff1d(order[: single + several], chosen)])
    return files._replace(
        rows=files.rows[order],
        columns=np.ascontiguousarray(files.rows[order].T),
        present=files.present[order],
        original=files.original[order],
        parts=np.array([n, single + several - n, *files.parts[2:]], np.int64),
    ), n


def shared_uniques_in_strata(
    puf: np.ndarray,
    eif: np.ndarray,
    starts: Starts,
    *,
    sets: Sets = "all",
    max_order: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Pairs:
    """Return the result of `shared_uniques` for each of many small strata, whose records lie one after another.

    A stratum has at most 64 records and is a cell of the empty set: its records are the bits of one word.
    """
    v = _check(puf, eif)
    if (np.diff(starts.puf) + np.diff(starts.eif)).max(initial=0) > strata.MAX_RECORDS:
        raise ValueError(f"a stratum has more than {strata.MAX_RECORDS} records.")
    most = v if max_order is None else min(max_order, v)
    variables, ranking = np.arange(v), Ranking(np.zeros(v, np.int64), most, 0, False, _NO_TABLE)
    if sets == "all":
        if max_records(v, most) == 0:
            raise ValueError(f"{v} variables are too many for sets up to order {most}.")
        information = [entropy(frequencies(puf[:, j])) + entropy(frequencies(eif[:, j])) for j in range(v)]
        variables = np.argsort(-np.array(information), kind="stable")
        ranking = _ranking(variables, v, most, 0)
    codes = tuple(np.ascontiguousarray(file[:, variables].T, np.int32) for file in (puf, eif))
    kind = {"all": unicity_search.ALL, "full": unicity_search.FULL, "jointly_observed": unicity_search.JOINT}[sets]
    parts: dict[int, tuple[np.ndarray]] = {}

    def work(first: int, end: int) -> None:
        space = np.empty((2 * WORD * WORD, 3), np.int64)
        out, m = unicity_search.strata_pairs(first, end, codes, starts, ranking, kind, space)
        parts[first] = (out[:m].copy(),)

    strata.in_strata(work, starts, threads=threads, progress=progress)
    (pairs,) = strata.join(parts)
    puf_at, eif_at, last = pairs.T
    if sets != "all":
        order, chosen = np.bitwise_count(last.astype(np.uint64)).astype(np.int8), last.astype(np.uint64)
    elif ranking.listed:
        order, chosen = unicity_pairs.decode_lists(last)
    else:
        order, chosen = unicity_pairs.decode(last, v)
    rank = np.lexsort((eif_at, order, puf_at))
    return puf_at[rank], eif_at[rank], order[rank], chosen[rank]


def _check(puf: np.ndarray, eif: np.ndarray) -> int:
    """Return the number of variables; refuse files that differ in it or have too many."""
    v = puf.shape[1]
    if eif.shape[1] != v or v > WORD:
        raise ValueError(
            f"both files must have the same number of variables, at most {WORD}, not {v} and {eif.shape[1]}."
        )
    return v


def max_records(v: int, max_order: int) -> int:
    """Return the size of the largest EIF to try all sets of up to ``max_order`` of v variables: a pair has 64 bits."""
    shift = _shift(v, max_order)
    if max_order <= unicity_pairs.MAX_LISTED:
        shift = min(shift, unicity_pairs.n_sets(v, max_order).bit_length())
    return 2 ** max(64 - shift, 0) - 1


def _shift(v: int, max_order: int) -> int:
    """Return the number of bits of a set's cost."""
    return int((max_order + 1) << v).bit_length()


def _ranking(positions: np.ndarray, v: int, most: int, n_eif: int) -> Ranking:
    """Return how sets of up to ``most`` variables are ranked: as lists where a word does not hold cost and position."""
    shift = _shift(v, most)
    if shift <= 63 and n_eif < 2 ** (64 - shift):
        return Ranking(unicity_pairs.weights(positions, v), most, shift, False, _NO_TABLE)
    shift = unicity_pairs.n_sets(v, most).bit_length()
    return Ranking(np.asarray(positions, np.int64), most, shift, True, unicity_pairs.binomials(v, most))


def _number(puf: np.ndarray, eif: np.ndarray, every: bool) -> UnicityFiles | None:
    """Number categories, records and variables; return None if no pair is possible.

    Variables without a common category are left out unless ``every`` variable is to be kept.
    """
    counts = [(frequencies(puf[:, j]), frequencies(eif[:, j])) for j in range(puf.shape[1])]
    shared = [(p[: len(e)] > 0) & (e[: len(p)] > 0) for p, e in counts]
    levels = np.array([s.sum() for s in shared], np.int64)
    if not levels.any():
        return None
    information = [entropy(p[: len(s)][s]) + entropy(e[: len(s)][s]) for (p, e), s in zip(counts, shared, strict=True)]
    variables = np.argsort(-np.array(information), kind="stable")
    variables = variables if every else variables[levels[variables] > 0]
    bits = np.uint64(1) << np.arange(len(variables), dtype=np.uint64)
    rows, present, original, parts = [], [], [], []
    for codes in (puf, eif):
        numbers = [recode(codes[:, j], shared[j], int(levels.max())) for j in variables]
        records, n_single = drop_copies(np.stack(numbers, axis=1))
        rows.append(np.stack([column[records] for column in numbers], axis=1))
        present.append((codes[np.ix_(records, variables)] >= 0) @ bits)
        original.append(records.astype(np.uint32))
        parts += [n_single, len(records) - n_single]
    both = np.concatenate(rows)
    return UnicityFiles(
        rows=both,
        columns=np.ascontiguousarray(both.T),
        levels=levels[variables],
        present=np.concatenate(present),
        original=np.concatenate(original),
        parts=np.array(parts, np.int64),
        variables=variables,
    )


def _work(task: Task, v: int) -> float:
    """Estimate a task's share of the work: records times the sets that can follow."""
    return float(task.cells[:, 1:].sum()) * (2.0 ** (v - task.first) - 2.0 ** (v - task.stop) + 1)


def _cells_of(files: UnicityFiles, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Return record numbers by value of variable j, and the cells that have records of each file that may be unique."""
    column = files.columns[j]
    base = np.argsort(column, kind="stable").astype(np.uint32)
    part = np.repeat(np.arange(4), files.parts)
    sizes = np.bincount(column * np.int64(4) + part, minlength=4 * int(files.levels.max() + 1)).reshape(-1, 4)
    begins = np.cumsum(sizes.sum(axis=1)) - sizes.sum(axis=1)
    cells = np.column_stack([begins, sizes])[: files.levels[j]]
    return base, cells[(cells[:, 1] > 0) & (cells[:, 3] > 0)]


def _pack(base: np.ndarray, cells: np.ndarray, variable: int, v: int, share: int) -> list[Task]:
    """Make tasks of about ``share`` records: one for each large cell, and small cells together."""
    sizes = cells[:, 1:].sum(axis=1)
    large, small = cells[sizes >= share], cells[sizes < share]
    groups = [large[i : i + 1] for i in range(len(large))]
    number = np.cumsum(small[:, 1:].sum(axis=1)) // share
    groups += np.split(small, np.flatnonzero(np.diff(number)) + 1) if len(small) else []
    return [Task(base, group, variable, variable + 1, v) for group in groups]


def _all_sets(
    files: UnicityFiles, n_puf: int, n_eif: int, max_order: int, threads: int, progress: Progress | None
) -> Pairs:
    """Find the pairs over all sets of at most ``max_order`` variables."""
    v = len(files.levels)
    positions = np.sort(files.variables)
    if n_eif > max_records(v, max_order):
        raise ValueError(f"{n_eif} records with {v} variables are too many for sets up to order {max_order}.")
    ranking = _ranking(np.searchsorted(positions, files.variables), v, max_order, n_eif)
    best = _BestSets(n_puf, ranking.shift)

    def search(task: Task) -> None:
        best.add(*unicity_search.all_sets(files, task, ranking))

    share = max(len(files.rows) // 32, 4096)
    tasks = []
    for j in range(v):
        for task in _pack(*_cells_of(files, j), j, v, share):
            split = task.cells[:, 1:].sum() >= share and j + 2 < v
            tasks += [task._replace(first=k, stop=k + 1) for k in range(j + 1, v)] if split else [task]
    _run(tasks, search, v, threads, progress)
    best.merge()
    if ranking.listed:
        return unicity_pairs.unfold_places(best.start, best.items, ranking.shift, max_order, positions)
    return unicity_pairs.unfold(best.start, best.items, ranking.shift, v, positions)


class _BestSets:
    """The pairs so far, each with its best set; threads add to it concurrently."""

    def __init__(self, n_puf: int, shift: int) -> None:
        self.start, self.items = np.zeros(n_puf + 1, np.int64), np.zeros(0, np.uint64)
        self.shift = shift
        self._pending: list[tuple[np.ndarray, np.ndarray]] = []
        self._lock = Lock()

    def add(self, puf: np.ndarray, items: np.ndarray) -> None:
        """Add pairs; merge the waiting ones when they are many."""
        with self._lock:
            self._pending.append((puf, items))
            if sum(len(puf) for puf, _ in self._pending) >= _MAX_PENDING:
                self.merge()

    def merge(self) -> None:
        """Merge the pairs that wait."""
        if self._pending:
            puf, items = (np.concatenate(arrays) for arrays in zip(*self._pending, strict=True))
            self._pending.clear()
            self.start, self.items = unicity_pairs.merge(self.start, self.items, puf, items, self.shift)


def _run(tasks: list[Task], search: Callable[[Task], None], v: int, threads: int, progress: Progress | None) -> None:
    """Search all tasks, the largest first."""
    weighted = [(partial(search, task), _work(task, v)) for task in tasks]
    run_all(sorted(weighted, key=lambda task: -task[1]), threads, progress)


def _joint_sets(
    files: UnicityFiles, puf: np.ndarray, eif: np.ndarray, complete: bool, threads: int, progress: Progress | None
) -> Pairs:
    """Find the pairs on the variables present in both records; with ``complete`` only where these are all variables."""
    v = len(files.levels)
    parts = [(np.zeros(0, np.uint32), np.zeros(0, np.uint32))]

    def search(task: Task) -> None:
        parts.append(unicity_search.joint_sets(files, task, complete))

    tasks = _pack(*_cells_of(files, 0), 0, v, max(len(files.rows) // 32, 4096))
    if not complete:
        tasks += [Task(*branch, 0, 1, v) for branch in _missing_first(files)]
    _run(tasks, search, v, threads, progress)
    puf_at, eif_at = (np.concatenate(arrays).astype(np.int64) for arrays in zip(*parts, strict=True))
    both = ((puf[puf_at] >= 0) & (eif[eif_at] >= 0)) @ (np.uint64(1) << np.arange(v, dtype=np.uint64))
    order = np.bitwise_count(both).astype(np.int8)
    rank = np.lexsort((eif_at, order, puf_at))
    rank = rank[order[rank] > 0]  # two single records without a common variable make no pair
    return puf_at[rank], eif_at[rank], order[rank], both[rank]


def _missing_first(files: UnicityFiles) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the cell of all records, for pairs that miss variable 0 in the PUF record, and only in the EIF record."""
    c0, c1, c2, c3 = files.parts
    gap = files.present & np.uint64(1) == 0
    puf, eif = np.arange(c0), np.arange(c0 + c1, c0 + c1 + c2)
    branches = []
    for stay, partners in ((gap[puf], np.ones(c2, bool)), (~gap[puf], gap[eif])):
        ids = np.arange(len(gap))
        ids[puf] = np.concatenate([puf[stay], puf[~stay]])
        ids[eif] = np.concatenate([eif[partners], eif[~partners]])
        a, b = stay.sum(), partners.sum()
        if a and b:
            branches.append((ids.astype(np.uint32), np.array([[0, a, c0 + c1 - a, b, c2 + c3 - b]])))
    return branches
