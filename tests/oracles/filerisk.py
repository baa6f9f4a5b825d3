"""Matches, DIS and coarser keys by their definitions (METHODS §7): every pair, every subsample, in plain Python."""

from fractions import Fraction
from itertools import combinations, product


def agree(a, b, wildcard):
    """Whether two records match; without wildcards those that miss a value match none."""
    if wildcard:
        return all(x == y or x < 0 or y < 0 for x, y in zip(a, b, strict=True))
    return a == b and min(a) >= 0


def match_counts(records, others, wildcard):
    return [sum(agree(record, other, wildcard) for other in others) for record in records]


def removable(known):
    """Positions of the records that may be removed: an intruder has a value of every variable."""
    return [i for i, record in enumerate(known) if min(record) >= 0]


def one_removed(released, known, fraction, wildcard):
    """pr(cm|um) with each record removed in turn, copied back or not; None if no match can be unique."""
    f = Fraction(fraction)
    correct = unique = Fraction(0)
    for i in removable(known):
        for back, probability in ((True, f), (False, 1 - f)):
            left = [j for j in range(len(released)) if j != i or back]
            found = [j for j in left if agree(known[i], released[j], wildcard)]
            if len(found) == 1:
                unique += probability
                correct += probability * (found == [i])
    return float(correct / unique) if unique else None


def kinds(released, known, removed, fraction, wildcard):
    """Whether unique matches are right, over every set removed and every part of it that is copied back."""
    pool, seen = removable(known), set()
    for away in combinations(pool, min(removed, len(pool))):
        for back in product([True] if fraction == 1 else [True, False], repeat=len(away)):
            kept = dict(zip(away, back, strict=True))
            left = [j for j in range(len(released)) if kept.get(j, True)]
            for i in away:
                found = [j for j in left if agree(known[i], released[j], wildcard)]
                if len(found) == 1:
                    seen.add(found == [i])
    return seen


def halves(records, coarse, wildcard):
    """Expected uniques of a half of a file, by whether they survive the coarser key, and those unique in the file.

    ``coarse`` are the records on the coarser key.
    """
    n, totals = (len(records), {(kind, still): Fraction(0) for kind in (True, False) for still in (True, False)})
    whole = match_counts(records, records, wildcard)
    for taken in product([True, False], repeat=n):
        at = [i for i in range(n) if taken[i]]
        fine = match_counts([records[i] for i in at], [records[i] for i in at], wildcard)
        less = match_counts([coarse[i] for i in at], [coarse[i] for i in at], wildcard)
        for i, own, other in zip(at, fine, less, strict=True):
            if own == 1:
                totals[other == 1, whole[i] == 1] += Fraction(1, 2**n)
    return totals
