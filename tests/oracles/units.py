"""The attack on units by its definition (METHODS §4.7): every pair of units, every assignment, in exact fractions.

A unit has a key, a stratum, its own values and a list of members, each a tuple of values; None is missing. A variable
is a tuple of its name, its type (`numeric` or `categorical`) and whether it is one of units.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
from oracles.binning import bin_column, variance
from scipy.optimize import linear_sum_assignment

SCALE = 10**12
MOST = 5
"""Members up to which every assignment is tried."""

BANDS = ((0.1, 5), (0.25, 4), (0.5, 3), (1.0, 2), (2.0, 1))


@dataclass(frozen=True)
class Unit:
    key: str
    stratum: str
    own: tuple
    members: tuple


def least(costs):
    """The least sum of assigning the rows to the columns, or the other way round, whichever are fewer."""
    if len(costs) > len(costs[0]):
        costs = list(zip(*costs, strict=True))
    if len(costs[0]) <= MOST:
        return min(
            sum(sorted(costs[row][column] for row, column in enumerate(chosen)))
            for chosen in permutations(range(len(costs[0])), len(costs))
        )
    rows, columns = linear_sum_assignment(np.array(costs, float))
    return sum(sorted(costs[row][column] for row, column in zip(rows, columns, strict=True)))


def counted(puf, eif, whole):
    a, b = len(puf.members), len(eif.members)
    return max(a, b) if whole else b


def cost(puf, eif, cost_of, charge, whole):
    """Σ_u s + C/M, from the costs of two values of a variable; of one row each, all costs are added as one record's."""
    n_own, members = len(puf.own), counted(puf, eif, whole)
    own = [cost_of(j, p, e) for j, (p, e) in enumerate(zip(puf.own, eif.own, strict=True))]

    def between(p, e):
        return [cost_of(n_own + j, x, y) for j, (x, y) in enumerate(zip(p, e, strict=True))]

    if len(puf.members) == len(eif.members) == 1:
        return sum(sorted([*own, *between(puf.members[0], eif.members[0])]))
    rows = [[sum(sorted(between(p, e))) for e in eif.members] for p in puf.members]
    left = members - min(len(puf.members), len(eif.members))
    return sum(sorted(own)) + (least(rows) + left * charge) / members


def binned(variables, puf, eif):
    """Both files with numbers in fifths of the PUF's values of the stratum: of units, or of their members."""
    n_own, files = sum(of_unit for _, _, of_unit in variables), [list(puf), list(eif)]
    for stratum in {unit.stratum for unit in puf + eif}:
        for j, (_, kind, _) in enumerate(variables):
            if kind == "categorical":
                continue
            cutting = [x for unit in files[0] if unit.stratum == stratum for x in values(unit, j, n_own)]
            cutting = [x for x in cutting if x is not None]
            for side in (0, 1):
                files[side] = [
                    changed(unit, j, n_own, cutting) if unit.stratum == stratum else unit for unit in files[side]
                ]
    return files


def values(unit, j, n_own):
    return [unit.own[j]] if j < n_own else [member[j - n_own] for member in unit.members]


def changed(unit, j, n_own, cutting):
    bins = bin_column(values(unit, j, n_own), cutting, 5)
    if j < n_own:
        return Unit(unit.key, unit.stratum, (*unit.own[:j], bins[0], *unit.own[j + 1 :]), unit.members)
    j -= n_own
    members = tuple((*m[:j], x, *m[j + 1 :]) for m, x in zip(unit.members, bins, strict=True))
    return Unit(unit.key, unit.stratum, unit.own, members)


def deviations(variables, puf):
    """By stratum, the variance of each numeric variable of the PUF: of units, or of their members."""
    n_own, found = sum(of_unit for _, _, of_unit in variables), {}
    for stratum in {unit.stratum for unit in puf}:
        columns = [
            [x for unit in puf if unit.stratum == stratum for x in values(unit, j, n_own) if x is not None]
            for j in range(len(variables))
        ]
        found[stratum] = [
            variance([Fraction(x) for x in column]) if kind == "numeric" else None
            for column, (_, kind, _) in zip(columns, variables, strict=True)
        ]
    return found


def taxicab(variables, puf, eif, whole, alpha=Fraction(1, 2)):
    """{(puf key, eif key): (score, evidence)} of the suspected pairs."""
    v, v_m = len(variables), sum(not of_unit for _, _, of_unit in variables)

    def cost_of(_, p, e):
        return alpha if p is None or e is None else Fraction(p != e)

    pairs = {}
    for p, e in together(*binned(variables, puf, eif)):
        score = Fraction(cost(p, e, cost_of, alpha * v_m, whole)) / v
        if score < alpha / 2:
            pairs[p.key, e.key] = float(score), (alpha / 2 - score) * counted(p, e, whole)
    return pairs


