"""Pairs by the sum of weights by their definition (METHODS §4.6, §5): every pair, in plain Python."""

from oracles.pairs import highest_kept
from oracles.patterns import pattern

COLUMNS = {"agree": 0, "partial": 1, "differ": 2, "missing": 3}


def total(p, e, weights, near):
    return sum(row[COLUMNS[state]] for row, state in zip(weights, pattern(p, e, near), strict=True))


def nearest(puf, eif, weights, *, near, least, keep):
    """The pairs of each PUF record, as `pairs.highest_kept` gives them."""
    suspected, weights = [], weights.tolist()
    for p in puf.tolist():
        totals = [(total(p, e, weights, near), k) for k, e in enumerate(eif.tolist())]
        suspected.append([pair for pair in totals if pair[0] >= least])
    return highest_kept(suspected, keep)
