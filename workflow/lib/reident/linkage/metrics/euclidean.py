"""Euclidean: the root of the sum of squared variable scores (METHODS §4.3)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from reident.linkage.metrics.contract import OF_GROUPS, Measure, Metric, Scored, ScoringContext, job_arguments, scored
from reident.linkage.metrics.unit_pairs import nearest
from reident.sections.base import Rational, Section
from reident.sections.exact import SCALE

if TYPE_CHECKING:
    from reident.linkage.metrics.contract import Variables
    from reident.linkage.pairing import Pairing
    from reident.linkage.unit_pairing import UnitPairing


class Options(Section):
    """The distance over all linking variables, which depends on the differences of numeric values."""

    alpha: Rational = Field(
        Fraction(1, 2),
        gt=0,
        le=1,
        description="The score α of a variable that is missing in either record, above 0 and at most 1. "
        "Source: METHODS §4.3.",
    )
    norm: Literal["primer", "rms"] = Field(
        "primer",
        description="The score of a pair and its threshold: as printed in the Primer, or the root of the mean "
        "square. Source: METHODS §4.3.",
    )
    whole_steps: bool = Field(
        False,
        description="Whether differences of numeric values count in whole standard deviations, rounded down, a "
        "reading of edition 001 of the Primer. Source: METHODS §4.3.",
    )


FARTHEST = math.tanh(3)
"""The score of numeric values six or more standard deviations apart: it never reaches 1 (METHODS §4.3)."""


def threshold(options: Options) -> float:
    """Return the threshold: a pair is suspected if its score is below it."""
    return float(options.alpha) / (2 if options.norm == "primer" else math.sqrt(2))


def score(pairing: Pairing, options: Options, context: ScoringContext) -> Scored:
    """Suspected pairs of prepared records; scores are rounded to twelve decimals."""
    from reident.kernels import euclidean  # compiled code: loaded only where pairs are scored

    pairs = euclidean.nearest(
        pairing.puf.codes,
        pairing.eif.codes,
        pairing.puf.values,
        pairing.eif.values,
        pairing.spread,
        numeric=np.array([variable.is_numeric for variable in pairing.variables], bool),
        alpha=float(options.alpha),
        norm=options.norm,
        threshold=round(threshold(options) * SCALE),
        scale=SCALE,
        whole_steps=options.whole_steps,
        keep=context.keep,
        **job_arguments(pairing, context),
    )
    return scored(pairs, lambda level: level / SCALE)


def measure(pairing: UnitPairing, options: Options) -> Measure:
    """Return how units are compared."""
    from reident.kernels.euclidean_costs import step_squares
    from reident.kernels.unit_costs import of_deviations
    from reident.kernels.units import PRIMER, RMS

    alpha = float(options.alpha)
    numeric = np.array([variable.is_numeric for variable in pairing.variables], bool)
    steps = step_squares() if options.whole_steps else None
    own, of_members = (
        of_deviations(numeric[list(places)], pairing.spread[:, list(places)], 1.0, alpha * alpha, steps)
        for places in (pairing.own, pairing.of_members)
    )
    norm = PRIMER if options.norm == "primer" else RMS
    charge = alpha * alpha * len(pairing.of_members)
    return Measure(own, of_members, norm, float(SCALE), round(threshold(options) * SCALE), charge)


def score_units(pairing: UnitPairing, options: Options, context: ScoringContext) -> Scored:
    """Suspected pairs of prepared units; scores are rounded to twelve decimals."""
    pairs = nearest(pairing, measure(pairing, options), context)
    own_score = pairs.total // pairs.members / SCALE
    return scored(pairs, lambda level: level / SCALE, own_score)


def tolerance(options: Options, variables: Variables, _: bool) -> int:
    """Return the number of variables that may differ completely; numeric ones first, whose score is at most tanh 3."""
    v = len(variables)
    squares = sorted(FARTHEST**2 if variable.is_numeric else 1.0 for variable in variables)
    divisor = v * v if options.norm == "primer" else v
    return (
        sum(
            round(math.sqrt(math.fsum(squares[:n]) / divisor) * SCALE) < round(threshold(options) * SCALE)
            for n in range(v + 1)
        )
        - 1
    )


METRIC = Metric(
    "euclidean",
    "Euclidean",
    Options,
    "prepared",
    ranked=True,
    score=score,
    tolerance=tolerance,
    score_small=score,
    score_units=score_units,
    measure=measure,
    low_is_best=lambda _: True,
    look=("#1b8a6b", "^"),
    pair_cost=OF_GROUPS,
    is_standard=True,
    depends_on_size=lambda _: False,
)
