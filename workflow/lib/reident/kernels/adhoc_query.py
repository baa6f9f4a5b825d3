"""The rules of adhoc for one PUF record: exact costs, and lower bounds in bytes (METHODS §4.4).

The cost of a pair on a variable is the variable's highest score less its score, an integer in units of 1/scale. The
search compares ranks instead of values and needs no further comparison: the distinct values of both files within a
limit of a PUF value are all those between two of them, since the floating-point difference from it does not fall with
the distance. `_band_range` finds the two with the very expression of the definition.

**Bytes.** Each value of the EIF has a byte: the code of a category by its remainder of 255, the number of the bucket
of a numeric value, and 255 if it is missing. Costs in bytes are multiples of a *unit*, rounded down. What a byte costs
is a sum of steps (see `lanes`), and never more than the cost of any value with that byte:

- exact: values with another byte are different;
- table: the lowest cost of the codes with that byte, as nested intervals above the lowest of the row (see
  `adhoc_profiles`);
- bands: the lowest cost of the first band whose buckets include the byte and all after it. Bands grow, so that a value
  in a band is in the buckets of this band and all after it. A missing value costs the most.

A pair whose bytes add up to at least (bound − base) / unit, where base is the cost of what is missing in the PUF
record, hence costs at least the bound. Sums that saturate at 255 are lower bounds as well.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.adhoc_profiles import ABSENT, MAX_STEPS, Profiles
from reident.kernels.adhoc_rules import BANDS, EXACT, TABLE, Flat, difference, reach
from reident.kernels.compiling import inner_jit, lean_jit
from reident.kernels.lanes import STEP

BLOCKS = 2
"""Blocks of variables: variables before `Model.cut`, and the others."""


class Model(NamedTuple):
    """The rules of a study as the search needs them; coded variables come first."""

    rules: Flat
    variable: np.ndarray  # int64 (v,): position of the variable in the files
    kind: np.ndarray  # int64 (v,)
    highest: np.ndarray  # int64 (v,): the most that a variable costs, and the cost of a missing value
    n_coded: int
    cut: int  # variables of the first block
    unit: int  # costs in bytes are multiples of it
    distinct: np.ndarray  # float64: the distinct values of each numeric variable in both files, ascending
    bucket: np.ndarray  # uint8: the bucket of each of them
    first: np.ndarray  # int64 (numeric + 1,): where those of a variable begin
    profiles: Profiles


class Query(NamedTuple):
    """A PUF record; the next one overwrites it."""

    row: np.ndarray  # int32 (v,): code or rank, -1 for missing
    base: np.ndarray  # int64 (1,): cost of what is missing in the record
    steps: np.ndarray  # int32 (BLOCKS, steps, 4)
    n_steps: np.ndarray  # int64 (BLOCKS,)
    start: np.ndarray  # int64 (BLOCKS,): the least that the variables of a block cost in bytes, at most 255
    lowest: np.ndarray  # int32 (numeric, bands): the lowest rank that a band holds
    uppermost: np.ndarray  # int32 (numeric, bands)
    band_cost: np.ndarray  # int64 (numeric, bands + 1): the last one is the cost beyond
    n_bands: np.ndarray  # int64 (numeric,)


def empty_query(model: Model) -> Query:
    """Allocate memory for one PUF record at a time, uninitialised."""
    rules, v = model.rules, model.variable.size
    coded, numeric = model.variable[: model.n_coded], model.variable[model.n_coded :]
    n_bands = int(rules.width[numeric].max(initial=0))
    n_steps = int((rules.width[numeric] + 1).sum() + np.minimum(rules.width[coded] + 2, MAX_STEPS).sum())
    return Query(
        row=np.empty(v, np.int32),
        base=np.empty(1, np.int64),
        steps=np.empty((BLOCKS, n_steps, STEP), np.int32),
        n_steps=np.empty(BLOCKS, np.int64),
        start=np.empty(BLOCKS, np.int64),
        lowest=np.empty((numeric.size, n_bands), np.int32),
        uppermost=np.empty((numeric.size, n_bands), np.int32),
        band_cost=np.empty((numeric.size, n_bands + 1), np.int64),
        n_bands=np.empty(numeric.size, np.int64),
    )


@lean_jit
def _band_range(distinct, at, limit):
    """Return the first and the last of the distinct values that a band with this limit around one of them holds."""
    return _furthest(distinct, at, limit, -1), _furthest(distinct, at, limit, 1)


@lean_jit
def _furthest(distinct, at, limit, direction):
    """Return the last of the distinct values in a direction that a band with this limit around one of them holds.

    The distance at which the search begins to halve doubles until it is outside the band.
    """
    inside, outside, stride = at, at + direction, 1
    while 0 <= outside < distinct.size and difference(distinct[at], distinct[outside]) <= limit:
        inside, outside, stride = outside, min(max(outside + direction * stride, -1), distinct.size), 2 * stride
    while abs(outside - inside) > 1:
        middle = (outside + inside) // 2
        if difference(distinct[at], distinct[middle]) <= limit:
            inside = middle
        else:
            outside = middle
    return inside


@inner_jit
def _add_step(query, b, k, first, width, cost):
    """Add a step to block b: the cost of a byte of variable k outside an interval."""
    n = query.n_steps[b]
    query.steps[b, n, 0] = k
    query.steps[b, n, 1] = first
    query.steps[b, n, 2] = width
    query.steps[b, n, 3] = min(cost, 255)
    query.n_steps[b] = n + 1


@inner_jit
def _load_table(model, query, b, k, code):
    """Write the steps of a category under a table; return the least that it costs."""
    profiles, n = model.profiles, query.n_steps[b]
    row = profiles.row[k] + code
    for a in range(profiles.first[row], profiles.first[row + 1]):
        for x in range(STEP):
            query.steps[b, n, x] = profiles.steps[a, x]
        n += 1
    query.n_steps[b] = n
    return profiles.least[row]


@lean_jit
def _load_bands(model, query, b, k, at):
    """List the bands that can apply to a PUF value, and write their steps; return the least that it costs.

    The first band that holds the difference applies, hence a band only beyond the largest limit before it.
    """
    rules, unit, m = model.rules, model.unit, k - model.n_coded
    j = model.variable[k]
    distinct = model.distinct[model.first[m] : model.first[m + 1]]
    bucket = model.bucket[model.first[m] : model.first[m + 1]]
    n, largest = 0, -1.0
    for band in range(rules.start[j], rules.start[j] + rules.width[j]):
        limit = reach(rules.within[band], rules.share[band], distinct[at])
        if limit >= 0 and limit > largest:
            query.lowest[m, n], query.uppermost[m, n] = _band_range(distinct, at, limit)
            query.band_cost[m, n] = rules.cost[band]
            n, largest = n + 1, limit
    query.n_bands[m], query.band_cost[m, n] = n, rules.beyond[j]
    least = rules.beyond[j] // unit
    if model.highest[k] // unit > least:  # what is missing, beside all buckets
        _add_step(query, b, k, 0, ABSENT - 1, model.highest[k] // unit - least)
    for a in range(n - 1, -1, -1):
        cost = min(least, query.band_cost[m, a] // unit)
        if least > cost:
            first, last = bucket[query.lowest[m, a]], bucket[query.uppermost[m, a]]
            _add_step(query, b, k, first, last - first, least - cost)
        least = cost
    return least


@lean_jit
def load(model, row, query):
    """Make a PUF record, as a row of codes and ranks, the query."""
    query.base[0] = 0
    for b in range(BLOCKS):
        query.n_steps[b], start = 0, 0
        for k in range(model.cut if b else 0, row.size if b else model.cut):
            query.row[k] = row[k]
            if row[k] < 0:
                query.base[0] += model.highest[k]
            elif model.kind[k] == BANDS:
                start += _load_bands(model, query, b, k, row[k])
            elif model.kind[k] == TABLE:
                start += _load_table(model, query, b, k, row[k])
            elif model.highest[k] >= model.unit:
                _add_step(query, b, k, row[k] % ABSENT, 0, model.highest[k] // model.unit)
        query.start[b] = min(start, 255)


@inner_jit
def variable_cost(model, query, k, y):
    """Return the cost of variable k if the EIF record has code or rank y and the PUF record is not missing."""
    if y < 0:
        return model.highest[k]
    if model.kind[k] == EXACT:
        return model.highest[k] if y != query.row[k] else np.int64(0)
    if model.kind[k] == TABLE:
        j = model.variable[k]
        return model.rules.table[model.rules.start[j] + query.row[k] * model.rules.width[j] + y]
    m, a = k - model.n_coded, 0
    while a < query.n_bands[m] and not query.lowest[m, a] <= y <= query.uppermost[m, a]:
        a += 1
    return query.band_cost[m, a]


@inner_jit
def level_of(model, query, row, bound):
    """Return the cost of the pair with an EIF record, or a part of it that is at least ``bound``."""
    total = query.base[0]
    for k in range(row.size):
        if total >= bound:
            break
        if query.row[k] >= 0:
            total += variable_cost(model, query, k, row[k])
    return total
