"""Measure the effect of protection on the data: the tables of the step `measure_utility` (METHODS §13)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.errors import InputError
from reident.linkage.settings import WHOLE
from reident.utility import distances, estimates, propensity
from reident.utility.estimates import Estimate, Interval
from reident.utility.files import Both, Joined, join
from reident.utility.settings import UtilitySettings

DIGITS = 9
"""Significant digits of what linear algebra computes: more may differ between machines."""


class Measured(NamedTuple):
    """Tables: the study on one line; one line per variable, per pair of variables, and per estimate."""

    summary: pd.DataFrame
    variables: pd.DataFrame
    pairs: pd.DataFrame
    estimates: pd.DataFrame


class _Compared(NamedTuple):
    """The measurements of a variable."""

    both: Both
    n_changed: int
    distance: Fraction
    estimates: list[Estimate]

    @property
    def overlap(self) -> float | None:
        """The mean overlap of its intervals."""
        return mean_overlap(self.estimates)


def measure(settings: UtilitySettings, original: pa.Table, released: pa.Table) -> Measured:
    """Compare released records with the same records before protection.

    Parameters
    ----------
    original, released : pyarrow.Table
        The prepared records before and after protection.

    Raises
    ------
    InputError
        If the files have no record in common, or the propensity model would have too many terms.
    """
    joined = join(settings, original, released)
    if not joined.n_records:
        raise InputError(
            "`utility` must compare records that both files have: the file before protection has no key of the public "
            "use file. Correct the file, or remove `utility`."
        )
    comparisons = [_compare(both, settings.level) for both in joined.variables]
    pairs = _pairs(settings, joined.variables)
    lines = [line for comparison in comparisons for line in comparison.estimates]
    coefficients: list[Estimate] = []
    if (regression := settings.options.regression) is not None:
        by_name = {both.variable.name: both for both in joined.variables}
        coefficients = estimates.of_regression(by_name, regression, settings.level)
    return Measured(
        pd.DataFrame([_summary(settings, joined, comparisons, [distance for *_, distance in pairs], coefficients)]),
        pd.DataFrame([_variable(comparison) for comparison in comparisons]),
        pd.DataFrame(
            [(first, second, float(distance)) for first, second, distance in pairs],
            columns=["variable", "other", "distance"],
        ),
        pd.DataFrame([_line(estimate) for estimate in (*lines, *coefficients)]),
    )


def rounded(value: float | None) -> float | None:
    """Return a number with :data:`DIGITS` significant digits."""
    return None if value is None else float(f"{value:.{DIGITS - 1}e}") + 0.0


def mean_overlap(lines: Iterable[Estimate]) -> float | None:
    """Return the mean overlap of the intervals of estimates; None where none is defined."""
    return _average([line.overlap for line in lines])


def _average(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


def _compare(both: Both, level: float) -> _Compared:
    return _Compared(
        both, int(distances.changed(both).sum()), distances.univariate(both), estimates.of_variable(both, level)
    )


def _pairs(settings: UtilitySettings, variables: Sequence[Both]) -> list[tuple[str, str, Fraction]]:
    names = [both.variable.name for both in variables]
    cells = [distances.cells(settings, both) for both in variables]
    return [
        (names[one], names[other], distances.pairwise(cells[one], cells[other]))
        for one, other in combinations(range(len(names)), 2)
    ]


def _variable(comparison: _Compared) -> dict[str, Any]:
    both = comparison.both
    before, after = (int(missing.sum()) for missing in distances.is_missing(both))
    hellinger = None if both.numeric else distances.hellinger(*both.sides, len(both.labels))
    return {
        "variable": both.variable.name,
        "type": both.variable.type,
        "n_missing_original": before,
        "n_missing_released": after,
        "n_changed": comparison.n_changed,
        "values_changed": comparison.n_changed / len(both.original),
        "measure": "kolmogorov-smirnov" if both.numeric else "total-variation",
        "distance": float(comparison.distance),
        "hellinger": rounded(hellinger),
        "overlap": rounded(comparison.overlap),
    }


def _summary(
    settings: UtilitySettings,
    joined: Joined,
    comparisons: Sequence[_Compared],
    pairs: Sequence[Fraction],
    coefficients: Sequence[Estimate],
) -> dict[str, Any]:
    n, univariate = joined.n_records, [comparison.distance for comparison in comparisons]
    changed = np.zeros(n, bool)
    for both in joined.variables:
        changed |= distances.changed(both)
    fit = propensity.fit(joined.variables, settings.options.interactions)
    summary = {
        "scope": WHOLE,
        "n_records": n,
        "n_original_only": joined.n_original,
        "n_released_only": joined.n_released,
        "n_variables": len(comparisons),
        "n_records_changed": int(changed.sum()),
        "values_changed": sum(comparison.n_changed for comparison in comparisons) / (n * len(comparisons)),
        "univariate": float(sum(univariate) / len(univariate)),
        "univariate_worst": float(max(univariate)),
        "pairwise": float(sum(pairs) / len(pairs)) if pairs else None,
        "pairwise_worst": float(max(pairs)) if pairs else None,
        "n_terms": fit.n_terms,
        "pmse": rounded(fit.pmse),
        "pmse_expected": rounded(fit.expected),
        "pmse_ratio": rounded(fit.pmse / fit.expected) if fit.expected else None,
        "overlap_means": rounded(_average([comparison.overlap for comparison in comparisons])),
        "overlap_regression": rounded(mean_overlap(coefficients)),
    }
    return {**summary, "loss_measure": settings.options.loss, "loss": _loss(settings.options.loss, summary)}


def _loss(measure: str, summary: dict[str, Any]) -> float | None:
    """Return the measure that stands for the loss: 0 for no loss."""
    if measure != "overlap":
        return summary[measure]
    overlap = _average([summary["overlap_means"], summary["overlap_regression"]])
    return None if overlap is None else rounded(1 - overlap)


def _line(estimate: Estimate) -> dict[str, Any]:
    return {
        "estimate": estimate.kind,
        "variable": estimate.variable,
        "level": estimate.level,
        **_ends("original", estimate.original),
        **_ends("released", estimate.released),
        "overlap": rounded(estimate.overlap),
    }


def _ends(side: str, interval: Interval | None) -> dict[str, float | None]:
    value, low, high = interval or (None, None, None)
    return {side: rounded(value), f"{side}_low": rounded(low), f"{side}_high": rounded(high)}
