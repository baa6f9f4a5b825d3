"""What masking takes from the study."""

from __future__ import annotations

from dataclasses import dataclass

from reident.sections.linkage import Column
from reident.sections.microaggregation import Microaggregate


@dataclass(frozen=True)
class Masking:
    """What masking a file takes from the study.

    Attributes
    ----------
    options : the section `microaggregate`
    columns : the strata variables and the linking variables, which read the files that masking makes
    """

    options: Microaggregate
    columns: tuple[Column, ...]
