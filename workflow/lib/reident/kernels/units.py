"""The best pairs of units: their own values, and the least-cost assignment of their members (METHODS §4.7, §5).

A unit with a members is compared with one with b: n = min(a, b) members are assigned, M members count, which is b where
the intruder knows some members only, otherwise max(a, b), and M − n of them are left over. The *cost* of a pair is

    X = U + (C + (M − n)·charge) / M

with U the cost of the units' own variables and C the least sum of the costs of assigned members. Its *level* is that of
a pair of records with the cost X, taken M times less (M − 1) times the threshold: of two pairs, the one whose members
add up to more evidence below the threshold has the lower level, and units of one member have the levels of records.

No pair is lost, and few are assigned:

- EIF units of a stratum are searched in groups of one size and equal own categories, whose costs and charge are known.
- For up to `SMALL` members, each PUF member has a table of lower bounds of its cost by byte, that of an EIF value's
  category or interval. Over a whole group they give the least cost of each row and of each column of an assignment;
  neither sum of these can exceed C. Larger units are bounded by how often categories occur, variable by variable.
- The assignment proper ends once rows that are assigned and the least costs of the others reach what the list of the
  best pairs lets in.

Bounds have a slack of `SLACK`; what they let pass is computed by the definition.
"""

import math
from itertools import pairwise
from typing import NamedTuple, Unpack

import numpy as np

from reident.kernels.compiling import inner_jit, jit, lean_jit
from reident.kernels.toplist import Pairs, Workers, bound_of, empty_best, in_threads, list_pairs, offer, settle
from reident.kernels.unit_assignment import assign, empty_scratch
from reident.kernels.unit_costs import BYTES, Rules, bound_table, byte_codes, costs_of, member_costs, total_cost

LINEAR, PRIMER, RMS = range(3)
"""The level of a cost X: k·X, or that of the scores √X/v or √(X/v)."""

SMALL = 8
"""Members of units that are bounded by bytes."""

SLACK = 1e-9
"""The share by which a bound may be above the cost."""

QUANTA = 60_000
"""The largest cost of two members in the whole numbers of the bounds, which fit into 16 bits."""

BLOCK = 64
"""PUF units that a thread takes at a time."""

COUNTED = 32
"""Categories that are counted apart in larger units; further ones share them."""


class Units(NamedTuple):
    """The units of one file, and their members, one unit after another."""

    start: np.ndarray  # int64 (n + 1,): the members of unit u are the rows start[u] to start[u + 1] - 1
    stratum: np.ndarray  # int64 (n,)
    unit_codes: np.ndarray  # int32 (n, v_u)
    unit_values: np.ndarray  # float64 (n, v_u)
    codes: np.ndarray  # int32 (rows, v_m)
    values: np.ndarray  # float64 (rows, v_m)


class Scale(NamedTuple):
    """How the cost of a pair becomes its level."""

    norm: int  # `LINEAR`, `PRIMER` or `RMS`
    factor: float  # the level of X = 1, or of a score of 1
    v: int  # the number of variables
    threshold: int  # a pair is suspected if its level is below this
    charge: float  # the cost of a member that is left over
    whole: bool  # whether members of the PUF unit that are left over count


class Groups(NamedTuple):
    """The EIF units by stratum, size and own categories."""

    of_stratum: np.ndarray  # int64 (n_strata + 1,): where the groups of each stratum begin
    size: np.ndarray  # int64 (g,)
    begin: np.ndarray  # int64 (g + 1,): where each begins in ``order``
    order: np.ndarray  # int64 (n_eif,): units
    bytes_at: np.ndarray  # int64 (g,): where the bytes of a group of small units begin
    bytes: np.ndarray  # uint8: by group, member, variable and unit


class Buffers(NamedTuple):
    """Work space of a thread."""

    levels: np.ndarray
    eifs: np.ndarray
    row: np.ndarray  # uint16 (widest,)
    row_least: np.ndarray  # uint16 (widest,)
    rows: np.ndarray  # int32 (widest,): the sum of the least costs of rows
    column_least: np.ndarray  # uint16 (SMALL, widest)
    low: np.ndarray  # float64 (widest,)
    unit: np.ndarray  # int64 (widest,)
    table: np.ndarray  # uint16 (SMALL, v_m, 256)


