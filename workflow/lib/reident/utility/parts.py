"""What measuring utility takes from the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reident.linkage.parts import Variable
from reident.sections.utility import Utility


@dataclass(frozen=True)
class Measuring:
    """What measuring utility takes from the study.

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
