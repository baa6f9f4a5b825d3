"""Estimates of models of the population, and the reasons for absent ones (METHODS §7.1)."""

from __future__ import annotations

import numpy as np

INDIVIDUAL, LOG_LINEAR, UNIQUENESS = "individual", "log-linear", "uniqueness"
"""The kinds of models."""

REIDENTIFICATIONS, MATCHES, HOUSEHOLDS = "expected_reidentifications", "correct_matches", "households"
IN_SAMPLE, IN_POPULATION = "uniques_in_sample", "population_uniques"
"""The quantities that models estimate."""

BENEDETTI = "benedetti-franconi"

OK, NO_UNIQUE, NO_PAIR = "ok", "no_unique", "no_pair"
NOT_CONVERGED, WHOLE = "not_converged", "whole_population"
SATURATED, WITHHELD = "saturated", "withheld"
CONTRADICTED, UNSUPPORTED = "contradicted", "unsupported"
"""What is said of an estimate. The last three say why the rule does not recommend a model of uniqueness: it chooses
another one; the recommended log-linear model contradicts it; there is no such model."""

SMALL_FRACTION = 0.1
"""The sampling fraction up to which the rule of Dankar et al. chooses Pitman's model; others are usually too high."""

SIGNIFICANT = 9
"""Digits of estimates and sums: processors differ in the last bits of a logarithm, and fits end within a tolerance."""

Z = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95 %."""


def significant(value: float) -> float:
    """Return a number with :data:`SIGNIFICANT` digits."""
    return float(f"{value:.{SIGNIFICANT}g}")


def interval(value: float, variance: float, most: float) -> tuple[float, float]:
    """Return the interval of 95 % for a sum of probabilities of ``most`` records.

    Returns
    -------
    tuple of float
        Symmetric for the logit of the mean; for the sum, cut at 0 and ``most``, where the standard error of the logit
        is above 1 or not defined, because little is expected.
    """
    from scipy.special import expit, logit  # noqa: PLC0415 - what reads the table of estimates does not wait for it

    error, spread = float(np.sqrt(variance)), value * (most - value) / most if most else 0.0
    if not 0 < error < spread:
        return max(0.0, value - Z * error), min(float(most), value + Z * error)
    middle, away = logit(value / most), Z * error / spread
    return float(most * expit(middle - away)), float(most * expit(middle + away))
