"""Euclidean and adhoc by their definitions (METHODS §4.3–5): every pair, one after another, in plain Python."""

import math

from oracles.pairs import ranks_within


def euclidean_level(p, e, numeric, spread, alpha, norm):
    """p, e: a category, a number, or None for each variable; the rounded score in units of 10^-12."""
    squares = []
    for a, b, is_number, sd in zip(p, e, numeric, spread, strict=True):
        if a is None or b is None:
            s = alpha
        elif not is_number:
            s = float(a != b)
        elif sd > 0:
            s = math.tanh(min(abs(a - b) / sd, 6) / 2)
        else:
            s = 0.0 if a == b else math.tanh(3)
        squares.append(s * s)
    total = math.fsum(squares)
    score = math.sqrt(total) / len(p) if norm == "primer" else math.sqrt(total / len(p))
    return round(score * 10**12)


def band_score(p, e, bands, beyond):
    """bands: (within, share, score) in order; the first that holds the difference counts."""
    if p is None or e is None:
        return 0
    for within, share, score in bands:
        if abs(e - p) <= within + (share * abs(p) if share else 0):
            return score
    return beyond


def table_score(p, e, table):
    return 0 if p is None or e is None else table[p][e]


def nearest(puf, eif, level, suspected, best_is_low, keep):
    """Rows (puf, eif, level), sorted by puf, best level, eif, and whether each PUF record is ambiguous."""
    sign = 1 if best_is_low else -1
    rows, ambiguous = [], []
    for i, p in enumerate(puf):
        pairs = [(sign * level(p, e), k) for k, e in enumerate(eif)]
        pairs = [pair for pair in pairs if suspected(sign * pair[0])]
        kept = ranks_within([pair[0] for pair in pairs], keep)
        ambiguous.append(bool(pairs) and not kept)
        rows += [(i, k, sign * h) for h, k in sorted(pairs) if h in kept]
    return rows, ambiguous
