"""Comparison patterns, and pairs by their sum of weights, by definition, in plain Python (METHODS §4.6, §5)."""

from oracles.pairs import highest_kept

COLUMNS = {"agree": 0, "partial": 1, "differ": 2, "missing": 3}


def state(a, b, near):
    """One of the words of METHODS; codes below 0 are missing."""
    if a < 0 or b < 0:
        return "missing"
    if a == b:
        return "agree"
    return "partial" if near and abs(a - b) == 1 else "differ"


def pattern(p, e, near):
    return tuple(state(a, b, close) for a, b, close in zip(p, e, near, strict=True))


def count(puf, eif, near):
    """{pattern: number of pairs}, of the pairs of all records of both files."""
    counts = {}
    for p in puf.tolist():
        for e in eif.tolist():
            found = pattern(p, e, near)
            counts[found] = counts.get(found, 0) + 1
    return counts


def total(p, e, weights, near):
    return sum(row[COLUMNS[state]] for row, state in zip(weights, pattern(p, e, near), strict=True))


def nearest(puf, eif, weights, *, near, least, keep):
    """The pairs of each PUF record, as `pairs.highest_kept` gives them."""
    suspected, weights = [], weights.tolist()
    for p in puf.tolist():
        totals = [(total(p, e, weights, near), k) for k, e in enumerate(eif.tolist())]
        suspected.append([pair for pair in totals if pair[0] >= least])
    return highest_kept(suspected, keep)
