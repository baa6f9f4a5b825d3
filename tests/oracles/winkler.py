"""Winkler by its definition (METHODS §4.5, §5): every pair, one after another, in exact fractions."""

from oracles.pairs import ranks_within


def half_gap(x, y, masked):
    """Within half the distance from y to the nearer of its neighbours among the masked values."""
    gaps = [abs(y - other) for other in masked if other != y]
    return not gaps or 2 * abs(x - y) <= min(gaps)


def midpoint(x, y, masked):
    """No masked value is nearer to x than y."""
    return all(abs(x - y) <= abs(x - other) for other in masked)


def nearest(x, y, held, g):
    """Fewer than g of the values held are nearer to y than x."""
    return sum(abs(other - y) < abs(x - y) for other in held) < g


def agrees(x, y, masked, held, agreement):
    """`masked` are the PUF's values, `held` the EIF's, missing ones left out."""
    if agreement == "half_gap":
        return half_gap(x, y, masked)
    if agreement == "midpoint":
        return midpoint(x, y, masked)
    return nearest(x, y, held, int(agreement["nearest"]))


def agreements(puf, eif, numeric, scope, agreement):
    """For every pair of positions the number of variables that agree; None is missing.

    `scope` holds the records of both files from which masked and held values are taken.
    """
    columns = [[{r[j] for r in scope[0]} - {None}, [r[j] for r in scope[1]]] for j in range(len(numeric))]
    columns = [(masked, [x for x in held if x is not None]) for masked, held in columns]
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


def kept(counts, n_puf, min_agree, keep):
    """Rows (puf, eif, agreements), sorted by puf, most agreements, eif, and whether each PUF record is crowded."""
    rows, crowded = [], []
    for i in range(n_puf):
        own = [(-n, k) for (p, k), n in counts.items() if p == i and n >= min_agree]
        levels = ranks_within([level for level, _ in own], keep)
        crowded.append(bool(own) and not levels)
        rows += [(i, k, -level) for level, k in sorted(own) if level in levels]
    return rows, crowded