def nearest(
    puf: Units,
    eif: Units,
    unit_rules: Rules,
    member_rules: Rules,
    scale: Scale,
    *,
    n_strata: int,
    keep: int,
    **workers: Unpack[Workers],
) -> Pairs:
    """Return the suspected pairs of each PUF unit at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf, eif : Units
        Categories are equal in both files where codes are, -1 for missing; values are NaN for missing.
    unit_rules, member_rules : Rules
        The costs of the variables of units and of members, at least 0.
    keep, **workers
        See `toplist`.

    Returns
    -------
    Pairs
        The lowest level first.

    Notes
    -----
    Source: METHODS §4.7, §5.
    """
    n_puf, n_eif = len(puf.stratum), len(eif.stratum)
    best = empty_best(n_puf, min(keep, n_eif))
    if n_puf and n_eif and scale.threshold > 0:
        quanta = _quanta(member_rules)
        edges, by_byte = byte_codes(member_rules, eif.codes, eif.values)
        groups = _group(eif, unit_rules, by_byte, n_strata)
        widest = int(np.diff(groups.begin).max(initial=1))
        longest = int(max(np.diff(puf.start).max(), np.diff(eif.start).max()))
        large = longest > SMALL
        counts = [_count(side, member_rules) if large else np.zeros((1, 1, 1), np.int16) for side in (puf, eif)]

        def work(first: int, end: int) -> None:
            scratch = empty_scratch(longest, unit_rules, member_rules)
            _search(
                first, end, puf, eif, unit_rules, member_rules, scale, groups, edges, quanta, counts[0], counts[1],
                _buffers(min(keep, n_eif), widest, puf.codes.shape[1]), scratch, best,
            )  # fmt: skip

        in_threads(work, n_puf, block=BLOCK, **workers)
    return list_pairs(best)


def sizes(units: Units, which: np.ndarray) -> np.ndarray:
    """Return the number of members of some units; int64."""
    return units.start[which + 1] - units.start[which]


