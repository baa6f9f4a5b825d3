"""Adhoc in the form of the search: the cost of a pair, and bounds of it (METHODS §4.4, §5; see `search`).

The search works with costs in units of 1, each rounded down to a multiple of 2^-12 (the grain of the boxes), and
with the ranks of values instead of the values: the EIF values that a band holds are all those between two ranks.
Single precision is exact here. A sum of up to 512 costs of at most 5 has at most 512·5·2^12 grains, which is below
2^24, and ranks are below 2^24 too. Hence

- a lower bound is never above the cost, because each of its terms is rounded down;
- the cost is at most v grains above it: the upper bound, lower bound + v/2^12, is such a sum as well.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels import search, strata
from reident.kernels.adhoc_rules import BANDS, EXACT, TABLE, Flat
from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.boxes import WIDTH
from reident.kernels.buffers import BATCH
from reident.kernels.compiling import inner_jit, lean_jit


class Adhoc(NamedTuple):
    """The metric as the search needs it; coded variables come first, in the order of the boxes."""

    rules: Flat
    variable: np.ndarray  # int64 (v,): position of the variable in the files
    scale: float  # a score of 1
    highest: np.ndarray  # float32 (v,): the cost of a missing value, and the most that a variable costs
    table: np.ndarray  # float32: the costs of all tables
    cost: np.ndarray  # float32: the costs of all bands
    beyond: np.ndarray  # float32 (v,)
    distinct: np.ndarray  # float64: the distinct values of each numeric variable in both files, ascending
    first: np.ndarray  # int64 (numeric + 1,): where those of a variable begin
    share: np.ndarray  # int64 (numeric,): number of values that share a rank, 1 unless there are too many
    shortfall: np.float32  # how far a pair's costs can be below their true sum


class Scratch(NamedTuple):
    """What the rules say about each PUF record of a batch.

    The cost of a pair on a variable is a start (the cost of the cheapest code, or of the innermost band) plus a step
    for each set of codes that does not have the EIF code and each band that does not hold the EIF value.
    Each set contains the one before, and each band too, so that the steps add up.
    """

    start: np.ndarray  # float32 (BATCH,): sum of the starts of all variables
    sets: np.ndarray  # uint64 (BATCH, coded, 64): bit c % 64 for each code c of the set
    set_step: np.ndarray  # float32 (BATCH, coded, 64)
    n_sets: np.ndarray  # int64 (BATCH, coded)
    lowest: np.ndarray  # float32 (BATCH, numeric, bands): the lowest rank that a band holds
    uppermost: np.ndarray  # float32 (BATCH, numeric, bands)
    band_cost: np.ndarray  # float32 (BATCH, numeric, bands + 1): the last one is the cost beyond
    box_step: (
        np.ndarray
    )  # float32 (BATCH, numeric, bands): steps of the lowest cost of a band and all after it
    n_bands: np.ndarray  # int64 (BATCH, numeric)
    costs: np.ndarray  # float32 (64,)


def empty_scratch(n_coded: int, n_numeric: int, n_bands: int) -> Scratch:
    """Allocate scratch memory for one search at a time, uninitialised."""

    def empty(dtype: type, *shape: int) -> np.ndarray:
        return np.empty((BATCH, *shape), dtype)

    return Scratch(
        start=empty(np.float32),
        sets=empty(np.uint64, n_coded, WIDTH),
        set_step=empty(np.float32, n_coded, WIDTH),
        n_sets=empty(np.int64, n_coded),
        lowest=empty(np.float32, n_numeric, n_bands),
        uppermost=empty(np.float32, n_numeric, n_bands),
        band_cost=empty(np.float32, n_numeric, n_bands + 1),
        box_step=empty(np.float32, n_numeric, n_bands),
        n_bands=empty(np.int64, n_numeric),
        costs=np.empty(WIDTH, np.float32),
    )


@lean_jit
def _reach(within, share, p):
    """Return the largest difference from a PUF value that a band holds; without a share it may be infinite."""
    return within + (share * abs(p) if share > 0 else 0.0)


class Definition(NamedTuple):
    """The rules of strata whose bands have widths of their own."""

    rules: Flat
    within: np.ndarray  # float64 (n_strata, b), in place of that of the rules


@search.implements(search.level_of, Adhoc)
def _level_of(metric, _scratch, files, i, r, bound):
    """Return the cost of the pair (i, r) by the definition, or a number of at least ``bound`` if it reaches that."""
    return _cost(metric.rules, metric.rules.within, files, i, r, bound)


@search.implements(strata.level_in, Definition)
def _level_in(metric, _scratch, files, s, i, r, bound):
    """Return the same of the pair (i, r) of stratum s."""
    return _cost(metric.rules, metric.within[s], files, i, r, bound)


@inner_jit
def _cost(rules, within, files, i, r, bound):
    """Return the cost of a pair, or a number of at least ``bound`` if it reaches that."""
    total = 0
    for j in range(rules.kind.size):
        if total >= bound:
            break
        if rules.kind[j] == BANDS:
            p, e = files.puf_values[i, j], files.eif_values[r, j]
            if np.isnan(p) or np.isnan(e):
                total += rules.highest[j]
                continue
            difference = 0.0 if p == e else abs(e - p)
            cost = rules.beyond[j]
            for b in range(rules.start[j], rules.start[j] + rules.width[j]):
                if difference <= _reach(within[b], rules.share[b], p):
                    cost = rules.cost[b]
                    break
            total += cost
            continue
        p, e = files.puf_codes[i, j], files.eif_codes[r, j]
        if p < 0 or e < 0:
            total += rules.highest[j]
        elif rules.kind[j] == TABLE:
            total += rules.table[rules.start[j] + p * rules.width[j] + e]
        elif p != e:
            total += rules.highest[j]
    return total


@search.implements(search.limit_of, Adhoc)
def _limit_of(metric, bound):
    """Return the bound in units of 1, in float32, rounded up.

    The quotient can be rounded down by 2⁻⁵³ of it. Costs are whole numbers below 2⁵³/3, so that a cost which reaches
    the quotient reaches the bound.
    """
    least = bound / metric.scale
    limit = np.float32(least)
    return limit if np.float64(limit) >= least else np.nextafter(limit, np.float32(np.inf))


@lean_jit
def _list_sets(costs, highest, sets, set_step):
    """List growing sets of the 64 codes by cost; return the number of sets and the lowest cost.

    A code that does not occur has infinite cost.
    """
    n, cost, lowest = 0, np.float32(-1), highest
    while True:
        following = np.float32(np.inf)
        for c in range(WIDTH):
            if costs[c] > cost:
                following = min(following, costs[c])
        if n > 0:
            set_step[n - 1] = min(following, highest) - cost
        else:
            lowest = min(following, highest)
        if following == np.inf:
            return n, lowest
        sets[n] = sets[n - 1] if n > 0 else np.uint64(0)
        for c in range(WIDTH):
            if costs[c] == following:
                sets[n] |= np.uint64(1) << np.uint64(c)
        n, cost = n + 1, following


@lean_jit
def _difference(p, e):
    """Return the difference that the limits of bands are compared with."""
    return 0.0 if p == e else abs(e - p)


@lean_jit
def _band_range(distinct, at, limit):
    """Return the first and the last of the distinct values that a band with this limit around one of them holds."""
    outside, lowest = -1, at
    while lowest - outside > 1:
        middle = (outside + lowest) // 2
        if _difference(distinct[at], distinct[middle]) <= limit:
            lowest = middle
        else:
            outside = middle
    uppermost, outside = at, distinct.size
    while outside - uppermost > 1:
        middle = (outside + uppermost) // 2
        if _difference(distinct[at], distinct[middle]) <= limit:
            uppermost = middle
        else:
            outside = middle
    return lowest, uppermost


@lean_jit
def _list_bands(metric, scratch, q, k, j, x):
    """List the bands that can apply to a PUF value, with growing limits; return the lowest cost of all.

    The first band that holds the difference applies, hence a band only beyond the largest limit before it.
    """
    rules, n, largest = metric.rules, 0, -1.0
    distinct = metric.distinct[metric.first[k] : metric.first[k + 1]]
    at = np.searchsorted(distinct, x)
    for b in range(rules.start[j], rules.start[j] + rules.width[j]):
        limit = _reach(rules.within[b], rules.share[b], x)
        if limit > largest:
            lowest, uppermost = _band_range(distinct, at, limit)
            scratch.lowest[q, k, n] = lowest // metric.share[k]
            scratch.uppermost[q, k, n] = uppermost // metric.share[k]
            scratch.band_cost[q, k, n] = metric.cost[b]
            n, largest = n + 1, limit
    least = scratch.band_cost[q, k, n] = metric.beyond[j]
    for b in range(n - 1, -1, -1):
        before = min(least, scratch.band_cost[q, k, b])
        scratch.box_step[q, k, b] = least - before
        least = before
    scratch.n_bands[q, k] = n
    return least


@search.implements(search.load, Adhoc)
def _load(metric, scratch, files, queries, q, i):
    """Look up what the rules say about PUF record i, which is record q of the batch."""
    rules, nc = metric.rules, queries.codes.shape[1]
    scratch.start[q] = np.float32(0)
    for k in range(nc):
        code, j = queries.codes[q, k], metric.variable[k]
        if code >= 0 and rules.kind[j] == EXACT:
            scratch.sets[q, k, 0] = np.uint64(1) << np.uint64(code & 63)
            scratch.set_step[q, k, 0] = metric.highest[k]
            scratch.n_sets[q, k] = 1
        elif code >= 0:
            for c in range(WIDTH):
                scratch.costs[c] = np.float32(np.inf)
            row = rules.start[j] + code * rules.width[j]
            for c in range(rules.width[j]):
                scratch.costs[c & 63] = min(scratch.costs[c & 63], metric.table[row + c])
            n_sets, lowest = _list_sets(
                scratch.costs, metric.highest[k], scratch.sets[q, k], scratch.set_step[q, k]
            )
            scratch.n_sets[q, k] = n_sets
            scratch.start[q] += lowest
    for k in range(queries.values.shape[1]):
        x = files.puf_values[i, metric.variable[nc + k]]
        if not np.isnan(x):
            scratch.start[q] += _list_bands(metric, scratch, q, k, metric.variable[nc + k], x)


@search.implements(search.box_costs, Adhoc)
def _box_costs(_metric, scratch, queries, q, boxes, b, fixed, varying):
    """Bound boxes: the cheapest code of the box, and the cheapest band that meets its interval."""
    zero = np.float32(0)
    for c in range(WIDTH):
        fixed[c] = queries.base[q]
        varying[c] = scratch.start[q]
    for k in range(boxes.sets.shape[1]):
        if queries.codes[q, k] >= 0:
            for a in range(scratch.n_sets[q, k]):
                codes, step = scratch.sets[q, k, a], scratch.set_step[q, k, a]
                for c in range(WIDTH):
                    fixed[c] += step if (boxes.sets[b, k, c] & codes) == np.uint64(0) else zero
    for k in range(boxes.low.shape[1]):
        if queries.values[q, k] == queries.values[q, k]:
            for a in range(scratch.n_bands[q, k]):
                low, high, step = (
                    scratch.lowest[q, k, a],
                    scratch.uppermost[q, k, a],
                    scratch.box_step[q, k, a],
                )
                if step > 0:
                    for c in range(WIDTH):
                        below = step if boxes.high[b, k, c] < low else zero
                        varying[c] += step if boxes.low[b, k, c] > high else below


@inner_jit
def _record_cost(metric, scratch, queries, q, leaves, leaf, s):
    """Return the cost of a record of a leaf, or a part of it that exceeds the limit."""
    rules, nc, limit = metric.rules, leaves.codes.shape[1], queries.limit[q]
    total = queries.base[q]
    for k in range(nc):
        code, other, j = queries.codes[q, k], leaves.codes[leaf, k, s], metric.variable[k]
        if code >= 0:
            if other < 0:
                total += metric.highest[k]
            elif rules.kind[j] == TABLE:
                total += metric.table[rules.start[j] + code * rules.width[j] + other]
            elif other != code:
                total += metric.highest[k]
    for k in range(leaves.values.shape[1]):
        if total >= limit:
            break
        if queries.values[q, k] == queries.values[q, k]:
            y, a = leaves.values[leaf, k, s], 0
            if y == y:
                while (
                    a < scratch.n_bands[q, k]
                    and not scratch.lowest[q, k, a] <= y <= scratch.uppermost[q, k, a]
                ):
                    a += 1
                total += scratch.band_cost[q, k, a]
            else:
                total += metric.highest[nc + k]
    return total


@inner_jit
def _all_costs(metric, scratch, queries, q, leaves, leaf, total):
    """Write the cost of every record of a leaf."""
    rules, nc = metric.rules, leaves.codes.shape[1]
    for s in range(WIDTH):
        total[s] = queries.base[q]
    for k in range(nc):
        code, j, highest = queries.codes[q, k], metric.variable[k], metric.highest[k]
        if code >= 0 and rules.kind[j] == EXACT:
            for s in range(WIDTH):
                total[s] += highest if leaves.codes[leaf, k, s] != code else np.float32(0)
        elif code >= 0:
            row = rules.start[j] + code * rules.width[j]
            for s in range(WIDTH):
                other = leaves.codes[leaf, k, s]
                total[s] += metric.table[row + other] if other >= 0 else highest
    for k in range(leaves.values.shape[1]):
        if queries.values[q, k] == queries.values[q, k]:
            n, first = scratch.n_bands[q, k], scratch.band_cost[q, k, 0]
            absent = metric.highest[nc + k] - first
            for s in range(WIDTH):
                total[s] += first
            for a in range(n):
                low, high = scratch.lowest[q, k, a], scratch.uppermost[q, k, a]
                step = scratch.band_cost[q, k, a + 1] - scratch.band_cost[q, k, a]
                for s in range(WIDTH):  # a missing value counts as in every band
                    y = leaves.values[leaf, k, s]
                    below = step if y < low else np.float32(0)
                    total[s] += step if y > high else below
            for s in range(WIDTH):
                y = leaves.values[leaf, k, s]
                total[s] += np.float32(0) if y == y else absent


@search.implements(search.leaf_costs, Adhoc)
def _leaf_costs(metric, scratch, queries, q, leaves, leaf, mask, low, high):
    """Bound the records of ``mask``, one by one where they are few; return those below the limit."""
    limit = queries.limit[q]
    few = popcount(mask) <= search.MAX_SINGLE
    if not few:
        _all_costs(metric, scratch, queries, q, leaves, leaf, low)
    below = np.uint64(0)
    while mask:
        s = trailing_zeros(mask)
        mask &= mask - np.uint64(1)
        if few:
            low[s] = _record_cost(metric, scratch, queries, q, leaves, leaf, s)
        if low[s] < limit:
            high[s] = low[s] + metric.shortfall
            below |= np.uint64(1) << np.uint64(s)
    return below
