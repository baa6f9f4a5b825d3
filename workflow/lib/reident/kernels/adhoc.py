"""Adhoc: the best pairs by the sum of scores that the study defines for each variable (METHODS §4.4, §5).

Scores are integers: multiples of 10^-12, so that sums are exact and ties are ties. Scans count down from
the largest possible sum: the cost of a pair is that sum less its score, and low is best.

The search (see `search`) works with costs in units of 1, rounded down to the grain of the boxes, and with the
ranks of values instead of the values: the EIF values that a band holds are all those between two ranks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reident.kernels import coding, search
from reident.kernels.bits import trailing_zeros
from reident.kernels.boxes import GRAIN, WIDTH, Costs, Index, build
from reident.kernels.compiling import inner_jit, lean_jit
from reident.kernels.toplist import Best, empty_best, listed, offer, settle

SCALE = 10**12
"""A score of 1."""

HIGHEST = 5 * SCALE
"""The highest score of a variable."""


@dataclass(frozen=True)
class Exact:
    """5 where the two codes are equal, otherwise 0; compares ``codes``."""


@dataclass(frozen=True)
class Table:
    """The score by pair of categories; compares ``codes``.

    Attributes
    ----------
    scores : int64 (n_codes, n_codes)
        Row: the PUF record's code, column: the EIF record's; 0 to 5·10^12.
    """

    scores: np.ndarray


@dataclass(frozen=True)
class Bands:
    """The score of the first band that holds the difference of the two ``values``.

    Attributes
    ----------
    within : float64 (b,)
        A band holds a pair if ``|e − p| <= within``, or ``|e − p| <= within·|p|`` where it is relative.
    relative : bool (b,)
    score : int64 (b,)
    beyond : int
        The score where no band holds the pair.
    """

    within: np.ndarray
    relative: np.ndarray
    score: np.ndarray
    beyond: int = 0


_MOST_RANKS = 2**24
"""Float32 tells so many whole numbers apart."""

_FEW = 8
"""So few records of a leaf are bounded one by one."""

Rule = Exact | Table | Bands


EXACT, TABLE, BANDS = 0, 1, 2


class Flat(NamedTuple):
    """All rules in plain arrays; a cost is the variable's highest score less the score."""

    kind: np.ndarray  # int64 (v,): EXACT, TABLE or BANDS
    start: np.ndarray  # int64 (v,): where the variable's table or bands begin
    width: np.ndarray  # int64 (v,): number of codes of its table, number of its bands
    table: np.ndarray  # int64: the costs of all tables, row by row
    within: np.ndarray  # float64 (b,), of the bands of all variables
    relative: np.ndarray  # bool (b,)
    cost: np.ndarray  # int64 (b,)
    beyond: np.ndarray  # int64 (v,)
    highest: np.ndarray  # int64 (v,): the highest score, which is the cost of a missing value


def _scores(rule: Rule) -> np.ndarray:
    """Every score that a rule can give, checked."""
    if isinstance(rule, Exact):
        return np.array([0, HIGHEST])
    if isinstance(rule, Table):
        scores = np.asarray(rule.scores)
        if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
            raise ValueError("a table needs as many rows as columns, one per code.")
    else:
        if not len(rule.within) == len(rule.relative) == len(rule.score):
            raise ValueError("bands need as many scores and relative flags as limits.")
        scores = np.append(rule.score, rule.beyond)
    if scores.size and not 0 <= scores.min() <= scores.max() <= HIGHEST:
        raise ValueError("scores lie between 0 and 5·10^12.")
    return scores


def flatten(rules: Sequence[Rule]) -> Flat:
    """Lay the rules out in plain arrays."""
    v = len(rules)
    kind, start, width, beyond, highest = (np.zeros(v, np.int64) for _ in range(5))
    tables, within = [np.zeros(0, np.int64)], [np.zeros(0)]
    relative, costs = [np.zeros(0, np.bool_)], [np.zeros(0, np.int64)]
    for j, rule in enumerate(rules):
        highest[j] = _scores(rule).max(initial=0)
        if isinstance(rule, Table):
            kind[j], start[j], width[j] = TABLE, sum(map(len, tables)), len(rule.scores)
            tables.append(highest[j] - np.asarray(rule.scores, np.int64).ravel())
        elif isinstance(rule, Bands):
            kind[j], start[j], width[j] = BANDS, sum(map(len, within)), len(rule.within)
            within.append(np.asarray(rule.within, np.float64))
            relative.append(np.asarray(rule.relative, np.bool_))
            costs.append(highest[j] - np.asarray(rule.score, np.int64))
            beyond[j] = highest[j] - rule.beyond
    table, limit, flag, cost = (np.concatenate(parts) for parts in (tables, within, relative, costs))
    return Flat(kind, start, width, table, limit, flag, cost, beyond, highest)


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