def together(puf, eif):
    return [(p, e) for p in puf for e in eif if p.stratum == e.stratum]


def euclidean(variables, puf, eif, whole, norm="primer", alpha=0.5):
    v, v_m, variances = len(variables), sum(not u for _, _, u in variables), deviations(variables, puf)
    limit = round((alpha / 2 if norm == "primer" else alpha / math.sqrt(2)) * SCALE)
    pairs = {}
    for p, e in together(puf, eif):

        def cost_of(j, x, y, stratum=p.stratum):
            if x is None or y is None:
                return alpha * alpha
            if variables[j][1] == "categorical" or x == y:
                return float(x != y)
            spread = variances[stratum][j]
            apart = min(abs(x - y) / math.sqrt(spread), 6.0) if spread else 6.0
            return math.tanh(apart / 2) * math.tanh(apart / 2)

        total = cost(p, e, cost_of, alpha * alpha * v_m, whole)
        level = round((math.sqrt(total) / v if norm == "primer" else math.sqrt(total / v)) * SCALE)
        if level < limit:
            pairs[p.key, e.key] = level / SCALE, (limit - level) * counted(p, e, whole)
    return pairs


def adhoc(variables, puf, eif, whole, threshold=None):
    v, v_m, variances = len(variables), sum(not u for _, _, u in variables), deviations(variables, puf)
    threshold = Fraction(5 * v, 2) if threshold is None else Fraction(threshold)
    pairs = {}
    for p, e in together(puf, eif):

        def cost_of(j, x, y, stratum=p.stratum):
            if x is None or y is None:
                return Fraction(5)
            if variables[j][1] == "categorical":
                return Fraction(0 if x == y else 5)
            spread = variances[stratum][j]
            if not spread:
                return Fraction(0 if x == y else 5)
            apart = abs(x - y) / math.sqrt(spread)
            return Fraction(5 - max([score for within, score in BANDS if apart <= within * (1 + 1e-9)], default=0))

        score = 5 * v - Fraction(cost(p, e, cost_of, 5 * v_m, whole))
        if score > threshold:
            pairs[p.key, e.key] = (
                math.floor(score * SCALE + Fraction(1, 2)) / SCALE,
                (score - threshold) * counted(p, e, whole),
            )
    return pairs


def kept(pairs, keep):
    """{(puf key, eif key): (score, rank)} of the ranks of each PUF unit with at most `keep` pairs in all."""
    found = {}
    for key in {p for p, _ in pairs}:
        own = {e: pair for (p, e), pair in pairs.items() if p == key}
        for rank, evidence in enumerate(sorted({pair[1] for pair in own.values()}, reverse=True), start=1):
            if sum(pair[1] >= evidence for pair in own.values()) > keep:
                break
            found |= {(key, e): (pair[0], rank) for e, pair in own.items() if pair[1] == evidence}
    return found


def unicity(variables, puf, eif, orders):
    """{(puf key, eif key): smallest order}."""
    n_own, found = sum(of_unit for _, _, of_unit in variables), {}
    files = binned(variables, puf, eif)
    for order in orders:
        for chosen in combinations(range(len(variables)), order):
            alone = []
            for side in files:
                profiles = [profile(unit, chosen, n_own) for unit in side]
                alone.append(
                    {p: unit.key for p, unit in zip(profiles, side, strict=True) if p and profiles.count(p) == 1}
                )
            for p in alone[0].keys() & alone[1].keys():
                found.setdefault((alone[0][p], alone[1][p]), order)
    return found


def profile(unit, chosen, n_own):
    own = [unit.own[j] for j in chosen if j < n_own]
    members = sorted([tuple(m[j - n_own] for j in chosen if j >= n_own) for m in unit.members], key=repr)
    if None in own or any(None in member for member in members):
        return None
    return unit.stratum, len(unit.members), tuple(own), tuple(members)


def named(puf, eif, links, cost_of):
    """Which linked members (a place in each unit) every least-cost assignment gives their own record."""
    rows = [[cost_of(p, e) for e in eif.members] for p in puf.members]
    best, right = least(rows), set()
    for x, y in links:
        others = [[10**9 if (i, k) == (x, y) else c for k, c in enumerate(row)] for i, row in enumerate(rows)]
        if least(others) > best:
            right.add(x)
    return right
