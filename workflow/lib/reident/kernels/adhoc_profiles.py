"""The costs of a category in bytes under a table of adhoc, as steps, for every category of the PUF (METHODS §4.4).

The costs of all bytes above the least of them are laid out as nested intervals around the circle of bytes (see
`adhoc_query` and `lanes`): once for each category, since a PUF has many records of each. A function of the study may
give each byte a cost of its own. Bounds that are nearly as good need few steps: intervals are left out, with what they
add to the costs outside the intervals in them, within `SPARE`. A missing value still costs the most of all.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.adhoc_rules import TABLE, Flat
from reident.kernels.compiling import lean_jit
from reident.kernels.lanes import STEP

ABSENT = 255
"""The byte of a missing value."""

MAX_STEPS = ABSENT + 2
"""Steps of a category, at most."""

SPARE = 32
"""One part in so many of what the records of the EIF cost may be lost for fewer steps: each of them is added for each
leaf that a search visits."""

_ALWAYS = 2**40
"""The weight of missing values, far above the costs of all records, so that no interval is left out on which their cost
depends: a box costs no more than a record whose value is missing (see `adhoc_index`)."""


class Profiles(NamedTuple):
    """The steps of all categories of the PUF, variable by variable."""

    row: np.ndarray  # int64 (coded,): the row of a variable's code 0; rows of its other codes follow
    first: np.ndarray  # int64 (rows + 1,): where the steps of a row begin
    steps: np.ndarray  # int32 (steps, STEP)
    least: np.ndarray  # int64 (rows,): the least that a category costs in bytes


def byte_of(code, width):
    """Return the byte, 0 to 254, of a code or an array of codes under a table of this width; 0 for exact agreement.

    Bytes decide which records are looked at, not what these cost. The codes of a wide table are values in their order,
    whose scores are alike where the values are: those that follow each other share a byte.
    """
    return code * ABSENT // width if width > ABSENT else code % ABSENT


_byte_of = lean_jit(byte_of)


@lean_jit
def _add_profile(costs, least, k, begins, height, steps, n):
    """Add the steps that make up the costs of all bytes above the least of them; return the number of steps.

    Around the circle from a byte of least cost, the costs are those of nested intervals: each begins where the cost
    rises, and ends where it falls below what it then was.
    """
    origin = 0
    while costs[origin] > least:
        origin += 1
    depth, height[0] = 0, 0
    for at in range(1, ABSENT + 2):
        cost, begin = costs[(origin + at) & ABSENT] - least, at
        while height[depth] > cost:
            begin, inside = begins[depth], height[depth]
            depth -= 1
            steps[n, 0] = k
            steps[n, 1] = (origin + at) & ABSENT
            steps[n, 2] = ABSENT - (at - begin)
            steps[n, 3] = min(inside - max(cost, height[depth]), 255)
            n += 1
        if cost > height[depth]:
            depth += 1
            begins[depth], height[depth] = begin, cost
    return n


@lean_jit
def _cost_bytes(table, highest, unit, costs):
    """Write the least cost of each byte under a row of a table, and return the least of them."""
    costs[:] = -1  # bytes without a code
    least = highest // unit
    for c in range(table.size):
        cost, y = table[c] // unit, _byte_of(c, table.size)
        costs[y] = cost if costs[y] < 0 else min(cost, costs[y])
        least = min(least, cost)
    for y in range(min(table.size, ABSENT), ABSENT):
        costs[y] = costs[y - 1]
    costs[ABSENT] = highest // unit
    return least


@lean_jit
def _counts(steps, x, byte):
    """Return whether step x counts for a byte."""
    return ((byte - steps[x, 1]) & ABSENT) > steps[x, 2]


@lean_jit
def _leave_out(steps, n, weights, alone, parent):
    """Leave out steps within `SPARE`, each time that which takes least from the costs; return how many are left.

    The intervals in which steps count are nested or apart, inner ones before outer ones. A step that is left out adds
    its cost to the steps next inside: the costs of bytes in none of these fall by it. Their weight is ``alone``.
    """
    spare = 0
    for x in range(n):
        alone[x], parent[x] = 0, -1
        for byte in range(ABSENT + 1):
            alone[x] += weights[byte] if _counts(steps, x, byte) else 0
        spare += alone[x] % _ALWAYS * steps[x, 3]
        for y in range(n - 1, x, -1):
            if _counts(steps, y, steps[x, 1] - 1):  # the last byte of the interval
                parent[x] = y
    for x in range(n - 1, -1, -1):  # before the weight of x itself is reduced
        if parent[x] >= 0:
            alone[parent[x]] -= alone[x]
    spare //= SPARE
    for _ in range(n):
        least = -1
        for x in range(n):
            if alone[x] >= 0 and (least < 0 or alone[x] * steps[x, 3] < alone[least] * steps[least, 3]):
                least = x
        spare -= alone[least] * steps[least, 3]
        if spare < 0:
            break
        for x in range(n):
            if parent[x] == least and alone[x] >= 0:
                parent[x] = parent[least]
                steps[x, 3] = min(steps[x, 3] + steps[least, 3], 255)
        if parent[least] >= 0:
            alone[parent[least]] += alone[least]
        alone[least] = -1
    left = 0
    for x in range(n):
        if alone[x] >= 0:
            for number in range(STEP):
                steps[left, number] = steps[x, number]
            left += 1
    return left


@lean_jit
def _profile(rules, j, k, unit, present, weights, row, profiles, scratch):
    """Write the profiles of the codes that are present, for variable k, which is j of the rules."""
    costs, begins, height = scratch
    width = rules.width[j]
    for c in range(width):
        n = profiles.first[row + c]
        if present[c]:
            begin = rules.start[j] + c * width
            least = _cost_bytes(rules.table[begin : begin + width], rules.highest[j], unit, costs)
            profiles.least[row + c] = least
            added = _add_profile(costs, least, k, begins, height, profiles.steps, n) - n
            n += _leave_out(profiles.steps[n : n + added], added, weights, begins, height)
        profiles.first[row + c + 1] = n


def _weights(codes: np.ndarray, width: int) -> np.ndarray:
    """Return how many records have each byte; missing values count for more than all records."""
    weights = np.bincount(byte_of(codes[codes >= 0].astype(np.int64), width), minlength=ABSENT + 1)
    weights[ABSENT] = _ALWAYS
    return weights


def profile_tables(rules: Flat, coded: np.ndarray, unit: int, puf_codes: np.ndarray, eif_codes: np.ndarray) -> Profiles:
    """Return the profiles of the categories that occur in the PUF.

    ``coded`` are the coded variables by their positions in the rules; costs in bytes are multiples of ``unit``. Codes
    are int32 (n_puf, coded) and (coded, n_eif), -1 for missing. Those of the EIF matter for the speed alone: steps tell
    frequent bytes apart, and the costs of rare ones may be less than that of their cheapest code.
    """
    widths = np.where(rules.kind[coded] == TABLE, rules.width[coded], 0)
    present = [
        np.bincount(puf_codes[:, k][puf_codes[:, k] >= 0], minlength=width)[:width] > 0
        for k, width in enumerate(widths)
    ]
    most = sum(int(categories.sum()) * min(len(categories) + 2, MAX_STEPS) for categories in present)
    n_rows = int(widths.sum())
    profiles = Profiles(
        np.cumsum(widths) - widths,
        np.zeros(n_rows + 1, np.int64),
        np.empty((most, STEP), np.int32),
        np.zeros(n_rows, np.int64),
    )
    scratch = tuple(np.empty(MAX_STEPS, np.int64) for _ in range(3))
    for k in np.flatnonzero(widths):
        weights = _weights(eif_codes[k], int(widths[k]))
        _profile(rules, coded[k], k, unit, present[k], weights, profiles.row[k], profiles, scratch)
    return profiles._replace(steps=profiles.steps[: profiles.first[-1]].copy())
