"""Fellegi–Sunter: the sum of the weights of evidence of the comparison levels (METHODS §4.6)."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from reident.linkage.batches import is_new
from reident.linkage.metrics.contract import OF_GROUPS, Measure, Metric, Scored, ScoringContext, job_arguments, scored
from reident.linkage.metrics.levels import (
    DIFFER,
    LEVELS,
    Rules,
    intervals_of,
    of_table,
    placed,
    starts_of,
    whole_values,
)
from reident.sections.base import Section, exactly_one, refuse_repeats
from reident.sections.exact import SCALE

if TYPE_CHECKING:
    import pandas as pd

    from reident.kernels.toplist import Pairs
    from reident.kernels.unit_evidence import UnitEvidence
    from reident.linkage.metrics.contract import Estimates, Variables
    from reident.linkage.metrics.levels import Levels
    from reident.linkage.pairing import Pairing
    from reident.linkage.unit_pairing import UnitPairing


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

    _one_threshold = exactly_one("probability", "weight")


class Options(Section):
    """The weight of evidence that two records are of the same unit, by the theory of Fellegi and Sunter."""

    m: Literal["blind", "informed"] = Field(
        "blind",
        description="Whether the weights are estimated from all pairs (`blind`) or from the true links "
        "(`informed`). Source: METHODS §4.6.",
    )
    levels: Literal["difference", "bins"] = Field(
        "difference",
        exclude_if="difference".__eq__,
        description="The levels of numeric variables: by their difference, or whether the bins are the same. "
        "Source: METHODS §4.6.",
    )
    bands: dict[str, Annotated[tuple[Annotated[float, Field(ge=0)], ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        exclude_if=operator.not_,
        description="With `levels: difference`, for a numeric variable the differences at which levels end: "
        "`{age: [1, 5]}`. If absent, they are cut at shares of all pairs. Source: METHODS §4.6.",
    )
    competition: bool = Field(
        True,
        exclude_if=bool,
        description="Whether the probability of a pair takes the other pairs of its two records into account, of which "
        "at most one is a link. Source: METHODS §4.6.",
    )
    frequency: bool = Field(
        True, exclude_if=bool, description="Whether rare values count for more. Source: METHODS §4.6."
    )
    partial: tuple[str, ...] = Field(
        (),
        description="The linking variables with a level for partial agreement: neighbours in `order`, and "
        "with `levels: bins` adjacent bins. Source: "
        "METHODS §4.6.",
    )
    threshold: Threshold = Field(
        Threshold(probability=0.5),
        description="The threshold of a suspected pair: `{probability: p}` or `{weight: w}`. Source: METHODS §4.6.",
    )
    one_to_one: bool = Field(
        False, description="Whether each record is in at most one suspected pair. Source: METHODS §4.6."
    )

    @property
    def rules(self) -> Rules:
        """The comparison levels of the variables."""
        return Rules(self.partial, self.levels == "difference", self.bands)

    @property
    def by_pattern(self) -> bool:
        """Whether all pairs of one comparison pattern are alike, whatever their records are."""
        return self.levels == "bins" and not self.competition and not self.frequency


def check(options: Options, variables: Variables) -> None:
    """Refuse partial agreement of unknown variables, and of those without neighbours; bands of no numbers."""
    refuse_repeats(options.partial, "metrics.fellegi_sunter.partial")
    by_name = {variable.name: variable for variable in variables}
    for name in options.partial:
        if name not in by_name:
            raise ValueError(
                f"`.metrics.fellegi_sunter.partial` must not have `{name}`, which is not a linking variable. Correct "
                "the name."
            )
        if not by_name[name].is_numeric and not getattr(by_name[name], "order", ()):
            raise ValueError(
                f"`.metrics.fellegi_sunter.partial` must not have `{name}`, whose categories have no order. Declare "
                "its `order`, or remove it."
            )
    if options.bands and options.levels == "bins":
        raise ValueError("`.metrics.fellegi_sunter` must not have `bands` with `levels: bins`. Remove one of the two.")
    for name, limits in options.bands.items():
        if name not in by_name or not by_name[name].is_numeric:
            raise ValueError(
                f"`.metrics.fellegi_sunter.bands` must not have `{name}`, which is not a numeric linking variable. "
                "Correct the name, or remove it."
            )
        refuse_repeats([str(limit) for limit in limits], f"metrics.fellegi_sunter.bands.{name}")


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
    by_variable: dict[str, dict[str, int]] = {}
    no_end: dict[str, list[int]] = {}
    for line in weights.itertuples():
        by_level, amount = by_variable.setdefault(line.variable, {}), scaled(line.weight)
        by_level[line.level] = amount
        # Numbers differ completely where their difference has no end.
        if math.isnan(line.up_to) and not math.isnan(line.above):
            no_end.setdefault(line.variable, []).append(amount)
    total, losses = 0, []
    for name, by_level in by_variable.items():
        differ = no_end.get(name) or [by_level[DIFFER]]
        total += max(by_level.values())
        losses.append(max(by_level.values()) - max(differ))
    sums = total - np.append(0, np.cumsum(sorted(losses)))
    return int((sums >= least).sum()) - 1


def score(pairing: Pairing, options: Options, context: ScoringContext) -> Scored:
    """Suspected pairs; sums of weights are integers at scale 10^12, and so is what rivals take from them.

    The threshold decides which pairs are suspected. A claim is the best pair of a record, whatever its weight.
    """
    if context.weights is None:
        raise ValueError("the metric needs the weights of its levels")
    found = _by_pattern if options.by_pattern else _by_pair
    return _of_best(*found(pairing, options, context, context.weights), context.weights)


def score_units(pairing: UnitPairing, options: Options, context: ScoringContext) -> Scored:
    """Return the best pairs of units: of their own values, and of members as they are assigned with most evidence."""
    if context.weights is None:
        raise ValueError("the metric needs the weights of its levels")
    from reident.kernels.evidence import ANY  # compiled code: loaded only where pairs are scored

    model = context.weights.model.iloc[0]
    least = ANY if context.claims else scaled(model["least_weight"])
    n, how = len(pairing.puf.start) - 1, {"competition": options.competition}
    evidence = unit_evidence(pairing, context.weights.levels, frequency=options.frequency, threads=context.threads)
    pairs = evidence.best(model["prior"] / (1 - model["prior"]), least, context.keep, n, **how)
    found = _of_best(pairs, np.zeros(n, bool), context.weights)
    return found._replace(own_score=found.score)


def unit_evidence(pairing: UnitPairing, table: pd.DataFrame, *, frequency: bool, threads: int) -> UnitEvidence:
    """Return the pairs of units under the weights of a table of levels."""
    from reident.kernels.compared import compare  # compiled code: loaded only where pairs are scored
    from reident.kernels.unit_evidence import UnitEvidence, unit_rows

    rows = pairing.rows()
    levels, weights, u = _of_levels(rows, table)
    files = compare(*whole_values(rows, levels), starts_of(rows))
    puf, eif = (
        unit_rows(units.start, starts, side.members, side.first)
        for units, starts, side in zip((pairing.puf, pairing.eif), pairing.starts, (files.puf, files.eif), strict=True)
    )
    of_members = np.isin(np.arange(len(pairing.variables)), pairing.of_members)
    shares = u if frequency else None
    return UnitEvidence(
        files, intervals_of(levels), puf, eif, weights, SCALE, of_members, shares=shares, threads=threads
    )


def _of_levels(pairing: Pairing, table: pd.DataFrame) -> tuple[list[Levels], np.ndarray, np.ndarray]:
    """Return the levels of the variables, and the weight, at the scale, and the share among all pairs of each."""
    lines = dict(iter(table.groupby("variable", sort=False)))
    levels = [of_table(lines[variable.name]) for variable in pairing.variables]
    by_level = {(line.variable, line.level): line for line in table.itertuples()}
    pairs = zip(pairing.variables, levels, strict=True)
    chosen = [by_level[variable.name, name] for variable, found in pairs for name in found.distinct]
    return levels, np.array([scaled(line.weight) for line in chosen], np.int64), np.array([line.u for line in chosen])


def _of_best(pairs: Pairs, is_open: np.ndarray, estimates: Estimates) -> Scored:
    """Return the suspected ones of the best pairs, and the best pairs of other records; `is_open` as below."""
    threshold = scaled(estimates.model["least_weight"].iloc[0])
    # The best level of a record decides whether it is ambiguous, or only makes no claim.
    pairs = pairs._replace(ambiguous=is_open | (pairs.ambiguous & (pairs.next_level >= threshold)))
    suspected = pairs.level >= threshold
    new = is_new(pairs.puf)
    rows = np.flatnonzero(suspected | (pairs.level == pairs.level[new][np.cumsum(new) - 1]))
    pairs = pairs._replace(puf=pairs.puf[rows], eif=pairs.eif[rows], level=pairs.level[rows])
    return scored(pairs, lambda total: total / SCALE)._replace(suspected=suspected[rows])


def _by_pattern(
    pairing: Pairing, options: Options, context: ScoringContext, estimates: Estimates
) -> tuple[Pairs, np.ndarray]:
    """Return the best pairs, where the weight of a pair depends on its pattern alone; no record is open."""
    from reident.kernels import weighted  # compiled code: loaded only where pairs are scored
    from reident.kernels.evidence import ANY
    from reident.linkage.metrics.candidates import MAX_PAIRS

    weights = np.zeros((len(pairing.variables), len(LEVELS)), np.int64)
    place = {variable.name: at for at, variable in enumerate(pairing.variables)}
    for line in estimates.levels.itertuples():
        weights[place[line.variable], LEVELS.index(line.level)] = scaled(line.weight)
    puf, eif = placed(pairing, options.partial)
    model = estimates.model.iloc[0]
    pairs = weighted.nearest(
        puf,
        eif,
        weights,
        near=[variable.name in options.partial for variable in pairing.variables],
        least=ANY if context.claims and model["n_pairs"] <= MAX_PAIRS else scaled(model["least_weight"]),
        keep=context.keep,
        **job_arguments(pairing, context),
    )
    return pairs, np.zeros(len(puf), bool)


def _by_pair(
    pairing: Pairing, options: Options, context: ScoringContext, estimates: Estimates
) -> tuple[Pairs, np.ndarray]:
    """Return the best pairs, where the weight depends on single values or on the other pairs of both records.

    A record is open if more equally good pairs than a list of candidates holds may be above the threshold.
    """
    from reident.kernels.compared import compare  # compiled code: loaded only where pairs are scored
    from reident.kernels.evidence import ANY, Evidence
    from reident.linkage.metrics.candidates import KEEP, MAX_PAIRS, Candidates, candidates

    model = estimates.model.iloc[0]
    levels, weights, u = _of_levels(pairing, estimates.levels)
    least = scaled(model["least_weight"])
    starts, prior_odds = starts_of(pairing), model["prior"] / (1 - model["prior"])
    files = compare(*whole_values(pairing, levels), starts)
    found = Candidates()
    if model["n_pairs"] > MAX_PAIRS and pairing.starts is None:
        bound = min(least, candidate_weight(prior_odds)) if options.competition else least
        keep = max(KEEP, context.keep)
        found = candidates(files, levels, weights, bound, keep, context.threads, context.progress)
    how: dict[str, Any] = {
        "competition": options.competition,
        "shares": u if options.frequency else None,
        "threads": context.threads,
    }
    factors = np.exp2(weights / SCALE)
    weighed = Evidence(files, intervals_of(levels), factors, prior_odds, listed=found.listed, **how)
    progress = None if found.open_rows is not None else context.progress
    pairs = weighed.best(weights, ANY if context.claims else least, SCALE, context.keep, progress)
    is_open = np.zeros(len(pairs.ambiguous), bool)
    # Of more equally good pairs than a list holds, each has this probability at most if they rule each other out.
    if found.open_rows is not None and (not options.competition or prior_odds * 2.0 ** (least / SCALE) * KEEP <= 1):
        is_open[files.puf.members] = np.repeat(found.open_rows, np.diff(files.puf.first))
    return pairs, is_open


def candidate_weight(prior_odds: float) -> int:
    """Return the least scaled weight of a candidate."""
    from reident.linkage.metrics.candidates import BITS  # loaded where there are too many pairs

    return scaled(-math.log2(prior_odds) - BITS)


def tolerance(_: Options, variables: Variables, __: bool) -> int:
    """Return the number of variables: how many may differ is known once the weights are (:func:`largest_tolerance`)."""
    return len(variables)


def depends_on_size(options: Options) -> bool:
    """Return whether weights or suspicion depend on the pairs of the whole file."""
    return options.m == "blind" or options.competition or options.frequency or options.one_to_one


def measure(pairing: UnitPairing, options: Options) -> Measure:
    """Return how members are told apart where they are counted: as Euclidean or, with bins, taxicab compares them."""
    # Not from the package, which imports every metric: the digest of this one has no code of the others.
    from reident.linkage.metrics.euclidean import Options as Euclidean
    from reident.linkage.metrics.euclidean import measure as of_numbers
    from reident.linkage.metrics.taxicab import Options as Taxicab
    from reident.linkage.metrics.taxicab import measure as of_bins

    if options.levels == "difference":
        return of_numbers(pairing, Euclidean())
    return of_bins(pairing, Taxicab())


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
    score_units=score_units,
    measure=measure,
    by_value=lambda options: options.levels == "difference",
    splits=False,
    look=("#a3335c", "P"),
    pair_cost=OF_GROUPS,
    is_standard=True,
    depends_on_size=depends_on_size,
)
