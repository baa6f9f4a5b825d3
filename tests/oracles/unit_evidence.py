"""Fellegi–Sunter on units: members as records, every assignment of members, competition over units (METHODS §4.7).

A stratum is a pair of lists of units, PUF and EIF; a unit is a list of its members, records as `competing` takes them.
`own` are the places of variables of units, whose values all members of a unit repeat.
"""

import math
from itertools import permutations, product

from oracles import competing, evidence

UNIT = 10**12


def members_of(strata):
    """The members of all units by stratum, as records, and the place of each unit's first one."""
    rows, first = [], []
    for both in strata:
        rows.append(tuple([member for unit in side for member in unit] for side in both))
        first.append([[sum(len(one) for one in side[:at]) for at in range(len(side))] for side in both])
    return rows, first


def weights(strata, own, levels, bits, u, counts):
    """{(stratum, i, k): weight of a pair of units} in units of 10^-12 bits.

    `levels`, `u` and `counts` are those of `competing.estimate` on the members, `bits` the weights of the levels.
    """
    _, first = members_of(strata)

    def weight(pair, chosen):
        total = 0
        for j in chosen:
            level = levels[pair][j]
            if level is not None:
                rare = 1.0 if counts is None else competing.rarity(counts[pair[:2]][j], u[j], level)
                total += bits[j][level] + round(10**9 * math.log2(rare)) * 1000
        return total

    found = {}
    for s, (puf, eif) in enumerate(strata):
        for (i, one), (k, other) in product(enumerate(puf), enumerate(eif)):
            a, b = first[s][0][i], first[s][1][k]
            others = [j for j in range(len(bits)) if j not in own]
            table = [[weight((s, a + x, b + y), others) for y in range(len(other))] for x in range(len(one))]
            if len(one) > len(other):
                table = [list(column) for column in zip(*table, strict=True)]
            best = max(
                sum(row[y] for row, y in zip(table, order, strict=True))
                for order in permutations(range(len(table[0])), len(table))
            )
            found[s, i, k] = best + weight((s, a, b), own)
    return found


def competed(found, prior, competition):
    """({pair: probability}, {pair: weight less what its rivals take}) of pairs of units."""
    odds = {pair: 2.0 ** (weight / UNIT) * prior / (1 - prior) for pair, weight in found.items()}
    rows, columns = {}, {}
    for (s, i, k), o in odds.items():
        rows.setdefault((s, i), []).append(o)
        columns.setdefault((s, k), []).append(o)
    probability, score = {}, {}
    for (s, i, k), o in odds.items():
        taken = competing.others(rows[s, i], o) + competing.others(columns[s, k], o) if competition else 0.0
        probability[s, i, k] = o / (1 + o + taken)
        score[s, i, k] = found[s, i, k] - round(10**9 * math.log2(1 + taken)) * 1000
    return probability, score


def prior(found, strata, share, competition):
    """The share of links among the pairs of units, with λ alone learnt from a share of the largest number on."""
    most = sum(min(len(puf), len(eif)) for puf, eif in strata)
    held = share * most
    for _ in range(5000):
        before, total = held, sum(competed(found, prior_of(held, most, len(found)), competition)[0].values())
        held = min(max(total, most / 50), most)
        if abs(held - before) < 1e-12 * held:
            break
    return prior_of(held, most, len(found))


def prior_of(held, most, n):
    """λ if so many links are expected."""
    return (min(max(held, most / 50), most) + 0.5) / (n + 1)


def rounded(shares):
    """Shares as tables have them, and the weights of the levels in units of 10^-12 bits."""
    m, u = ([{name: evidence.twelve(one) for name, one in own.items()} for own in both] for both in shares)
    bits = [
        {name: evidence.units(math.log2(a[name]) - math.log2(b[name])) for name in a} for a, b in zip(m, u, strict=True)
    ]
    return u, bits
