"""Adhoc by its definition (METHODS §4.4, §5): every pair, one after another, in plain Python.

A rule is ("exact",), ("table", rows of scores) or ("bands", [(within, share, score), …], beyond).
"""

import math

from oracles.pairs import highest_kept

FIVE = 5 * 10**12


def variable_score(rule, p_code, e_code, p, e):
    if rule[0] == "bands":
        if math.isnan(p) or math.isnan(e):
            return 0
        difference = 0.0 if p == e else abs(e - p)
        for within, share, score in rule[1]:
            if difference <= within + (share * abs(p) if share else 0):
                return score
        return rule[2]
    if p_code < 0 or e_code < 0:
        return 0
    if rule[0] == "table":
        return rule[1][p_code][e_code]
    return FIVE if p_code == e_code else 0


def nearest(puf_codes, eif_codes, puf_values, eif_values, rules, *, above, keep):
    """The pairs of each PUF record, as `pairs.highest_kept` gives them."""
    suspected, eif = [], list(zip(eif_codes.tolist(), eif_values.tolist(), strict=True))
    for p_codes, p_values in zip(puf_codes.tolist(), puf_values.tolist(), strict=True):
        pairs = []
        for k, (e_codes, e_values) in enumerate(eif):
            total = sum(
                variable_score(rule, a, b, p, e)
                for rule, a, b, p, e in zip(rules, p_codes, e_codes, p_values, e_values, strict=True)
            )
            pairs.append((total, k))
        suspected.append([pair for pair in pairs if pair[0] > above])
    return highest_kept(suspected, keep)
