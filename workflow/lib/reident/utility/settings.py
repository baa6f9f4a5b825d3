"""The settings of utility."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reident.linkage.settings import Variable
from reident.utility.section import Utility


@dataclass(frozen=True)
class UtilitySettings:
    """The settings of the step `measure_utility`.

    Attributes
    ----------
    key : the key columns of the prepared PUF
    variables : the strata variables and the linking variables
    bins, ranks : how numeric variables are cut for tables of two variables
    level : the level of confidence intervals
    options : the section `utility`
    """

    key: tuple[str, ...]
    variables: tuple[Variable, ...]
    bins: int
    ranks: Literal["mean", "high"] | None
    level: float
    options: Utility
