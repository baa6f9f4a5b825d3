"""Minimal sample uniques by their definition (METHODS §7): every set, smallest first, in plain Python."""

from itertools import combinations

from oracles.unicity import sample_uniques


def minimal_uniques(records, max_order=None):
    """For each record the tuples of variables that are MSUs, smaller ones first, then in the order of positions."""
    n, v = records.shape
    minimal = [[] for _ in range(n)]
    for order in range(1, min(max_order or v, v) + 1):
        for variables in combinations(range(v), order):
            for record in sample_uniques(records, variables).values():
                if not any(set(smaller) < set(variables) for smaller in minimal[record]):
                    minimal[record].append(variables)
    return minimal
