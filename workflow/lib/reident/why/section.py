"""The section `why` of a study file: the explanation of confirmed claims (METHODS §6.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from reident.sections.base import Analysis
from reident.sections.coarsening import NamedCoarsening

if TYPE_CHECKING:
    from reident.study.model import Study


class Why(Analysis):
    """The explanation of confirmed records: the variables that carry the claims, and preventive changes."""

    needs_metrics: ClassVar[bool] = True
    without_units: ClassVar[str] = "Remove it, or use it in a study without `units`."
    without_links: ClassVar[str] = "it explains true links"

    recodings: tuple[NamedCoarsening, ...] | None = Field(None, max_length=200)
    """The coarser values of linking variables that are tried, besides leaving out each variable. If absent: the usual
    ones, of dates months, quarters and years. Source: METHODS §6.3.
    """
    max_size: int = Field(4, ge=1, le=64)
    """The largest set of linking variables that is searched for what makes a confirmed pair unique in the external
    intruder file. Source: METHODS §6.3."""

    suggest: bool = False
    """Whether every run searches for coarser values as `snakemake suggest` does. Source: METHODS §6.4."""

    def fit(self, study: Study) -> None:
        """Refuse recodings that do not fit the linking variables, and a search without a limit on the rates."""
        self.check({one.name: one.type for one in study.linking_variables})
        if self.suggest and not (study.decision and study.decision.given("metrics")):
            raise ValueError(
                "`.why.suggest` must not be `true` without a limit on the rates. Add one to `decision`, such as "
                "`conditional_rate_at_most: 0.1`, or remove `suggest`."
            )

    def check(self, types: Mapping[str, str]) -> None:
        """Refuse recodings that do not fit linking variables of these types, and two with one name for one variable."""
        seen = set()
        for at, recoding in enumerate(self.recodings or ()):
            key = f"why.recodings[{at + 1}]"
            if recoding.variable not in types:
                raise ValueError(f"`{key}.variable` must be a linking variable. Correct the name.")
            recoding.check(types[recoding.variable], key)
            if (recoding.variable, recoding.title) in seen:
                raise ValueError(f"`{key}` is given twice. Remove one of the two, or give it another `name`.")
            seen.add((recoding.variable, recoding.title))
