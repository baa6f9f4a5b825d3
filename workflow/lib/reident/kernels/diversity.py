"""The diversity of the values of a target within the cells of a set of keys (METHODS §7.5).

Counts, and the worst of all cells: nothing depends on the order of the cells or of their records.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit, lean_jit
from reident.kernels.keysets import Grouped


class Diversity(NamedTuple):
    """The diversity of a target; r_1 ≥ r_2 ≥ … are the counts of the values of a cell."""

    n_records: int  # with a value in a cell
    n_cells: int
    least_values: int  # distinct values in the cell with the fewest; 0 without a cell
    n_one_value: int  # records in cells with one value
    n_shared_value: int  # those of them in cells of at least two records
    least_entropy: float  # of a cell, in nats; infinite without a cell
    largest_ratio: float  # r_1 / (r_2 + … + r_m) of a cell; infinite where a cell has one value
    largest_ratio_3: float  # r_1 / (r_3 + … + r_m); infinite where a cell has at most two values
    largest_distance: float  # variational distance between the values of a cell and those of all cells


@lean_jit
def _of_cell(ranks, begin, end, shares):
    """Return of a cell: distinct values, the two largest counts, Σ c·ln c, and the variational distance."""
    n, distinct, first, second, logs, distance, present = end - begin, 0, 0, 0, 0.0, 0.0, 0.0
    at = begin
    while at < end:
        stop = at
        while stop < end and ranks[stop] == ranks[at]:
            stop += 1
        count, share = stop - at, shares[ranks[at]]
        distinct += 1
        if count > first:
            first, second = count, first
        elif count > second:
            second = count
        logs += count * math.log(count)
        distance += abs(count / n - share)
        present += share
        at = stop
    return distinct, first, second, logs, (distance + max(0.0, 1 - present)) / 2


@jit
def _worst(starts, ranks, shares):
    """Return the counts over all cells and the worst of each measure."""
    cells, least, n_single, shared = 0, 0, 0, 0
    entropy, ratio, ratio_3, distance = np.inf, 0.0, 0.0, 0.0
    for cell in range(len(starts) - 1):
        begin, end = starts[cell], starts[cell + 1]
        n = end - begin
        if n == 0:
            continue
        distinct, first, second, logs, cell_distance = _of_cell(ranks, begin, end, shares)
        cells += 1
        least = distinct if cells == 1 else min(least, distinct)
        if distinct == 1:
            n_single += n
            shared += n if n > 1 else 0
        entropy = min(entropy, math.log(n) - logs / n if distinct > 1 else 0.0)
        ratio = max(ratio, first / (n - first) if distinct > 1 else np.inf)
        ratio_3 = max(ratio_3, first / (n - first - second) if distinct > 2 else np.inf)
        distance = max(distance, cell_distance)
    return cells, least, n_single, shared, entropy, ratio, ratio_3, distance


@lean_jit
def _ordered(ranks, begin, end, shares, sums):
    """Return Σ abs(C − S) over all values but the last, for the cumulated shares C in a cell and S in all cells.

    Between two records C is constant and S increases, so that its sums from either side of C are enough.
    """
    n, total, at = end - begin, 0.0, 0
    for k in range(n + 1):
        stop = ranks[begin + k] if k < n else len(shares) - 1
        if stop > at:
            share = k / n
            middle = min(max(np.searchsorted(shares, share), at), stop)
            below, above = sums[middle] - sums[at], sums[stop] - sums[middle]
            total += share * (middle - at) - below + above - share * (stop - middle)
            at = stop
    return total


@jit
def _farthest(starts, ranks, shares, sums):
    """Return the largest distance of a cell."""
    distance = 0.0
    for cell in range(len(starts) - 1):
        if starts[cell + 1] > starts[cell]:
            distance = max(distance, _ordered(ranks, starts[cell], starts[cell + 1], shares, sums))
    return distance


def ordered_distance(grouped: Grouped) -> float:
    """Return the largest distance between the values of a cell and those of all cells, where values are ordered.

    Of m values that occur it is Σ abs(C − S) / (m − 1) over the cumulated shares: what must be moved, by how many
    values, so that one distribution becomes the other. Source: METHODS §7.5; Li, Li and Venkatasubramanian 2007.
    """
    values, ranks = np.unique(grouped.ranks, return_inverse=True)
    if len(values) < 2:
        return 0.0
    shares = np.cumsum(np.bincount(ranks)) / len(ranks)
    sums = np.concatenate([[0.0], np.cumsum(shares)])
    return float(_farthest(grouped.starts, ranks, shares, sums)) / (len(values) - 1)


def diversity(grouped: Grouped) -> Diversity:
    """Measure the diversity of a target in the cells of a set of keys; the records are those with a value."""
    counts = np.bincount(grouped.ranks, minlength=1)
    shares = counts / max(len(grouped.ranks), 1)
    return Diversity(len(grouped.ranks), *_worst(grouped.starts, grouped.ranks, shares))
