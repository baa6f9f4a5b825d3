"""Comparison patterns: how many pairs agree, differ or miss a value, on every variable at once (METHODS §4.6).

A pattern gives each variable a state. The pairs of every pattern are counted exactly, and few of them one by one. For a
set S of variables, the pairs that agree on all of S are those of the cells of S, and the missing values of the others
follow from the missing values of the records alone: in a cell, the pairs by the variables that either record misses
are the OR-convolution of both records' counts. These are counts of pairs that agree on S and *at least have values* on
the rest; "differ" follows variable by variable: present, less agreeing, less partly agreeing. A node of the search is
the cells of a set of the first variables; it ends where a cell has no record of one of the files.

Where the pairs of a cell are fewer than what the sets of the remaining variables would look at, they are compared one
by one: their states on the remaining variables are then known, and only those of the first ones are "present". Such
counts are kept apart by the number of the first variables. All counts are integers, so that both ways, all orders of
records and all numbers of threads give the same.
"""

import math
import queue
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from reident.kernels.coding import compact, frequencies, translate
from reident.kernels.pattern_cells import (
    AGREE,
    DIFFER,
    EIF_ONLY,
    MISSING,
    PARTIAL,
    PUF_ONLY,
    SHARED,
    TIMES_BITS,
    Records,
    States,
)
from reident.kernels.pattern_search import PreparedPatterns, search
from reident.kernels.toplist import in_threads

MAX_PATTERNS = 2**22
"""The largest number of patterns: a table of them takes 32 MiB, and each thread has up to seven."""

MAX_PAIRS = 2**62
"""Counts of pairs fit into 64 bits below this number."""

RECORD_NS, PAIR_NS, STATE_NS = 8.0, 1.5, 0.5
"""Nanoseconds for a record and a set of variables, for a pair, and for a variable of a pair.

They influence how fast the result is computed, not the result.
"""

SHARED_VARIABLES = 4
"""The search is divided among threads by what it does with this number of the first variables."""

COMPARED = 5
"""The largest number of depths of the search, beside the first, at which pairs are compared: each needs a table."""

LEAST_TASK_NS = 2.0**24
"""Nanoseconds of work below which it is not divided among threads."""

LEAST_MERGED = 64
"""Ranges with fewer records are not merged."""

WORD = 64


