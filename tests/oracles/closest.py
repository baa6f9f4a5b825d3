"""Distances to the closest record by all pairs, one after another, in plain Python (METHODS §8.1).

A file is a list of rows; a cell is a text, a number, or None where it is missing. `numeric` says which are numbers.
"""

import itertools
import math
from fractions import Fraction

from oracles.euclidean import level, variable_score


def spread(numbers):
    if len(numbers) < 2:
        return math.nan
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1))


def spreads_of(numeric, rows):
    """The standard deviation of each number."""
    return [
        spread([x for x in column if x is not None]) if is_number else math.nan
        for is_number, column in zip(numeric, zip(*rows, strict=True), strict=True)
    ]


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


def nearest(numeric, spreads, row, file):
    """The two smallest scores (None without a second record)."""
    first, *more = sorted(score(numeric, spreads, row, other) for other in file)
    return first, more[0] if more else None


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


def nearness(numeric, spreads, confidential, synthetic, holdout, percent):
    """(records, distance, share, deviation, weights) of the synthetic records with the smallest distances.

    Every pair has its score; `weights` are what the synthetic records give to each record of both files.
    """
    everyone = confidential + holdout
    scores = [[score(numeric, spreads, row, other) for other in everyone] for row in synthetic]
    least = sorted(min(line) for line in scores)
    cut = least[math.ceil(Fraction(percent, 100) * len(synthetic)) - 1]
    inside = [line for line in scores if min(line) <= cut]
    weights = [Fraction(0)] * len(everyone)
    for line in inside:
        at = [r for r, own in enumerate(line) if own == min(line)]
        for r in at:
            weights[r] += Fraction(1, len(at))
    n_x, n = len(confidential), len(everyone)
    mean = sum(weights) / n
    spread_of_weights = sum((w - mean) ** 2 for w in weights) / len(inside) ** 2
    variance = Fraction(n_x * (n - n_x), n * (n - 1)) * spread_of_weights
    share = sum(weights[:n_x]) / len(inside)
    return len(inside), cut, share, math.sqrt(variance), weights


def tail_of(weights, n_confidential):
    """The probability of confidential weights at least as large: over all labellings, one by one."""
    observed = sum(weights[:n_confidential])
    sums = [sum(chosen) for chosen in itertools.combinations(weights, n_confidential)]
    return Fraction(sum(own >= observed for own in sums), len(sums))


def measure(numeric, confidential, synthetic, holdout):
    """The line of one synthetic file, and the percentiles of both distances; scores as fractions of 1."""
    spreads = spreads_of(numeric, synthetic)
    near = [nearest(numeric, spreads, row, confidential) for row in synthetic]
    distances = [own[0] / 1e12 for own in near]
    line = {
        "distance_confidential": percentile(distances, 5),
        "ratio_confidential": None if len(confidential) < 2 else percentile([ratio(*own[:2]) for own in near], 5),
        "n_identical": sum(row in confidential for row in synthetic),
        "n_identical_unique": sum(confidential.count(row) == 1 for row in synthetic),
    }
    if not holdout:
        return line, [distances]
    other = [nearest(numeric, spreads, row, holdout) for row in synthetic]
    held = [own[0] / 1e12 for own in other]
    expected = Fraction(len(confidential), len(confidential) + len(holdout))
    share = nearness(numeric, spreads, confidential, synthetic, holdout, 100)[2]
    everyone = confidential + holdout
    alone = [sum(everyone.count(row) == 1 and row in synthetic for row in file) for file in (confidential, holdout)]
    return line | {
        "distance_holdout": percentile(held, 5),
        "ratio_holdout": None if len(holdout) < 2 else percentile([ratio(*own[:2]) for own in other], 5),
        "n_identical_holdout": sum(row in holdout for row in synthetic),
        "share": float(share), "expected": float(expected),
        "n_alone_confidential": alone[0], "n_alone_holdout": alone[1],
        "alone_probability": float(binomial_tail(alone[0], sum(alone), expected)),
    }, [distances, held]  # fmt: skip
