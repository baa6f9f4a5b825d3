"""The cost of a pair by euclidean, and its bounds in single precision (METHODS §4.3, §5).

A variable scores 0 or 1 (categorical), tanh(x/2) with x the smaller of 6 and the difference in PUF standard
deviations (numeric), and α where it is missing in either record. The *cost* of a pair is Σs², the sum of the squares.

The search (see `search`) bounds costs in single precision, with tanh((a − b)/2) = |eᵃ − eᵇ| / (eᵃ + eᵇ) for values
a, b in standard deviations from the centre of the variable. Values are cut off 40 deviations from the centre, which
keeps eᵃ in range. That never increases a difference, so that lower bounds stay valid. Upper bounds stay valid
for a PUF record all of whose values are within 33 deviations: a value that is cut off differs from them by more
than 6 deviations, where the score no longer grows. Other records have no upper bound.

How far single precision can be off
-----------------------------------
Let u = 2⁻²⁴, so that a rounded result differs from the exact one by at most u times the exact one, and by at most
h(k) = 2^(⌈log₂ k⌉ − 1)·u if it is below k: half a unit in the last place. Terms in u² are below 10⁻⁶ of those in u.

1. x = eᵃ and y = eᵇ are computed in double precision and rounded: their ratio is off by at most 2u, relatively (double
   precision adds less than 10⁻⁶·u, since |a| ≤ 40). The derivative of τ = tanh((a − b)/2) by the logarithm of
   that ratio is (1 − τ²)/2, so this changes τ by at most (1 − τ²)·u.
2. x − y and x + y are rounded, each by at most u relatively: τ changes by at most 2τ·u.
3. The quotient is rounded, by at most u/2 since τ is below 1. With 1 and 2, τ² changes by at most
   2τ·(1 − τ² + 2τ + ½)·u.
4. The square is rounded, by at most u/2. The sum of all four grows with τ: it is 5.48·u at τ = tanh 3, where the
   score is cut off, and 5.5·u at τ = 1. The largest square, tanh² 3, is a constant rounded by at most u/2. Hence
   each square is off by at most 5.5·u.
5. Squares are below 0.991 and hence a sum of k of them below k, roundings included (k ≤ 512): adding the k-th is off by
   at most h(k). The first is added to 0, or in boxes to a negative number: this costs nothing, or h(1).
6. Fixed costs are multiples of 2⁻¹² and sums of up to 512 of them are exact. A lower bound is
   fixed + (Σ − error), rounded twice, first below n and then below v. An upper bound is (fixed + Σ) + error or
   Σ + (fixed + error), rounded twice below v; if a sum is not below v, all its terms are fixed costs, and exact. That
   is at most 2·h(v); in boxes h(1) + h(v), which is not more.

Hence error = u·(5.5·n + Σ_{k=2…n} h(k)/u + 2·h(v)/u) is enough for n numeric of v variables. What 5.5 exceeds 5.48 by
covers the terms in u² and the rounding of the error itself. A test constructs records that come within 10 % of the
error, or within 25 % with few variables, where some of the roundings in 6 exclude one another. With a smaller
error a lower bound could be above the cost, and pairs would be lost.

Whole steps
-----------
Differences in standard deviations may be rounded down. In a lower bound the square of a score then counts as tanh²(k/2)
only from tanh²(k/2) + 6·u on, rounded to single precision. It is off by at most 5.5·u, so that the difference is at
least k deviations, less a share of 10⁻⁶·u that `SLACK` covers. What counts is a constant, rounded by at most u/2: it is
off by less than the score itself may be. Such a bound is no upper bound; pairs have none. A metric without whole steps
has the steps None, which is known when the search is compiled: its code is that of a metric that knows no steps.
"""

import math
from typing import NamedTuple

import numpy as np

from reident.kernels import strata
from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.boxes import WIDTH
from reident.kernels.compiling import inner_jit