def _make_desk(n_coded: int, n_numeric: int, n_bands: int) -> Desk:
    def room(*shape: int) -> np.ndarray:
        return np.empty((search.TOGETHER, *shape), np.float32)

    return Desk(
        room(),
        np.empty((search.TOGETHER, n_coded, WIDTH), np.uint64),
        room(n_coded, WIDTH),
        np.empty((search.TOGETHER, n_coded), np.int64),
        room(n_numeric, n_bands),
        room(n_numeric, n_bands),
        room(n_numeric, n_bands + 1),
        room(n_numeric, n_bands),
        np.empty((search.TOGETHER, n_numeric), np.int64),
        np.empty(WIDTH, np.float32),
    )


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
                within = rules.within[b] * abs(p) if rules.relative[b] else rules.within[b]
                if difference <= within:
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
        limit = rules.within[b] * abs(x) if rules.relative[b] else rules.within[b]
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
    left, few = mask, 0
    while left and few <= _FEW:
        left &= left - np.uint64(1)
        few += 1
    if few > _FEW:
        _all_costs(metric, desk, queries, q, leaves, leaf, low)
    below = np.uint64(0)
    while mask:
        s = trailing_zeros(mask)
        mask &= mask - np.uint64(1)
        if few <= _FEW:
            low[s] = _record_cost(metric, desk, queries, q, leaves, leaf, s)
        if low[s] < limit:
            high[s] = low[s] + metric.rounded
            below |= np.uint64(1) << np.uint64(s)
    return below


