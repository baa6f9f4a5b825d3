"""The section `utility` of a study file: the effect of protection on the data (METHODS §13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from reident.sections.base import Analysis, Section, refuse_repeats
from reident.sections.files import Name

if TYPE_CHECKING:
    from reident.study.model import Study

Loss = Literal["pmse", "values_changed", "univariate", "pairwise", "overlap"]


class Regression(Section):
    """A linear regression whose coefficients are compared before and after protection."""

    response: Name
    """The numeric linking variable that the regression explains."""
    predictors: Annotated[tuple[Name, ...], Field(min_length=1)]
    """The linking variables and strata variables that explain it."""


class Utility(Analysis):
    """The effect of protection on the data: the released records compared with the same records before protection."""

    without_units: ClassVar[str] = "Remove it, or use it in a study without `units`."
    without_links: ClassVar[str] = "it compares the same records before and after protection"
    is_compared: ClassVar[bool] = True
    is_on_release: ClassVar[bool] = True
    reads_before: ClassVar[bool] = True

    loss: Loss = "pmse"
    """The measure that is drawn against the risk, and by which the first page names the variant with the least loss.
    Source: METHODS §13."""
    interactions: int = Field(1, ge=1, le=2)
    """The order of the propensity model of pMSE: main effects, or products of two variables too. Source: METHODS
    §13."""
    regression: Regression | None = None
    """A linear regression whose coefficients are compared. If absent: not computed."""

    def fit(self, study: Study) -> None:
        """Refuse a study without the file before protection, and a regression that does not fit its variables."""
        if not study.has_original:
            raise ValueError(
                "`.utility` must not be given without the file before protection. Add `files.original` (or "
                "`simulate.original: true`), or remove `utility`."
            )
        strata = {variable.name: "categorical" for variable in study.strata}
        self.check({**strata, **{one.name: one.type for one in study.linking_variables}})

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
