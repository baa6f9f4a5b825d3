"""The section `simulate` of a study file: the files that are drawn instead of read."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from reident.sections.base import Section
from reident.sections.files import SIMULATED, ExternalFile, LinkedFiles, LinkFile, RecordFile

Share = Annotated[float, Field(ge=0, le=1)]
Numeric = Literal["age", "hours", "income", "housing_cost"]
Variable = Literal[
    "age", "sex", "marital_status", "education", "occupation", "hours", "income", "housing_cost", "tenure",
    "household_size",
]  # fmt: skip
Item = Literal[Variable, "region"]


class Treatment(Section):
    """The agency's treatment of the sampled records before release, in the order of these keys."""

    swapping: Share = 0.05
    """The share of records that exchange occupation, hours and income with a similar record."""
    noise: dict[Numeric, Annotated[float, Field(ge=0, le=1)]] = Field({"income": 0.10, "housing_cost": 0.06})
    """The standard deviation of the logarithm of a random factor, by variable; 0 stays 0."""
    microaggregation: dict[Numeric, Annotated[int, Field(ge=1)]] = Field({})
    """The group size of micro-aggregation, by variable; means are rounded to integers. Source: METHODS §9."""
    rounding: dict[Numeric, Annotated[int, Field(ge=1)]] = Field({"hours": 5, "income": 500, "housing_cost": 50})
    """The number to whose nearest multiple values are rounded, by variable."""
    top_coding: dict[Numeric, Annotated[float, Field(gt=0, le=1)]] = Field(
        {"age": 0.98, "hours": 0.98, "income": 0.97, "housing_cost": 0.98}
    )
    """The quantile of the released file that replaces all larger values, by variable."""
    largest_household: int = Field(5, ge=1)
    """The household size to which larger ones are recoded; 7 or more keeps all."""
    missing: dict[Item, Share] = Field({
            "region": 0.01, "marital_status": 0.01, "education": 0.03, "occupation": 0.04, "hours": 0.04,
            "income": 0.10, "housing_cost": 0.06, "tenure": 0.02,
        })  # fmt: skip
    """The share of values that are not stated, by variable."""


UNTREATED: dict[str, Any] = {
    "swapping": 0, "noise": {}, "microaggregation": {}, "rounding": {}, "top_coding": {}, "largest_household": 7,
}  # fmt: skip
"""The values of :class:`Treatment` without any treatment; values that are not stated were never collected."""


class Brokers(Section):
    """The differences between the data brokers' records and the persons that they describe."""

    adults_from: int = Field(18, ge=0)
    """The youngest age in the brokers' records."""
    uncovered_region: int | None = Field(8, ge=1, le=8)
    """The region that the brokers do not cover; `null` for none."""
    sources: Annotated[tuple[Literal["1", "01", "10"], ...], Field(min_length=1)] | None = Field(
        None, exclude_if=operator.not_
    )
    """The brokers whose records the file has: `1` has 45 % of all, `01` 35 %, `10` 20 %. If absent: all three."""
    person: bool = Field(False, exclude_if=operator.not_)
    """Whether the file has a column `person`, the same for a person in all brokers' records. Source: METHODS §6.6."""
    duplicates: float = Field(0.03, ge=0, le=0.5)
    """The share of records of a person whom another broker has too."""
    outdated: Share = 0.25
    """The share of records that are one to four years old."""
    moved: Share = 0.02
    """The share of records with the region of a former address."""
    errors: dict[Variable, Share] = Field({
            "age": 0.03, "sex": 0.005, "marital_status": 0.10, "education": 0.22, "occupation": 0.20,
            "hours": 0.20, "income": 0.06, "housing_cost": 0.12, "tenure": 0.12, "household_size": 0.20,
        })  # fmt: skip
    """The share of values that belong to another person, by variable."""
    noise: dict[Numeric, Annotated[float, Field(ge=0, le=1)]] = Field(
        {"hours": 0.03, "income": 0.12, "housing_cost": 0.08}
    )
    """As `noise` of the treatment, of the brokers' estimates."""
    rounding: dict[Numeric, Annotated[int, Field(ge=1)]] = Field({"income": 100, "housing_cost": 10})
    """The number to whose nearest multiple values are rounded."""
    missing: dict[Item, Share] = Field({
            "region": 0.015, "age": 0.01, "marital_status": 0.05, "education": 0.10, "occupation": 0.08,
            "hours": 0.10, "income": 0.05, "housing_cost": 0.08, "tenure": 0.03, "household_size": 0.03,
        })  # fmt: skip
    """The share of values that the broker does not know, by variable."""


