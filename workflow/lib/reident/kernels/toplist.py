"""The rank filter as a stream: the best pairs of each PUF record, with exact ties (METHODS §5).

The ranks whose cumulative number of pairs is at most ``keep`` are the pairs with a level strictly better
than the (keep + 1)-th best of the record. A scan hence holds a list of the ``keep + 1`` best pairs, whichever of
several equal ones are in it. Its last level is the bound below which a further pair must be to matter. Levels
are integers and low is best; a metric for which high is best uses costs.

How sure an intruder is of the best pairs depends on the next level too, and on how many pairs have it (METHODS §6.7),
also where they do not fit in the list. While the last level of a list is one of its two best, further pairs at it are
counted: the count of a list is then larger than the list. No count is lost, because a level moves down as better pairs
come, and never up: one that was counted in part is not among the two best again.

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
    next_level: np.ndarray  # int64 (n_puf,): that of the next rank; of a record whose ``n`` is -1, of the best one
    n_next: np.ndarray  # int64 (n_puf,): the pairs at it, kept or not; 0 without a next rank


class Pairs(NamedTuple):
    """The suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    They are sorted by puf, then by level (the best first), then by eif. Records whose best level alone has more than
    ``keep`` pairs are ambiguous and have no pair in the result.
    """

    puf: np.ndarray  # int64 (m,): positions
    eif: np.ndarray  # int64 (m,)
    level: np.ndarray  # int64 (m,): what the pairs are ranked by; the module of a metric says what it is
    ambiguous: np.ndarray  # bool (n_puf,)
    next_level: np.ndarray  # int64 (n_puf,): the level after the best one; of an ambiguous record, the best one
    n_next: np.ndarray  # int64 (n_puf,): how many pairs have it, kept or not; 0 if none


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
    of_rank = np.zeros(n_puf, np.int64), np.zeros(n_puf, np.int64)
    return Best(
        np.empty((n_puf, keep), np.int32), np.empty((n_puf, keep), np.int64), np.zeros(n_puf, np.int32), *of_rank
    )


@jit
def offer(levels, eifs, count, level, eif):
    """Insert a pair into the ascending list; return the number of pairs in it and further ones at its last level."""
    i = count
    if count >= levels.size:
        i = levels.size - 1
        last = levels[i]
        if level > last:
            return count
        if level == last:
            return count + 1
        count = count + 1 if levels[i - 1] == last else levels.size
    else:
        count += 1
    while i > 0 and levels[i - 1] > level:
        levels[i] = levels[i - 1]
        eifs[i] = eifs[i - 1]
        i -= 1
    levels[i] = level
    eifs[i] = eif
    return count


@jit
def bound_of(levels, least):
    """Return the bound of a full list: pairs at its last level count while it is one of the two best.

    No level is below ``least``.
    """
    i = levels.size - 1
    last = levels[i]
    while i > 0 and levels[i - 1] == last:
        i -= 1
    if i == 0:
        return last + 1 if last > least else last
    return last + 1 if levels[i - 1] == levels[0] else last


@jit
def settle(levels, eifs, count, best, i):
    """Write the pairs of a finished list that the rank filter keeps into row ``i`` of ``best``, by level, then eif."""
    n = min(count, levels.size)
    n_kept, n_best = n, 0
    while n_best < n and levels[n_best] == levels[0]:
        n_best += 1
    best.n_next[i] = 0
    if n_best < n:
        best.next_level[i] = levels[n_best]
        for a in range(n_best, n):
            if levels[a] == levels[n_best]:
                best.n_next[i] += 1
        if levels[n - 1] == levels[n_best]:
            best.n_next[i] += count - n
    if n == levels.size:  # more than ``keep`` pairs: keep what is strictly better than the last one
        while n_kept > 0 and levels[n_kept - 1] == levels[n - 1]:
            n_kept -= 1
        if n_kept == 0:
            best.n[i], best.next_level[i] = -1, levels[0]
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
    return Pairs(puf, eif, level, best.n < 0, best.next_level, best.n_next)


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
