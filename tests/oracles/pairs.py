"""Taxicab by its definition (METHODS §4.2, §5): every pair, one after another, in plain Python."""


def level(p, e, different, missing):
    total = 0
    for a, b in zip(p, e, strict=True):
        if a < 0 or b < 0:
            total += missing
        elif a != b:
            total += different
    return total


def ranks_within(levels, keep):
    """The distinct levels, best first, as long as no more than ``keep`` pairs have them or better ones."""
    kept = []
    for candidate in sorted(set(levels)):
        if sum(1 for other in levels if other <= candidate) > keep:
            break
        kept.append(candidate)
    return kept


def kept(suspected, keep):
    """Rows (puf, eif, level), sorted by puf, level, eif, and for each PUF record whether it is ambiguous.

    ``suspected`` has the pairs (level, eif) of each PUF record; the lowest level is best.
    """
    rows, ambiguous = [], []
    for i, pairs in enumerate(suspected):
        levels = ranks_within([level for level, _ in pairs], keep)
        ambiguous.append(bool(pairs) and not levels)
        rows += [(i, k, level) for level, k in sorted(pairs) if level in levels]
    return rows, ambiguous


def highest_kept(suspected, keep):
    """The same where the highest level is best."""
    rows, ambiguous = kept([[(-level, k) for level, k in pairs] for pairs in suspected], keep)
    return [(i, k, -cost) for i, k, cost in rows], ambiguous


def nearest(puf, eif, *, different, missing, limit, keep):
    """The pairs of each PUF record, as :func:`kept` gives them."""
    suspected, eif = [], eif.tolist()
    for p in puf.tolist():
        pairs = [(level(p, e, different, missing), k) for k, e in enumerate(eif)]
        suspected.append([pair for pair in pairs if pair[0] <= limit])
    return kept(suspected, keep)
