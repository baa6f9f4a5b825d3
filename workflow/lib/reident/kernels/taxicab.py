"""Taxicab: the best pairs by the number of variables that differ or are missing (METHODS §4.2, §5)."""

from collections.abc import Callable
from typing import Unpack

import numpy as np

from reident.kernels import strata
from reident.kernels.bitslice import Lists, empty_lists, empty_tile
from reident.kernels.costs import Costs, Weighted
from reident.kernels.errorset import block_size, pair_cost, plan, refine
from reident.kernels.rows import Rows, number_rows
from reident.kernels.strata import Starts
from reident.kernels.toplist import Pairs, Workers, check, empty_best, in_threads, list_pairs, settle_all

MAX_VARIABLES = 64
"""Variables of a record: bit sets of variables are one word."""

MIN_BLOCK, MAX_BLOCK = 2**12, 2**18
"""PUF records that are searched at a time; files of more than 16 times the maximum have larger blocks."""

MAX_LIST_ENTRIES = 2**26
"""Entries of the lists of a block, 12 bytes each."""


def nearest(
    puf: np.ndarray,
    eif: np.ndarray,
    *,
    different: int,
    missing: int,
    limit: int,
    keep: int,
    starts: Starts | None = None,
    **workers: Unpack[Workers],
) -> Pairs:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf, eif : int32 (n_puf, v), (n_eif, v)
        Categories, equal in both files where the code is equal, -1 for missing; v is 1 to 64.
    different, missing : int
        What a variable adds to the level of a pair: ``different`` (at least 1) where it is present in both
        records and different, ``missing`` (at least 0) where it is missing in either.
    limit : int
        A pair is suspected if its level is at most this; no pair is if it is negative.
    keep, starts, **workers
        See `toplist`.

    Returns
    -------
    Pairs
        The lowest level first.

    Notes
    -----
    Source: METHODS §4.2, §5; Singer and Dajani 2020.
    """
    _check(puf, eif, different, missing, keep)
    limit = min(limit, puf.shape[1] * max(different, missing))  # the highest level of a pair
    if starts is not None:
        costs = np.tile(np.array([0, different, different, missing], np.int64), (puf.shape[1], 1))
        near = np.zeros(puf.shape[1], np.bool_)
        return strata.nearest_coded(puf, eif, costs, near, starts, limit=limit, keep=keep, **workers)
    if not len(puf) or not len(eif) or limit < 0:
        return list_pairs(empty_best(len(puf), 0))
    rows = number_rows(np.ascontiguousarray(puf, np.int32), np.ascontiguousarray(eif, np.int32))
    return best_pairs(rows, Costs(different, missing), limit, keep, **workers)


def best_pairs(rows: Rows, costs: Costs | Weighted, limit: int, keep: int, **workers: Unpack[Workers]) -> Pairs:
    """Return the pairs of `nearest`, for numbered records of both files, any costs, and a limit of at least 0."""
    n_puf = len(rows.puf)
    of_record, parts = (np.zeros(n_puf, np.bool_), np.zeros(n_puf, np.int64), np.zeros(n_puf, np.int64)), {}
    work, block = _search(rows, costs, limit, min(keep, len(rows.eif)), workers.get("threads", 1))

    def keep_part(first: int, end: int) -> None:
        parts[first], of_block = work(first, end)
        for whole, part in zip(of_record, of_block, strict=True):
            whole[first:end] = part

    in_threads(keep_part, n_puf, block=block, **workers)
    return Pairs(*_join(parts), *of_record)


Columns = list[np.ndarray]
"""puf, eif, level; of records, what `toplist.Pairs` has by record."""


def _search(
    rows: Rows, costs: Costs | Weighted, limit: int, keep: int, threads: int
) -> tuple[Callable[[int, int], tuple[list[Columns], Columns]], int]:
    """Return a function that finds the pairs of a block of PUF records, and the number of records in a block."""
    n_puf, v = rows.puf.shape
    most = min(limit // costs.least(), v)
    per_pair = pair_cost(n_puf * len(rows.eif), v, most)
    worth = plan(rows, most, per_pair)
    largest = min(max(MAX_BLOCK, n_puf // 16), max(1, MAX_LIST_ENTRIES // (keep + 1)))
    block = max(min(MIN_BLOCK, largest), block_size(rows, most, per_pair, largest))
    rounds = -(-n_puf // (block * threads))

    def work(first: int, end: int) -> tuple[list[Columns], Columns]:
        lists, tile = empty_lists(end - first, keep, limit), empty_tile(rows, most)
        part = rows._replace(puf=rows.puf[first:end], puf_absent=rows.puf_absent[first:end])
        refine(part, costs.block(first, end), worth, lists, tile)
        return _settle(lists, first)

    return work, -(-n_puf // (rounds * threads))


def _settle(lists: Lists, first: int) -> tuple[list[Columns], Columns]:
    """Return the pairs that the rank filter keeps of the PUF records from ``first`` on, and the columns by record."""
    n, entries = lists.levels.shape
    parts, of_record = [], []
    for start in range(0, n, MIN_BLOCK):
        chunk = Lists(*(array[start : start + MIN_BLOCK] for array in lists))
        best = empty_best(len(chunk.counts), entries - 1)
        settle_all(chunk.levels, chunk.eifs, chunk.counts, best)
        puf, eif, level, *by_record = list_pairs(best)
        parts.append([(puf + first + start).astype(np.int32), eif.astype(np.int32), level])
        of_record.append(by_record)
    return parts, [np.concatenate(columns) for columns in zip(*of_record, strict=True)]


def _join(parts: dict[int, list[Columns]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join the pairs of all blocks by PUF record; ``parts`` is emptied, so that only one column is held twice."""
    in_order = [part for first in sorted(parts) for part in parts.pop(first)]
    puf, eif, level = (np.concatenate([np.zeros(0, np.int64), *(part.pop(0) for part in in_order)]) for _ in range(3))
    return puf, eif, level


def _check(puf: np.ndarray, eif: np.ndarray, different: int, missing: int, keep: int) -> None:
    check(puf, eif, keep, MAX_VARIABLES)
    if not puf.shape[1]:
        raise ValueError("taxicab compares at least one variable.")
    if different < 1 or missing < 0:
        raise ValueError("different must be at least 1, missing at least 0.")
    if puf.shape[1] * max(different, missing) >= 2**62:
        raise ValueError("different or missing is so large that levels do not fit in 64 bits.")