def _quanta(rules: Rules) -> float:
    """Return the whole numbers of the bounds in a cost of 1: one number, if costs are few whole numbers."""
    largest = float(rules.largest.sum())
    if largest <= 0:
        return 0.0
    return QUANTA / largest if largest > QUANTA else float(QUANTA // math.ceil(largest))


def _buffers(keep: int, widest: int, v: int) -> Buffers:
    return Buffers(
        np.empty(keep + 1, np.int64),
        np.empty(keep + 1, np.int32),
        np.empty(widest, np.uint16),
        np.empty(widest, np.uint16),
        np.empty(widest, np.int32),
        np.empty((SMALL, widest), np.uint16),
        np.empty(widest),
        np.empty(widest, np.int64),
        np.empty((SMALL, v, BYTES), np.uint16),
    )


def _group(eif: Units, rules: Rules, by_byte: np.ndarray, n_strata: int) -> Groups:
    """Sort the EIF units by stratum, size and own categories; a number counts by whether it is missing."""
    size = np.diff(eif.start)
    columns = [
        np.where(np.isnan(eif.unit_values[:, j]), -1, 0) if rules.numeric[j] else eif.unit_codes[:, j]
        for j in range(len(rules.numeric))
    ]
    order = np.lexsort([*columns[::-1], size, eif.stratum])
    key = np.column_stack([eif.stratum, size, *columns])[order]
    begin = np.append(np.flatnonzero(np.append(True, (key[1:] != key[:-1]).any(axis=1))), len(order)).astype(np.int64)
    of_stratum = np.searchsorted(key[begin[:-1], 0], np.arange(n_strata + 1)).astype(np.int64)
    size_of_group, pieces, at = key[begin[:-1], 1].astype(np.int64), [np.zeros(0, np.uint8)], [0]
    for k, (low, high) in enumerate(pairwise(begin.tolist())):
        if size_of_group[k] <= SMALL:
            rows = eif.start[order[low:high]][:, np.newaxis] + np.arange(size_of_group[k])
            pieces.append(by_byte[rows].transpose(1, 2, 0).ravel())
        at.append(at[-1] + (pieces[-1].size if size_of_group[k] <= SMALL else 0))
    bytes_at = np.array(at[:-1], np.int64)
    return Groups(of_stratum, size_of_group, begin, order.astype(np.int64), bytes_at, np.concatenate(pieces))


def _count(units: Units, rules: Rules) -> np.ndarray:
    """Count the members of each unit by variable and category, those without one first; int16 (n, v, 1 + COUNTED)."""
    n, v = len(units.stratum), units.codes.shape[1]
    counts = np.zeros((n, v, 1 + COUNTED), np.int16)
    unit = np.repeat(np.arange(n), np.diff(units.start))
    for j in np.flatnonzero(rules.equal):
        codes = units.codes[:, j]
        np.add.at(counts, (unit, j, np.where(codes < 0, 0, 1 + codes % COUNTED)), 1)
    return counts


@inner_jit
def _cost_below(scale, bound, counted):
    """Return the cost at which the level of a pair of ``counted`` members reaches a bound."""
    level = (bound + (counted - 1.0) * scale.threshold) / counted
    if level <= 0:
        return -1.0
    if scale.norm == LINEAR:
        return level / scale.factor * (1 + SLACK) + SLACK
    score = (level + 0.5) / scale.factor
    return score * score * (scale.v * scale.v if scale.norm == PRIMER else scale.v) * (1 + SLACK) + SLACK


@inner_jit
def _score(scale, cost):
    """Return the score of a cost, which is the cost itself without a norm."""
    if scale.norm == LINEAR:
        return cost
    return math.sqrt(cost) / scale.v if scale.norm == PRIMER else math.sqrt(cost / scale.v)


@inner_jit
def _promise(scale, cost, counted):
    """Return the level that a pair of this cost would have, before rounding."""
    return counted * _score(scale, cost) * scale.factor - (counted - 1.0) * scale.threshold


@inner_jit
def _level(scale, own, members, left, counted):
    """Return the level of a pair from the costs of both parts."""
    rest = members + left * scale.charge
    if scale.norm == LINEAR:
        whole = np.int64(np.rint(own * counted + rest)) * np.int64(scale.factor)
        return whole - (counted - 1) * scale.threshold
    level = np.int64(np.rint(_score(scale, own + rest / counted) * scale.factor))
    return level * counted - (counted - 1) * scale.threshold


@inner_jit
def _counted(scale, a, b):
    """Return how many members count in a pair, and how many of them are left over."""
    counted = max(a, b) if scale.whole else b
    return counted, counted - min(a, b)


@jit
def _search(
    first,
    end,
    puf,
    eif,
    unit_rules,
    rules,
    scale,
    groups,
    edges,
    quanta,
    puf_counts,
    eif_counts,
    buffers,
    scratch,
    best,
):
    """Write the best pairs of the PUF units first to end - 1 into ``best``."""
    keep = buffers.levels.size - 1
    for i in range(first, end):
        s, a = puf.stratum[i], puf.start[i + 1] - puf.start[i]
        begin, stop = groups.of_stratum[s], groups.of_stratum[s + 1]
        if a <= SMALL:
            bound_table(rules, edges, quanta, s, puf.codes, puf.values, puf.start[i], a, buffers.table)
        fixed, promise = np.empty(stop - begin), np.empty(stop - begin)
        for g in range(begin, stop):
            counted, left = _counted(scale, a, groups.size[g])
            own = _group_cost(puf, eif, unit_rules, s, i, groups.order[groups.begin[g]], scratch.parts)
            fixed[g - begin] = own + left * scale.charge / counted
            promise[g - begin] = _promise(scale, fixed[g - begin], counted)
        count, bound = 0, scale.threshold
        for o in np.argsort(promise, kind="mergesort"):
            g = begin + o
            b = groups.size[g]
            counted, left = _counted(scale, a, b)
            top = _cost_below(scale, bound, counted)
            if fixed[o] >= top:
                continue
            if a <= SMALL and b <= SMALL:
                n = _bound_small(rules, quanta, puf, i, a, groups, g, fixed[o], counted, top, buffers)
            else:
                n = _bound_large(
                    rules, puf_counts, eif_counts, i, groups, g, fixed[o], min(a, b), counted, top, buffers
                )
            for q in np.argsort(buffers.low[:n], kind="mergesort"):
                top = _cost_below(scale, bound, counted)
                if buffers.low[q] >= top:
                    break
                r = buffers.unit[q]
                level = _exact(puf, eif, unit_rules, rules, scale, s, i, r, a, b, counted, left, top, scratch)
                if level < bound:
                    count = offer(buffers.levels, buffers.eifs, count, level, r)
                    if count > keep:
                        bound = min(bound, bound_of(buffers.levels, -(2**62)))
        settle(buffers.levels, buffers.eifs, count, best, i)


@lean_jit
def _group_cost(puf, eif, rules, s, i, r, parts):
    """Return the cost of the own variables of a group, of which r is one: numbers cost where they are missing."""
    costs_of(rules, s, puf.unit_codes, puf.unit_values, i, eif.unit_codes, eif.unit_values, r, parts)
    total = 0.0
    for j in range(rules.kind.size):
        if not rules.numeric[j] or np.isnan(puf.unit_values[i, j]) or np.isnan(eif.unit_values[r, j]):
            total += parts[j]
    return total


@lean_jit
def _bound_small(rules, quanta, puf, i, a, groups, g, fixed, counted, top, buffers):
    """Bound the cost of a PUF unit and each unit of a group by bytes; return how many are below ``top``."""
    low, n, b, v = groups.begin[g], groups.begin[g + 1] - groups.begin[g], groups.size[g], rules.kind.size
    row, row_least, column_least, rows = buffers.row[:n], buffers.row_least[:n], buffers.column_least, buffers.rows[:n]
    rows[:] = 0
    for k in range(b):
        column_least[k, :n] = 65535
    for m in range(a):
        row_least[:] = 65535
        for k in range(b):
            row[:] = 0
            for j in range(v):
                at = groups.bytes_at[g] + (k * v + j) * n
                table = buffers.table[m, j]
                p = puf.codes[puf.start[i] + m, j]
                if rules.equal[j] and p >= 0:
                    own, missing, apart = np.uint8(1 + p % (BYTES - 1)), table[0], table[1 + (p + 1) % (BYTES - 1)]
                    for q in range(n):
                        e = groups.bytes[at + q]
                        row[q] += missing if e == 0 else (np.uint16(0) if e == own else apart)
                else:
                    for q in range(n):
                        row[q] += table[groups.bytes[at + q]]
            for q in range(n):
                row_least[q] = min(row_least[q], row[q])
                column_least[k, q] = min(column_least[k, q], row[q])
        for q in range(n):
            rows[q] += row_least[q]
    found = 0
    for q in range(n):
        least = rows[q] if a <= b else 0
        if b <= a:
            columns = 0
            for k in range(b):
                columns += column_least[k, q]
            least = max(least, columns)
        cost = fixed + (least / quanta / counted if quanta > 0 else 0.0)
        if cost < top:
            buffers.low[found], buffers.unit[found] = cost, groups.order[low + q]
            found += 1
    return found


@lean_jit
def _bound_large(rules, puf_counts, eif_counts, i, groups, g, fixed, n, counted, top, buffers):
    """Bound the cost of a PUF unit and each unit of a group by the members that can agree, variable by variable."""
    found = 0
    for at in range(groups.begin[g], groups.begin[g + 1]):
        r, total = groups.order[at], 0.0
        for j in range(rules.kind.size):
            if rules.equal[j]:
                overlap = 0
                for k in range(1, puf_counts.shape[2]):
                    overlap += min(puf_counts[i, j, k], eif_counts[r, j, k])
                rest = max(0, n - overlap)
                missing = min(rest, puf_counts[i, j, 0] + eif_counts[r, j, 0])
                cheap = min(rules.missing[j], rules.different[j])
                total += missing * cheap + (rest - missing) * rules.different[j]
        cost = fixed + total / counted
        if cost < top:
            buffers.low[found], buffers.unit[found] = cost, r
            found += 1
    return found


@lean_jit
def _exact(puf, eif, unit_rules, rules, scale, s, i, r, a, b, counted, left, top, scratch):
    """Return the level of a pair by the definition, or one that no list takes if its cost is at least ``top``."""
    parts, v_u, v_m = scratch.parts, unit_rules.kind.size, rules.kind.size
    costs_of(unit_rules, s, puf.unit_codes, puf.unit_values, i, eif.unit_codes, eif.unit_values, r, parts)
    p, e = puf.start[i], eif.start[r]
    if a == 1 and b == 1:
        costs_of(rules, s, puf.codes, puf.values, p, eif.codes, eif.values, e, parts[v_u:])
        return _level(scale, total_cost(parts, v_u + v_m), 0.0, 0, 1)
    own = total_cost(parts, v_u)
    stop, least = (top - own) * counted - left * scale.charge, np.inf
    if stop > 0 and member_costs(rules, s, puf, eif, p, a, e, b, stop, scratch.costs, parts):
        least = assign(min(a, b), max(a, b), stop, scratch)
    if least == np.inf:
        return np.int64(2**62)
    return _level(scale, own, least, left, counted)
