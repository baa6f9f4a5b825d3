"""The section `decision` of a study file: the limits that the verdict of the report compares with."""

from __future__ import annotations

from pydantic import Field, model_validator

from reident.sections.base import Section


class Decision(Section):
    """The limits of the verdict in the report."""

    conditional_rate_at_most: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The largest conditional rate, as a fraction, with which a metric passes.",
    )
    expected_match_risk_at_most: float | None = Field(
        None,
        ge=0,
        description="Matching: the largest expected match risk, as a number of records, with which a scenario passes. "
        "Source: METHODS §8.",
    )
    true_match_rate_at_most: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Matching: the largest true match rate, as a fraction, with which a scenario passes.",
    )
    false_match_rate_at_least: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Matching: the smallest false match rate, as a fraction, with which a scenario passes. A scenario "
        "without a unique match passes.",
    )

    @property
    def of_matching(self) -> dict[str, float]:
        """The limits for matching that are given."""
        limits = self.model_dump(exclude={"conditional_rate_at_most"})
        return {name: limit for name, limit in limits.items() if limit is not None}

    @model_validator(mode="after")
    def _has_a_limit(self) -> Decision:
        if self.conditional_rate_at_most is None and not self.of_matching:
            raise ValueError("must have at least one limit. Add a limit, or remove `decision`.")
        return self
