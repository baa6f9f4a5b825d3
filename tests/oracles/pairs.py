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


def nearest(puf, eif, *, different, missing, limit, keep):
    """Rows (puf, eif, level), sorted by puf, level, eif, and for each PUF record whether it is ambiguous."""
    rows, ambiguous = [], []
    puf, eif = puf.tolist(), eif.tolist()
    for i, p in enumerate(puf):
        pairs = [(level(p, e, different, missing), k) for k, e in enumerate(eif)]
        suspected = [pair for pair in pairs if pair[0] <= limit]
        kept = ranks_within([pair[0] for pair in suspected], keep)
        ambiguous.append(bool(suspected) and not kept)
        rows += [(i, k, h) for h, k in sorted(suspected) if h in kept]
    return rows, ambiguous
