"""Taxicab: the mean of 0 (same category), 1 (different) and α (missing) over variables (METHODS §4.2)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import Field, field_validator

from reident.linkage.metrics.contract import OF_GROUPS, Measure, Metric, Scored, ScoringContext, job_arguments, scored
from reident.linkage.metrics.unit_pairs import nearest
from reident.sections.base import Rational, Section
from reident.sections.exact import SCALE

if TYPE_CHECKING:
    from reident.linkage.metrics.contract import Variables
    from reident.linkage.pairing import Pairing
    from reident.linkage.unit_pairing import UnitPairing


class Options(Section):
    """The share of linking variables that differ."""

    alpha: Rational = Field(
        Fraction(1, 2),
        gt=0,
        le=1,
        description="The score α of a variable that is missing in either record, above 0 and at most 1. A pair is "
        "suspected if its score is below α/2. Source: METHODS §4.2.",
    )

    @field_validator("alpha")
    @classmethod
    def _levels_differ_in_their_scores(cls, alpha: Fraction) -> Fraction:
        """Refuse a denominator so large that two different levels could have the same score."""
        if alpha.denominator > SCALE:
            raise ValueError("must have at most 12 decimal places. Round it, or write a fraction such as 1/3.")
        return alpha


def score(pairing: Pairing, options: Options, context: ScoringContext) -> Scored:
    """Suspected pairs of binned records, in exact integers.

    With α = a/b in lowest terms a pair has the level b·(different) + a·(missing) = b·v·score,
    and is suspected if level / (b·v) < a / (2b), that is 2·level < a·v.
    """
    from reident.kernels import taxicab  # compiled code: loaded only where pairs are scored

    levels = _levels(options, len(pairing.variables))
    pairs = taxicab.nearest(
        pairing.puf.codes, pairing.eif.codes, keep=context.keep, **levels, **job_arguments(pairing, context)
    )
    return scored(pairs, lambda level: level / (levels["different"] * len(pairing.variables)))


def measure(pairing: UnitPairing, options: Options) -> Measure:
    """Return how units are compared: levels are those of records, doubled, so that half of α is whole."""
    from reident.kernels.unit_costs import of_categories
    from reident.kernels.units import LINEAR

    alpha, v_m = options.alpha, len(pairing.of_members)
    own, of_members = (
        of_categories(len(places), pairing.n_strata, alpha.denominator, alpha.numerator)
        for places in (pairing.own, pairing.of_members)
    )
    return Measure(own, of_members, LINEAR, 2, alpha.numerator * len(pairing.variables), alpha.numerator * v_m)


def score_units(pairing: UnitPairing, options: Options, context: ScoringContext) -> Scored:
    """Suspected pairs of binned units, in exact integers."""
    pairs = nearest(pairing, measure(pairing, options), context)
    one = 2 * options.alpha.denominator * len(pairing.variables)
    return scored(pairs, lambda level: level / one, pairs.total / (one * pairs.members))


def _levels(options: Options, v: int) -> dict[str, Any]:
    """Return the costs of a different and a missing value, and the largest level of a suspected pair."""
    alpha = options.alpha
    limit = math.ceil(Fraction(alpha.numerator * v, 2)) - 1
    return {"different": alpha.denominator, "missing": alpha.numerator, "limit": limit}


def tolerance(options: Options, variables: Variables, _: bool) -> int:
    """Return how many variables may differ: the largest d with d/v < α/2."""
    return math.ceil(options.alpha * len(variables) / 2) - 1


MAX_DENOMINATOR = 10**9
"""The largest denominator of α for units: sums over their members are exact in double precision."""


def check_units(options: Options, _: bool) -> None:
    """Refuse a denominator of α for which sums over the members of a unit are not exact."""
    if options.alpha.denominator > MAX_DENOMINATOR:
        raise ValueError(
            "`.metrics.taxicab.alpha` must have at most 9 decimal places with `units`. Round it, or write a fraction "
            "such as 1/3."
        )


METRIC = Metric(
    "taxicab",
    "Taxicab",
    Options,
    "binned",
    ranked=True,
    score=score,
    tolerance=tolerance,
    score_small=score,
    score_units=score_units,
    measure=measure,
    low_is_best=lambda _: True,
    look=("#c05a1c", "s"),
    pair_cost=OF_GROUPS,
    is_standard=True,
    depends_on_size=lambda _: False,
    check_units=check_units,
)
