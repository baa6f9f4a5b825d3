"""The odds of the pairs of a record of the PUF, from tables of factors (METHODS §4.6).

A PUF record has a table of factors for each variable, one for each distinct value of the EIF in its stratum, and beside
it a table of their levels. The odds of its pairs are products of what the tables say, variable by variable.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.compared import MISSING
from reident.kernels.compiling import lean_jit

MOST = 2.0**900
"""Odds above this number count as it."""

SMOOTH = 2.0
"""So many EIF records, with the levels of all pairs, are added to those of a stratum before levels are counted."""


class Listed(NamedTuple):
    """Candidates, PUF row by PUF row; none of all arrays where all pairs are compared."""

    first: np.ndarray  # int64 (n_puf + 1,): where those of a PUF row begin
    row: np.ndarray  # int32 (m,): EIF rows
    level: np.ndarray  # uint16 (m, v)


class Model(NamedTuple):
    """What each level multiplies the odds of a pair by, and the odds of a pair of which nothing is known."""

    factors: np.ndarray  # float64 (v, levels + 1), 1 for missing
    shares: np.ndarray  # float64 (v, levels + 1): those among all pairs, where the frequency of a value counts
    prior_odds: float


EVERY = Listed(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 0), np.uint16))
"""All pairs."""


@lean_jit
def _after(values, begin, end, bound):
    """Return the first place of ascending values, from begin on and before end, above a bound; else the end."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] > bound:
            end = middle
        else:
            begin = middle + 1
    return begin


@lean_jit
def _stop(files, intervals, j, s, x, k, place):
    """Return the first EIF value of stratum s, from a place on, that is beyond the k-th end of variable j from x."""
    end = files.bounds[s, 1, j]
    if k == intervals.first[j + 1]:
        return end
    return _after(files.distinct, place, end, x + intervals.ends[k])


@lean_jit
def factors_of(files, intervals, model, j, s, x, own):
    """Write what each level of variable j multiplies the odds of a PUF record with the value x by."""
    for level in range(own.size):
        own[level] = model.factors[j, level]
    if not model.shares.size:
        return
    base, end = files.bounds[s, 0, j], files.bounds[s, 1, j]
    n, before = (files.up_to[end - 1] if end > base else 0), 0
    for level in range(intervals.n_levels[j]):
        own[level] = SMOOTH * model.shares[j, level]
    place = base
    for k in range(intervals.first[j], intervals.first[j + 1] + 1):
        place = _stop(files, intervals, j, s, x, k, place)
        records = files.up_to[place - 1] if place > base else 0
        own[intervals.level[k + j]] += records - before
        before = records
    for level in range(intervals.n_levels[j]):
        own[level] = model.factors[j, level] * model.shares[j, level] * (n + SMOOTH) / own[level]


@lean_jit
def fill(files, intervals, own, j, s, x, table, levels):
    """Write the factor and the level of each EIF value of stratum s for variable j of a PUF record with the value x."""
    base = files.bounds[s, 0, j]
    at = base
    for k in range(intervals.first[j], intervals.first[j + 1] + 1):
        stop = _stop(files, intervals, j, s, x, k, at)
        for place in range(at, stop):
            table[place - base] = own[intervals.level[k + j]]
            levels[place - base] = intervals.level[k + j]
        at = stop
    table[at - base] = 1.0
    levels[at - base] = intervals.n_levels[j]


@lean_jit
def eif_row(listed, at):
    """Return the EIF row of a pair."""
    return listed.row[at] if listed.first.size else at


@lean_jit
def pair_level(files, listed, intervals, i, at, j):
    """Return the level of variable j of a pair."""
    if listed.first.size:
        return np.int64(listed.level[at, j])
    x, place = files.puf.values[j, i], files.bounds[files.stratum[i], 0, j] + files.codes[j, at]
    if x == MISSING or place >= files.bounds[files.stratum[i], 1, j]:
        return intervals.n_levels[j]
    difference, first, end = files.distinct[place] - x, intervals.first[j], intervals.first[j + 1]
    while first < end:
        middle = (first + end) // 2
        if difference > intervals.ends[middle]:
            first = middle + 1
        else:
            end = middle
    return intervals.level[first + j]


@lean_jit
def written_level(files, listed, intervals, levels, i, at, j):
    """Return the same from the tables of levels that `_look_up` has written for PUF row i."""
    if listed.first.size:
        return np.int64(listed.level[at, j])
    if files.puf.values[j, i] == MISSING:
        return intervals.n_levels[j]
    return np.int64(levels[j, files.codes[j, at]])


@lean_jit
def _look_up(files, intervals, model, i, scratch, fills):
    """Write what levels multiply by, of the variables that PUF row i has, and these in order; return how many.

    If ``fills``, their tables are written. One of the same value in the same stratum is there already.
    """
    tables, levels, own, held, present = scratch
    s, n_present = files.stratum[i], 0
    for j in range(len(own)):
        x = files.puf.values[j, i]
        if x == MISSING:
            continue
        present[n_present] = j
        n_present += 1
        if held[j, 0] != s or held[j, 1] != x:
            factors_of(files, intervals, model, j, s, x, own[j])
            if fills:
                fill(files, intervals, own[j], j, s, x, tables[j], levels[j])
            held[j, 0], held[j, 1] = s, x
    return n_present


@lean_jit
def _multiply(files, tables, variables, begin, n, odds):
    """Multiply the odds of the pairs of a PUF row by the factors of the first variables; return of how many."""
    a = variables[0]
    of_a, code_a = tables[a], files.codes[a]
    if variables.size < 4:
        for c in range(n):
            odds[c] *= of_a[code_a[begin + c]]
        return 1
    b, d, e = variables[1], variables[2], variables[3]
    of_b, of_d, of_e = tables[b], tables[d], tables[e]
    code_b, code_d, code_e = files.codes[b], files.codes[d], files.codes[e]
    for c in range(n):
        r = begin + c
        odds[c] = odds[c] * of_a[code_a[r]] * of_b[code_b[r]] * of_d[code_d[r]] * of_e[code_e[r]]
    return 4


@lean_jit
def row_odds(files, listed, intervals, model, i, scratch, kept, odds, needs_levels):
    """Return the odds of the pairs of PUF row i, its first pair, and the number of its variables.

    ``kept`` has the odds if they have been written before, otherwise nothing; of these, tables of levels are written if
    they are needed.
    """
    fills = not listed.first.size and (needs_levels or not kept.size)
    n_present = _look_up(files, intervals, model, i, scratch, fills)
    tables, _, own, _, present = scratch
    s = files.stratum[i]
    begin, end = files.eif.starts[s], files.eif.starts[s + 1]
    if listed.first.size:
        begin, end = listed.first[i], listed.first[i + 1]
    n, done = end - begin, 0
    if kept.size:
        return kept, begin, n_present
    for c in range(n):
        odds[c] = model.prior_odds
    while done < n_present:
        if listed.first.size:
            j = present[done]
            for c in range(n):
                odds[c] *= own[j, listed.level[begin + c, j]]
            done += 1
        else:
            done += _multiply(files, tables, present[done:n_present], begin, n, odds)
    for c in range(n):
        odds[c] = min(odds[c], MOST)
    return odds[:n], begin, n_present
