"""Comparison patterns and the EM algorithm by their definition, pair by pair, in plain Python (METHODS §4.6)."""

import math


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


def expectation(pairs, m, u, prior):
    """The probability of each pair (a pattern) of being a link."""
    out = []
    for found in pairs:
        link, other = prior, 1 - prior
        for j, level in enumerate(found):
            if level != "missing":
                link *= m[j][level]
                other *= u[j][level]
        out.append(link / (link + other))
    return out


def maximisation(pairs, links, most, m, u):
    """The next parameters: weighted shares of the levels; a variable that is always missing keeps its own."""
    total = math.fsum(links)
    prior = min(total / len(pairs), most)
    new = []
    for before, weights in ((m, links), (u, [1 - g for g in links])):
        shares = []
        for j, levels in enumerate(before):
            sums = {
                level: math.fsum(g for g, found in zip(weights, pairs, strict=True) if found[j] == level)
                for level in levels
            }
            whole = math.fsum(sums.values())
            shares.append({level: part / whole for level, part in sums.items()} if whole else levels)
        new.append(shares)
    return new[0], new[1], prior