def nearest(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    rules: Sequence[Rule],
    *,
    above: int,
    keep: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf_codes, eif_codes : int32 (n, v)
        Categories, equal in both files where the code is equal, -1 for missing; read where the rule of the
        variable is `Exact` or `Table`.
    puf_values, eif_values : float64 (n, v)
        Values, NaN for missing; read where the rule is `Bands`.
    rules : sequence of Exact, Table or Bands, one per variable
    above : int
        A pair is suspected if the sum of its scores is larger, both in units of 10^-12.
    keep : int
        The largest cumulative number of pairs of a rank that is returned, at least 1.
    threads : int
        The result does not depend on it.
    progress : callable, optional
        Called now and then with the fraction done.

    Returns
    -------
    puf, eif : int64 (m,)
        Positions, sorted by puf, level (highest first), eif.
    level : int64 (m,)
        The sum of the scores in units of 10^-12.
    crowded : bool (n_puf,)
        Records whose best level alone has more than ``keep`` pairs; they have no pair in the result.

    Raises
    ------
    ValueError
        Where shapes disagree, a score is outside 0…5, a code outside its table, or ``keep`` below 1.
    """
    flat = flatten(rules)
    _check(puf_codes, eif_codes, puf_values, eif_values, rules, keep)
    total = int(flat.highest.sum())
    best = empty_best(len(puf_codes), min(keep, len(eif_codes)))
    if len(puf_codes) and len(eif_codes) and total > above:
        files = search.Files(
            np.ascontiguousarray(puf_codes, np.int32),
            np.ascontiguousarray(eif_codes, np.int32),
            np.ascontiguousarray(puf_values, np.float64),
            np.ascontiguousarray(eif_values, np.float64),
        )
        metric, index, puf = _prepared(files, flat)
        n_coded, n_bands = puf.codes.shape[1], int(flat.width[flat.kind == BANDS].max(initial=0))

        def make_desk() -> Desk:
            return _make_desk(n_coded, len(rules) - n_coded, n_bands)

        search.run(index, puf, files, metric, make_desk, total - above, best, threads, progress)
    puf_at, eif_at, cost, crowded = listed(best)
    return puf_at, eif_at, total - cost, crowded


def _grained(cost: np.ndarray) -> np.ndarray:
    """Costs in float32, rounded down to the grain."""
    return ((cost * GRAIN // SCALE) / GRAIN).astype(np.float32)


def _prepared(files: search.Files, rules: Flat) -> tuple[Adhoc, Index, search.Puf]:
    """The metric and both files in the form of the search."""
    coded, numeric = np.flatnonzero(rules.kind != BANDS), np.flatnonzero(rules.kind == BANDS)
    variable = np.concatenate([coded, numeric])
    exact = rules.kind[coded] == EXACT
    codes = coding.coded(
        [(files.puf_codes[:, j], files.eif_codes[:, j]) for j in coded],
        list(exact),
        len(files.puf_codes),
        len(files.eif_codes),
    )
    codes.n[~exact] = rules.width[coded[~exact]]
    highest = _grained(rules.highest[variable])
    costs = Costs(highest, highest, exact, missing_differs=True)
    puf_ranks = np.empty((len(files.puf_values), numeric.size), np.float32)
    eif_ranks = np.empty((numeric.size, len(files.eif_values)), np.float32)
    places, known, share = np.empty_like(eif_ranks), [], np.ones(numeric.size, np.int64)
    for k, j in enumerate(numeric):
        puf_codes, eif_codes, values = coding.of_values(files.puf_values[:, j], files.eif_values[:, j])
        share[k] = -(-len(values) // _MOST_RANKS) or 1
        for ranks, column in ((puf_ranks[:, k], puf_codes), (eif_ranks[k], eif_codes)):
            ranks[:] = np.where(column < 0, np.nan, column // share[k])
        places[k] = _places(files.eif_values[:, j], rules, int(j))
        known.append(values)
    # A pair whose costs are whole grains is known exactly; ranks that several values share tell nothing from above.
    all_costs = np.concatenate([rules.table, rules.cost, rules.beyond, rules.highest])
    rounded = rules.kind.size / GRAIN if (all_costs * GRAIN % SCALE).any() else 0.0
    metric = Adhoc(
        rules,
        variable,
        highest,
        _grained(rules.table),
        _grained(rules.cost),
        _grained(rules.beyond),
        np.concatenate([np.zeros(0), *known]),
        np.cumsum([0, *map(len, known)]),
        share,
        np.float32(np.inf if (share > 1).any() else rounded),
    )
    index = build(codes.eif, codes.n, eif_ranks, places, costs)
    return metric, index, search.Puf(codes.puf, puf_ranks, highest, HIGHEST / SCALE)


def _places(values: np.ndarray, rules: Flat, j: int) -> np.ndarray:
    """Values on a scale on which two that are 1 apart differ clearly; only the speed depends on it."""
    bands = slice(rules.start[j], rules.start[j] + rules.width[j])
    within = rules.within[bands]
    within, relative = within[np.isfinite(within) & (within > 0)], rules.relative[bands].any()
    reach = 2 * float(within.min(initial=np.inf))
    reach = reach if np.isfinite(reach) else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        if relative:
            middle = coding.centre(np.abs(values[values != 0])) or 1.0
            values, reach = np.sign(values) * np.log1p(np.abs(values) / middle), float(np.log1p(reach))
        return np.clip(values / reach, -1e6, 1e6)


def _check(puf_codes, eif_codes, puf_values, eif_values, rules, keep):
    v = len(rules)
    if any(a.ndim != 2 or a.shape[1] != v for a in (puf_codes, eif_codes, puf_values, eif_values)):
        raise ValueError(f"codes and values need {v} columns, one per rule.")
    if len(puf_codes) != len(puf_values) or len(eif_codes) != len(eif_values):
        raise ValueError("codes and values disagree in length.")
    if keep < 1:
        raise ValueError("keep must be at least 1.")
    for j, rule in enumerate(rules):
        if isinstance(rule, Table) and any(
            codes[:, j].max(initial=-1) >= len(rule.scores) for codes in (puf_codes, eif_codes)
        ):
            raise ValueError(f"the table of variable {j} has fewer rows than there are codes.")


@lean_jit
def _offer_block(scores, start, threshold, levels, eifs, counts):
    keep = levels.shape[1] - 1
    for i in range(len(scores)):
        for r in range(scores.shape[1]):
            cost = -scores[i, r]
            if cost < (levels[i, keep] if counts[i] > keep else threshold):
                counts[i] = offer(levels[i], eifs[i], counts[i], cost, start + r)


@lean_jit
def _settle_all(levels, eifs, counts, best):
    for i in range(len(counts)):
        settle(levels[i], eifs[i], counts[i], best, i)


def nearest_blocks(
    score_block: Callable[[slice, slice], np.ndarray],
    n_puf: int,
    n_eif: int,
    *,
    above: int,
    keep: int,
    block: int = 1024,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what `nearest` does, for sums of scores that a function computes by blocks of pairs.

    Parameters
    ----------
    score_block : callable
        ``score_block(puf_slice, eif_slice)`` -> int64 (PUF records, EIF records): the sums of the scores
        of all pairs of the two slices, in units of 10^-12.
    n_puf, n_eif : int
    above, keep, progress
        As for `nearest`.
    block : int
        The largest number of records of either side in a block.

    Raises
    ------
    ValueError
        Where a block comes back in another shape or not as int64.
    """
    keep = min(keep, n_eif)
    best = empty_best(n_puf, keep)
    for first in range(0, n_puf, block):
        rows = slice(first, min(first + block, n_puf))
        n_rows = rows.stop - rows.start
        levels, eifs = np.empty((n_rows, keep + 1), np.int64), np.empty((n_rows, keep + 1), np.int32)
        counts = np.zeros(n_rows, np.int64)
        for start in range(0, n_eif, block):
            columns = slice(start, min(start + block, n_eif))
            scores = score_block(rows, columns)
            if scores.dtype != np.int64 or scores.shape != (n_rows, columns.stop - start):
                raise ValueError(
                    "score_block must return an int64 matrix, one row per PUF record of its slice."
                )
            _offer_block(np.ascontiguousarray(scores), start, -above, levels, eifs, counts)
            if progress is not None:
                progress((first * n_eif + columns.stop * n_rows) / (n_puf * n_eif))
        part = Best(*(array[rows] for array in best))
        _settle_all(levels, eifs, counts, part)
    puf, eif, cost, crowded = listed(best)
    return puf, eif, -cost, crowded
