"""Adhoc in the form of the search: what a pair costs, and bounds of it (METHODS §4.4, §5; see `search`).

The search works with costs in units of 1, rounded down to the grain of the boxes, and with the ranks of values
instead of the values: the EIF values that a band holds are all those between two ranks.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels import search
from reident.kernels.adhoc_rules import BANDS, EXACT, TABLE, Flat
from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.boxes import WIDTH
from reident.kernels.compiling import inner_jit, lean_jit
from reident.kernels.searchroom import TOGETHER


class Adhoc(NamedTuple):
    """The metric in the form of the search; coded variables come first, in the order of the boxes."""

    rules: Flat
    variable: np.ndarray  # int64 (v,): where the variable stands in the files
    highest: np.ndarray  # float32 (v,): the cost of a missing value, and the most that a variable costs
    table: np.ndarray  # float32: the costs of all tables
    cost: np.ndarray  # float32: the costs of all bands
    beyond: np.ndarray  # float32 (v,)
    known: np.ndarray  # float64: the distinct values of each numeric variable in both files, ascending
    first: np.ndarray  # int64 (numeric + 1,): where those of a variable begin
    share: np.ndarray  # int64 (numeric,): so many values have the same rank, 1 unless there are too many
    rounded: np.float32  # the most that a pair's costs are below their true sum


class Desk(NamedTuple):
    """What the rules say about each of the PUF records that search together.

    A cost is what the cheapest code or the innermost band costs, plus a step for each set of codes that a code
    is not in and each band that does not hold a value. Sets and bands grow, so that steps out of them add up.
    """

    start: np.ndarray  # float32 (TOGETHER,): the costs without a step of all variables
    sets: np.ndarray  # uint64 (TOGETHER, coded, 64): bit c % 64 for each code c that costs at most so much
    set_step: np.ndarray  # float32 (TOGETHER, coded, 64)
    n_sets: np.ndarray  # int64 (TOGETHER, coded)
    lowest: np.ndarray  # float32 (TOGETHER, numeric, bands): the lowest rank that a band holds
    uppermost: np.ndarray  # float32 (TOGETHER, numeric, bands)
    band_cost: np.ndarray  # float32 (TOGETHER, numeric, bands + 1): the last one is beyond
    box_step: (
        np.ndarray
    )  # float32 (TOGETHER, numeric, bands): steps of the least cost of a band and all after it
    n_bands: np.ndarray  # int64 (TOGETHER, numeric)
    costs: np.ndarray  # float32 (64,)


def make_desk(n_coded: int, n_numeric: int, n_bands: int) -> Desk:
    """Room for what the rules say, uninitialised."""

    def room(*shape: int) -> np.ndarray:
        return np.empty((TOGETHER, *shape), np.float32)

    return Desk(
        room(),
        np.empty((TOGETHER, n_coded, WIDTH), np.uint64),
        room(n_coded, WIDTH),
        np.empty((TOGETHER, n_coded), np.int64),
        room(n_numeric, n_bands),
        room(n_numeric, n_bands),
        room(n_numeric, n_bands + 1),
        room(n_numeric, n_bands),
        np.empty((TOGETHER, n_numeric), np.int64),
        np.empty(WIDTH, np.float32),
    )


@lean_jit
def _end(rules, b, p):
    """The largest difference that a band holds around a PUF value; of an infinite one no share is taken in vain."""
    return rules.within[b] + (rules.share[b] * abs(p) if rules.share[b] > 0 else 0.0)


@search.implements(search.level_of, Adhoc)
def _level_of(metric, _desk, files, i, r, bound):
    """The cost of the pair (i, r) by the definition, or some number from ``bound`` on if that is what it reaches."""
    rules, total = metric.rules, 0
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
                if difference <= _end(rules, b, p):
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
def _limit_of(_metric, bound):
    """The bound in float32, rounded up."""
    limit = np.float32(bound / 1e12)
    return limit if np.float64(limit) >= bound / 1e12 else np.nextafter(limit, np.float32(np.inf))


@lean_jit
def _list_sets(costs, highest, sets, set_step):
    """List the 64 codes as growing sets by what they cost; returns the number of sets and the lowest cost.

    A code of which there is none costs infinitely much here.
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
def _apart(p, e):
    """The difference that bands are compared with."""
    return 0.0 if p == e else abs(e - p)


@lean_jit
def _held(known, at, limit):
    """The first and the last of the known values that a band with this limit around one of them holds."""
    outside, lowest = -1, at
    while lowest - outside > 1:
        middle = (outside + lowest) // 2
        if _apart(known[at], known[middle]) <= limit:
            lowest = middle
        else:
            outside = middle
    uppermost, outside = at, known.size
    while outside - uppermost > 1:
        middle = (outside + uppermost) // 2
        if _apart(known[at], known[middle]) <= limit:
            uppermost = middle
        else:
            outside = middle
    return lowest, uppermost


