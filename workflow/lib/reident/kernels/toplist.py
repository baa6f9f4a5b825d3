"""The rank rule as a stream: the best pairs of each PUF record, ties handled exactly (METHODS §5).

The ranks whose cumulative number of pairs is at most ``keep`` are the pairs with a level strictly better
than the (keep + 1)-th best of the record. A list of the ``keep + 1`` best is therefore all that a scan has
to hold, whichever of several equal ones are in it, and its last level is the bound below which a further
pair must lie to matter. Levels are integers and low is best; a metric for which high is best counts down.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit


class Best(NamedTuple):
    """What scans fill in, one row per PUF record: at most ``keep`` pairs, best first."""

    eif: np.ndarray  # int32 (n_puf, keep)
    level: np.ndarray  # int64 (n_puf, keep)
    n: np.ndarray  # int32 (n_puf,); -1 where the best level alone has more than ``keep`` pairs


def empty_best(n_puf: int, keep: int) -> Best:
    """Room for the pairs of ``n_puf`` records, none of them yet with any."""
    return Best(
        np.empty((n_puf, keep), np.int32), np.empty((n_puf, keep), np.int64), np.zeros(n_puf, np.int32)
    )


@jit
def offer(levels, eifs, count, level, eif):
    """Enter a pair whose level lies below the bound in the ascending list; returns the new length."""
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
    """Write what the rank rule keeps of a finished list as row ``i`` of ``best``, by level, then eif."""
    kept = count
    if count == levels.size:  # more than ``keep`` pairs: only what is strictly better than the last one stays
        while kept > 0 and levels[kept - 1] == levels[count - 1]:
            kept -= 1
        if kept == 0:
            best.n[i] = -1
            return
    best.n[i] = kept
    for a in range(kept):
        level, eif = levels[a], eifs[a]
        b = a
        while b > 0 and best.level[i, b - 1] == level and best.eif[i, b - 1] > eif:
            best.level[i, b] = best.level[i, b - 1]
            best.eif[i, b] = best.eif[i, b - 1]
            b -= 1
        best.level[i, b] = level
        best.eif[i, b] = eif


@jit
def _listed(best, puf, eif, level):
    m = 0
    for i in range(best.n.size):
        for a in range(best.n[i]):
            puf[m] = i
            eif[m] = best.eif[i, a]
            level[m] = best.level[i, a]
            m += 1


def listed(best: Best) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The kept pairs (puf, eif, level), sorted by puf, level and eif, and the records that are crowded."""
    m = int(np.maximum(best.n, 0).sum(dtype=np.int64))
    puf, eif, level = (np.empty(m, np.int64) for _ in range(3))
    _listed(best, puf, eif, level)
    return puf, eif, level, best.n < 0


def in_threads(
    work: Callable[[int, int], None],
    n: int,
    *,
    block: int,
    threads: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Call ``work(first, end)`` for blocks of ``range(n)``, ``threads`` at a time, telling how far it is.

    Each block writes rows of its own alone, so that the result does not depend on the number of threads.
    """
    starts = iter(range(0, n, block))
    done = 0
    with ThreadPoolExecutor(max(1, threads)) as pool:
        running: dict[Future[None], int] = {}
        for start in starts:
            end = min(start + block, n)
            running[pool.submit(work, start, end)] = end - start
            if len(running) > 2 * threads:
                done += _finished(running)
                if progress is not None:
                    progress(done / n)
        while running:
            done += _finished(running)
            if progress is not None:
                progress(done / n)


def _finished(running: dict[Future[None], int]) -> int:
    """Wait for a block, take it from ``running`` and return its number of records; raise what it raised."""
    finished, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in finished:
        future.result()
    return sum(running.pop(future) for future in finished)
