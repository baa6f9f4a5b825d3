"""Distances to the closest record by all pairs, one after another, in plain Python (METHODS §8.1).

A file is a list of rows; a cell is a text, a number, or None where it is missing. `numeric` says which are numbers.
"""

import math
from fractions import Fraction

from oracles.euclidean import level, variable_score


def spread(numbers):
    if len(numbers) < 2:
        return math.nan
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1))


def score(numeric, spreads, one, other):
    """The score of two rows in units of 10^-12; codes are 0 and 1 where the categories differ."""
    scores = []
    for is_number, deviation, a, b in zip(numeric, spreads, one, other, strict=True):
        if is_number:
            values = [math.nan if x is None else x for x in (a, b)]
            scores.append(variable_score(True, 0, 0, *values, deviation, 0.5))
        else:
            codes = [-1 if x is None else int(x != a) for x in (a, b)]
            scores.append(variable_score(False, *codes, 0.0, 0.0, math.nan, 0.5))
    return level(scores, "rms")


def by_value(row):
    """Where a record is in the order of values: missing values come first."""
    return [(x is not None, "" if x is None else x) for x in row]


def nearest(numeric, spreads, row, file):
    """The two smallest scores (None without a second record), and the first of the nearest records by its values."""
    scores = [score(numeric, spreads, row, other) for other in file]
    first, *more = sorted(scores)
    tied = [other for other, own in zip(file, scores, strict=True) if own == first]
    return first, more[0] if more else None, min(tied, key=by_value)


def percentile(values, percent):
    """The mean of the smallest values with at least this share of the values, and with more than it, at or below."""
    values, share = sorted(values), Fraction(percent, 100) * len(values)
    low = max(math.ceil(share), 1)
    high = min(math.floor(share) + 1, len(values)) if percent else 1
    return (values[low - 1] + values[high - 1]) / 2


def ratio(first, second):
    return first / second if second else 1.0


def binomial_tail(k, n, p):
    """P(X >= k), exactly."""
    return sum(math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(k, n + 1))


def difference(near, other, quantile, expected):
    """(nearer, tied, share, low, high, clusters) of records with their nearest in both files."""
    u, clusters = [], {}
    for own, held in zip(near, other, strict=True):
        u.append(Fraction(1) if own[0] < held[0] else Fraction(int(own[0] == held[0]), 2))
    share = sum(u) / len(u)
    for score_of, own, held in zip(u, near, other, strict=True):
        key = ("X", tuple(own[2])) if own[0] <= held[0] else ("H", tuple(held[2]))
        clusters.setdefault(key, []).append(score_of)
    k = len(clusters)
    excess, half = float(share - expected), math.inf
    if k > 1:
        observed = sum(sum(x - share for x in one) ** 2 for one in clusters.values()) * Fraction(k, k - 1)
        untied = [sum(x != Fraction(1, 2) for x in one) for one in clusters.values()]
        labels = expected * (1 - expected) * sum(m**2 for m in untied)
        half = quantile(k - 1) * math.sqrt(max(observed, labels)) / len(u)
    low, high = max(excess - half, float(-expected)), min(excess + half, float(1 - expected))
    return u.count(1), u.count(Fraction(1, 2)), share, low, high, k


def measure(numeric, confidential, synthetic, holdout, quantile):
    """The line of one synthetic file, and the percentiles of both distances; scores as fractions of 1."""
    columns = list(zip(*synthetic, strict=True))
    spreads = [
        spread([x for x in column if x is not None]) if is_number else math.nan
        for is_number, column in zip(numeric, columns, strict=True)
    ]
    near = [nearest(numeric, spreads, row, confidential) for row in synthetic]
    distances = [own[0] / 1e12 for own in near]
    line = {
        "distance_confidential": percentile(distances, 5),
        "ratio_confidential": None
        if len(confidential) < 2
        else percentile([ratio(*own[:2]) for own in near], 5),
        "n_identical": sum(row in confidential for row in synthetic),
        "n_identical_unique": sum(confidential.count(row) == 1 for row in synthetic),
    }
    if not holdout:
        return line, [distances]
    other = [nearest(numeric, spreads, row, holdout) for row in synthetic]
    held = [own[0] / 1e12 for own in other]
    expected = Fraction(len(confidential), len(confidential) + len(holdout))
    nearer, tied, share, low, high, k = difference(near, other, quantile, expected)
    everyone = confidential + holdout
    alone = [
        sum(everyone.count(row) == 1 and row in synthetic for row in file) for file in (confidential, holdout)
    ]
    return line | {
        "distance_holdout": percentile(held, 5),
        "ratio_holdout": None if len(holdout) < 2 else percentile([ratio(*own[:2]) for own in other], 5),
        "n_identical_holdout": sum(row in holdout for row in synthetic),
        "n_nearer": nearer, "n_tied": tied, "share": float(share), "expected": float(expected),
        "low": low, "high": high, "n_clusters": k,
        "n_alone_confidential": alone[0], "n_alone_holdout": alone[1],
        "alone_probability": float(binomial_tail(alone[0], sum(alone), expected)),
    }, [distances, held]  # fmt: skip