class Tally:
    """The pairs of several pairs of files, such as strata, by comparison pattern.

    Parameters
    ----------
    near : sequence of bool (v,)
        Variables whose values agree partly where their codes differ by one.
    incomplete : sequence of bool (v,)
        Variables that may be missing.
    order : sequence of int (v,), optional
        The variables, those on which two records agree most rarely first: see :func:`by_agreement`. Only the speed
        depends on it.
    threads : int
        The result does not depend on it.

    Raises
    ------
    ValueError
        If shapes disagree, or there are more than :data:`MAX_PATTERNS` patterns.
    """

    def __init__(
        self, near: Sequence[bool], incomplete: Sequence[bool], order: Sequence[int] | None = None, threads: int = 1
    ) -> None:
        v = len(near)
        self._order = list(range(v)) if order is None else list(order)
        if len(incomplete) != v or v == 0 or sorted(self._order) != list(range(v)):
            raise ValueError("near, incomplete and order must have the same variables, at least one.")
        if n_patterns(near, incomplete) > MAX_PATTERNS:
            raise ValueError(f"there are more than {MAX_PATTERNS} patterns.")
        self._near = [bool(near[j]) for j in self._order]
        self._incomplete = [bool(incomplete[j]) for j in self._order]
        self._radix = [2 + a + b for a, b in zip(self._near, self._incomplete, strict=True)]
        self._slots = _slots(v)
        self._tables: queue.SimpleQueue[np.ndarray] = queue.SimpleQueue()
        self._threads, self._pairs = threads, 0

    def add(self, puf: np.ndarray, eif: np.ndarray, progress: Callable[[float], None] | None = None) -> None:
        """Count all pairs of two files.

        Codes are int32 (n, v), equal in both files where the category is equal, -1 for missing where a value may be
        missing. Fewer than 2^62 pairs are counted in all. ``progress`` is called now and then with the fraction done.
        """
        v = len(self._order)
        if puf.ndim != 2 or eif.ndim != 2 or not puf.shape[1] == eif.shape[1] == v:
            raise ValueError("puf and eif must have the same variables as near and incomplete.")
        puf, eif = puf[:, self._order], eif[:, self._order]
        if any(((puf[:, j] < 0).any() or (eif[:, j] < 0).any()) and not self._incomplete[j] for j in range(v)):
            raise ValueError("a value is missing in a variable that is declared complete.")
        self._pairs += len(puf) * len(eif)
        if self._pairs >= MAX_PAIRS:
            raise ValueError("there are too many pairs to be counted in 64 bits.")
        if len(puf) and len(eif):
            self._search(_prepare(puf, eif, self._near, self._radix, self._incomplete), progress)

    def counts(self) -> np.ndarray:
        """Return the counts, int64, one axis per variable.

        By the state of each variable: agree, differ, then partly agree and missing, where the variable has them.
        """
        tables = np.zeros([max(self._slots) + 1, *self._radix], np.int64)
        parts = [self._tables.get() for _ in range(self._tables.qsize())]
        for part in parts:
            tables += part.reshape(tables.shape)
            self._tables.put(part)
        total = tables[self._slots[-1]]
        for j in reversed(range(len(self._near))):  # what is present, less what agrees, fully or partly
            axis = np.moveaxis(total, j, 0)
            axis[DIFFER] -= axis[AGREE]
            if self._near[j]:
                axis[DIFFER] -= axis[PARTIAL]
            if self._slots[j] >= 0:
                total += tables[self._slots[j]]
        return np.ascontiguousarray(total.transpose(np.argsort(self._order)))

    def _search(self, files: PreparedPatterns, progress: Callable[[float], None] | None) -> None:
        """Divide the pairs by PUF records where all of them are compared, the search by its first variables if not."""
        v, n_puf, n_eif = len(self._order), len(files.puf.loads), len(files.eif.loads)
        limits = np.array([RECORD_NS, PAIR_NS, STATE_NS, LEAST_MERGED])
        slots, threads = np.array(self._slots), self._threads

        def work(task: int, shared: int, first: int, end: int) -> None:
            counts = self._table()
            search(task, shared, (first, end), files, slots, limits, counts)
            self._tables.put(counts)

        pairs_ns, sets_ns = n_puf * n_eif * (PAIR_NS + STATE_NS * v), (n_puf + n_eif) * RECORD_NS * 2.0**v
        if pairs_ns < sets_ns:
            block = max(-(-n_puf // (4 * threads)), math.ceil(LEAST_TASK_NS / pairs_ns * n_puf))
            in_threads(partial(work, 0, 0), n_puf, block=block, threads=threads, progress=progress)
        else:
            shared = min(SHARED_VARIABLES, v) if sets_ns >= LEAST_TASK_NS else 0
            in_threads(
                lambda task, _: work(task, shared, 0, n_puf), 2**shared, block=1, threads=threads, progress=progress
            )

    def _table(self) -> np.ndarray:
        """Return tables of integers for one thread alone; their sum does not depend on the order of threads."""
        try:
            return self._tables.get_nowait()
        except queue.Empty:
            return np.zeros((max(self._slots) + 1, int(np.prod(self._radix))), np.int64)


def n_patterns(near: Sequence[bool], incomplete: Sequence[bool]) -> int:
    """Return the number of patterns of variables that may agree partly, or be missing."""
    number = 1
    for partly, missing in zip(near, incomplete, strict=True):
        number *= 2 + bool(partly) + bool(missing)
    return number


def by_agreement(puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
    """Return the variables, those on which two records agree most rarely first; int64 (v,)."""
    agree = []
    for j in range(puf.shape[1]):
        codes = compact(puf[:, j], eif[:, j])
        counts = [frequencies(column, codes[2]) / max(1, len(column)) for column in codes[:2]]
        agree.append(counts[0] @ counts[1])
    return np.argsort(agree, kind="stable")


def _slots(v: int) -> list[int]:
    """Return the table of each depth of the search at which pairs are compared, or cells are counted; -1 for none."""
    step = max(1, -(-(v - SHARED_VARIABLES) // COMPARED))
    depths = [0, *range(SHARED_VARIABLES, v, step), v]
    return [depths.index(j) if j in depths else -1 for j in range(v + 1)]


def _prepare(
    puf: np.ndarray, eif: np.ndarray, near: list[bool], radix: list[int], incomplete: list[bool]
) -> PreparedPatterns:
    """Number the categories, put them into words, and bring equal records of each file together."""
    v = len(near)
    words: list[list[np.ndarray]] = [[], []]
    absences = np.zeros(len(puf), np.uint64), np.zeros(len(eif), np.uint64)
    word, shift, bits = np.empty(v, np.int64), np.empty(v, np.uint64), np.empty(v, np.uint64)
    n_bits = WORD
    for j in range(v):
        both, n_codes = _codes(puf[:, j], eif[:, j], partly=near[j])
        width = (n_codes - 1).bit_length()
        if n_bits + width > WORD:
            n_bits = 0
            for side, codes in zip(words, both, strict=True):
                side.append(np.zeros(len(codes), np.uint64))
        word[j], shift[j], bits[j] = len(words[0]) - 1, n_bits, width
        for side, codes, absent in zip(words, both, absences, strict=True):
            side[-1] |= codes.astype(np.uint64) << np.uint64(n_bits)
            np.bitwise_or(absent, (codes == MISSING).astype(np.uint64) << np.uint64(j), out=absent)
        n_bits += width
    masks = np.unique(np.concatenate(absences))
    records = [_distinct(side, absent, masks) for side, absent in zip(words, absences, strict=True)]
    stride = np.append(np.cumprod(radix[::-1])[::-1][1:], 1).astype(np.int64)
    partly = np.where(near, PARTIAL, 0)
    missing = np.where(incomplete, np.array(radix) - 1, 0)
    states = States(stride, partly, missing, word, shift, bits)
    return PreparedPatterns(states, records[0], records[1], masks)


def _codes(puf: np.ndarray, eif: np.ndarray, *, partly: bool) -> tuple[list[np.ndarray], int]:
    """Return both files' codes of a variable, and how many codes there are; neighbours keep their distance."""
    if partly:
        columns, width = [puf, eif], int(max(puf.max(), eif.max())) + 1
        shared = np.ones(max(width, 1), bool)
    else:
        *columns, width = compact(puf, eif)
        shared = np.logical_and(*(frequencies(column, width) > 0 for column in columns))
    number = SHARED - 1 + np.cumsum(shared)
    both = [
        translate(column, np.append(np.where(shared, number, unshared), MISSING).astype(np.int32))
        for column, unshared in zip(columns, (PUF_ONLY, EIF_ONLY), strict=True)
    ]
    return both, SHARED + int(shared.sum())


def _distinct(words: list[np.ndarray], absent: np.ndarray, masks: np.ndarray) -> Records:
    """Bring equal records together."""
    key, first, times = np.unique(words[0], return_index=True, return_counts=True)
    for further in words[1:]:
        before = np.searchsorted(key, words[0]) if further is words[1] else key
        ranks = np.unique(further, return_inverse=True)[1].astype(np.int64)
        _, first, key, times = np.unique(
            before.astype(np.int64) * (int(ranks.max()) + 1) + ranks,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
    mask = np.searchsorted(masks, absent[first]).astype(np.uint64)
    loads = (mask << np.uint64(TIMES_BITS)) | times.astype(np.uint64)
    return Records(np.stack([word[first] for word in words]), loads)
