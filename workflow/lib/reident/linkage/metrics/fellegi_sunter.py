"""Fellegi–Sunter: the sum of the weights of evidence of the comparison levels (METHODS §4.6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from reident.linkage.metrics.contract import Losses, Metric, Scored, Setting, job_arguments
from reident.linkage.parts import OrderedVariable
from reident.sections.base import Section, refuse_repeats
from reident.sections.codes import Coding, normaliser
from reident.sections.exact import SCALE

if TYPE_CHECKING:
    import pandas as pd

    from reident.linkage.metrics.contract import Variables
    from reident.linkage.pairing import Pairing
    from reident.linkage.parts import Variable

LEVELS = ("agree", "partial", "differ", "missing")
"""The comparison levels, in the order of the kernel's columns."""


class Threshold(Section):
    """The threshold of the metric: exactly one of `probability` and `weight`."""

    probability: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="A pair is suspected if its match probability is at least this. Source: METHODS §4.6.",
    )
    weight: float | None = Field(
        None,
        ge=-1000,
        le=1000,
        description="A pair is suspected if its match weight, in bits, is at least this. Source: METHODS §4.6.",
    )

    @model_validator(mode="after")
    def _one_threshold(self) -> Threshold:
        if (self.probability is None) == (self.weight is None):
            raise ValueError("must have exactly one of `probability` and `weight`. Remove the other, or add one.")
        return self


class Options(Section):
    """The weight of evidence that two records are of the same unit, by the theory of Fellegi and Sunter."""

    m: Literal["blind", "informed"] = Field(
        "blind",
        description="How the probabilities of the levels among links are estimated. `blind`: by the EM algorithm, from "
        "the comparison patterns of all pairs. `informed`: from the true links, as an intruder would who knows how the "
        "two files differ. Source: METHODS §4.6.",
    )
    partial: tuple[str, ...] = Field(
        (),
        description="The linking variables with a level for partial agreement: numeric variables whose bins are "
        "adjacent, and categorical variables whose categories are neighbours in their `order`. Source: METHODS §4.6.",
    )
    threshold: Threshold = Field(
        Threshold(probability=0.5),
        description="The threshold of a suspected pair: `{probability: p}` or `{weight: w}`. Source: METHODS §4.6.",
    )
    one_to_one: bool = Field(
        False,
        description="Whether each record is in at most one suspected pair: among the pairs within the rank limit, the "
        "assignment with the largest sum of weights. Source: METHODS §4.6.",
    )


def check(options: Options, variables: Variables) -> None:
    """Refuse partial agreement of unknown variables, and of those without neighbours."""
    refuse_repeats(options.partial, "metrics.fellegi_sunter.partial")
    by_name = {variable.name: variable for variable in variables}
    for name in options.partial:
        if name not in by_name:
            raise ValueError(
                f"`.metrics.fellegi_sunter.partial` must not have `{name}`, which is not a linking variable. Correct "
                "the name."
            )
        if by_name[name].type == "categorical" and not getattr(by_name[name], "order", ()):
            raise ValueError(
                f"`.metrics.fellegi_sunter.partial` must not have `{name}`, whose categories have no order. Declare "
                "its `order`, or remove it."
            )


class Compared(NamedTuple):
    """The records of a pairing by codes that differ by one where values are neighbours.

    Attributes
    ----------
    puf, eif : int32 (n_puf, v), (n_eif, v)
        -1 where missing.
    near : list of bool (v,)
        The variables with a level for partial agreement.
    """

    puf: np.ndarray
    eif: np.ndarray
    near: list[bool]


def compared(pairing: Pairing, partial: Sequence[str]) -> Compared:
    """Return the codes of both files as the levels are defined on them."""
    near = [variable.name in partial for variable in pairing.variables]
    puf, eif = pairing.puf.codes.copy(), pairing.eif.codes.copy()
    for at, labels in enumerate(pairing.labels):
        if near[at] and labels is not None:
            place = _places(pairing.variables[at], labels)
            for codes in (puf, eif):
                codes[:, at] = np.where(codes[:, at] < 0, -1, place[codes[:, at]])
    return Compared(puf, eif, near)