MAX_ALPHA = 3
"""Up to this score the roundings of a score in double precision are below a tenth of a level, see `limit_of`."""

MAX_SCALE = 10**12
"""The finest scale of levels for which the bounds are proven in double precision."""

UNIT = 2.0**-24
"""The relative rounding error of single precision."""

SQUARE_ERROR = 5.5
"""Units by which the square of a numeric score can be off in single precision."""

MAX_DEVIATIONS = 6
"""Standard deviations from which on a score does not grow."""

FARTHEST = np.float32(math.tanh(3.0) ** 2)
"""The square of the highest score of a numeric variable."""

SLACK = 1e-9
"""The share by which a difference may fall short of a step, since standard deviations and values are rounded."""

MAX_SINGLE = 8
"""Up to this number of records of a leaf are bounded one by one."""


def float32_error(n: int, v: int) -> float:
    """Return how far the cost of a pair can be off in single precision, with n numeric of v variables."""
    if n == 0:
        return 0.0
    return UNIT * (SQUARE_ERROR * n + sum(_half_unit(k) for k in range(2, n + 1)) + 2 * _half_unit(v))


def _half_unit(k: int) -> float:
    """Half a unit in the last place of the float32 numbers just below k, in units."""
    return 2.0 ** ((k - 1).bit_length() - 1)


def step_squares() -> np.ndarray:
    """Return for 1 to 6 steps the least square that surely reaches them, and theirs: float32 (6, 2)."""
    squares = np.tanh(np.arange(1, MAX_DEVIATIONS + 1) / 2) ** 2
    return np.stack([squares + 6 * UNIT, squares], axis=1).astype(np.float32)


class Euclidean(NamedTuple):
    """The metric as the search needs it; arrays in the order of the boxes have categorical variables first."""

    numeric: np.ndarray  # bool (v,), in the order of the files
    spread: np.ndarray  # float64 (v,), in the order of the files; NaN where it is 0 or undefined
    alpha: float
    primer: bool
    scale: float  # levels per score of 1
    different: np.ndarray  # float32 (v,), in the order of the boxes
    missing: np.ndarray  # float32 (v,), in the order of the boxes
    error: np.float32  # how far a pair's cost can be off in single precision
    shortfall: np.float32  # how far a pair's fixed costs can be below their true sum
    steps: np.ndarray | None  # of whole steps, see there
    sure_from: np.float32  # eᵃ of the values that bound those with an upper bound
    sure_to: np.float32
    shift: int  # bits below the level that hold the position of the EIF record; 0 if ties are ties


class Definition(NamedTuple):
    """The metric as its definition needs it, in strata that have a spread each."""

    numeric: np.ndarray  # bool (v,)
    spread: np.ndarray  # float64 (n_strata, v); NaN where it is 0 or undefined
    alpha: float
    primer: bool
    scale: float  # levels per score of 1
    steps: np.ndarray | None  # of whole steps, see there


@inner_jit
def _square(steps, t):
    """Return the square of a score in single precision: t, or a certain bound in whole steps; NaN of NaN."""
    if steps is None:
        return t
    reached = np.float32(0)
    for k in range(MAX_DEVIATIONS):
        reached = steps[k, 1] if t >= steps[k, 0] else reached
    return reached if t == t else t


@inner_jit
def number_score(steps, difference, spread):
    """Return the score of two different numbers by the definition; a spread of NaN counts as 6 deviations."""
    if steps is None:
        return math.tanh(min(6.0, difference / spread) / 2.0)  # in this order also 6 where the spread is NaN
    x = 0
    while x < MAX_DEVIATIONS and not difference * (1 + SLACK) < (x + 1) * spread:
        x += 1
    return math.tanh(x / 2.0)


