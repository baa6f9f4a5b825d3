"""Winkler by its definition (METHODS §4.5, §5): every pair, in exact fractions but for `levels_of_many`."""

import numpy as np
from oracles import pairs


def half_gap(x, y, puf_values):
    """Within half the distance from y to the nearer of its neighbours among the masked values."""
    gaps = [abs(y - other) for other in puf_values if other != y]
    return not gaps or 2 * abs(x - y) <= min(gaps)


def printed(x, y, puf_values):
    """Within the distance to the next masked value below, and half the distance to the next one above."""
    below = [y - other for other in puf_values if other < y]
    above = [other - y for other in puf_values if other > y]
    return all(abs(x - y) <= gap for gap in below) and all(2 * abs(x - y) <= gap for gap in above)


def midpoint(x, y, puf_values):
    """No masked value is nearer to x than y."""
    return all(abs(x - y) <= abs(x - other) for other in puf_values)


def nearest(x, y, eif_values, g):
    """Fewer than g of the values held are nearer to y than x."""
    return sum(abs(other - y) < abs(x - y) for other in eif_values) < g


def rank_distance(x, y, eif_values):
    """The smallest g for which x is among the g values held that are nearest to y."""
    return next(g for g in range(1, len(eif_values) + 1) if nearest(x, y, eif_values, g))


def agrees(x, y, puf_values, eif_values, agreement):
    """`puf_values` and `eif_values` are those of the files, missing ones left out."""
    if agreement == "half_gap":
        return half_gap(x, y, puf_values)
    if agreement == "printed":
        return printed(x, y, puf_values)
    if agreement == "midpoint":
        return midpoint(x, y, puf_values)
    return nearest(x, y, eif_values, int(agreement["nearest"]))


def agreements(puf, eif, numeric, scope, agreement):
    """For every pair of positions the number of variables that agree; None is missing.

    `scope` holds the records of both files from which masked and held values are taken.
    """
    columns = [[{r[j] for r in scope[0]} - {None}, [r[j] for r in scope[1]]] for j in range(len(numeric))]
    columns = [(puf_values, [x for x in eif_values if x is not None]) for puf_values, eif_values in columns]
    known = {}

    def agree(j, y, x):
        if x is None or y is None:
            return False
        if not numeric[j]:
            return x == y
        if (j, y, x) not in known:
            known[j, y, x] = agrees(x, y, *columns[j], agreement)
        return known[j, y, x]

    return {
        (i, k): sum(agree(j, y, x) for j, (y, x) in enumerate(zip(p, e, strict=True)))
        for i, p in enumerate(puf)
        for k, e in enumerate(eif)
    }


def distances(puf, eif, numeric, scope, m):
    """For every pair of positions with at least m rank distances the m-th smallest; None is missing."""
    eif_values = [[r[j] for r in scope[1] if r[j] is not None] for j in range(len(numeric))]
    known = {}

    def distance(j, y, x):
        if not numeric[j]:
            return 1 if x == y else None
        if (j, y, x) not in known:
            known[j, y, x] = rank_distance(x, y, eif_values[j])
        return known[j, y, x]

    found = {}
    for i, p in enumerate(puf):
        for k, e in enumerate(eif):
            both = [(j, y, x) for j, (y, x) in enumerate(zip(p, e, strict=True)) if None not in (x, y)]
            own = sorted(d for d in (distance(*one) for one in both) if d is not None)
            if len(own) >= m:
                found[i, k] = own[m - 1]
    return found


def levels_of_many(puf, eif, m):
    """The m-th smallest rank distance of every pair of numeric records without slack; infinite where there is none."""
    levels = np.empty((len(puf), len(eif)))
    for i, row in enumerate(puf):
        apart = np.abs(eif - row)  # NaN where missing
        ranks = [1 + np.searchsorted(np.sort(own[~np.isnan(own)]), own) for own in apart.T]
        levels[i] = np.sort(np.where(np.isnan(apart), np.inf, np.transpose(ranks)), axis=1)[:, m - 1]
    return levels


def kept(counts, n_puf, min_agree, keep):
    """Rows (puf, eif, agreements), sorted by puf, most agreements, eif, and whether each PUF record is ambiguous."""
    return pairs.highest_kept(by_record({pair: n for pair, n in counts.items() if n >= min_agree}, n_puf), keep)


def lowest(distances, n_puf, keep):
    """The same for pairs of which the lowest are best."""
    return pairs.kept(by_record(distances, n_puf), keep)


def by_record(levels, n_puf):
    """The pairs (level, eif) of each PUF record."""
    return [[(level, k) for (p, k), level in levels.items() if p == i] for i in range(n_puf)]
