"""The settings of the steps of a larger intruder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reident.linkage.attack_settings import SearchSettings


@dataclass(frozen=True)
class ThinningSettings:
    """The settings of the step `thin` for a metric.

    Attributes
    ----------
    attack : that with the metric alone
    seed : of the draws
    """

    attack: SearchSettings
    seed: int


@dataclass(frozen=True)
class ExtrapolationSettings:
    """The settings of the step `extrapolate`.

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
