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
    """Rows (puf, eif, level), sorted by puf, level, eif, and for each PUF record whether it is ambiguous, and its next.

    ``suspected`` has the pairs (level, eif) of each PUF record; the lowest level is best. The next is the second best
    level with the number of all pairs at it; None if there is none, and for an ambiguous record.
    """
    rows, ambiguous, following = [], [], []
    for i, pairs in enumerate(suspected):
        levels = ranks_within([level for level, _ in pairs], keep)
        ambiguous.append(bool(pairs) and not levels)
        following.append(None if ambiguous[-1] else second([level for level, _ in pairs]))
        rows += [(i, k, level) for level, k in sorted(pairs) if level in levels]
    return rows, ambiguous, following


def second(levels):
    """The second best level, and how many have it; None if there is none."""
    best = min(levels, default=None)  # once: in a comprehension it would be looked for again for each level
    others = [level for level in levels if level != best]
    return (min(others), others.count(min(others))) if others else None


def highest_kept(suspected, keep):
    """The same where the highest level is best."""
    rows, ambiguous, following = kept([[(-level, k) for level, k in pairs] for pairs in suspected], keep)
    following = [next_one and (-next_one[0], next_one[1]) for next_one in following]
    return [(i, k, -cost) for i, k, cost in rows], ambiguous, following


def nearest(puf, eif, *, different, missing, limit, keep):
    """The pairs of each PUF record, as :func:`kept` gives them."""
    suspected, eif = [], eif.tolist()
    for p in puf.tolist():
        pairs = [(level(p, e, different, missing), k) for k, e in enumerate(eif)]
        suspected.append([pair for pair in pairs if pair[0] <= limit])
    return kept(suspected, keep)
