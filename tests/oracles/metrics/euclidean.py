"""Euclidean by brute force (METHODS §4.3)."""

import math
from fractions import Fraction

from oracles import scoring
from oracles.binning import variances
from oracles.metrics import Oracle
from oracles.metrics.drawing import ALPHAS, options
from oracles.metrics.tolerances import most_that_differ
from oracles.preparing import by_stratum, is_numeric
from oracles.rating import pairs_of


def pairs(study, own, puf, eif, _):
    """Every suspected pair."""
    alpha, variance = Fraction(str(own.get("alpha", "0.5"))), variances(study, puf, eif)
    norm, whole_steps = own.get("norm", "primer"), own.get("whole_steps") == "true"
    for stratum, (p, e) in by_stratum(puf, eif).items():
        variables = study["linking_variables"]
        found = scoring.euclidean(p, e, variables, variance[stratum], alpha, norm, whole_steps)
        yield from pairs_of(stratum, p, e, found)


def tolerance(study, own, *_):
    """Numeric values that differ completely are six standard deviations apart, and score tanh 3."""
    variables = study["linking_variables"]
    alpha, v = float(Fraction(str(own.get("alpha", "0.5")))), len(variables)
    squares = [math.tanh(6 / 2) ** 2 if is_numeric(variable) else 1.0 for variable in variables]

    def suspected(differs):
        total = math.fsum(square for square, differ in zip(squares, differs, strict=True) if differ)
        if own.get("norm", "primer") == "primer":
            return round(math.sqrt(total) / v, 12) < round(alpha / 2, 12)
        return round(math.sqrt(total / v), 12) < round(alpha / math.sqrt(2), 12)

    return most_that_differ(variables, suspected)


ORACLE = Oracle(
    options=lambda _: options(alpha=ALPHAS, norm=["primer", "rms"], whole_steps=["true", "false"]),
    pairs=pairs,
    tolerance=tolerance,
    high_is_best=lambda _: False,
    rounded=True,
    strength=(0.45, 0.045),
    changes=({"alpha": "0.4"}, {"norm": "rms"}, {"whole_steps": True}),
)
