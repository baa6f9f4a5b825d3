"""Treatments of records before release: swapping, noise, rounding, top-coding, missing items.

Each treatment takes a column or a table of integers and returns a new one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reident.kernels import groups
from reident.simulation.population import Table


def swap(
    table: Table, share: float, within: Sequence[str], near: str, columns: Sequence[str], rng: np.random.Generator
) -> Table:
    """Exchange some columns together between pairs of similar records, of a share of all records in [0, 1].

    Both records of a pair are equal on the columns `within`, and neighbours in the order of the column `near`. In a
    class with an odd number of drawn records, the last keeps its values.
    """
    n = len(table[near])
    drawn = rng.permutation(n)[: round(share * n)]
    order = drawn[np.lexsort((table[near][drawn], *(table[name][drawn] for name in within)))]
    source, left = np.arange(n), 0
    while left + 1 < len(order):
        pair = order[left], order[left + 1]
        if all(table[name][pair[0]] == table[name][pair[1]] for name in within):
            source[pair[0]], source[pair[1]] = pair[1], pair[0]
            left += 1
        left += 1
    return table | {name: table[name][source] for name in columns}


def multiply_noise(values: np.ndarray, deviation: float, rng: np.random.Generator) -> np.ndarray:
    """Multiply by exp(`deviation` · z), z standard normal, and round to integers; 0 stays 0."""
    return np.rint(values * np.exp(deviation * rng.standard_normal(len(values)))).astype(np.int64)


def microaggregate(values: np.ndarray, k: int) -> np.ndarray:
    """Replace each value by the rounded mean of its group of k; equal values are grouped in the order of records."""
    return np.rint(groups.microaggregate(values.astype(np.float64), k)).astype(np.int64)


def round_to(values: np.ndarray, base: int) -> np.ndarray:
    """Round to the nearest multiple of `base`; a value halfway is rounded up."""
    return (values + base // 2) // base * base


def top_code(values: np.ndarray, quantile: float) -> np.ndarray:
    """Replace values above the empirical quantile by the quantile; an empty column stays empty."""
    if not len(values):
        return values
    return np.minimum(values, np.quantile(values, quantile, method="inverted_cdf"))


def replace_by_others(values: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Replace each value, with probability `share`, by that of a record drawn at random."""
    n = len(values)
    hit, donor = rng.random(n) < share, np.floor(rng.random(n) * n).astype(np.int64)
    return np.where(hit, values[donor], values)


def drawn(n: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw which of n records are treated, each with probability `share`; a larger share only adds records."""
    return rng.random(n) < share
