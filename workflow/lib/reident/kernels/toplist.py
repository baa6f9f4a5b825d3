"""The rank filter as a stream: the best pairs of each PUF record, with exact ties (METHODS §5).

The ranks whose cumulative number of pairs is at most ``keep`` are the pairs with a level strictly better
than the (keep + 1)-th best of the record. A scan hence holds a list of the ``keep + 1`` best pairs, whichever of
several equal ones are in it. Its last level is the bound below which a further pair must be to matter. Levels
are integers and low is best; a metric for which high is best uses costs.

The kernels that return `Pairs` share the arguments below. They raise ValueError if shapes disagree or an argument is
out of its range; if a file has no record, the result has no pair.

- ``keep``: the largest cumulative number of pairs of a rank, at least 1;
- ``starts``, optional: where small strata begin whose records lie one after another (`strata.Starts`); only the pairs
  of a stratum are compared;
- ``threads``, ``progress``: `Workers`.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any, NamedTuple, TypedDict

import numpy as np

from reident.kernels.compiling import jit

MAX_RECORDS = 2**31 - 1
"""Records of a file: positions are int32."""


class Best(NamedTuple):
    """The pairs of each PUF record, one row per record: at most ``keep`` pairs, best first."""

    eif: np.ndarray  # int32 (n_puf, keep)
    level: np.ndarray  # int64 (n_puf, keep)
    n: np.ndarray  # int32 (n_puf,); -1 where the best level alone has more than ``keep`` pairs


class Pairs(NamedTuple):
    """The suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    They are sorted by puf, then by level (the best first), then by eif. Records whose best level alone has more than
    ``keep`` pairs are ambiguous and have no pair in the result.
    """

    puf: np.ndarray  # int64 (m,): positions
    eif: np.ndarray  # int64 (m,)
    level: np.ndarray  # int64 (m,): what the pairs are ranked by; the module of a metric says what it is
    ambiguous: np.ndarray  # bool (n_puf,)


class Workers(TypedDict, total=False):
    """Who does the work of a kernel. No result depends on it."""

    threads: int  # 1 if absent
    progress: Callable[[float], None] | None  # called now and then with the fraction done


def check(puf: np.ndarray, eif: np.ndarray, keep: int, max_variables: int | None = None) -> None:
    """Refuse matrices of both files that do not fit each other or are too large, and a ``keep`` below 1."""
    if puf.ndim != 2 or eif.ndim != 2 or puf.shape[1] != eif.shape[1]:
        raise ValueError("the matrices of both files must have the same columns.")
    if max_variables is not None and puf.shape[1] > max_variables:
        raise ValueError(f"at most {max_variables} variables can be compared, not {puf.shape[1]}.")
    if max(len(puf), len(eif)) > MAX_RECORDS:
        raise ValueError(f"a file has more than {MAX_RECORDS} records.")
    if keep < 1:
        raise ValueError("keep must be at least 1.")


def empty_best(n_puf: int, keep: int) -> Best:
    """Allocate space for the pairs of ``n_puf`` records that have no pair yet."""
    return Best(np.empty((n_puf, keep), np.int32), np.empty((n_puf, keep), np.int64), np.zeros(n_puf, np.int32))


@jit
def offer(levels, eifs, count, level, eif):
    """Insert a pair whose level is below the bound into the ascending list; return the new length."""
    if count < levels.size:
        count += 1
    i = count - 1
    while i > 0 and levels[i - 1] > level:
        levels[i] = levels[i - 1]
        eifs[i] = eifs[i - 1]
        i -= 1
    levels[i] = level
    eifs[i] = eif
    return count


@jit
def settle(levels, eifs, count, best, i):
    """Write the pairs of a finished list that the rank filter keeps into row ``i`` of ``best``, by level, then eif."""
    n_kept = count
    if count == levels.size:  # more than ``keep`` pairs: keep what is strictly better than the last one
        while n_kept > 0 and levels[n_kept - 1] == levels[count - 1]:
            n_kept -= 1
        if n_kept == 0:
            best.n[i] = -1
            return
    best.n[i] = n_kept
    for a in range(n_kept):
        level, eif = levels[a], eifs[a]
        b = a
        while b > 0 and best.level[i, b - 1] == level and best.eif[i, b - 1] > eif:
            best.level[i, b] = best.level[i, b - 1]
            best.eif[i, b] = best.eif[i, b - 1]
            b -= 1
        best.level[i, b] = level
        best.eif[i, b] = eif


@jit
def settle_all(levels, eifs, counts, best):
    """Write the pairs of all finished lists that the rank filter keeps, one list per row."""
    for i in range(len(counts)):
        settle(levels[i], eifs[i], counts[i], best, i)


@jit
def _list_pairs(best, puf, eif, level):
    """Write the pairs of all records one after another."""
    m = 0
    for i in range(best.n.size):
        for a in range(best.n[i]):
            puf[m] = i
            eif[m] = best.eif[i, a]
            level[m] = best.level[i, a]
            m += 1


def list_pairs(best: Best) -> Pairs:
    """Return the kept pairs one after another."""
    m = int(np.maximum(best.n, 0).sum(dtype=np.int64))
    puf, eif, level = (np.empty(m, np.int64) for _ in range(3))
    _list_pairs(best, puf, eif, level)
    return Pairs(puf, eif, level, best.n < 0)


def in_threads(
    work: Callable[[int, int], None],
    n: int,
    *,
    block: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Call ``work(first, end)`` for blocks of ``range(n)``, ``threads`` at a time, and report progress.

    Each block must write only its own rows, so that the result does not depend on the number of threads.
    """
    bounds = [(first, min(first + block, n)) for first in range(0, max(n, 1), block)]
    run_all([(partial(work, first, end), end - first) for first, end in bounds], threads, progress)


def run_all(
    tasks: Sequence[tuple[Callable[[], Any], float]], threads: int, progress: Callable[[float], None] | None
) -> None:
    """Do tasks, ``threads`` at a time, and report progress by their weights; an error cancels those not yet begun."""
    total, done = sum(weight for _, weight in tasks), 0.0

    def report(weight: float) -> None:
        nonlocal done
        done += weight
        if progress is not None:
            progress(done / total if total else 1)

    # A study may have very many small strata, each of which would cost more as a thread than as work.
    if threads <= 1 or len(tasks) <= 1:
        for task, weight in tasks:
            task()
            report(weight)
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = {pool.submit(task): weight for task, weight in tasks}
        try:
            for future in as_completed(futures):
                future.result()
                report(futures[future])
        finally:
            pool.shutdown(cancel_futures=True)
