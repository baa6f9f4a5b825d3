"""What a different and a missing value add to the level of a pair: the same for all variables, or by variable.

Taxicab has the same for all, of which a level is a count (METHODS §4.2); weights differ by variable (§4.6). The search
(`errorset`, `bitslice`) is compiled for each of the two, so that taxicab pays nothing for what only weights need.

With weights, a pair may cost something where it agrees, and less than others where it agrees partly. The search knows a
bound of such costs, never above them, and the whole cost of a pair is added up where it is compared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.compiling import lean_jit
from reident.kernels.search import INLINE

AGREE, PARTIAL, DIFFER, ABSENT = 0, 1, 2, 3
"""The columns of the costs of a variable."""


class Costs(NamedTuple):
    """What a different and a missing value add to a level."""

    different: int
    missing: int

    def least(self) -> int:
        """Return the least that a different value adds."""
        return self.different

    def block(self, _first: int, _end: int) -> Costs:
        """Return the costs for a block of PUF records."""
        return self


class Weighted(NamedTuple):
    """What each variable adds to a level; variables of the search in its order, then those of `closer`.

    Attributes
    ----------
    different, missing : int64 (v,)
        The least that a different value adds, above 0, and what a missing value adds.
    lowest : int64 (v + 1,)
        The least that a different value of any variable from the j-th on adds; 1 at the end.
    settled : uint64
        Bit set of the variables that add nothing where they agree, and nothing but ``different`` where they differ.
    puf, eif : int32 (n_puf, w), (n_eif, w)
        The codes of the other variables, which a pair's cost depends on more closely; -1 for missing.
    closer : int64 (w, 4)
        What such a variable adds where it agrees, its codes differ by one, it differs more, it is missing.
    """

    different: np.ndarray
    missing: np.ndarray
    lowest: np.ndarray
    settled: np.uint64
    puf: np.ndarray
    eif: np.ndarray
    closer: np.ndarray

    def least(self) -> int:
        """Return the least that a different value adds."""
        return int(self.lowest[0])

    def block(self, first: int, end: int) -> Weighted:
        """Return the costs for a block of PUF records."""
        return self._replace(puf=self.puf[first:end])


@lean_jit
def _sum_of(costs, bits):
    """Add up the costs of the variables of a bit set."""
    total = 0
    while bits != 0:
        total += costs[trailing_zeros(bits)]
        bits &= bits - np.uint64(1)
    return total


@lean_jit
def _closer_costs(costs, i, r):
    """Add up the costs of a pair on the variables of `closer`."""
    total = 0
    for k in range(len(costs.closer)):
        a, b = costs.puf[i, k], costs.eif[r, k]
        if a < 0 or b < 0:
            state = ABSENT
        elif a == b:
            state = AGREE
        else:
            state = PARTIAL if abs(a - b) == 1 else DIFFER
        total += costs.closer[k, state]
    return total


def different_on(costs: Any, j: int) -> int:
    """Return the least that variable j adds where it differs."""
    raise NotImplementedError


def missing_on(costs: Any, j: int) -> int:
    """Return what variable j adds where it is missing."""
    raise NotImplementedError


def least_different(costs: Any, j: int) -> int:
    """Return the least that a different value of any variable from j on adds."""
    raise NotImplementedError


def cost_of_missing(costs: Any, absent: int) -> int:
    """Return what the missing variables of a bit set add."""
    raise NotImplementedError


def least_level(costs: Any, n_different: int, absent: int) -> int:
    """Return a bound of the level of a pair with this number of different variables; of taxicab, the level."""
    raise NotImplementedError


def level_of(costs: Any, least: int, i: int, r: int, different: int, absent: int) -> int:
    """Return the level of a pair; ``different`` may have bits of missing variables."""
    raise NotImplementedError


def _weighted(costs: Any) -> bool:
    return isinstance(costs, types.NamedTuple) and costs.instance_class is Weighted


@overload(different_on, jit_options=INLINE, strict=False)
def _choose_different(costs: Any, *_: Any) -> Any:
    return (lambda costs, j: costs.different[j]) if _weighted(costs) else (lambda costs, _: costs.different)


@overload(missing_on, jit_options=INLINE, strict=False)
def _choose_missing(costs: Any, *_: Any) -> Any:
    return (lambda costs, j: costs.missing[j]) if _weighted(costs) else (lambda costs, _: costs.missing)


@overload(least_different, jit_options=INLINE, strict=False)
def _choose_least_different(costs: Any, *_: Any) -> Any:
    return (lambda costs, j: costs.lowest[j]) if _weighted(costs) else (lambda costs, _: costs.different)


@overload(cost_of_missing, jit_options=INLINE, strict=False)
def _choose_cost_of_missing(costs: Any, *_: Any) -> Any:
    if _weighted(costs):
        return lambda costs, absent: _sum_of(costs.missing, absent)
    return lambda costs, absent: costs.missing * popcount(absent)


@overload(least_level, jit_options=INLINE, strict=False)
def _choose_least_level(costs: Any, *_: Any) -> Any:
    if _weighted(costs):
        return lambda costs, n_different, absent: (
            costs.lowest[0] * n_different + _sum_of(costs.missing, absent)
        )
    return lambda costs, n_different, absent: costs.different * n_different + costs.missing * popcount(absent)


@overload(level_of, jit_options=INLINE, strict=False)
def _choose_level(costs: Any, *_: Any) -> Any:
    def weighted(costs, _, i, r, different, absent):
        level = _sum_of(costs.different, different & ~absent & costs.settled)
        return level + _sum_of(costs.missing, absent & costs.settled) + _closer_costs(costs, i, r)

    return weighted if _weighted(costs) else (lambda _costs, least, _i, _r, _different, _absent: least)
