"""Taxicab: sets of records, refined variable by variable until comparing all their pairs is cheap (METHODS §4.2, §5).

On each variable a pair of records has exactly one of four relations: both present and equal; both present
and different; the PUF record's value missing; only the EIF record's value missing. All but the first are errors;
they add up to the pair's level, so that a pair within the bound has few of them. A node is a set of PUF
records, a set of EIF records and a relation for each of the first variables. The next variable splits a node
into nodes, and each pair is in exactly one of these:

- equal: one cell per category, with the records of both sets that have it;
- different: all records that are present on both sides, until the pairs themselves are compared;
- missing in the PUF record: those records with the whole EIF set;
- missing in the EIF record only: the PUF records that are present with those EIF records.

The errors of a node add up to a level that every pair of the node has at least; PUF records whose bound is not
above it leave the node. With few errors allowed, hardly any node is large. No pair is entered twice: a pair that
agrees on a variable of the relation "different" is rejected when it is compared.
"""

from collections.abc import Iterator

import numpy as np

from reident.kernels.bitslice import compare, consider
from reident.kernels.compiling import ZERO, inner_jit, jit
from reident.kernels.costs import different_on, least_different, missing_on
from reident.kernels.rows import UNSHARED, Rows

SPLIT_NS, TILE_NS, ROW_NS = 20.0, 4.0, 1.5
"""Nanoseconds to split a set, per record; to draw a tile, per record and variable; to scan 512 pairs, per variable.

Measured on one core of 2024; they influence how fast the result is computed, not the result.
"""

MAX_NODE_PAIRS, MAX_FILE_PAIRS = 64, 10**8
"""Up to these numbers of pairs, in a node and in all, the pairs are compared without refining."""

SET, CELLS = 0, 1
"""Kinds of nodes: a set of pairs, and the cells of a variable that are still to be paired."""


def pair_cost(n_pairs: int, v: int, most: int) -> float:
    """Return the cost of comparing a pair, in nanoseconds; 0 where all pairs are to be compared without refining."""
    return ROW_NS * v * (1 + most.bit_length()) / 3 / 512 if n_pairs >= MAX_FILE_PAIRS else 0.0


