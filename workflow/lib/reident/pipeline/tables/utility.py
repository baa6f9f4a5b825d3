"""The tables of what protection does to the data (METHODS §13). None of them is in the releasable edition."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reident.pipeline.tables.columns import WHOLE, Column, Lines, declare, integer, number, text

table = partial(declare, section="13")

_ESTIMATE = "the units of the estimate"


def _intervals() -> Iterator[Column]:
    for side, when in (("original", "before"), ("released", "after")):
        yield number(side, f"the estimate {when} protection; empty where it is undefined", _ESTIMATE)
        yield number(
            f"{side}_low", "lower end of its confidence interval; empty where it is undefined", _ESTIMATE
        )
        yield number(f"{side}_high", "upper end of that interval", _ESTIMATE)


_OVERLAP = "of the confidence intervals before and after protection; empty where it is not defined"

MEASURE_UTILITY = (
    table(
        "utility/summary.csv",
        "What protection does to the data of the whole study, on one line.",
        text("scope", f"`{WHOLE}`, the whole study"),
        integer("n_records", "records that are in the file before protection and in the PUF"),
        integer("n_original_only", "records of the file before protection alone, which are not compared"),
        integer("n_released_only", "records of the PUF alone, which are not compared"),
        integer("n_variables", "strata variables and linking variables", "variables"),
        integer("n_records_changed", "records with a value that differs"),
        number("values_changed", "values that differ / (n_records · n_variables)"),
        number("univariate", "mean distance of the variables"),
        number("univariate_worst", "largest distance of a variable"),
        number("pairwise", "mean distance of the pairs of variables; empty with one variable"),
        number("pairwise_worst", "largest distance of a pair of variables"),
        integer("n_terms", "terms of the propensity model that the data determine", "terms"),
        number("pmse", "propensity score mean squared error", "fraction up to 0.25"),
        number("pmse_expected", "its expectation for two files from one distribution", "fraction up to 0.25"),
        number("pmse_ratio", "pmse / pmse_expected; empty where every variable is constant", "ratio"),
        number("overlap_means", f"mean overlap {_OVERLAP}; of means and shares, by variable"),
        number("overlap_regression", f"mean overlap {_OVERLAP}; of the coefficients of the regression"),
        text("loss_measure", "the measure of the loss: `utility.loss`"),
        number("loss", "that measure; for `overlap`, 1 less the mean of the two overlaps"),
        compared=Lines("utility", "scope", WHOLE),
    ),
    table(
        "utility/variables.csv",
        "What protection does to each variable: the strata variables, then the linking variables.",
        text("variable", "the variable"),
        text("type", "`numeric` or `categorical`"),
        integer("n_missing_original", "records in which it is missing before protection"),
        integer("n_missing_released", "records in which it is missing after protection"),
        integer("n_changed", "records in which it differs"),
        number("values_changed", "n_changed / n_records"),
        text("measure", "`kolmogorov-smirnov` or `total-variation`"),
        number("distance", "the distance of its distributions by that measure"),
        number("hellinger", "their Hellinger distance; empty for a numeric variable"),
        number("overlap", f"mean overlap {_OVERLAP}; of its mean or shares"),
    ),
    table(
        "utility/pairs.csv",
        "The distance of each pair of variables, in the order of the variables.",
        text("variable", "the first variable"),
        text("other", "the second variable"),
        number("distance", "the total variation distance of their joint distributions"),
    ),
    table(
        "utility/estimates.csv",
        "Estimates before and after protection, by variable; then the coefficients of the regression.",
        text("estimate", "`mean`, `share` or `coefficient`"),
        text("variable", "the variable; `(intercept)` for the intercept"),
        text("level", "the category; `(missing)` for missing values; empty for a numeric variable"),
        *_intervals(),
        number("overlap", f"the overlap {_OVERLAP}"),
        holds="labels",
        reported=True,
    ),
)
