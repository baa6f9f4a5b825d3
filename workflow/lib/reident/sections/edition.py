"""The published file of a releasable edition: one model for what writes it and for what reads it (METHODS §11.3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from reident.sections.base import Day, Section
from reident.sections.language import LANGUAGES
from reident.sections.release import MAX_COUNT, Policy

MAX_COUNTS = 500
"""The counts of one statement."""

Label = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=300)]
Number = Annotated[int, Field(strict=True, ge=0, le=MAX_COUNT)]
Published = Annotated[str, Field(max_length=40)]
"""A text of a rounding policy, or nothing."""

ANY, METRIC, ALL, SINGLE = "any", "metric", "all", "single"
"""Counts of an attack: records found by any metric, by one, by all metrics at once, or as a single candidate."""

ATTACK, POPULATION, MATCHING = "attack", "population", "matching"
"""What statements are about: links; sample uniques that are unique in the population; people in synthetic files."""


class ToldCount(Section):
    """What a statement tells of one count."""

    kind: Literal["any", "metric", "all", "single", "unique", "matched", "right"]
    """What is counted."""
    metrics: Annotated[tuple[Name, ...], Field(max_length=50)] = ()
    """The metrics that find the records."""
    stratum: Label = ""
    """The stratum of the records; empty for the whole study."""
    suspected: Published
    """The records that could count, rounded."""
    first: Published
    """The text of the smallest count that the statement leaves; empty where nothing is told."""
    last: Published
    """That of the largest one."""
    at_least: Number | None = None
    """The smallest count that texts, limits and earlier statements tell; absent where nothing tells it."""
    at_most: Number | None = None
    """The largest count that they tell."""
    digest: str = Field(pattern="^([0-9a-f]{64})?$")
    """The SHA-256 of what could count, from the files alone: it tells a later edition that this is the same count.
    Empty where nothing is told."""

    @model_validator(mode="after")
    def _ends_fit(self) -> ToldCount:
        if (self.at_least or 0) > (MAX_COUNT if self.at_most is None else self.at_most):
            raise ValueError("`.at_least` must be at most `at_most`. Use the edition as it was published.")
        if bool(self.first) != bool(self.last):
            raise ValueError("must have `first` and `last`, or neither. Use the edition as it was published.")
        if not self.metrics and self.kind in {ANY, METRIC, ALL, SINGLE}:
            raise ValueError("`.metrics` must name a metric. Use the edition as it was published.")
        return self


class ToldLimit(Section):
    """What a statement tells of one limit."""

    limit: Name
    """The key of the limit in the section `decision`."""
    count: int = Field(strict=True, ge=0, lt=MAX_COUNTS)
    """The count that it is about, by its position from 0."""
    bound: float = Field(ge=0, le=MAX_COUNT)
    """The bound, a fraction or a number of records."""
    level: float | None = Field(None, gt=0, lt=1)
    """The level of the confidence interval whose upper end is compared; absent where the rate itself is."""
    interval: Literal["clopper-pearson", "wilson"] | None = None
    """The method of that interval."""
    outcome: Literal["within", "above", "withheld", "cannot be broken"]
    """What is told."""


class Part(Section):
    """The statement on one secret."""

    about: Literal["attack", "population", "matching"]
    """What is secret: links, what is unique in the population, or who is found in synthetic files."""
    records: Published
    """The records of the released file, or the people looked for, rounded."""
    others: Published = ""
    """The records of the intruder's file, rounded."""
    told: bool = True
    """Whether the earlier editions leave room for a statement."""
    counts: Annotated[tuple[ToldCount, ...], Field(max_length=MAX_COUNTS)]
    """What is told of each count."""
    limits: Annotated[tuple[ToldLimit, ...], Field(max_length=MAX_COUNTS)] = ()
    """What is told of each limit."""

    @model_validator(mode="after")
    def _limits_have_counts(self) -> Part:
        if any(limit.count >= len(self.counts) for limit in self.limits):
            raise ValueError("`.limits` must be about counts of the statement. Use the edition as it was published.")
        return self


class FileAlone(Section):
    """What follows from the released file alone, rounded."""

    records: Published
    """Its records."""
    unique: Published
    """Those without another one like them on the key variables."""
    below_3: Published
    """Those in groups of fewer than three."""
    below_5: Published
    """Those in groups of fewer than five."""


class EarlierEdition(Section):
    """An earlier edition that this one takes into account."""

    title: Label
    date: Day | None = None


class Edition(Section):
    """The published file of a releasable edition."""

    format: Literal["reident edition 2"]
    """What this file is."""
    study: Name
    """The id of the study."""
    title: Label
    agency: Label
    date: Day | None
    language: Literal[LANGUAGES]  # type: ignore[valid-type] # of names
    software: Label
    """The version of reident."""
    counted: Literal["records", "units"]
    """What is counted: records, or units such as households."""
    policy: Policy
    """The whole rounding policy."""
    free: int = Field(strict=True, ge=1, le=MAX_COUNT)
    """How many records stay free, M: for every set of so many and all that could be true of them, the statement could
    be the same."""
    one_to_one: bool
    """Whether this also holds for readers who take it that no two records are of one person."""
    released_means: Literal["within"] | None
    """`within` if the file is released only when it is within all limits."""
    variables: Annotated[tuple[Label, ...], Field(max_length=1000)]
    """The linking variables, or what an intruder knows, or the key variables."""
    strata: Annotated[tuple[Label, ...], Field(max_length=1000)]
    """The strata variables."""
    metrics: Annotated[tuple[Name, ...], Field(max_length=50)]
    """The metrics of the attack."""
    file: FileAlone | None = None
    """What follows from the released file alone."""
    more_limits: bool
    """Whether the study has limits that are not on counts of this edition."""
    parts: Annotated[tuple[Part, ...], Field(max_length=3)]
    """The statements."""
    after: Annotated[tuple[EarlierEdition, ...], Field(max_length=20)] = ()
    """The earlier editions that were taken into account."""