def _forecast(rows: Rows, j: int, most: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Estimate, for refining by 1, 2, … variables from ``j`` on, the cost and the share of the pairs that remain.

    Both by the number of differences allowed, 0 … ``most``; the cost is in nanoseconds per record. The records are
    passed over once for each combination of at most that number of differences on the variables before. A pair
    remains if it has at most that number of differences, at random, with each variable's share of agreement.
    """
    differ = np.clip(1 - rows.agree - rows.absent, 0, 1)
    share, ways = np.zeros(most + 1), np.zeros(most + 1)  # by number of differences
    share[0] = ways[0] = 1
    passes = np.zeros(most + 1)
    for chance in differ[j:]:
        passes += np.cumsum(ways)
        share[1:] = share[1:] * (1 - chance) + share[:-1] * chance
        share[0] *= 1 - chance
        ways[1:] += ways[:-1].copy()
        yield SPLIT_NS * passes + TILE_NS * len(differ) * (np.cumsum(ways) - 1), np.cumsum(share)


def plan(rows: Rows, most: int, per_pair: float) -> np.ndarray:
    """Estimate the size from which it pays to refine a set of n records with b pairs; only the time depends on it.

    Return the lowest b/n at which refining pays, by the next variable and the number of differences allowed, float64 (v
    + 1, most + 1); infinite where it never pays.
    """
    v = len(rows.agree)
    worth = np.full((v + 1, most + 1), np.inf)
    for j in range(v if per_pair > 0 else 0):
        for spent, share in _forecast(rows, j, most):
            saved = per_pair * (1 - share)
            pays = saved > 0
            worth[j, pays] = np.minimum(worth[j, pays], spent[pays] / saved[pays])
    return worth


def block_size(rows: Rows, most: int, per_pair: float, largest: int) -> int:
    """Estimate how many PUF records take a second, or as long as refining the EIF takes for any number."""
    if per_pair == 0:
        return largest
    n_eif = len(rows.eif)
    choices = [(0.0, per_pair * n_eif)]
    for spent, share in _forecast(rows, 0, most):
        choices.append((spent[most] * n_eif, spent[most] + per_pair * share[most] * n_eif))
    once, each = min(choices, key=lambda choice: choice[0] + largest * choice[1])
    return int(min(max(1e9, once) / max(each, 1), largest))


@jit
def _group(ids, start, stop, table, j, base, scratch):
    """Sort the records ``ids[start:stop]`` by their category of variable j, missing first."""
    n = stop - start
    if n <= 32:
        for x in range(start + 1, stop):
            record = ids[x]
            g = table[record, j]
            y = x
            while y > start and table[ids[y - 1], j] > g:
                ids[y] = ids[y - 1]
                y -= 1
            ids[y] = record
        return
    n_keys = base[j + 1] - base[j] + 3
    keys, keys_out, out = scratch[0, :n], scratch[1, :n], scratch[2, :n]
    for x in range(n):
        g = table[ids[start + x], j]
        if g >= base[j]:
            keys[x] = n_keys - 1 if g == UNSHARED else g - base[j] + 2
        else:
            keys[x] = min(g, 1)
    counts = np.zeros(257, np.int64)
    shift = 0
    while True:  # the digits of base 256, lowest first, each pass stable
        for key in range(257):
            counts[key] = 0
        for x in range(n):
            counts[((keys[x] >> shift) & 255) + 1] += 1
        for key in range(1, 256):
            counts[key] += counts[key - 1]
        for x in range(n):
            key = (keys[x] >> shift) & 255
            out[counts[key]] = ids[start + x]
            keys_out[counts[key]] = keys[x]
            counts[key] += 1
        for x in range(n):
            ids[start + x] = out[x]
        shift += 8
        if n_keys >> shift == 0:
            return
        keys, keys_out = keys_out, keys


@jit
def _count_missing(ids, start, stop, table, j):
    """Count the records at the front of a sorted set that miss variable j."""
    x = start
    while x < stop and table[ids[x], j] == 0:
        x += 1
    return x - start


@jit
def _run_end(ids, start, stop, table, j):
    """Return the end of the run of records with the category of the first."""
    g = table[ids[start], j]
    x = start + 1
    while x < stop and table[ids[x], j] == g:
        x += 1
    return x


@jit
def _any_differs(ps, p, p_stop, es, e, e_stop, puf, eif, j):
    """Whether a pair of two sets, each sorted by variable j, differs on it; false if a set is empty."""
    if p == p_stop or e == e_stop:
        return False
    g = puf[ps[p], j]
    return g != puf[ps[p_stop - 1], j] or g != eif[es[e], j] or g != eif[es[e_stop - 1], j]


@jit
def _move_open(ids, start, stop, bound, least):
    """Move the records whose bound is above ``least`` to the front; return their end and the highest bound."""
    top = least
    x = start
    while x < stop:
        i = ids[x]
        if bound[i] > least:
            top = max(top, bound[i])
            x += 1
        else:
            stop -= 1
            ids[x], ids[stop] = ids[stop], i
    return stop, top


@inner_jit
def _push(nodes, aparts, n, kind, p, p_stop, e, e_stop, j, least, apart):
    """Write node n, and return n + 1. Assigning a tuple to a row takes seconds to compile (see `cells.enlarge`)."""
    nodes[n, 0], nodes[n, 1], nodes[n, 2], nodes[n, 3], nodes[n, 4] = kind, p, p_stop, e, e_stop
    nodes[n, 5], nodes[n, 6], aparts[n] = j, least, apart
    return n + 1


@jit
def refine(rows, costs, worth, lists, tile):
    """Enter the best pairs of the PUF records into their lists; ``worth`` is from `plan`.

    ``ps`` and ``es`` hold the records in an order in which every node is a range of each. A node on top of
    another reorders only its own ranges, so that the nodes below it remain the same sets. The list of a
    PUF record has the best of its pairs in the nodes that are finished, and every pair that a node leaves out
    has a level that is not below the record's bound.
    """
    puf, eif, base = rows.puf, rows.eif, rows.base
    v = puf.shape[1]
    ps, es = np.arange(len(puf), dtype=np.int32), np.arange(len(eif), dtype=np.int32)
    scratch = np.empty((3, max(len(puf), len(eif))), np.int32)
    # The nodes to come, the last one first. Each is already a set of records, in whatever order the nodes on top
    # of it leave them. At most four per variable wait.
    nodes = np.empty((4 * v + 4, 7), np.int64)
    aparts = np.empty(4 * v + 4, np.uint64)
    n = _push(nodes, aparts, ZERO, SET, 0, len(ps), 0, len(es), 0, 0, np.uint64(0))
    while n > 0:
        n -= 1
        kind, p, p_stop, e, e_stop, j, least = nodes[n]
        apart = aparts[n]
        if kind == CELLS:
            while p < p_stop and e < e_stop:
                p_category, e_category = puf[ps[p], j], eif[es[e], j]
                if p_category < e_category:
                    p = _run_end(ps, p, p_stop, puf, j)
                elif p_category > e_category:
                    e = _run_end(es, e, e_stop, eif, j)
                else:
                    p_next, e_next = _run_end(ps, p, p_stop, puf, j), _run_end(es, e, e_stop, eif, j)
                    if (p_next - p) * (e_next - e) > MAX_NODE_PAIRS:
                        n = _push(nodes, aparts, n, CELLS, p_next, p_stop, e_next, e_stop, j, least, apart)
                        n = _push(nodes, aparts, n, SET, p, p_next, e, e_next, j + 1, least, apart)
                        break
                    for x in range(p, p_next):
                        for y in range(e, e_next):
                            consider(ps[x], es[y], apart, rows, costs, lists)
                    p, e = p_next, e_next
            continue

        p_stop, top = _move_open(ps, p, p_stop, lists.bound, least)
        n_puf, n_eif = p_stop - p, e_stop - e
        if n_puf == 0 or n_eif == 0:
            continue
        spare = top - 1 - least
        size = worth[j, min(spare // least_different(costs, j), worth.shape[1] - 1)]
        if n_puf * n_eif <= MAX_NODE_PAIRS or n_puf * n_eif <= size * (n_puf + n_eif):
            compare(ps, p, p_stop, es, e, e_stop, apart, least, rows, costs, lists, tile)
            continue
        _group(ps, p, p_stop, puf, j, base, scratch)
        _group(es, e, e_stop, eif, j, base, scratch)
        p_present = p + _count_missing(ps, p, p_stop, puf, j)
        e_present = e + _count_missing(es, e, e_stop, eif, j)
        # The last node is taken first: equal, different, missing in the EIF record, missing in the PUF record.
        # The order matters, since the descendants of the last one reorder the whole EIF set.
        if spare >= missing_on(costs, j):
            level = least + missing_on(costs, j)
            n = _push(nodes, aparts, n, SET, p, p_present, e, e_stop, j + 1, level, apart)
            n = _push(nodes, aparts, n, SET, p_present, p_stop, e, e_present, j + 1, level, apart)
        if spare >= different_on(costs, j) and _any_differs(ps, p_present, p_stop, es, e_present, e_stop, puf, eif, j):
            level, bits = least + different_on(costs, j), apart | np.uint64(1) << np.uint64(j)
            n = _push(nodes, aparts, n, SET, p_present, p_stop, e_present, e_stop, j + 1, level, bits)
        n = _push(nodes, aparts, n, CELLS, p_present, p_stop, e_present, e_stop, j, least, apart)
