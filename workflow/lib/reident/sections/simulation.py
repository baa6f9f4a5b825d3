"""The section `simulate` of a study file: sizes, the agency's treatment, the brokers' errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from reident.sections.base import Section

Share = Annotated[float, Field(ge=0, le=1)]
Numeric = Literal["age", "hours", "income", "housing_cost"]
Variable = Literal[
    "age", "sex", "marital_status", "education", "occupation", "hours", "income", "housing_cost", "tenure",
    "household_size",
]  # fmt: skip
Item = Literal[Variable, "region"]


class Treatment(Section):
    """What the agency does to the sampled records before release, in the order of these keys."""

    swapping: Share = Field(
        0.05,
        description="Share of records that exchange occupation, hours and income with a record of the same "
        "region and sex and of about the same age.",
    )
    noise: dict[Numeric, Annotated[float, Field(ge=0, le=1)]] = Field(
        {"income": 0.10, "housing_cost": 0.06},
        description="Standard deviation of the logarithm of a factor that multiplies each value; 0 stays 0. "
        "Variables not named get none.",
    )
    microaggregation: dict[Numeric, Annotated[int, Field(ge=1)]] = Field(
        {},
        description="Values are micro-aggregated in groups of this size, one variable at a time, means rounded to "
        "whole numbers. Variables not named are not. Source: METHODS §9.",
    )
    rounding: dict[Numeric, Annotated[int, Field(ge=1)]] = Field(
        {"hours": 5, "income": 500, "housing_cost": 50},
        description="Values are rounded to the nearest multiple. Variables not named are not rounded.",
    )
    top_coding: dict[Numeric, Annotated[float, Field(gt=0, le=1)]] = Field(
        {"age": 0.98, "hours": 0.98, "income": 0.97, "housing_cost": 0.98},
        description="Values above this quantile of the released file become the quantile. Variables not "
        "named are not cut.",
    )
    largest_household: int = Field(
        5, ge=1, description="Households of this size or more have one code; 7 or more keeps every size."
    )
    missing: dict[Item, Share] = Field(
        {
            "region": 0.01, "marital_status": 0.01, "education": 0.03, "occupation": 0.04, "hours": 0.04,
            "income": 0.10, "housing_cost": 0.06, "tenure": 0.02,
        },
        description="Share of values that are not stated. Variables not named are complete.",
    )  # fmt: skip


class Brokers(Section):
    """How the data brokers' records differ from the persons that they are about."""

    adults_from: int = Field(18, ge=0, description="Brokers hold nobody below this age.")
    uncovered_region: int | None = Field(
        8, ge=1, le=8, description="The region, 1 to 8, in which brokers hold nobody; empty: they cover all."
    )
    duplicates: float = Field(
        0.03,
        ge=0,
        le=0.5,
        description="Share of the file that repeats a person whom another broker holds too.",
    )
    outdated: Share = Field(
        0.25, description="Share of records that are one to four years old: the age of then, lower amounts."
    )
    moved: Share = Field(0.02, description="Share of records with the region of an earlier address.")
    errors: dict[Variable, Share] = Field(
        {
            "age": 0.03, "sex": 0.005, "marital_status": 0.10, "education": 0.22, "occupation": 0.20,
            "hours": 0.20, "income": 0.06, "housing_cost": 0.12, "tenure": 0.12, "household_size": 0.20,
        },
        description="Share of values that are some other person's. Variables not named have no such error.",
    )  # fmt: skip
    noise: dict[Numeric, Annotated[float, Field(ge=0, le=1)]] = Field(
        {"hours": 0.03, "income": 0.12, "housing_cost": 0.08},
        description="Brokers estimate: standard deviation of the logarithm of a factor; 0 stays 0.",
    )
    rounding: dict[Numeric, Annotated[int, Field(ge=1)]] = Field(
        {"income": 100, "housing_cost": 10},
        description="Values are rounded to the nearest multiple.",
    )
    missing: dict[Item, Share] = Field(
        {
            "region": 0.015, "age": 0.01, "marital_status": 0.05, "education": 0.10, "occupation": 0.08,
            "hours": 0.10, "income": 0.05, "housing_cost": 0.08, "tenure": 0.03, "household_size": 0.03,
        },
        description="Share of values that the broker does not know. Variables not named are complete.",
    )  # fmt: skip