@lean_jit
def _list_bands(metric, desk, q, k, j, x):
    """List the bands that can count for a PUF value, with growing limits; returns the least cost of all.

    A band counts if no earlier one holds the difference, hence only beyond the largest earlier limit.
    """
    rules, n, largest = metric.rules, 0, -1.0
    known = metric.known[metric.first[k] : metric.first[k + 1]]
    at = np.searchsorted(known, x)
    for b in range(rules.start[j], rules.start[j] + rules.width[j]):
        limit = _end(rules, b, x)
        if limit > largest:
            lowest, uppermost = _held(known, at, limit)
            desk.lowest[q, k, n] = lowest // metric.share[k]
            desk.uppermost[q, k, n] = uppermost // metric.share[k]
            desk.band_cost[q, k, n] = metric.cost[b]
            n, largest = n + 1, limit
    least = desk.band_cost[q, k, n] = metric.beyond[j]
    for b in range(n - 1, -1, -1):
        before = min(least, desk.band_cost[q, k, b])
        desk.box_step[q, k, b] = least - before
        least = before
    desk.n_bands[q, k] = n
    return least


@search.implements(search.load, Adhoc)
def _load(metric, desk, files, queries, q, i):
    """Look up what the rules say about a PUF record."""
    rules, nc = metric.rules, queries.codes.shape[1]
    desk.start[q] = np.float32(0)
    for k in range(nc):
        code, j = queries.codes[q, k], metric.variable[k]
        if code >= 0 and rules.kind[j] == EXACT:
            desk.sets[q, k, 0] = np.uint64(1) << np.uint64(code & 63)
            desk.set_step[q, k, 0] = metric.highest[k]
            desk.n_sets[q, k] = 1
        elif code >= 0:
            for c in range(WIDTH):
                desk.costs[c] = np.float32(np.inf)
            row = rules.start[j] + code * rules.width[j]
            for c in range(rules.width[j]):
                desk.costs[c & 63] = min(desk.costs[c & 63], metric.table[row + c])
            n_sets, lowest = _list_sets(desk.costs, metric.highest[k], desk.sets[q, k], desk.set_step[q, k])
            desk.n_sets[q, k] = n_sets
            desk.start[q] += lowest
    for k in range(queries.values.shape[1]):
        x = files.puf_values[i, metric.variable[nc + k]]
        if not np.isnan(x):
            desk.start[q] += _list_bands(metric, desk, q, k, metric.variable[nc + k], x)


@search.implements(search.box_costs, Adhoc)
def _box_costs(_metric, desk, queries, q, boxes, b, fixed, varying):
    """A box costs what its cheapest code costs, and what the cheapest band that meets its interval does."""
    none = np.float32(0)
    for c in range(WIDTH):
        fixed[c] = queries.base[q]
        varying[c] = desk.start[q]
    for k in range(boxes.sets.shape[1]):
        if queries.codes[q, k] >= 0:
            for a in range(desk.n_sets[q, k]):
                codes, step = desk.sets[q, k, a], desk.set_step[q, k, a]
                for c in range(WIDTH):
                    fixed[c] += step if (boxes.sets[b, k, c] & codes) == np.uint64(0) else none
    for k in range(boxes.low.shape[1]):
        if queries.values[q, k] == queries.values[q, k]:
            for a in range(desk.n_bands[q, k]):
                low, high, step = desk.lowest[q, k, a], desk.uppermost[q, k, a], desk.box_step[q, k, a]
                if step > 0:
                    for c in range(WIDTH):
                        below = step if boxes.high[b, k, c] < low else none
                        varying[c] += step if boxes.low[b, k, c] > high else below


@inner_jit
def _record_cost(metric, desk, queries, q, leaves, leaf, s):
    """The cost of a record of a leaf, or a part of it that is beyond the limit."""
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
                while a < desk.n_bands[q, k] and not desk.lowest[q, k, a] <= y <= desk.uppermost[q, k, a]:
                    a += 1
                total += desk.band_cost[q, k, a]
            else:
                total += metric.highest[nc + k]
    return total


@inner_jit
def _all_costs(metric, desk, queries, q, leaves, leaf, total):
    """The cost of every record of a leaf."""
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
            n, first = desk.n_bands[q, k], desk.band_cost[q, k, 0]
            gone = metric.highest[nc + k] - first
            for s in range(WIDTH):
                total[s] += first
            for a in range(n):
                low, high = desk.lowest[q, k, a], desk.uppermost[q, k, a]
                step = desk.band_cost[q, k, a + 1] - desk.band_cost[q, k, a]
                for s in range(WIDTH):  # a missing value is in every band here
                    y = leaves.values[leaf, k, s]
                    below = step if y < low else np.float32(0)
                    total[s] += step if y > high else below
            for s in range(WIDTH):
                y = leaves.values[leaf, k, s]
                total[s] += np.float32(0) if y == y else gone


@search.implements(search.leaf_costs, Adhoc)
def _leaf_costs(metric, desk, queries, q, leaves, leaf, mask, low, high):
    """Bounds of the records of ``mask``, and which of them are below the limit."""
    limit = queries.limit[q]
    few = popcount(mask) <= search.FEW
    if not few:
        _all_costs(metric, desk, queries, q, leaves, leaf, low)
    below = np.uint64(0)
    while mask:
        s = trailing_zeros(mask)
        mask &= mask - np.uint64(1)
        if few:
            low[s] = _record_cost(metric, desk, queries, q, leaves, leaf, s)
        if low[s] < limit:
            high[s] = low[s] + metric.rounded
            below |= np.uint64(1) << np.uint64(s)
    return below
