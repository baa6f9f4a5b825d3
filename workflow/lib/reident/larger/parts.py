"""What the steps of a larger intruder take from the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reident.linkage.parts import Assigning, Cutting, Scoring, Weighing


@dataclass(frozen=True)
class Thinning:
    """What thinning the external intruder file takes from the study, for one metric.

    Attributes
    ----------
    cutting, scoring, weighing, assigning : as the steps of the attack take them; no weighing for a metric that does
        not weigh
    max_pairs, keep : the rank limit, and the largest one
    seed : of the draws
    """

    cutting: Cutting
    scoring: Scoring
    weighing: Weighing | None
    assigning: Assigning | None
    max_pairs: int
    keep: int
    seed: int


@dataclass(frozen=True)
class Extrapolating:
    """What the extrapolation takes from the study.

    Attributes
    ----------
    limits : by metric, the rank limit; none for unicity
    fixed : the metrics whose rule depends on the size of the external intruder file, so that no curve is fitted
    keep : the largest rank limit
    times : the sizes, as multiples of the external intruder file
    population : the size of the population from which both files are samples; None if the study does not say
    level : the level of the intervals
    """

    metrics: tuple[str, ...]
    limits: Mapping[str, int | None]
    fixed: tuple[str, ...]
    keep: int
    times: tuple[float, ...]
    population: int | None
    level: float
