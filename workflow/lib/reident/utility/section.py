"""The section `utility` of a study file: the effect of protection on the data (METHODS §13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from reident.sections.base import Section, refuse_repeats
from reident.sections.files import Name

Loss = Literal["pmse", "values_changed", "univariate", "pairwise", "overlap"]


class Regression(Section):
    """A linear regression whose coefficients are compared before and after protection."""

    response: Name
    """The numeric linking variable that the regression explains."""
    predictors: Annotated[tuple[Name, ...], Field(min_length=1)]
    """The linking variables and strata variables that explain it."""


class Utility(Section):
    """The effect of protection on the data: the released records compared with the same records before protection."""

    loss: Loss = "pmse"
    """The measure that is drawn against the risk, and by which the first page names the variant with the least loss.
    Source: METHODS §13."""
    interactions: int = Field(1, ge=1, le=2)
    """The order of the propensity model of pMSE: main effects, or products of two variables too. Source: METHODS
    §13."""
    regression: Regression | None = None
    """A linear regression whose coefficients are compared. If absent: not computed."""

    def check(self, types: Mapping[str, str]) -> None:
        """Refuse a regression that does not fit linking and strata variables of these types."""
        if self.regression is None:
            return
        response, predictors = self.regression.response, self.regression.predictors
        if types.get(response) != "numeric":
            raise ValueError(
                "`.utility.regression.response` must be a numeric linking variable. Correct the name, or remove "
                "`regression`."
            )
        refuse_repeats(predictors, "utility.regression.predictors")
        for name in predictors:
            if name not in types or name == response:
                raise ValueError(
                    f"`{name}` in `utility.regression.predictors` must be a linking variable or strata variable other "
                    "than the response. Correct the name, or remove it."
                )
