"""Comparison patterns: how many pairs agree, differ or miss a value, on every variable at once (METHODS §4.6).

A pattern gives each variable a state. The pairs of every pattern are counted exactly, without looking at them. For a
set S of variables, the pairs that agree on all of S are those of the cells of S, and the missing values of the others
follow from the missing values of the records alone: in a cell, the pairs by the variables that either record misses
are the OR-convolution of both records' counts. These are counts of pairs that agree on S and *at least have values* on
the rest; "differ" follows variable by variable: present, less agreeing, less partly agreeing. A node of the search is
the cells of a set of the first variables; it ends where a cell has no record of one of the files.

Where a file is small, comparing all pairs is faster. All counts are integers, so that both ways, all orders of records
and all numbers of threads give the same.
"""

from collections.abc import Callable, Sequence

import numpy as np

from reident.kernels.coding import compact, frequencies, translate
from reident.kernels.compiling import jit
from reident.kernels.pattern_cells import AGREE, DIFFER, Distinct, States, count_cell, count_pair
from reident.kernels.rows import MISSING, UNSHARED
from reident.kernels.runs import count_missing, group, run_end
from reident.kernels.toplist import in_threads

MAX_PATTERNS = 2**22
"""The largest number of patterns: a table of them takes 32 MiB."""

MAX_PAIRS = 2**62
"""Counts of pairs fit into 64 bits below this number."""

RECORD_NS, PAIR_NS, STATE_NS = 8.0, 1.5, 0.5
"""Nanoseconds for a record and a set of variables, for a pair, and for a variable of a pair.

They influence how fast the result is computed, not the result.
"""

SHARED_VARIABLES = 3
"""The search is divided among threads by what it does with this number of the first variables."""

MIN_PAIRS = 16
"""Cells with at most this number of pairs are compared pair by pair."""

SET, CELLS = 0, 1
"""Kinds of nodes, as in `errorset`."""


