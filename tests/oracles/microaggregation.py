"""Micro-aggregation by its definition (METHODS §9), in exact fractions, one group after another."""

from fractions import Fraction


def microaggregate(values, k, aggregate):
    """None is missing. Equal values are dealt out in the order of the records."""
    ranked = sorted((x, i) for i, x in enumerate(values) if x is not None)
    out = [None] * len(values)
    while ranked:
        group = ranked if len(ranked) < 2 * k else ranked[:k]
        ranked = ranked[len(group) :]
        for _, i in group:
            out[i] = (mean if aggregate == "mean" else median)([x for x, _ in group])
    return out


def mean(values):
    return sum(values, Fraction(0)) / len(values)


def median(values):
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return (low + high) / 2
