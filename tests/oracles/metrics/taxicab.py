"""Taxicab by brute force (METHODS §4.2)."""

from fractions import Fraction

from oracles import scoring
from oracles.binning import bin_records
from oracles.metrics import Oracle
from oracles.metrics.drawing import ALPHAS, options
from oracles.metrics.tolerances import most_that_differ
from oracles.preparing import by_stratum
from oracles.rating import pairs_of


def alpha_of(own):
    """α of the options."""
    return Fraction(str(own.get("alpha", "0.5")))


def pairs(study, own, puf, eif, _):
    """Every suspected pair."""
    v = len(study["linking_variables"])
    for stratum, (p, e) in by_stratum(*bin_records(study, puf, eif)).items():
        yield from pairs_of(stratum, p, e, scoring.taxicab(p, e, v, alpha_of(own)))


def tolerance(study, own, *_):
    """Of v variables those that differ are fewer than α/2."""
    variables = study["linking_variables"]
    return most_that_differ(variables, lambda differs: Fraction(sum(differs), len(variables)) < alpha_of(own) / 2)


ORACLE = Oracle(
    options=lambda _: options(alpha=ALPHAS),
    pairs=pairs,
    tolerance=tolerance,
    high_is_best=lambda _: False,
    strength=(0.22, 0.16),
    changes=({"alpha": "1/3"},),
)
