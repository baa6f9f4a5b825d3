"""The confidential file beside the holdout by all labellings, one after another, in plain Python (METHODS §8.1).

A file is a list of rows; a cell is a text, a number, or None where it is missing. `numeric` says which are numbers.
"""

import itertools
import math
from fractions import Fraction

from oracles.closest import score, spreads_of

MOST = 11


def neighbours(numeric, rows):
    """The positions of the neighbours of each row: at whole ranks of different rows, as long as there are few."""
    spreads = spreads_of(numeric, rows)
    different = [list(row) for row in dict.fromkeys(map(tuple, rows))]
    out = []
    for at, row in enumerate(rows):
        near, by_level = [], {}
        for other in different:
            by_level.setdefault(score(numeric, spreads, row, other), []).append(other)
        for level in sorted(by_level):
            if len(near) + len(by_level[level]) > MOST:
                break
            near += by_level[level]
        out.append([r for r, other in enumerate(rows) if r != at and other in near])
    return out


def share_of_own(near, confidential):
    """The mean share of the neighbours of a row that are of its own file; `confidential` is a set of positions."""
    shares = [
        Fraction(sum((at in confidential) == (r in confidential) for r in around), len(around))
        for at, around in enumerate(near)
        if around
    ]
    return sum(shares) / len(shares) if shares else Fraction(0)


def groups(is_number, column):
    """The groups of positions that a variable tells apart: its categories, or numbers up to each tenth of them."""
    if not is_number:
        return [{at for at, x in enumerate(column) if x == code} for code in dict.fromkeys(column)]
    values = sorted(x for x in column if x is not None)
    ends = {values[math.ceil(Fraction(part, 10) * len(values)) - 1] for part in range(1, 11)} if values else set()
    return [{at for at, x in enumerate(column) if x is not None and x <= end} for end in ends]


def excess(all_groups, n, confidential):
    """The sum over groups of the squared number of confidential rows, standardised as drawn without replacement."""
    n_x, total = len(confidential), Fraction(0)
    for group in all_groups:
        if len(group) < n:
            expected = Fraction(len(group) * n_x, n)
            variance = expected * Fraction(n - n_x, n) * Fraction(n - len(group), n - 1)
            total += (len(group & confidential) - expected) ** 2 / variance
    return total


def compare(numeric, confidential, holdout):
    """(statistics of the files, their means, deviations and probabilities), the neighbours first."""
    rows = confidential + holdout
    near = neighbours(numeric, rows)
    columns = [groups(*column) for column in zip(numeric, zip(*rows, strict=True), strict=True)]
    every = [
        [share_of_own(near, chosen), *(excess(own, len(rows), chosen) for own in columns)]
        for chosen in map(set, itertools.combinations(range(len(rows)), len(confidential)))
    ]  # the first labelling is that of the files
    means = [sum(values) / len(every) for values in zip(*every, strict=True)]
    deviations = [
        math.sqrt(sum((x - mean) ** 2 for x in values) / len(every))
        for mean, values in zip(means, zip(*every, strict=True), strict=True)
    ]
    scores = [
        [float(x - m) / d if d else 0.0 for x, m, d in zip(line, means, deviations, strict=True)] for line in every
    ]
    probabilities = [
        Fraction(sum(max(line) >= scores[0][at] - 1e-8 for line in scores), len(scores)) for at in range(len(means))
    ]
    return [float(x) for x in every[0]], [float(x) for x in means], deviations, [float(p) for p in probabilities]
