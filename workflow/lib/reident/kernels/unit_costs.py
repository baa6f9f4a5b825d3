"""The cost of two values by the rules of taxicab, euclidean and adhoc, and its lower bounds by byte (METHODS §4.7)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.adhoc_rules import BANDS, TABLE, Flat, difference, reach
from reident.kernels.compiling import inner_jit, lean_jit
from reident.kernels.euclidean_costs import ascending_sum, number_score

EQUAL, NUMBER = 3, 4
"""Kinds of costs beside those of adhoc: of categories that are equal or not, and of numbers by standard deviations."""

BYTES = 256
"""The values of a byte; the first one is that of a missing value."""


class Rules(NamedTuple):
    """The costs of the variables of units, or of those of members."""

    kind: np.ndarray  # int64 (v,): EQUAL, NUMBER, TABLE or BANDS
    numeric: np.ndarray  # bool (v,): whether values are compared
    whole: bool  # whether all costs are whole numbers, whose sums do not depend on their order
    equal: np.ndarray  # bool (v,): whether the cost is 0 where codes are equal, and one number where they differ
    different: np.ndarray  # float64 (v,): the cost of different categories
    missing: np.ndarray  # float64 (v,)
    largest: np.ndarray  # float64 (v,): the largest cost of two values
    spread: (
        np.ndarray
    )  # float64 (n_strata, v): standard deviations, NaN where unequal numbers are as far as they can be
    steps: np.ndarray | None  # of whole steps, see `euclidean_costs`
    start: np.ndarray  # int64 (v,): where the table or the bands of a variable begin
    width: np.ndarray  # int64 (v,): the number of codes of its table, or of its bands
    table: np.ndarray  # float64: the costs of all tables, row by row
    within: np.ndarray  # float64 (n_strata, b), of the bands of all variables
    share: np.ndarray  # float64 (b,)
    cost: np.ndarray  # float64 (b,)
    beyond: np.ndarray  # float64 (v,)


_NONE = np.zeros(0)


def of_categories(v: int, n_strata: int, different: float, missing: float) -> Rules:
    """Return the rules of variables whose categories are equal or different."""
    return of_deviations(np.zeros(v, np.bool_), np.full((n_strata, v), np.nan), different, missing, None)


def of_deviations(
    numeric: np.ndarray, spread: np.ndarray, different: float, missing: float, steps: np.ndarray | None
) -> Rules:
    """Return the rules of categories, and of numbers by the square of their difference in standard deviations."""
    v = len(numeric)
    whole, zeros = np.zeros(v, np.int64), np.zeros(v)
    usable = np.where(np.isfinite(spread) & (spread > 0), spread, np.nan)
    apart, absent, largest = (np.full(v, cost, np.float64) for cost in (different, missing, max(different, missing)))
    kind, by_value = np.where(numeric, NUMBER, EQUAL).astype(np.int64), np.asarray(numeric, np.bool_)
    exact = not by_value.any() and all(cost == int(cost) for cost in (different, missing))
    return Rules(
        kind, by_value, exact, ~by_value, apart, absent, largest, usable, steps, whole, whole, _NONE,
        np.zeros((len(spread), 0)), _NONE, _NONE, zeros,
    )  # fmt: skip


def of_scores(flat: Flat, within: np.ndarray, unit: int) -> Rules:
    """Return the rules of adhoc, with the widths of bands by stratum, and costs in a unit that divides them."""
    v = len(flat.kind)
    own = (flat.kind != TABLE) & (flat.kind != BANDS)
    highest = (flat.highest // unit).astype(np.float64)
    return Rules(
        np.where(own, EQUAL, flat.kind).astype(np.int64), flat.kind == BANDS, True, own, highest, highest, highest,
        np.full((len(within), v), np.nan), None, flat.start, flat.width, flat.table / unit, within,
        flat.share, flat.cost / unit, flat.beyond / unit,
    )  # fmt: skip


@inner_jit
def variable_cost(rules, s, j, p_code, e_code, p, e):
    """Return the cost of two values of a variable in stratum s."""
    kind = rules.kind[j]
    if rules.numeric[j]:
        if np.isnan(p) or np.isnan(e):
            return rules.missing[j]
        if kind == NUMBER:
            if p == e:
                return 0.0
            score = number_score(rules.steps, abs(p - e), rules.spread[s, j])
            return score * score
        for b in range(rules.start[j], rules.start[j] + rules.width[j]):
            if difference(p, e) <= reach(rules.within[s, b], rules.share[b], p):
                return rules.cost[b]
        return rules.beyond[j]
    if p_code < 0 or e_code < 0:
        return rules.missing[j]
    if kind == TABLE:
        return rules.table[rules.start[j] + p_code * rules.width[j] + e_code]
    return 0.0 if p_code == e_code else rules.different[j]


@lean_jit
def costs_of(rules, s, puf_codes, puf_values, x, eif_codes, eif_values, y, parts):
    """Write the costs of all variables of two rows, of units or of members."""
    for j in range(rules.kind.size):
        parts[j] = variable_cost(rules, s, j, puf_codes[x, j], eif_codes[y, j], puf_values[x, j], eif_values[y, j])


@lean_jit
def total_cost(parts, n):
    """Return the sum of the first n costs, as that of a pair of records."""
    return ascending_sum(parts, n)


@lean_jit
def member_costs(rules, s, puf, eif, p, a, e, b, stop, costs, parts):
    """Write the costs of all members of two units, those of the smaller one as rows.

    Return whether the least costs of the rows add up to less than ``stop``; if not, some are not written.
    """
    v, least = rules.kind.size, 0.0
    for i in range(min(a, b)):
        lowest = np.inf
        for k in range(max(a, b)):
            x, y = (p + i, e + k) if a <= b else (p + k, e + i)
            total = 0.0
            for j in range(v):
                parts[j] = variable_cost(
                    rules, s, j, puf.codes[x, j], eif.codes[y, j], puf.values[x, j], eif.values[y, j]
                )
                total += parts[j]
            costs[i, k] = total if rules.whole else ascending_sum(parts, v)
            lowest = min(lowest, costs[i, k])
        least += lowest
        if least >= stop:
            return False
    return True


def byte_codes(rules: Rules, codes: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of each byte of a number, (v, 256, 2), and the bytes of members, (rows, v)."""
    v = len(rules.kind)
    edges, by_byte = np.zeros((v, BYTES, 2)), np.zeros(codes.shape, np.uint8)
    for j in range(v):
        if not rules.numeric[j]:
            by_byte[:, j] = np.where(codes[:, j] < 0, 0, 1 + codes[:, j] % (BYTES - 1))
            continue
        present = ~np.isnan(values[:, j])
        numbers = values[present, j]
        edges[j, :, 0], edges[j, :, 1] = np.inf, -np.inf
        if len(numbers):
            cuts = np.unique(np.quantile(numbers, np.linspace(0, 1, BYTES - 1)[1:-1], method="inverted_cdf"))
            number = 1 + np.searchsorted(cuts, numbers)
            by_byte[present, j] = number
            np.minimum.at(edges[j, :, 0], number, numbers)
            np.maximum.at(edges[j, :, 1], number, numbers)
    return edges, by_byte


