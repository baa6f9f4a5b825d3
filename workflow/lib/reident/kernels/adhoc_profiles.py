"""What a category costs in bytes under a table of adhoc, as steps, for every category of the PUF (METHODS §4.4).

The costs of all bytes above the least of them are laid out as nested intervals around the circle of bytes (see
`adhoc_query` and `lanes`): once for each category, since a PUF has many records of each.
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
    """Write what each byte costs at least under a row of a table, and return the least of them."""
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
def _profile(rules, j, k, unit, present, row, profiles, scratch):
    """Write the profiles of the codes that are present, for variable k, which is j of the rules."""
    costs, begins, height = scratch
    width = rules.width[j]
    for c in range(width):
        n = profiles.first[row + c]
        if present[c]:
            begin = rules.start[j] + c * width
            least = _cost_bytes(rules.table[begin : begin + width], rules.highest[j], unit, costs)
            profiles.least[row + c] = least
            n = _add_profile(costs, least, k, begins, height, profiles.steps, n)
        profiles.first[row + c + 1] = n


def profile_tables(rules: Flat, coded: np.ndarray, unit: int, puf_codes: np.ndarray) -> Profiles:
    """Return the profiles of the categories that occur in the PUF.

    Parameters
    ----------
    rules : Flat
    coded : int64 (coded,)
        The coded variables by their positions in the rules.
    unit : int
        Costs in bytes are multiples of it, at least 1.
    puf_codes : int32 (n_puf, coded)
        -1 for missing.

    Returns
    -------
    Profiles
    """
    widths = np.where(rules.kind[coded] == TABLE, rules.width[coded], 0)
    present = [
        np.bincount(puf_codes[:, k][puf_codes[:, k] >= 0], minlength=width)[:width] > 0
        for k, width in enumerate(widths)
    ]
    most = sum(int(own.sum()) * min(len(own) + 2, MAX_STEPS) for own in present)
    n_rows = int(widths.sum())
    profiles = Profiles(
        np.cumsum(widths) - widths,
        np.zeros(n_rows + 1, np.int64),
        np.empty((most, STEP), np.int32),
        np.zeros(n_rows, np.int64),
    )
    scratch = tuple(np.empty(MAX_STEPS, np.int64) for _ in range(3))
    for k in np.flatnonzero(widths):
        _profile(rules, coded[k], k, unit, present[k], profiles.row[k], profiles, scratch)
    return profiles._replace(steps=profiles.steps[: profiles.first[-1]].copy())
