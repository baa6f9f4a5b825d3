"""Taxicab: the best pairs by the number of variables that differ or are missing (METHODS §4.2, §5)."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from reident.kernels.bitslice import Costs, empty_lists, empty_tile, settle_all
from reident.kernels.errorset import ALONE, ROW, plan, refine
from reident.kernels.rows import Rows, number_rows
from reident.kernels.toplist import empty_best, in_threads, listed

MOST_VARIABLES = 64
MOST_RECORDS = 2**31 - 1

BLOCK = 2**18
"""PUF records that are refined at a time: the more, the less often the EIF is; their lists are in memory."""

CHUNK = 2**13
"""PUF records at a time where all pairs are compared: enough for a tile to pay, few for `progress`."""


def nearest(
    puf: np.ndarray,
    eif: np.ndarray,
    *,
    different: int,
    missing: int,
    limit: int,
    keep: int,
    threads: int = 1,
    method: Literal["auto", "pairs", "join"] = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf, eif : int32 (n_puf, v), (n_eif, v)
        Categories, equal in both files where the code is equal, -1 for missing; v from 1 to 64.
    different, missing : int
        What a variable adds to the level of a pair: ``different`` (at least 1) where it is present in both
        records and different, ``missing`` (at least 0) where it is missing in either.
    limit : int
        A pair is suspected if its level is at most this; nothing is if it is negative.
    keep : int
        The largest cumulative number of pairs of a rank that is returned, at least 1.
    threads : int
        The result does not depend on it.
    method : {'auto', 'pairs', 'join'}
        The result does not depend on it.
    progress : callable, optional
        Called now and then with the fraction done.

    Returns
    -------
    puf, eif : int64 (m,)
        Positions, sorted by puf, level (lowest first), eif.
    level : int64 (m,)
    crowded : bool (n_puf,)
        Records whose best level alone has more than ``keep`` pairs; they have no pair in the result.

    Raises
    ------
    ValueError
        Where shapes disagree or an argument is out of its range.
    """
    _check(puf, eif, different, missing, keep)
    if method not in {"auto", "pairs", "join"}:
        raise ValueError(f"there is no method {method!r}.")
    n_puf, n_eif = len(puf), len(eif)
    crowded, parts = np.zeros(n_puf, np.bool_), {}
    if n_puf and n_eif and limit >= 0:
        keep = min(keep, n_eif)  # no record has more pairs
        rows = number_rows(np.asarray(puf, np.int32), np.asarray(eif, np.int32))
        work, block = _search(rows, Costs(different, missing), limit, keep, method, threads)

        def keep_part(first: int, end: int) -> None:
            *pairs, crowded[first:end] = work(first, end)
            parts[first] = pairs

        in_threads(keep_part, n_puf, block=block, threads=threads, progress=progress)
    return (*_joined(parts), crowded)


def _search(
    rows: Rows, costs: Costs, limit: int, keep: int, method: str, threads: int
) -> tuple[Callable[[int, int], tuple[np.ndarray, ...]], int]:
    """Make what finds the pairs of a block of PUF records, and the number of records in a block."""
    n_puf, v = rows.puf.shape
    most = min(limit // costs.different, v)
    pair_cost = {"pairs": 0.0, "auto": ROW * v * (1 + most.bit_length()) / 3 / 512, "join": ALONE}[method]
    worth = plan(rows, most, pair_cost=pair_cost)
    block = min(BLOCK, -(-n_puf // threads))
    if block * len(rows.eif) <= worth[0, most] * (block + len(rows.eif)):
        block = min(block, CHUNK)

    def work(first: int, end: int) -> tuple[np.ndarray, ...]:
        lists, tile = empty_lists(end - first, keep, limit), empty_tile(rows, most)
        part = rows._replace(puf=rows.puf[first:end], puf_absent=rows.puf_absent[first:end])
        refine(part, costs, worth, lists, tile)
        best = empty_best(end - first, keep)
        settle_all(lists, best)
        puf, eif, level, crowded = listed(best)
        return puf + first, eif, level, crowded

    return work, block


def _joined(parts: dict[int, list[np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs of all blocks, by PUF record."""
    columns = zip(*(parts[first] for first in sorted(parts)), strict=True)
    puf, eif, level = (np.concatenate(column) for column in columns) if parts else np.zeros((3, 0), np.int64)
    return puf, eif, level


def _check(puf: np.ndarray, eif: np.ndarray, different: int, missing: int, keep: int) -> None:
    if puf.ndim != 2 or eif.ndim != 2 or puf.shape[1] != eif.shape[1]:
        raise ValueError("puf and eif need one row per record and the same columns.")
    if not 1 <= puf.shape[1] <= MOST_VARIABLES:
        raise ValueError(f"taxicab compares 1 to {MOST_VARIABLES} variables, not {puf.shape[1]}.")
    if max(len(puf), len(eif)) > MOST_RECORDS:
        raise ValueError(f"a file has more than {MOST_RECORDS} records.")
    if different < 1 or missing < 0 or keep < 1:
        raise ValueError("different and keep must be at least 1, missing at least 0.")
