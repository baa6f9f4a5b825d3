"""The best pairs of many small strata in one call, all pairs of each compared by the definition (METHODS §4, §5).

To build an index of a stratum of a few records costs more than to compare all its pairs. The records of the strata lie
one after another, with the positions at which each stratum starts. A metric implements one function for its own type:
`level_in`. That of metrics of coded variables, whose level is a sum of a cost for each variable, is here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Unpack

import numpy as np
from numba.extending import overload

from reident.kernels.buffers import SearchFiles
from reident.kernels.compiling import INLINE, lean_jit
from reident.kernels.toplist import Pairs, Workers, bound_of, empty_best, in_threads, list_pairs, offer, settle

MAX_RECORDS = 64
"""Records of both files of a small stratum: a set of its records is one word."""

MAX_ROWS = 2**14
"""PUF records whose pairs are in memory at a time, in each thread."""


class Starts(NamedTuple):
    """The start of each stratum in both files, and at the end the number of records; int64 (n_strata + 1,)."""

    puf: np.ndarray
    eif: np.ndarray


def level_in(metric: Any, scratch: np.ndarray, files: SearchFiles, s: int, i: int, r: int, bound: int) -> int:
    """Return the level of a pair of stratum s, or any level of at least ``bound`` if it is at least that.

    ``scratch``, float64 (v,), is work space.
    """
    raise NotImplementedError


def implements(kind: type) -> Callable[[Callable], Callable]:
    """Decorate the implementation of `level_in` for metrics of type ``kind``."""

    def register(implementation: Callable) -> Callable:
        def choose(metric: Any, *_: Any) -> Callable | None:
            return implementation if getattr(metric, "instance_class", None) is kind else None

        overload(level_in, jit_options=INLINE, strict=False)(choose)
        return implementation

    return register


def check(starts: Starts, files: SearchFiles) -> None:
    """Refuse strata that do not cover both files."""
    for start, records in ((starts.puf, files.puf_codes), (starts.eif, files.eif_codes)):
        if len(start) != len(starts.puf) or start[0] != 0 or start[-1] != len(records) or (np.diff(start) < 0).any():
            raise ValueError("starts must ascend from 0 to the number of records, in both files alike.")


def nearest(
    metric: Any, files: SearchFiles, starts: Starts, *, threshold: int, keep: int, **workers: Unpack[Workers]
) -> Pairs:
    """Return the pairs of the metric's own `nearest` for each stratum, for files whose strata lie one after another.

    The type of the metric selects the definition. A pair is suspected if its level is below ``threshold``.
    """
    check(starts, files)
    v = files.puf_codes.shape[1]
    most = min(keep, int(np.diff(starts.eif).max(initial=0)))
    parts: dict[int, Pairs] = {}

    def work(first: int, end: int) -> None:
        begin = int(starts.puf[first])
        best = empty_best(int(starts.puf[end]) - begin, most)
        levels, eifs = np.empty(most + 1, np.int64), np.empty(most + 1, np.int32)
        _compare(first, end, starts, files, metric, np.empty(v), threshold, levels, eifs, best)
        pairs = list_pairs(best)
        parts[first] = pairs._replace(puf=pairs.puf + begin)

    in_strata(work, starts, **workers)
    return Pairs(*join(parts))


def in_strata(work: Callable[[int, int], None], starts: Starts, **workers: Unpack[Workers]) -> None:
    """Call ``work(first, end)`` for blocks of the strata, as `toplist.in_threads`."""
    n = len(starts.puf) - 1
    block = max(1, n * MAX_ROWS // max(int(starts.puf[-1]), MAX_ROWS))
    in_threads(work, n, block=block, **workers)


def join(parts: dict[int, Any]) -> Any:
    """Return the arrays of all blocks one after another, by the first stratum of each."""
    return tuple(np.concatenate(arrays) for arrays in zip(*(parts[first] for first in sorted(parts)), strict=True))


@lean_jit
def _compare(first, end, starts, files, metric, scratch, threshold, levels, eifs, best):
    """Write the best pairs of the strata first to end - 1 into ``best``, whose rows start with the first stratum."""
    keep = levels.size - 1
    for s in range(first, end):
        for i in range(starts.puf[s], starts.puf[s + 1]):
            count, bound = 0, threshold
            for r in range(starts.eif[s], starts.eif[s + 1]):
                level = level_in(metric, scratch, files, s, i, r, bound)
                if level < bound:
                    count = offer(levels, eifs, count, level, r)
                    if count > keep:
                        bound = bound_of(levels, 0)
            settle(levels, eifs, count, best, i - starts.puf[first])


class Coded(NamedTuple):
    """A metric whose level is the sum of the costs of coded variables."""

    costs: np.ndarray  # int64 (v, 4): where codes are equal, differ by one, differ (more), are missing
    near: np.ndarray  # bool (v,): whether codes that differ by one are told from others


@implements(Coded)
def _level_in(metric, _scratch, files, _s, i, r, bound):
    """Add up the costs of a pair until they reach the bound."""
    total = 0
    for j in range(metric.near.size):
        if total >= bound:
            break
        p, e = files.puf_codes[i, j], files.eif_codes[r, j]
        if p < 0 or e < 0:
            total += metric.costs[j, 3]
        elif p == e:
            total += metric.costs[j, 0]
        else:
            total += metric.costs[j, 1 if metric.near[j] and abs(p - e) == 1 else 2]
    return total


def nearest_coded(
    puf: np.ndarray,
    eif: np.ndarray,
    costs: np.ndarray,
    near: np.ndarray,
    starts: Starts,
    *,
    limit: int,
    keep: int,
    **workers: Unpack[Workers],
) -> Pairs:
    """Return `nearest` for the metric `Coded`; a pair is suspected if its level is at most ``limit``."""
    nothing = np.empty((0, puf.shape[1]))
    files = SearchFiles(np.ascontiguousarray(puf, np.int32), np.ascontiguousarray(eif, np.int32), nothing, nothing)
    metric = Coded(np.ascontiguousarray(costs, np.int64), np.ascontiguousarray(near, np.bool_))
    return nearest(metric, files, starts, threshold=limit + 1, keep=keep, **workers)
