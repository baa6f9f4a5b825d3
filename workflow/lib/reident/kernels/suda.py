"""Minimal sample uniques of one file, counted by record, size, variable and level (METHODS §7).

A set of variables is a *minimal sample unique* (MSU) of a record if the record misses no variable of it, is alone in
its cell among the records that miss none, and is alone on no proper subset. The search is exact and fast because:

- Variables are numbered by information, the most informative one as the highest bit, and sets are visited in
  numeric order, depth first: after a set, those that add a variable below its lowest. Every subset of a set is
  hence visited before it.
- If a record is alone in its cell on S, but not on S without the variable added last, then S is an MSU of it unless a
  set noted for it is a subset of S. It is alone on every larger set too, so that it is not searched further.
- A cell without a record that may be unique is skipped. A record with an exact copy is never unique; one copy
  represents all others.
- In a cell of at most 64 records, a set of records is one word and a split one AND. A record is skipped if no
  variable still to come separates it from the others, or if a variable of the set is superfluous: each record that
  it separates is separated by another variable too.

Records are searched in blocks that share nothing: those of the block may be unique, all others only count. The
result hence does not depend on the number of threads, and the sets noted, which can be many, are kept for few
records at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import comb
from threading import Lock
from typing import NamedTuple

import numpy as np

from reident.kernels import suda_search, unicity_pairs
from reident.kernels.bits import WORD
from reident.kernels.cells import drop_copies
from reident.kernels.coding import entropy, frequencies, recode
from reident.kernels.suda_search import Block
from reident.kernels.toplist import run_all

MAX_VARIABLES = 57
"""Variables of a file whose sets are not limited: the order and the set of an MSU share one word."""

MAX_LIMITED, MAX_ORDER = 60, 7
"""Variables of a file whose sets have at most `MAX_ORDER` of them: that order takes three bits of that word."""

_MIN_BLOCK = 1 << 12
"""Records of a block at least, since each block splits the large cells anew."""

_BLOCK_BYTES = 1 << 28
"""Approximate memory of the sets of a block's records."""

_PAGE_BYTES = suda_search.PAGE * 8


class MinimalUniques(NamedTuple):
    """The minimal sample uniques of all records of a file, counted."""

    counts: np.ndarray  # int32 (n, max_order + 1): MSUs of each record by size; column 0 is 0
    order: np.ndarray  # int8 (n,): size of each record's smallest MSU; 0 where it has none
    variables: np.ndarray  # uint64 (n,): the first smallest MSU by its positions, bit j for variable j
    by_level: list[np.ndarray]
    """For each variable, int64 (codes, max_order + 1): the MSUs by size that contain the variable, of the records with
    that code."""


def minimal_uniques(
    codes: np.ndarray,
    *,
    max_order: int | None = None,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> MinimalUniques:
    """Count the minimal sample uniques of every record.

    Parameters
    ----------
    codes : int32 (n, v)
        Category codes 0, 1, …; -1 for missing: the record takes no part in sets with that variable; v is at most
        57, or 60 with a ``max_order`` of at most 7.
    max_order : int, optional
        The largest size of a set that is searched, at least 1; by default all sizes.
    threads, progress
        See `toplist.Workers`.

    Notes
    -----
    A single record is unique on each variable that it does not miss. Records that are all equal, or all missing, have
    no MSU. Memory grows with n·v, and by a few hundred megabytes for each thread. Source: METHODS §7; Elliot, Manning
    and Ford 2002; the search is related to Manning, Haglin and Keane 2008 (SUDA2).
    """
    n, v = codes.shape
    most = v if max_order is None else min(max_order, v)
    if max_order is not None and max_order < 1:
        raise ValueError("max_order must be at least 1.")
    if v > MAX_LIMITED or (v > MAX_VARIABLES and most > MAX_ORDER):
        raise ValueError(
            f"a file must have at most {MAX_VARIABLES} variables, or {MAX_LIMITED} with a max_order of at most "
            f"{MAX_ORDER}, not {v}."
        )
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
    positions, n_single = drop_copies(np.stack(numbers[::-1], axis=1))
    rows = np.stack([column[positions] for column in numbers], axis=1)
    columns, weights = np.ascontiguousarray(rows.T), (1 << v) - (1 << (v - 1 - variables))
    begins = np.concatenate([[0], np.cumsum(levels)])
    lane = 16 if v < 16 else 32 if v < 32 else 64
    pages_at_most = comb(v, min(most, v // 2)) // (suda_search.PAGE * WORD // lane) + 2
    lock = Lock()

    def search(first: int, end: int) -> int:
        """Search a block and add its sets to the result; return the bytes that they took per record."""
        block = Block(rows, columns, levels, begins, weights, first, end - first, most, lane)
        sets, least, by_level, pages = suda_search.minimal_uniques(block)
        with lock:
            _note(result, positions[first:end], sets, least, v)
            for i, j in enumerate(variables):
                result.by_level[j][counts[j] > 0] += by_level[begins[i] : begins[i + 1]]
        return pages * _PAGE_BYTES // (end - first) + 1

    _in_blocks(search, n_single, max(_MIN_BLOCK, _BLOCK_BYTES // (pages_at_most * _PAGE_BYTES)), threads, progress)
    return result


def _in_blocks(
    search: Callable[[int, int], int], n: int, sample: int, threads: int, progress: Callable[[float], None] | None
) -> None:
    """Search n records in as few blocks as memory allows, the same number for each thread.

    A first block of ``sample`` records for each thread shows how large the other blocks can be.
    """
    sizes = [1]

    def run(first: int, end: int, blocks: int) -> None:
        def search_block(begin: int, stop: int) -> None:
            sizes.append(search(begin, stop))

        def report(share: float) -> None:
            if progress is not None:
                progress((first + share * (end - first)) / n)

        bounds = [first + (end - first) * b // blocks for b in range(blocks + 1)]
        run_all([(partial(search_block, a, b), b - a) for a, b in pairwise(bounds) if a < b], threads, report)

    first = min(n, threads * sample)
    run(0, first, threads)
    if first < n:
        largest = max(_MIN_BLOCK, _BLOCK_BYTES // max(sizes))
        run(first, n, threads * -(-(n - first) // (threads * largest)))


def _note(result: MinimalUniques, records: np.ndarray, sets: np.ndarray, least: np.ndarray, v: int) -> None:
    """Add the sets of a block's records to the result."""
    result.counts[records, 1:] = sets[:, 1:]
    unique = least < np.iinfo(np.int64).max
    result.order[records[unique]], result.variables[records[unique]] = unicity_pairs.decode(least[unique], v)
