"""The tables of the metric that weighs comparison levels (METHODS §4.6)."""

from __future__ import annotations

from functools import partial

from reident.pipeline.tables.columns import declare, integer, number, text

table = partial(declare, section="4.6")

WEIGH = (
    table(
        "weights/levels.csv",
        "The comparison levels of the linking variables, in the order of the study.",
        text("variable", "the linking variable"),
        text("level", "`agree`, `partial`, `differ` or `missing`"),
        integer("n_pairs", "pairs inside the strata at this level", "pairs"),
        number("m", "the probability of the level among links; empty for `missing`"),
        number("u", "the probability of the level among other pairs; empty for `missing`"),
        number("weight", "log2(m / u), the weight of the level; 0 for `missing`", "bits"),
    ),
    table(
        "weights/model.csv",
        "The model of which the weights are, on one line.",
        integer("n_pairs", "pairs inside the strata", "pairs"),
        number("prior", "the share of links among these pairs, estimated or known to the intruder"),
        number(
            "largest_prior",
            "the bound of the prior: one link for each record of the smaller file of each stratum; empty for an "
            "informed intruder",
        ),
        integer("rounds", "rounds of the EM algorithm; 0 for an informed intruder", "rounds"),
        text("converged", "`yes`, or `no` where EM ended at its largest number of rounds"),
        number("least_weight", "the least match weight of a suspected pair", "bits"),
        integer(
            "tolerance",
            "the number of linking variables that may differ in a suspected pair; below 0, no pair is suspected",
            "variables",
            section="4",
        ),
    ),
)

CALIBRATE = (
    table(
        "weights/calibration.csv",
        "The suspected pairs of the metric by match probability, one line per class that has pairs, the lowest first.",
        number("above", "the class has probabilities from this one on"),
        number("up_to", "the class has probabilities below this one; the last class has 1 as well"),
        integer("n_pairs", "suspected pairs", "pairs"),
        integer("n_confirmed", "confirmed pairs", "pairs"),
        number("probability", "the mean match probability of the pairs"),
        number("confirmed_share", "n_confirmed / n_pairs"),
    ),
)