class HouseholdSurvey(Section):
    """A household survey's public use file and the file of data brokers, with the truth about both."""

    kind: Literal["household-survey"] = Field("household-survey", description="What is simulated.")
    seed: int = Field(2026, ge=0, description="The seed; every draw follows from it and from these keys.")
    households: int = Field(
        12_000, ge=1, description="Households of the population; about 2.2 persons in each."
    )
    puf_records: int = Field(
        6_000, ge=1, description="Records of the public use file, persons drawn at random."
    )
    eif_records: int = Field(12_000, ge=1, description="Records of the external intruder file.")
    overlap: Share = Field(
        0.3,
        description="Share that brokers hold of those persons of the public use file whom they could hold: "
        "adults of the regions that they cover.",
    )
    treatment: Treatment = Field(
        default_factory=Treatment, description="What the agency does before release."
    )
    brokers: Brokers = Field(default_factory=Brokers, description="What the intruder's file gets wrong.")


class SyntheticSurvey(Section):
    """A confidential survey of adults and synthetic files in which occupation and income are synthesized."""

    kind: Literal["synthetic-survey"] = Field(description="What is simulated.")
    seed: int = Field(2026, ge=0, description="The seed; every draw follows from it and from these keys.")
    households: int = Field(6_000, ge=1, description="Households of the population.")
    records: int = Field(5_000, ge=1, description="Records of the survey, adults drawn at random.")
    copies: int = Field(3, ge=1, le=1000, description="Synthetic files, m.")
    noise: Annotated[float, Field(ge=0, le=1)] = Field(
        0.25,
        description="Standard deviation of the logarithm of a factor by which a synthetic income differs from that "
        "of a person alike; 0 stays 0.",
    )
    rounding: int = Field(100, ge=1, description="Incomes are rounded to the nearest multiple.")
    missing: Share = Field(0.03, description="Share of incomes that are not stated, in all files alike.")


class LocalAuthorities(Section):
    """The census of two local authorities, twelve variables of every person, and a survey of them."""

    kind: Literal["local-authorities"] = Field(description="What is simulated.")
    seed: int = Field(1991, ge=0, description="The seed; every draw follows from it and from these keys.")
    households: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (70_000, 50_000),
        min_length=2,
        max_length=2,
        description="Households of each of the two authorities; about 2.2 persons in each.",
    )
    fraction: float = Field(
        0.02, gt=0, le=1, description="Share of each authority's persons who are in the survey."
    )


class SkewedAmounts(Section):
    """One file of skewed positive amounts, for `microaggregate`: lognormal variables x1, x2 … of numbered persons."""

    kind: Literal["skewed-amounts"] = Field(description="What is simulated.")
    seed: int = Field(2026, ge=0, description="The seed; every draw follows from it and from these keys.")
    records: int = Field(1_000, ge=1, description="Records of the file.")
    variables: int = Field(3, ge=1, le=64, description="The number of variables, x1, x2 and so on.")
    sigma: float = Field(1.0, gt=0, le=3, description="Standard deviation of their logarithms.")
    correlation: float = Field(
        0.3,
        ge=0,
        lt=1,
        description="Correlation of the logarithms of two variables; its square, here 0.09, is at most 0.2 in METHODS "
        "§9.",
    )


def _kind(value: Any) -> Any:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind or "household-survey"


Simulation = Annotated[
    Annotated[HouseholdSurvey, Tag("household-survey")]
    | Annotated[SyntheticSurvey, Tag("synthetic-survey")]
    | Annotated[LocalAuthorities, Tag("local-authorities")]
    | Annotated[SkewedAmounts, Tag("skewed-amounts")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message="there is no such `kind`; `household-survey`, `synthetic-survey`, `local-authorities` and "
        "`skewed-amounts` are simulated",
    ),
]
"""What `simulate` of a study takes: one section for each `kind`, told apart by it."""