@lean_jit
def bound_table(rules, edges, quanta, s, codes, values, start, a, table):
    """Write a lower bound of the cost of each member of a PUF unit and each byte, in whole numbers."""
    for m in range(a):
        for j in range(rules.kind.size):
            code, value, missing = codes[start + m, j], values[start + m, j], _whole(rules.missing[j], quanta)
            absent = np.isnan(value) if rules.numeric[j] else code < 0
            if absent:
                table[m, j, :] = missing
                continue
            table[m, j, 0] = missing
            if rules.equal[j]:
                table[m, j, 1:] = _whole(rules.different[j], quanta)
                table[m, j, 1 + code % (BYTES - 1)] = 0
            elif rules.kind[j] == TABLE:
                table[m, j, 1:] = 65535
                for e in range(rules.width[j]):
                    cost = _whole(rules.table[rules.start[j] + code * rules.width[j] + e], quanta)
                    byte = 1 + e % (BYTES - 1)
                    table[m, j, byte] = min(table[m, j, byte], cost)
            else:
                for byte in range(1, BYTES):
                    low, high = edges[j, byte, 0], edges[j, byte, 1]
                    table[m, j, byte] = (
                        _whole(_least_number(rules, s, j, value, low, high), quanta) if low <= high else 0
                    )


@inner_jit
def _whole(cost, quanta):
    """Return a cost in whole numbers, rounded down."""
    return np.uint16(max(0.0, cost * quanta * (1 - 1e-12)))


@inner_jit
def _least_number(rules, s, j, p, low, high):
    """Return the least cost of a number and any number of an interval."""
    nearest = max(0.0, low - p, p - high)
    if rules.kind[j] == NUMBER:
        if nearest == 0.0:
            return 0.0
        score = number_score(rules.steps, nearest, rules.spread[s, j])
        return score * score
    farthest, least = max(abs(low - p), abs(high - p)), rules.largest[j]
    for b in range(rules.start[j], rules.start[j] + rules.width[j]):
        width = reach(rules.within[s, b], rules.share[b], p)
        if nearest <= width:
            least = min(least, rules.cost[b])
            if farthest <= width:
                return least
    return min(least, rules.beyond[j])
