"""Taxicab: the best pairs by the number of variables that differ or are missing (METHODS §4.2, §5)."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from reident.kernels.bitslice import number_rows, scanner
from reident.kernels.toplist import empty_best, in_threads, listed

MOST_VARIABLES = 64
MOST_RECORDS = 2**31 - 1

CHUNK = 8192
"""PUF records whose lists of best pairs are held at a time, few enough to stay in cache."""


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
    keep = min(keep, max(n_eif, 1))  # no record has more pairs
    best = empty_best(n_puf, keep)
    if n_puf and n_eif and limit >= 0:
        rows = number_rows(np.asarray(puf, np.int32), np.asarray(eif, np.int32))
        work = scanner(rows, different=different, missing=missing, limit=limit, keep=keep, best=best)
        rounds = -(-n_puf // (CHUNK * threads))
        in_threads(work, n_puf, block=-(-n_puf // (rounds * threads)), threads=threads, progress=progress)
    return listed(best)


def _check(puf: np.ndarray, eif: np.ndarray, different: int, missing: int, keep: int) -> None:
    if puf.ndim != 2 or eif.ndim != 2 or puf.shape[1] != eif.shape[1]:
        raise ValueError("puf and eif need one row per record and the same columns.")
    if not 1 <= puf.shape[1] <= MOST_VARIABLES:
        raise ValueError(f"taxicab compares 1 to {MOST_VARIABLES} variables, not {puf.shape[1]}.")
    if max(len(puf), len(eif)) > MOST_RECORDS:
        raise ValueError(f"a file has more than {MOST_RECORDS} records.")
    if different < 1 or missing < 0 or keep < 1:
        raise ValueError("different and keep must be at least 1, missing at least 0.")