def count_patterns(
    puf: np.ndarray,
    eif: np.ndarray,
    *,
    near: Sequence[bool],
    incomplete: Sequence[bool],
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    """Count the pairs of two files by comparison pattern.

    Parameters
    ----------
    puf, eif : int32 (n_puf, v), (n_eif, v)
        Categories, equal in both files where the code is equal, -1 for missing.
    near : sequence of bool (v,)
        Variables whose values agree partly where their codes differ by one.
    incomplete : sequence of bool (v,)
        Variables that may be missing.
    threads : int
        The result does not depend on it.
    progress : callable, optional
        Called now and then with the fraction done.

    Returns
    -------
    int64, one axis per variable
        By the state of each variable: agree, differ, then partly agree and missing, where the variable has them.

    Raises
    ------
    ValueError
        If shapes disagree, a value is missing where none may be, there are more than :data:`MAX_PATTERNS` patterns
        or at least 2^62 pairs.
    """
    v = len(near)
    if puf.ndim != 2 or eif.ndim != 2 or not puf.shape[1] == eif.shape[1] == v == len(incomplete) > 0:
        raise ValueError("puf, eif, near and incomplete must have the same variables, at least one.")
    if any(((puf[:, j] < 0).any() or (eif[:, j] < 0).any()) and not incomplete[j] for j in range(v)):
        raise ValueError("a value is missing in a variable that is declared complete.")
    radix = [2 + bool(near[j]) + bool(incomplete[j]) for j in range(v)]
    if n_patterns(near, incomplete) > MAX_PATTERNS:
        raise ValueError(f"there are more than {MAX_PATTERNS} patterns.")
    if len(puf) * len(eif) >= MAX_PAIRS:
        raise ValueError("there are too many pairs to be counted in 64 bits.")
    if not len(puf) or not len(eif):
        return np.zeros(radix, np.int64)
    order = _by_agreement(puf, eif)
    states, both, masks = _prepare(
        puf[:, order], eif[:, order], [near[j] for j in order], [incomplete[j] for j in order]
    )
    n_puf, n_eif = (len(side.times) for side in both)
    total = np.zeros([radix[j] for j in order], np.int64)
    if n_puf * n_eif * (PAIR_NS + STATE_NS * v) < 2.0**v * (n_puf + n_eif) * RECORD_NS:
        _in_tasks(_compare_all, both, states, masks, n_puf, total, threads, progress)
    else:
        shared = min(SHARED_VARIABLES, v)
        _in_tasks(_search, both, states, masks, 2**shared, total, threads, progress)
        _subtract(total, [near[j] for j in order])
    return np.ascontiguousarray(total.transpose(np.argsort(order)))


def n_patterns(near: Sequence[bool], incomplete: Sequence[bool]) -> int:
    """Return the number of patterns of variables that may agree partly, or be missing."""
    number = 1
    for partly, missing in zip(near, incomplete, strict=True):
        number *= 2 + bool(partly) + bool(missing)
    return number


def _by_agreement(puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
    """Return the variables, those on which two records agree most rarely first; only the speed depends on it."""
    agree = []
    for j in range(puf.shape[1]):
        codes = compact(puf[:, j], eif[:, j])
        counts = [frequencies(column, codes[2]) / len(column) for column in codes[:2]]
        agree.append(counts[0] @ counts[1])
    return np.argsort(agree, kind="stable")


def _prepare(
    puf: np.ndarray, eif: np.ndarray, near: list[bool], incomplete: list[bool]
) -> tuple[States, tuple[Distinct, Distinct], np.ndarray]:
    """Number the categories, and bring equal records of each file together."""
    v = puf.shape[1]
    numbers = np.empty(puf.shape, np.int32), np.empty(eif.shape, np.int32)
    absences = np.zeros(len(puf), np.uint64), np.zeros(len(eif), np.uint64)
    base = np.empty(v + 1, np.int64)
    base[0] = 1 + v
    for j in range(v):
        if near[j]:  # neighbours must keep their distance
            columns, width = [puf[:, j], eif[:, j]], int(max(puf[:, j].max(), eif[:, j].max())) + 1
            shared = np.ones(max(width, 1), bool)
        else:
            *columns, width = compact(puf[:, j], eif[:, j])
            shared = np.logical_and(*(frequencies(column, width) > 0 for column in columns))
        number = base[j] - 1 + np.cumsum(shared)
        base[j + 1] = base[j] + shared.sum()
        for column, unshared, out, bits in zip(columns, (1 + j, UNSHARED), numbers, absences, strict=True):
            table = np.append(np.where(shared, number, unshared), MISSING).astype(np.int32)
            out[:, j] = translate(column, table)
            np.bitwise_or(bits, (column < 0).astype(np.uint64) << np.uint64(j), out=bits)
    masks = np.unique(np.concatenate(absences))
    both = [_distinct(table, bits, masks, base) for table, bits in zip(numbers, absences, strict=True)]
    radix = np.array([2 + bool(a) + bool(b) for a, b in zip(near, incomplete, strict=True)], np.int64)
    stride = np.append(np.cumprod(radix[::-1])[::-1][1:], 1)
    partial = np.where(near, 2, 0)
    missing = np.where(incomplete, radix - 1, 0)
    return States(stride, partial, missing, base), (both[0], both[1]), masks


def _distinct(table: np.ndarray, absent: np.ndarray, masks: np.ndarray, base: np.ndarray) -> Distinct:
    """Bring equal records together."""
    key, used = np.zeros(len(table), np.int64), 1
    for j in range(table.shape[1]):
        width = int(base[j + 1] - base[j]) + 2
        if used * width >= 2**62:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            used = len(table)
        unshared = (table[:, j] == 1 + j) | (table[:, j] == UNSHARED)
        key = key * width + np.where(unshared, width - 1, np.maximum(table[:, j] - (base[j] - 1), 0))
        used *= width
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    mask = np.searchsorted(masks, absent[first]).astype(np.int32)
    return Distinct(np.ascontiguousarray(table[first]), times.astype(np.int64), absent[first], mask)


def _in_tasks(
    count: Callable[..., None],
    both: tuple[Distinct, Distinct],
    states: States,
    masks: np.ndarray,
    n: int,
    total: np.ndarray,
    threads: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Add up the counts of all tasks: integers, whose sum does not depend on the order."""
    parts = []

    def work(first: int, end: int) -> None:
        counts = np.zeros(total.size, np.int64)
        count(first, end, both[0], both[1], states, masks, counts)
        parts.append(counts)

    block = 1 if count is _search else max(1, -(-n // (4 * threads)))
    in_threads(work, n, block=block, threads=threads, progress=progress)
    for counts in parts:
        total += counts.reshape(total.shape)


def _subtract(total: np.ndarray, near: list[bool]) -> None:
    """Turn "present" into "differ": less the pairs that agree, and those that agree partly."""
    for j, partly in enumerate(near):
        axis = np.moveaxis(total, j, 0)
        axis[DIFFER] -= axis[AGREE]
        if partly:
            axis[DIFFER] -= axis[2]


@jit
def _compare_all(first, end, puf, eif, states, _, counts):
    """Count all pairs of the PUF records first to end - 1 by their pattern."""
    v = puf.numbers.shape[1]
    n = len(eif.times)
    width = 1024
    columns, at = np.empty((v, width), np.int32), np.empty(width, np.int64)
    for start in range(0, n, width):
        stop = min(start + width, n)
        for r in range(start, stop):
            for j in range(v):
                columns[j, r - start] = eif.numbers[r, j]
        for i in range(first, end):
            at[:] = 0
            for j in range(v):
                g = puf.numbers[i, j]
                stride = states.stride[j]
                missing = states.missing[j] * stride
                column = columns[j]
                if g == MISSING:
                    for x in range(stop - start):
                        at[x] += missing
                elif states.partial[j] == 0:
                    for x in range(stop - start):
                        at[x] += 0 if column[x] == g else (missing if column[x] == MISSING else stride)
                else:
                    partial = states.partial[j] * stride
                    for x in range(stop - start):
                        c = column[x]
                        if c == MISSING:
                            at[x] += missing
                        elif c != g:
                            at[x] += partial if abs(c - g) == 1 else stride
            for x in range(stop - start):
                counts[at[x]] += puf.times[i] * eif.times[start + x]


@jit
def _search(first, _, puf, eif, states, masks, counts):
    """Count the pairs that agree on each set of variables, for the sets whose first variables are the bits of a task.

    ``ps`` and ``es`` are as in `errorset.refine`: a node on top of another reorders only its own ranges. The nodes of a
    variable's cells are on top of the node that leaves the variable out, and need the order by that variable.
    """
    v = len(states.stride)
    shared = min(SHARED_VARIABLES, v)
    ps, es = np.arange(len(puf.times), dtype=np.int32), np.arange(len(eif.times), dtype=np.int32)
    scratch = np.empty((3, max(len(ps), len(es))), np.int32)
    sums = np.zeros((2, len(masks)), np.int64)
    listed = np.empty((2, len(masks)), np.int32)
    nodes = np.empty((5 * v + 5, 8), np.int64)
    nodes[0] = SET, 0, len(ps), 0, len(es), 0, 0, 0
    n = 1
    while n > 0:
        n -= 1
        kind, p, p_stop, e, e_stop, j, at, shift = nodes[n]
        if kind == CELLS:
            state = 0 if shift == 0 else states.partial[j] * states.stride[j]
            while p < p_stop and e < e_stop:
                p_category, e_category = puf.numbers[ps[p], j] + shift, eif.numbers[es[e], j]
                if p_category < e_category:
                    p = run_end(ps, p, p_stop, puf.numbers, j)
                elif p_category > e_category:
                    e = run_end(es, e, e_stop, eif.numbers, j)
                else:
                    p_next = run_end(ps, p, p_stop, puf.numbers, j)
                    e_next = run_end(es, e, e_stop, eif.numbers, j)
                    nodes[n] = CELLS, p_next, p_stop, e_next, e_stop, j, at, shift
                    nodes[n + 1] = SET, p, p_next, e, e_next, j + 1, at + state, 0
                    n += 2
                    break
            continue
        if j == v:
            count_cell(ps[p:p_stop], es[e:e_stop], at, puf, eif, states, masks, sums, listed, counts)
            continue
        if (p_stop - p) * (e_stop - e) <= MIN_PAIRS and j >= shared:
            for x in range(p, p_stop):
                for y in range(e, e_stop):
                    count_pair(ps[x], es[y], j, at, puf, eif, states, counts)
            continue
        if j >= shared or first >> j & 1 == 0:
            nodes[n] = SET, p, p_stop, e, e_stop, j + 1, at + DIFFER * states.stride[j], 0
            n += 1
        if j >= shared or first >> j & 1 == 1:
            group(ps, p, p_stop, puf.numbers, j, states.base, scratch)
            group(es, e, e_stop, eif.numbers, j, states.base, scratch)
            p += count_missing(ps, p, p_stop, puf.numbers, j)
            e += count_missing(es, e, e_stop, eif.numbers, j)
            nodes[n] = CELLS, p, p_stop, e, e_stop, j, at, 0
            n += 1
            if states.partial[j] != 0:
                nodes[n] = CELLS, p, p_stop, e, e_stop, j, at, 1
                nodes[n + 1] = CELLS, p, p_stop, e, e_stop, j, at, -1
                n += 2
