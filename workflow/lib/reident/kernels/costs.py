"""The costs of a different and a missing value in a pair: the same for all variables, or by variable.

Taxicab has the same for all, of which a level is a count (METHODS §4.2); weights differ by variable (§4.6). The search
(`errorset`, `bitslice`) is compiled for each of the two, so that taxicab pays nothing for what only weights need.

With weights, a pair may cost something where it agrees, and less than others where it agrees partly. The search knows a
bound of such costs, never above them, and the whole cost of a pair is added up where it is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.compiling import INLINE, lean_jit

AGREE, PARTIAL, DIFFER, ABSENT = 0, 1, 2, 3
"""The columns of the costs of a variable: it agrees, its codes differ by one, it differs (more), it is missing."""


class Costs(NamedTuple):
    """The costs of a different and a missing value."""

    different: int
    missing: int

    def least(self) -> int:
        """Return the least that a different value adds."""
        return self.different

    def block(self, _first: int, _end: int) -> Costs:
        """Return the costs for a block of PUF records."""
        return self


class Weighted(NamedTuple):
    """The costs of each variable; variables of the search in its order, then those of `closer`."""

    different: np.ndarray  # int64 (v,): the least that a different value adds, above 0
    missing: np.ndarray  # int64 (v,): what a missing value adds
    lowest: np.ndarray  # int64 (v + 1,): the least of ``different`` from the j-th variable on; 1 at the end
    settled: np.uint64  # bit set of the variables that add 0 or, where they differ, ``different``
    puf: np.ndarray  # int32 (n_puf, w): codes of the other variables, that the cost depends on more closely
    eif: np.ndarray  # int32 (n_eif, w); -1 for missing
    closer: np.ndarray  # int64 (w, 4): what these add, see `AGREE`

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


def _by_type(uniform: Callable, weighted: Callable) -> Callable:
    """Return a function for compiled code that is ``uniform`` for `Costs` and ``weighted`` for `Weighted`."""

    def function(costs: Any, *_: Any) -> int:
        raise NotImplementedError

    def choose(costs: Any, *_: Any) -> Callable:
        is_weighted = isinstance(costs, types.NamedTuple) and costs.instance_class is Weighted
        return weighted if is_weighted else uniform

    overload(function, jit_options=INLINE, strict=False)(choose)
    return function


different_on = _by_type(lambda costs, _: costs.different, lambda costs, j: costs.different[j])
"""The least that variable j adds where it differs."""

missing_on = _by_type(lambda costs, _: costs.missing, lambda costs, j: costs.missing[j])
"""What variable j adds where it is missing."""

least_different = _by_type(lambda costs, _: costs.different, lambda costs, j: costs.lowest[j])
"""The least that a different value of any variable from j on adds."""

cost_of_missing = _by_type(
    lambda costs, absent: costs.missing * popcount(absent), lambda costs, absent: _sum_of(costs.missing, absent)
)
"""What the missing variables of a bit set add."""

least_level = _by_type(
    lambda costs, n_different, absent: costs.different * n_different + costs.missing * popcount(absent),
    lambda costs, n_different, absent: costs.lowest[0] * n_different + _sum_of(costs.missing, absent),
)
"""A bound of the level of a pair with this number of different variables; of taxicab, the level."""


def _weighted_level(costs, _, i, r, different, absent):
    level = _sum_of(costs.different, different & ~absent & costs.settled)
    return level + _sum_of(costs.missing, absent & costs.settled) + _closer_costs(costs, i, r)


level_of = _by_type(lambda _costs, least, _i, _r, _different, _absent: least, _weighted_level)
"""The level of a pair (i, r), from its `least_level`; ``different`` may have bits of missing variables."""
