"""The oracle's tolerance (METHODS §4): every pattern of agreement is scored as the definition of the metric says.

In a pattern each linking variable agrees completely, or differs completely; none is missing.
"""

import math
from fractions import Fraction
from itertools import product

from oracles.preparing import code_of, is_numeric
from oracles.scoring import adhoc_rule, adhoc_threshold, exact, variable_sets


def tolerance(metric, options, variables, any_missing=False):
    """The most variables that differ in a pattern that is suspected; -1 if none is suspected."""
    suspected = RULES[metric](options, variables, any_missing)
    patterns = sorted(product((False, True), repeat=len(variables)), key=sum, reverse=True)
    return next((sum(differs) for differs in patterns if suspected(differs)), -1)


def taxicab(options, variables, _):
    alpha = Fraction(str(options.get("alpha", "0.5")))
    return lambda differs: Fraction(sum(differs), len(variables)) < alpha / 2


def euclidean(options, variables, _):
    """Numeric values that differ completely are six standard deviations apart, and score tanh 3."""
    alpha, v = float(Fraction(str(options.get("alpha", "0.5")))), len(variables)
    squares = [math.tanh(6 / 2) ** 2 if is_numeric(variable) else 1.0 for variable in variables]

    def suspected(differs):
        total = math.fsum(square for square, differ in zip(squares, differs, strict=True) if differ)
        if options.get("norm", "primer") == "primer":
            return round(math.sqrt(total) / v, 12) < round(alpha / 2, 12)
        return round(math.sqrt(total / v), 12) < round(alpha / math.sqrt(2), 12)

    return suspected


def adhoc(options, variables, _):
    """A variable that agrees has its highest score, and one that differs its lowest, over pairs of values."""
    declared = options.get("scores") or {}
    scores = [possible_scores(variable, declared.get(variable["name"])) for variable in variables]
    ends = [(max(own), min(own)) for own in scores]
    threshold = adhoc_threshold(options, [highest for highest, _ in ends])
    return lambda differs: sum(own[differ] for own, differ in zip(ends, differs, strict=True)) > threshold


def possible_scores(variable, declared):
    """The scores of pairs of values that between them meet every line of a variable's scores."""
    if declared is None or declared == "exact" or "exact" in declared:
        return [0, 5]
    rule = adhoc_rule(variable, declared, None)
    if "table" in declared:
        codes = {code_of(variable, cell[side]) for cell in declared["table"] for side in ("puf", "eif")}
        return [rule(p, e) for p in (*codes, "elsewhere") for e in (*codes, "nowhere")]
    ends = sorted({exact(band["within"]) for band in declared["bands"]})
    return [rule(Fraction(1), 1 + difference) for difference in (*ends, ends[-1] + 1)]


def winkler(options, variables, _):
    """Numbers are at some rank distance however much they differ; categories must be equal."""
    if "closest" in options.get("agreement", ""):
        numeric, m = [is_numeric(variable) for variable in variables], int(options["agreement"]["closest"])
        return lambda differs: sum(n or not d for n, d in zip(numeric, differs, strict=True)) >= m
    return lambda differs: len(variables) - sum(differs) >= int(options.get("min_agree", 1))


def unicity(options, variables, any_missing):
    """Two records that are alone in their files are unique on every set; they must agree on one that is searched."""
    option, v = options.get("interactions", "auto"), len(variables)
    option = "full" if option == "jointly_observed" else option
    sets = variable_sets(option, options.get("max_order"), v, any_missing)
    return lambda differs: any(not any(differs[j] for j in variables) for variables in sets)


RULES = {
    "unicity": unicity, "taxicab": taxicab, "euclidean": euclidean, "adhoc": adhoc, "winkler": winkler,
}  # fmt: skip
