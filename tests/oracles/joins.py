"""Joins on exact values by brute force (METHODS §6.10): every record is looked up among all others."""

from collections import Counter
from itertools import combinations


def sets(names):
    """The sets of one variable, and of two."""
    return [frozenset(some) for size in (1, 2) for some in combinations(names, size)]


def joined(puf, eif, links, names):
    """(claims, right ones): records are mappings with `stratum` (None outside all) and values (None where missing)."""

    def key(record):
        values = [record["stratum"], *(record[name] for name in names)]
        return None if None in values else tuple(values)

    keys = [[key(record) for record in side] for side in (puf, eif)]
    counts = [Counter(side) for side in keys]
    claims = [
        (p, e)
        for p, own in enumerate(keys[0])
        for e, other in enumerate(keys[1])
        if own is not None and own == other and counts[0][own] == counts[1][own] == 1
    ]
    return len(claims), sum(pair in links for pair in claims)