class LastYear(Section):
    """The differences between the persons of a survey and last year's public use file about them."""

    moved: Share = 0.05
    """The share of persons who lived in another region, which is drawn from all regions."""
    changed: dict[Variable, Share] = Field({
            "marital_status": 0.03, "education": 0.02, "occupation": 0.08, "hours": 0.15, "income": 0.15,
            "housing_cost": 0.10, "tenure": 0.03, "household_size": 0.06,
        })  # fmt: skip
    """The share of values that were those of another person, by variable. Everybody was a year younger, with lower
    amounts.
    """


class Linked(Section):
    """A simulation of a public use file, an external intruder file and the true links between them."""

    @property
    def files(self) -> LinkedFiles:
        """The descriptions of the files that are drawn."""
        return SIMULATED


class HouseholdSurvey(Linked):
    """The public use file of a household survey, a file of data brokers, and the true links."""

    kind: Literal["household-survey"] = "household-survey"
    """The kind of simulation."""
    seed: int = Field(2026, ge=0)
    """The seed of all random draws."""
    households: int = Field(12_000, ge=1)
    """The number of households in the population, with about 2.2 persons each."""
    puf_records: int = Field(6_000, ge=1)
    """The number of records of the public use file: persons drawn at random."""
    eif_records: int = Field(12_000, ge=1)
    """The number of records of the external intruder file."""
    overlap: Share = 0.3
    """The share of persons of the public use file that the brokers hold, of adults in the regions that they cover."""
    treatment: Treatment = Field(default_factory=Treatment)
    """The agency's treatment of the records before release."""
    brokers: Brokers = Field(default_factory=Brokers)
    """The errors and gaps of the data brokers' records."""
    last_year: LastYear | None = Field(None, exclude_if=operator.not_)
    """Instead of `brokers`: the external intruder file is last year's public use file of the same survey, with keys
    of its own and the same `treatment`. Source: METHODS §6.6.
    """
    original: bool = False
    """Whether the study also attacks the public use file before protection. Source: METHODS §6.1."""

    @property
    def files(self) -> LinkedFiles:
        """The descriptions of the files that are drawn."""
        if self.last_year is not None:
            eif = ExternalFile(path="eif.csv", id=("pufid",), named=False)
            iuf = LinkFile(path="iuf.csv", puf_id=("pufid",), eif_id=("last_pufid",))
            return SIMULATED.model_copy(update={"eif": eif, "iuf": iuf})
        if self.brokers.person:
            return SIMULATED.model_copy(update={"eif": SIMULATED.eif.model_copy(update={"person": "person"})})
        return SIMULATED


class Households(Linked):
    """A public use file of whole households, a broker's file of addresses with most of their members, and the links."""

    kind: Literal["households"]
    """The kind of simulation."""
    seed: int = Field(2026, ge=0)
    """The seed of all random draws."""
    households: int = Field(6_000, ge=1)
    """The number of households in the population, with about 2.2 persons each."""
    puf_households: int = Field(1_000, ge=1)
    """The number of households in the public use file, with all their members."""
    eif_households: int = Field(2_000, ge=1)
    """The number of addresses in the external intruder file."""
    known: Share = 0.6
    """The share of the households of the public use file whose address the broker has."""
    lacking: Share = 0.06
    """The share of members whom the broker does not know."""
    wrong: Share = 0.03
    """The share of members in whose place the broker has another person."""
    moved: Share = 0.02
    """The share of households with the region of a former address."""
    errors: Share = 0.08
    """The share of households with another tenure; a quarter of it is the share of members with another age."""
    age_noise: Share = 0.2
    """The share of members whose released age is a year off."""
    top_age: int = Field(90, ge=1)
    """The age that replaces higher ones in the public use file."""
    missing: Share = 0.02
    """The share of released members without a marital status."""

    @property
    def files(self) -> LinkedFiles:
        """The descriptions of the files that are drawn."""
        return _of_units("household", "address")