def _places(variable: Variable, labels: list[str]) -> np.ndarray:
    """Return the place of each category in the order of the variable; others are neighbours of none."""
    order = variable.order if isinstance(variable, OrderedVariable) else ()
    normal = normaliser(Coding("categorical", integer_coded=variable.integer_coded))
    place = {normal(category): at for at, category in enumerate(order)}
    others = [2 * (len(order) + at) + 1 for at in range(len(labels))]
    return np.array([place.get(label, other) for label, other in zip(labels, others, strict=True)] or [0], np.int32)


def scaled(weight: float) -> int:
    """Return a weight as an integer at the scale at which weights are compared, which is twelve decimals."""
    return round(weight * SCALE)


def log_odds(probability: float) -> float:
    """Return log2(p / (1 − p))."""
    return math.log2(probability) - math.log2(1 - probability)


def match_probability(weight: np.ndarray, prior: float) -> np.ndarray:
    """Return the probability that a pair with a match weight in bits is a link; the prior is the share of links."""
    return 1 / (1 + np.exp2(-(weight + log_odds(prior))))


def least_weight(probability: float | None, weight: float | None, prior: float) -> int:
    """Return the least scaled weight of a suspected pair; one of the first two is the threshold."""
    if probability is None:
        return scaled(weight or 0.0)
    return scaled(log_odds(probability) - log_odds(prior))


def largest_tolerance(weights: pd.DataFrame, least: int) -> int:
    """Return the largest number of variables that may differ in a suspected pair; -1 if no pair can be suspected.

    The table has the weights of the levels that a variable has (variable, level, weight), and `least` is the least
    scaled weight of a suspected pair.
    """
    total, losses = 0, []
    for _, levels in weights.groupby("variable"):
        by_level = {row.level: scaled(row.weight) for row in levels.itertuples()}
        total += max(by_level.values())
        losses.append(max(by_level.values()) - by_level["differ"])
    sums = total - np.append(0, np.cumsum(sorted(losses)))
    return int((sums >= least).sum()) - 1


def score(pairing: Pairing, options: Options, setting: Setting) -> Scored:
    """Suspected pairs of binned records; sums of weights are integers at scale 10^12."""
    from reident.kernels import weighted  # compiled code: loaded only where pairs are scored

    records = compared(pairing, options.partial)
    weights, least = _weights(pairing, setting)
    puf, eif, total, ambiguous = weighted.nearest(
        records.puf,
        records.eif,
        weights,
        near=records.near,
        least=least,
        keep=setting.keep,
        **job_arguments(pairing, setting),
    )
    return Scored(puf, eif, total / SCALE, ambiguous)


def _weights(pairing: Pairing, setting: Setting) -> tuple[np.ndarray, int]:
    """Return the weight of each variable and level, and the least sum of a suspected pair, scaled."""
    if setting.weights is None:
        raise ValueError("the metric needs the weights of its levels")
    weights = np.zeros((len(pairing.variables), len(LEVELS)), np.int64)
    place = {variable.name: at for at, variable in enumerate(pairing.variables)}
    for line in setting.weights.levels.itertuples():
        weights[place[line.variable], LEVELS.index(line.level)] = scaled(line.weight)
    return weights, scaled(setting.weights.model["least_weight"].iloc[0])


def tolerance(_: Options, variables: Variables, __: bool) -> int:
    """Return the number of variables: how many may differ is known once the weights are (:func:`largest_tolerance`)."""
    return len(variables)


def losses(options: Options, variables: Variables, _: bool) -> Losses:
    """Return nothing of single variables, whose weights depend on the records; other thresholds rank pairs alike."""
    limit, by = options.threshold, "weight" if options.threshold.probability is None else "probability"
    order = None if options.one_to_one else (options.m, options.partial, by)
    reach = -getattr(limit, by)
    # With one variable, the probability of each level is the share of links among its pairs, half a pair aside.
    is_share = options.m == "informed" and len(variables) == 1 and not options.partial
    two_pairs = is_share and limit.probability is not None and limit.probability >= 0.5
    return Losses({}, 0, order=order, reach=reach, one_candidate=options.one_to_one, two_pairs=two_pairs)


METRIC = Metric(
    "fellegi_sunter",
    "Fellegi–Sunter",
    Options,
    "binned",
    ranked=True,
    score=score,
    tolerance=tolerance,
    check=check,
    weighs=True,
    score_small=score,
    losses=losses,
)