@inner_jit
def ascending_sum(parts, n):
    """Return the sum of the first n parts, which it sorts, so that it does not depend on their order."""
    for j in range(1, n):
        part, a = parts[j], j
        while a > 0 and parts[a - 1] > part:
            parts[a] = parts[a - 1]
            a -= 1
        parts[a] = part
    total = 0.0
    for j in range(n):
        total += parts[j]
    return total


@inner_jit
def level_of(metric, squares, files, i, r):
    """Return the level of the pair (i, r) by the definition, with the position of r below it."""
    level = _level(metric, metric.spread, squares, files, i, r)
    return (level << metric.shift) + (r & ((1 << metric.shift) - 1))


@strata.implements(Definition)
def _level_in(metric, squares, files, s, i, r, _bound):
    """Return the level of the pair (i, r) of stratum s by the definition."""
    return _level(metric, metric.spread[s], squares, files, i, r)


@inner_jit
def _level(metric, spread, squares, files, i, r):
    """Return the level of the pair (i, r); the squares are added in ascending order."""
    v = metric.numeric.size
    for j in range(v):
        if metric.numeric[j]:
            p, e = files.puf_values[i, j], files.eif_values[r, j]
            if np.isnan(p) or np.isnan(e):
                s = metric.alpha
            elif p == e:
                s = 0.0
            else:
                s = number_score(metric.steps, abs(p - e), spread[j])
        elif files.puf_codes[i, j] < 0 or files.eif_codes[r, j] < 0:
            s = metric.alpha
        else:
            s = 1.0 if files.puf_codes[i, j] != files.eif_codes[r, j] else 0.0
        squares[j] = s * s
    total = ascending_sum(squares, v)
    score = math.sqrt(total) / v if metric.primer else math.sqrt(total / v)
    return np.int64(np.rint(score * metric.scale))


@inner_jit
def limit_of(metric, bound):
    """Return a float32 cost from which on a pair's level is at least ``bound``.

    A level is at least ``bound`` if the score, in levels, is above bound − 0.5. In double precision the score of 512
    variables is off by less than 270·2⁻⁵³ of it: 13 units for each square (tanh is correct to 2 units in the last
    place), 511 for the additions, half of this through the root; 3 for the root, the division and the scaling. Of
    scores up to `MAX_ALPHA` in `MAX_SCALE` levels this is less than 0.09 levels; the roundings of this
    function are below 0.01 levels. Hence bound − 0.4.
    """
    bound = -(-bound >> metric.shift)
    if bound <= 0:
        return np.float32(0)
    v = metric.numeric.size
    root = (bound - 0.4) / metric.scale
    least = root * v * root * v if metric.primer else root * root * v
    limit = np.float32(least)
    return limit if limit >= least else np.nextafter(limit, np.float32(np.inf))


@inner_jit
def limit_above(metric, cost):
    """Return a float32 cost from which on a pair's level is above that of every pair of at most ``cost``."""
    v = metric.numeric.size
    score = np.sqrt(np.float64(cost)) / v if metric.primer else np.sqrt(np.float64(cost) / v)
    # The level of a cost is at most its score in levels and a half, see `limit_of`; with the position below it.
    return limit_of(metric, (np.int64(score * metric.scale + 0.6) + 1) << metric.shift)


@inner_jit
def box_costs(metric, queries, q, boxes, b, fixed, varying):
    """Bound boxes: a code outside the set differs; the nearest value is the nearer end of the interval, or x."""
    nc = boxes.sets.shape[1]
    for c in range(WIDTH):
        fixed[c] = queries.base[q]
        varying[c] = -metric.error
    for k in range(nc):
        code = queries.codes[q, k]
        if code >= 0:
            bit = np.uint64(1) << np.uint64(code & 63)
            for c in range(WIDTH):
                outside = (boxes.sets[b, k, c] & bit) == np.uint64(0)
                fixed[c] += boxes.outside[b, k, c] if outside else np.float32(0)
    for k in range(boxes.low.shape[1]):
        x = queries.values[q, k]
        if x == x:
            for c in range(WIDTH):
                low, high = boxes.low[b, k, c], boxes.high[b, k, c]
                y = max(x, low)
                y = high if x > high else y
                t = abs(x - y) / (x + y)
                t = _square(metric.steps, t * t)
                outside = boxes.outside[b, nc + k, c]
                varying[c] += min(outside, t)  # t is NaN where no record has a value, and the minimum is ``outside``
    for c in range(WIDTH):
        varying[c] = varying[c] if varying[c] > 0 else np.float32(0)


