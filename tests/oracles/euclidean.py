"""Euclidean by its definition (METHODS §4.3, §5): every pair, one after another, in plain Python."""

import math

from oracles.pairs import kept


def variable_score(is_numeric, p_code, e_code, p, e, spread, alpha, whole_steps=False):
    if not is_numeric:
        return alpha if p_code < 0 or e_code < 0 else float(p_code != e_code)
    if math.isnan(p) or math.isnan(e):
        return alpha
    if p == e:
        return 0.0
    x = min(abs(p - e) / spread, 6.0) if 0 < spread < math.inf else 6.0
    if whole_steps:
        x = math.floor(x * (1 + 1e-9))
    return math.tanh(x / 2)


def level(scores, norm):
    """The score in units of 10^-12; the squares are added in ascending order."""
    total, v = 0.0, len(scores)
    for square in sorted(s * s for s in scores):
        total += square
    return round((math.sqrt(total) / v if norm == "primer" else math.sqrt(total / v)) * 1e12)


def threshold(alpha, norm):
    """The level from which on a pair is not suspected."""
    return round((alpha / 2 if norm == "primer" else alpha / math.sqrt(2)) * 1e12)


def nearest(puf_codes, eif_codes, puf_values, eif_values, spread, *, numeric, alpha, norm, keep, whole_steps=False):
    """The pairs of each PUF record, as `pairs.kept` gives them."""
    highest = threshold(alpha, norm)
    columns, suspected = list(zip(numeric.tolist(), spread.tolist(), strict=True)), []
    eif = list(zip(eif_codes.tolist(), eif_values.tolist(), strict=True))
    for p_codes, p_values in zip(puf_codes.tolist(), puf_values.tolist(), strict=True):
        pairs = []
        for k, (e_codes, e_values) in enumerate(eif):
            scores = [
                variable_score(is_numeric, a, b, p, e, deviation, alpha, whole_steps)
                for (is_numeric, deviation), a, b, p, e in zip(
                    columns, p_codes, e_codes, p_values, e_values, strict=True
                )
            ]
            pairs.append((level(scores, norm), k))
        suspected.append([pair for pair in pairs if pair[0] < highest])
    return kept(suspected, keep)
