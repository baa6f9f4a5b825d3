"""The oracle's pair metrics (METHODS §4): every pair of a stratum is scored as the definition says.

Each metric returns {(PUF position, EIF position): score} of the suspected pairs, before the rank filter.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations

from oracles import winkler as agreeing
from oracles.preparing import code_of, is_numeric

DEFAULT_BANDS = (("0.1", 5), ("0.25", 4), ("0.5", 3), ("1", 2), ("2", 1))  # in PUF standard deviations
DIFFERENT, MISSING = "different", "missing"


def variable_scores(puf, eif, score):
    """For each pair of positions the scores of its variables, score(j, PUF value, EIF value)."""

    @cache  # the scores of one PUF value against the whole EIF
    def column(j, value):
        return [score(j, value, record.values[j]) for record in eif]

    for i, record in enumerate(puf):
        columns = [column(j, value) for j, value in enumerate(record.values)]
        for k, scores in enumerate(zip(*columns, strict=True)):
            yield (i, k), scores


# §4.1


def variable_sets(option, max_order, v, anything_missing):
    """The sets of linking variables, smallest first and in the order of the variables among equal sizes."""
    if option == "full" or (option == "auto" and not anything_missing and max_order is None):
        return [tuple(range(v))]
    return [s for size in range(1, int(max_order or v) + 1) for s in combinations(range(v), size)]


def sample_uniques(records, variables):
    """{cell: position} of the records alone in their cell, among those without a missing value in it."""
    cells = list(zip(*([record.values[j] for record in records] for j in variables), strict=True))
    position, size = {cell: i for i, cell in enumerate(cells)}, Counter(cells)
    return {cell: position[cell] for cell, n in size.items() if n == 1 and None not in cell}


def unicity(puf, eif, sets):
    """{pair: the first of the smallest sets on which both are sample uniques in the same cell}."""
    found = {}
    for variables in sets:
        in_puf, in_eif = sample_uniques(puf, variables), sample_uniques(eif, variables)
        for cell in in_puf.keys() & in_eif.keys():
            found.setdefault((in_puf[cell], in_eif[cell]), variables)
    return found


def unicity_jointly_observed(puf, eif):
    """The same where each pair has one set: the variables that are present in both of its records."""
    found, uniques = {}, cache(lambda side, s: set(sample_uniques(side, s).values()))
    puf, eif = tuple(puf), tuple(eif)
    for i, p in enumerate(puf):
        for k, e in enumerate(eif):
            s = tuple(j for j in range(len(p.values)) if p.values[j] is not None and e.values[j] is not None)
            same = all(p.values[j] == e.values[j] for j in s)
            if s and same and i in uniques(puf, s) and k in uniques(eif, s):
                found[i, k] = s
    return found


# §4.2


def taxicab(puf, eif, v, alpha):
    def score(_, p, e):
        return MISSING if p is None or e is None else 0 if p == e else DIFFERENT

    @cache
    def mean(different, missing):
        return (different + missing * alpha) / v

    scores = {}
    for pair, outcomes in variable_scores(puf, eif, score):
        mean_score = mean(outcomes.count(DIFFERENT), outcomes.count(MISSING))
        if mean_score < alpha / 2:
            scores[pair] = mean_score
    return scores


# §4.3


def euclidean(puf, eif, variables, variance, alpha, norm, whole_steps=False):
    numeric, v = [is_numeric(variable) for variable in variables], len(variables)
    deviation = [math.sqrt(variance[j]) if variance[j] else 0 for j in range(v)]
    alpha = float(alpha)

    def square(j, p, e):
        if p is None or e is None:
            return alpha * alpha
        if p == e:
            return 0.0
        if not numeric[j]:
            return 1.0
        x = min(float(abs(p - e)) / deviation[j], 6) if deviation[j] else 6
        if whole_steps and deviation[j]:
            x = sum((p - e) ** 2 >= k * k * variance[j] for k in range(1, 7))
        return math.tanh(x / 2) ** 2

    threshold = round(alpha / 2 if norm == "primer" else alpha / math.sqrt(2), 12)
    scores = {}
    for pair, squares in variable_scores(puf, eif, square):
        total = math.fsum(squares)
        score = round(math.sqrt(total) / v if norm == "primer" else math.sqrt(total / v), 12)
        if score < threshold:
            scores[pair] = score
    return scores


# §4.4


def adhoc(puf, eif, variables, variance, declared, threshold):
    rules = [adhoc_rule(x, declared.get(x["name"]), variance[j]) for j, x in enumerate(variables)]

    def score(j, p, e):
        return 0 if p is None or e is None else rules[j](p, e)

    scores = {}
    for pair, outcomes in variable_scores(puf, eif, score):
        total = sum(outcomes)
        if total > threshold:
            scores[pair] = total
    return scores


def adhoc_threshold(options, highest):
    """The score that a pair must exceed, from the highest score of each variable."""
    given = options.get("threshold")
    if given is None:
        return Fraction(5, 2) * len(highest)
    return Fraction(sum(highest), 2) if given == "half_of_maximum" else Fraction(given)


def adhoc_rule(variable, declared, variance):
    """The score of two present values of one variable."""
    if declared is None and is_numeric(variable):
        return default_bands(variance)
    if declared is None or declared == "exact" or declared.get("exact"):
        return lambda p, e: 5 if p == e else 0
    if "bands" in declared:
        return declared_bands(declared)
    otherwise = exact(declared.get("otherwise", 0))
    cells = {
        (code_of(variable, cell["puf"]), code_of(variable, cell["eif"])): exact(cell["score"])
        for cell in declared["table"]
    }
    return lambda p, e: cells.get((p, e), otherwise)


def default_bands(variance):
    """Bands in standard deviations; squares are compared, so that no root is taken."""
    if not variance:
        return lambda p, e: 5 if p == e else 0
    limits = [(exact(within) ** 2 * variance, score) for within, score in DEFAULT_BANDS]
    return lambda p, e: next((score for limit, score in limits if (p - e) ** 2 <= limit), 0)


def declared_bands(declared):
    """The narrowest closed band that holds the difference, in units or in shares of the PUF's value."""
    beyond = exact(declared.get("beyond", 0))

    def score(p, e):
        widths = [
            (exact(band["within"]) * (abs(p) if str(band.get("relative")).lower() == "true" else 1), band)
            for band in declared["bands"]
        ]
        holding = [(exact(band["within"]), exact(band["score"])) for width, band in widths if abs(e - p) <= width]
        return min(holding)[1] if holding else beyond

    return score


def exact(number):
    """The number that a text shows; whole ones as int, which Python adds fast."""
    number = Fraction(str(number))
    return int(number) if number.denominator == 1 else number


# §4.5


def winkler(puf, eif, variables, scope, agreement, min_agree):
    """`scope` holds the records of both files that masked values and their neighbours are taken from."""
    numeric = [is_numeric(variable) for variable in variables]
    rows, taken = ([[record.values for record in side] for side in sides] for sides in ((puf, eif), scope))
    if "closest" in agreement:
        return agreeing.distances(*rows, numeric, taken, int(agreement["closest"]))
    counts = agreeing.agreements(*rows, numeric, taken, agreement)
    return {pair: count for pair, count in counts.items() if count >= min_agree}