@inner_jit
def _record_cost(metric, queries, q, leaves, leaf, s):
    """Return the fixed and the varying cost of a record of a leaf, or parts of them that exceed the limit."""
    nc = leaves.codes.shape[1]
    # Beyond this, leaving out further terms keeps the lower bound valid, and the upper bound is above the limit.
    enough = queries.limit[q] + metric.error
    fixed, varying = queries.base[q], np.float32(0)
    for k in range(nc):
        code = queries.codes[q, k]
        if code >= 0:
            other = leaves.codes[leaf, k, s]
            if other < 0:
                fixed += metric.missing[k]
            elif other != code:
                fixed += metric.different[k]
    for k in range(leaves.values.shape[1]):
        if fixed + varying > enough:
            break
        x = queries.values[q, k]
        if x == x:
            y = leaves.values[leaf, k, s]
            if y == y:
                t = abs(x - y) / (x + y)
                t = _square(metric.steps, t * t)
                varying += min(FARTHEST, t)
            else:
                fixed += metric.missing[nc + k]
    return fixed, varying


@inner_jit
def _all_costs(metric, queries, q, leaves, leaf, fixed, varying):
    """Write the fixed and the varying cost of every record of a leaf."""
    nc = leaves.codes.shape[1]
    for s in range(WIDTH):
        fixed[s] = queries.base[q]
        varying[s] = np.float32(0)
    for k in range(nc):
        code = queries.codes[q, k]
        if code >= 0:
            different, missing = metric.different[k], metric.missing[k]
            for s in range(WIDTH):
                other = leaves.codes[leaf, k, s]
                cost = different if other != code else np.float32(0)
                fixed[s] += missing if other < 0 else cost
    for k in range(leaves.values.shape[1]):
        x = queries.values[q, k]
        if x == x:
            missing = metric.missing[nc + k]
            for s in range(WIDTH):
                y = leaves.values[leaf, k, s]
                t = abs(x - y) / (x + y)
                t = _square(metric.steps, t * t)
                t = min(FARTHEST, t)
                absent = y != y
                fixed[s] += missing if absent else np.float32(0)
                varying[s] += np.float32(0) if absent else t


@inner_jit
def leaf_costs(metric, queries, q, leaves, leaf, mask, low, high):
    """Bound the records of ``mask``, one by one where they are few; return those below the limit."""
    limit = queries.limit[q]
    zero, margin = np.float32(0), queries.margin[q]
    below = np.uint64(0)
    if popcount(mask) <= MAX_SINGLE:
        while mask:
            s = trailing_zeros(mask)
            mask &= mask - np.uint64(1)
            fixed, varying = _record_cost(metric, queries, q, leaves, leaf, s)
            low[s] = fixed + max(varying - metric.error, zero)
            high[s] = fixed + varying + margin
            if low[s] < limit:
                below |= np.uint64(1) << np.uint64(s)
        return below
    _all_costs(metric, queries, q, leaves, leaf, low, high)
    n_below = 0
    for s in range(WIDTH):
        varying = high[s] - metric.error
        high[s] += low[s] + margin
        low[s] += max(zero, varying)
        n_below += np.int32(low[s] < limit)
    if n_below == 0:
        return below
    while mask:
        s = trailing_zeros(mask)
        mask &= mask - np.uint64(1)
        if low[s] < limit:
            below |= np.uint64(1) << np.uint64(s)
    return below