class Visits(Linked):
    """A public use file of hospital visits, an insurer's file of some of them, and the links between their patients."""

    kind: Literal["visits"]
    """The kind of simulation."""
    seed: int = Field(2026, ge=0)
    """The seed of all random draws."""
    households: int = Field(3_000, ge=1)
    """The number of households from which patients are drawn, with about 2.2 persons each."""
    puf_patients: int = Field(1_000, ge=1)
    """The number of patients in the public use file, with all their visits in a year."""
    eif_patients: int = Field(2_000, ge=1)
    """The number of persons in the external intruder file."""
    known: Share = 0.5
    """The share of the patients of the public use file whom the insurer insures."""
    lacking: Share = 0.3
    """The share of visits that the insurer does not know."""
    moved: int = Field(3, ge=0, le=180)
    """The largest number of days by which a released date is moved, back or forth."""
    errors: Share = 0.08
    """The share of visits with another reason, of those without one, and of those with a later date."""

    @property
    def files(self) -> LinkedFiles:
        """The descriptions of the files that are drawn."""
        return _of_units("patient", "member")


def _of_units(puf: str, eif: str) -> LinkedFiles:
    """Return the descriptions of files whose rows are members of units, which the links name."""
    return LinkedFiles(
        puf=RecordFile(path="puf.csv", id=(puf,)),
        eif=ExternalFile(path="eif.csv", id=(eif,)),
        iuf=LinkFile(path="iuf.csv", puf_id=(puf,), eif_id=(eif,)),
    )


class SyntheticSurvey(Section):
    """A confidential survey of adults, and synthetic files with synthesized occupation and income."""

    kind: Literal["synthetic-survey"]
    """The kind of simulation."""
    seed: int = Field(2026, ge=0)
    """The seed of all random draws."""
    households: int = Field(6_000, ge=1)
    """The number of households in the population, with about 2.2 persons each."""
    records: int = Field(5_000, ge=1)
    """The number of records of the survey: adults drawn at random."""
    copies: int = Field(3, ge=1, le=1000)
    """The number of synthetic files, m."""
    noise: Annotated[float, Field(ge=0, le=1)] = 0.25
    """As `noise` of the treatment, of the income of a similar person."""
    rounding: int = Field(100, ge=1)
    """The number to whose nearest multiple incomes are rounded."""
    missing: Share = 0.03
    """The share of incomes that are not stated, the same in all files."""
    holdout: int = Field(0, ge=0, exclude_if=operator.not_)
    """The number of records of a holdout for `matching.closest`: other adults, drawn at random."""


class LocalAuthorities(Section):
    """The census of two local authorities, with twelve variables of every person, and a survey of them."""

    kind: Literal["local-authorities"]
    """The kind of simulation."""
    seed: int = Field(1991, ge=0)
    """The seed of all random draws."""
    households: tuple[Annotated[int, Field(ge=1)], ...] = Field((70_000, 50_000), min_length=2, max_length=2)
    """The number of households in each of the two authorities, with about 2.2 persons each."""
    fraction: float = Field(0.02, gt=0, le=1)
    """The share of the persons of each authority who are in the survey."""


class SkewedAmounts(Section):
    """One file of skewed positive amounts for `microaggregate`: lognormal variables x1, x2 … of persons."""

    kind: Literal["skewed-amounts"]
    """The kind of simulation."""
    seed: int = Field(2026, ge=0)
    """The seed of all random draws."""
    records: int = Field(1_000, ge=1)
    """The number of records."""
    variables: int = Field(3, ge=1, le=64)
    """The number of variables: x1, x2 and so on."""
    sigma: float = Field(1.0, gt=0, le=3)
    """The standard deviation of the logarithms of the amounts."""
    correlation: float = Field(0.3, ge=0, lt=1)
    """The correlation of the logarithms of two variables. The squared correlations in METHODS §9 are at most 0.2."""


def _kind(value: Any) -> Any:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind or "household-survey"


Simulation = Annotated[
    Annotated[HouseholdSurvey, Tag("household-survey")]
    | Annotated[SyntheticSurvey, Tag("synthetic-survey")]
    | Annotated[LocalAuthorities, Tag("local-authorities")]
    | Annotated[Households, Tag("households")]
    | Annotated[Visits, Tag("visits")]
    | Annotated[SkewedAmounts, Tag("skewed-amounts")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message="must have as `kind` one of `household-survey`, `households`, `visits`, "
        "`synthetic-survey`, `local-authorities` and `skewed-amounts`. Correct the `kind`.",
    ),
]
"""The section `simulate` of a study: one of these sections, distinguished by its `kind`."""
