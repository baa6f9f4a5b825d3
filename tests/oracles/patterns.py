"""Comparison patterns by their definition, pair by pair, in plain Python (METHODS §4.6)."""


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
