"""What the steps of a larger intruder take from the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reident.linkage.attack_settings import SearchSettings


@dataclass(frozen=True)
class Thinning:
    """The settings of thinning the external intruder file, for one metric.

    Attributes
    ----------
    attack : that with the metric alone
    seed : of the draws
    """

    attack: SearchSettings
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
