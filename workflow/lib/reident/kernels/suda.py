"""Minimal sample uniques of one file: all of them, counted by record, size, variable and level (METHODS §7).

A set of variables is a *minimal sample unique* (MSU) of a record if the record misses no variable of it, is alone
in its cell among the records that miss none, and is so on no proper subset. What makes the search exact, and fast:

- Variables are numbered so that the one with most information is the highest bit, and sets are visited in
  numeric order, depth first: after a set, those that add a variable below its lowest. So every subset of a set
  is visited before it.
- A record that is alone in its cell at S, and was not in the cell before, has S as an MSU unless a set noted
  for it is a subset of S. It is alone on every larger set too, so it is not searched below S.
- A cell without a record that could be unique is left. A record with an exact copy is never unique; one copy
  stands for all.
- In a cell of at most 64 records a set of records is one word, and a split one AND. A record is left where no
  variable still to come sets it apart from somebody, and where some variable has become needless: it sets
  nobody apart whom the others do not.

Records are searched in blocks that share nothing: those of the block are to be found, all others only count. So
the result does not depend on threads, and the sets noted, which can be many, are held for few records at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import pairwise
from math import comb
from threading import Lock
from typing import NamedTuple

import numpy as np

from reident.kernels import suda_search
from reident.kernels.bits import WORD
from reident.kernels.cells import drop_copies
from reident.kernels.coding import entropy, frequencies, recode
from reident.kernels.suda_search import Block

MOST_VARIABLES = 57
_LEAST = 1 << 12
"""Records of a block at least: each block splits the large cells anew."""
_BYTES = 1 << 28
"""What the sets of a block's records shall take, about."""
_PAGE_BYTES = suda_search.PAGE * 8


class MinimalUniques(NamedTuple):
    """All minimal sample uniques of a file, counted.

    Attributes
    ----------
    counts : int32 (n, max_order + 1)
        MSUs of each record by size; column 0 is 0.
    order : int8 (n,)
        Size of each record's smallest MSU; 0 where it has none.
    variables : uint64 (n,)
        The first smallest MSU (by its tuple of positions): bit j for variable j.
    by_level : list of int64 (codes, max_order + 1)
        For each variable, by code: the MSUs by size that hold the variable, of the records with that code.
    """

    counts: np.ndarray
    order: np.ndarray
    variables: np.ndarray
    by_level: list[np.ndarray]


def minimal_uniques(
    codes: np.ndarray,
    *,
    max_order: int | None = None,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> MinimalUniques:
    """All minimal sample uniques of every record.

    Parameters
    ----------
    codes : int32 (n, v)
        Category codes 0, 1, …; -1 for missing: the record takes no part in sets with that variable.
    max_order : int, optional
        Only sets of at most so many variables.
    threads : int
        The result does not depend on it.
    progress : callable, optional
        Called now and then with the fraction of the work that is done.

    Raises
    ------
    ValueError
        If v is above 57, or ``max_order`` below 1.

    Notes
    -----
    A single record is unique on each variable that it has. Records that are all equal, or all missing, have no
    MSU. Memory grows with n·v, and with some hundred megabytes for each thread. Source: METHODS §7; Elliot,
    Manning and Ford 2002; the search is related to Manning, Haglin and Keane 2008 (SUDA2).
    """
    n, v = codes.shape
    if v > MOST_VARIABLES or (max_order is not None and max_order < 1):
        raise ValueError(f"{v} variables, max_order {max_order}: at most {MOST_VARIABLES}, at least 1")
    most = v if max_order is None else min(max_order, v)
    counts = [frequencies(codes[:, j]) for j in range(v)]
    result = MinimalUniques(
        np.zeros((n, most + 1), np.int32),
        np.zeros(n, np.int8),
        np.zeros(n, np.uint64),
        [np.zeros((len(count), most + 1), np.int64) for count in counts],
    )
    variables = np.argsort([entropy(count) for count in counts], kind="stable")
    levels = np.array([(counts[j] > 0).sum() for j in variables], np.int64)
    if n == 0 or not levels.any():
        return result
    numbers = [recode(codes[:, j], counts[j] > 0, int(levels.max())) for j in variables]
    kept, single = drop_copies(np.stack(numbers[::-1], axis=1))
    rows = np.stack([column[kept] for column in numbers], axis=1)
    columns, weights = np.ascontiguousarray(rows.T), (1 << v) - (1 << (v - 1 - variables))
    begins = np.concatenate([[0], np.cumsum(levels)])
    lane = 16 if v < 16 else 32 if v < 32 else 64
    pages_at_most = comb(v, min(most, v // 2)) // (suda_search.PAGE * WORD // lane) + 2
    lock = Lock()

    def search(first: int, end: int) -> int:
        """Searches a block and notes what it finds; returns the bytes that its sets took by record."""
        block = Block(rows, columns, levels, begins, weights, first, end - first, most, lane)
        sets, least, by_level, pages = suda_search.minimal_uniques(block)
        with lock:
            _note(result, kept[first:end], sets, least, v)
            for i, j in enumerate(variables):
                result.by_level[j][counts[j] > 0] += by_level[begins[i] : begins[i + 1]]
        return pages * _PAGE_BYTES // (end - first) + 1

    _in_blocks(search, single, max(_LEAST, _BYTES // (pages_at_most * _PAGE_BYTES)), threads, progress)
    return result


def _in_blocks(
    search: Callable[[int, int], int],
    n: int,
    sure: int,
    threads: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Searches n records in as few blocks as memory allows, equally many for each thread.

    ``sure`` records are searched first: if that is not all, they tell how large the other blocks can be.
    """
    bytes_each = 1

    def run(first: int, end: int, blocks: int) -> None:
        nonlocal bytes_each
        bounds = [first + (end - first) * b // blocks for b in range(blocks + 1)]
        done = first
        with ThreadPoolExecutor(threads) as pool:
            running = {pool.submit(search, a, b): b - a for a, b in pairwise(bounds) if a < b}
            try:
                for block in as_completed(running):
                    bytes_each = max(bytes_each, block.result())
                    done += running[block]
                    if progress is not None:
                        progress(done / n)
            finally:
                pool.shutdown(cancel_futures=True)

    first = min(n, threads * sure)
    run(0, first, threads)
    if first < n:
        largest = max(_LEAST, _BYTES // bytes_each)
        run(first, n, threads * -(-(n - first) // (threads * largest)))


def _note(result: MinimalUniques, records: np.ndarray, sets: np.ndarray, least: np.ndarray, v: int) -> None:
    """Writes what was found for a block's records; a set's cost is order·2^v − (its bits, the first highest)."""
    result.counts[records, 1:] = sets[:, 1:]
    some = least < np.iinfo(np.int64).max
    records, least = records[some], least[some]
    order = (least + (1 << v) - 1) >> v
    backwards = (order << v) - least
    result.order[records] = order
    for j in range(v):
        has = (backwards >> (v - 1 - j)) & 1
        result.variables[records] |= has.astype(np.uint64) << np.uint64(j)
