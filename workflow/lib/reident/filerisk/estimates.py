"""What models of the population estimate, and what they say where they estimate nothing (METHODS §7.1)."""

INDIVIDUAL, LOG_LINEAR, UNIQUENESS = "individual", "log-linear", "uniqueness"
"""The kinds of models."""

REIDENTIFICATIONS, MATCHES, HOUSEHOLDS = "expected_reidentifications", "correct_matches", "households"
IN_SAMPLE, IN_POPULATION = "uniques_in_sample", "population_uniques"
"""The quantities that models estimate."""

BENEDETTI = "benedetti-franconi"

OK, NO_UNIQUE, NO_PAIR = "ok", "no_unique", "no_pair"
NOT_CONVERGED, WHOLE = "not_converged", "whole_population"
CONTRADICTED, UNSUPPORTED = "contradicted", "unsupported"
"""What is said of an estimate; the last two say why the model that the rule of Dankar et al. chooses is not
recommended."""

SMALL_FRACTION = 0.1
"""The sampling fraction up to which the rule of Dankar et al. chooses Pitman's model; others are usually too high."""

SIGNIFICANT = 9
"""Digits of estimates and sums: processors differ in the last bits of a logarithm, and fits end within a tolerance."""

Z = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95 %."""


def significant(value: float) -> float:
    """Return a number with :data:`SIGNIFICANT` digits."""
    return float(f"{value:.{SIGNIFICANT}g}")
