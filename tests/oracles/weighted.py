"""Pairs by the sum of weights by their definition (METHODS §4.6, §5): every pair, in plain Python."""

from oracles.pairs import ranks_within
from oracles.patterns import pattern

COLUMNS = {"agree": 0, "partial": 1, "differ": 2, "missing": 3}


def total(p, e, weights, near):
    return sum(row[COLUMNS[state]] for row, state in zip(weights, pattern(p, e, near), strict=True))


def nearest(puf, eif, weights, *, near, least, keep):
    """Rows (puf, eif, total), sorted by puf, total from the highest, eif, and the PUF records that are ambiguous."""
    rows, ambiguous = [], []
    weights = weights.tolist()
    for i, p in enumerate(puf.tolist()):
        totals = [(-total(p, e, weights, near), k) for k, e in enumerate(eif.tolist())]
        suspected = [pair for pair in totals if pair[0] <= -least]
        kept = ranks_within([pair[0] for pair in suspected], keep)
        ambiguous.append(bool(suspected) and not kept)
        rows += [(i, k, -h) for h, k in sorted(suspected) if h in kept]
    return rows, ambiguous
