"""Measures of utility by their definitions (METHODS §13), in plain Python on lists of values; None is missing."""

import math
from collections import Counter
from fractions import Fraction
from statistics import NormalDist, mean, pstdev, stdev

import numpy as np
from scipy.optimize import minimize


def changed(original, released):
    return sum(a != b for a, b in zip(original, released, strict=True))


def total_variation(original, released):
    before, after = Counter(original), Counter(released)
    return Fraction(sum(abs(before[key] - after[key]) for key in before | after), 2 * len(original))


def hellinger(original, released):
    before, after, n = Counter(original), Counter(released), len(original)
    squares = [(math.sqrt(before[key] / n) - math.sqrt(after[key] / n)) ** 2 for key in before | after]
    return math.sqrt(math.fsum(squares) / 2)


def kolmogorov_smirnov(original, released):
    """The largest difference at a value; a missing value is below all others."""

    def at_most(values, point):
        return sum(value is None or (point is not None and value <= point) for value in values)

    points = {None, *original, *released}
    return max(Fraction(abs(at_most(original, point) - at_most(released, point)), len(original)) for point in points)


def cut(values, cuts):
    """The bin of each value: how many cut points are below it."""
    return [None if value is None else sum(point < value for point in cuts) for value in values]


def pairwise(one, other):
    """The total variation of two variables, each as (original, released)."""
    return total_variation(*(list(zip(*sides, strict=True)) for sides in zip(one, other, strict=True)))


def overlap(one, other):
    """The mean share of two intervals that they have in common; a point inside the other one counts 1."""
    (low, high), (other_low, other_high) = one, other
    common = min(high, other_high) - max(low, other_low)
    if high == low or other_high == other_low:
        return float((low >= other_low and high <= other_high) or (other_low >= low and other_high <= high))
    if common <= 0:
        return 0.0
    return (common / (high - low) + common / (other_high - other_low)) / 2


def mean_interval(values, level=0.95):
    known = [value for value in values if value is not None]
    reach = NormalDist().inv_cdf((1 + level) / 2) * stdev(known) / math.sqrt(len(known))
    return mean(known) - reach, mean(known) + reach


def share_interval(values, category, level=0.95):
    share = values.count(category) / len(values)
    reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(share * (1 - share) / len(values))
    return max(0.0, share - reach), min(1.0, share + reach)


def design(variables, interactions=1):
    """The columns of the propensity model; variables are (type, original, released)."""
    groups = []
    for kind, original, released in variables:
        values, columns = [*original, *released], []
        if kind == "numeric":
            known = [value for value in values if value is not None]
            if len(set(known)) > 1:
                centre, spread = mean(known), pstdev(known)
                columns.append([0 if value is None else (value - centre) / spread for value in values])
            if known and len(known) < len(values):
                columns.append([value is None for value in values])
        else:
            counts = Counter(values)
            # The most frequent one first; equally frequent ones in their order, a missing value before all others.
            levels = sorted(counts, key=lambda value: (-counts[value], value is not None, value or ""))
            columns = [[value == level for value in values] for level in levels[1:20]]
            if len(levels) > 20:
                columns.append([value in levels[20:] for value in values])
        groups.append(columns)
    n = 2 * len(variables[0][1])
    products = [
        [a * b for a, b in zip(x, y, strict=True)]
        for at, one in enumerate(groups)
        for other in groups[at + 1 :]
        for x in one
        for y in other
        if interactions > 1
    ]
    return np.array([[1] * n, *(column for group in groups for column in group), *products], float).T


def pmse(variables, interactions=1):
    """pMSE and its expectation, by a general minimiser."""
    x = design(variables, interactions)
    y = np.repeat([0.0, 1.0], len(x) // 2)

    def loss(b):
        score = x @ b
        return np.logaddexp(0, score).sum() - y @ score + 0.5e-6 * (b[1:] ** 2).sum()

    def slope(b):
        p = 1 / (1 + np.exp(-x @ b))
        return x.T @ (p - y) + 1e-6 * np.append(0, b[1:])

    def curve(b):
        p = 1 / (1 + np.exp(-x @ b))
        return (x.T * (p * (1 - p))) @ x + np.diag([0, *[1e-6] * (x.shape[1] - 1)])

    found = minimize(loss, np.zeros(x.shape[1]), jac=slope, hess=curve, method="trust-exact", options={"gtol": 1e-9})
    p = 1 / (1 + np.exp(-x @ found.x))
    terms = np.linalg.matrix_rank(x, tol=1e-6)
    return ((p - 0.5) ** 2).mean(), (terms - 1) / (8 * len(x))
