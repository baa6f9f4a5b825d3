"""The section `matching` of a study file: a release of synthetic data, and an intruder's knowledge (METHODS §8)."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from reident.sections.base import (
    Analysis,
    Codes,
    IntegerCoded,
    Rational,
    Section,
    exactly_one,
    name_alone,
    one_or_many,
    refuse_repeats,
    refuse_strangers,
    word_or,
)
from reident.sections.codes import both_spellings
from reident.sections.exact import rational_text
from reident.sections.files import Name, Names, SourceFile
from reident.sections.keys import n_sets_up_to, refuse_many_sets, sets_up_to

ALL_SUBSETS = "all-subsets"
HOLDOUT = "holdout"
"""The side of the file of people who had no part in the synthesis."""

KNOWN = "known"
"""The name of the set of known variables that the study declares under the key `known`."""

RESERVED = {"scenario", "row", "risk"}
"""Columns of the record table, beside those of the key."""

Distance = Annotated[Rational, Field(ge=0)]


class ConfidentialFile(SourceFile):
    """The confidential file."""

    id: Names | None = None
    """The column or columns of the key, which is compared as text. If absent: the records of every synthetic file are
    in the order of this file."""


class SyntheticFile(SourceFile):
    """A synthetic file."""

    id: Names | None = None
    """The columns of the key. If absent: as in `confidential`."""


class MatchedVariable(Section):
    """A variable of the confidential file and of every synthetic file."""

    model_config = ConfigDict(json_schema_extra=both_spellings)

    name: Name
    """The column, which has the same name in all files."""
    missing: Codes = ()
    """The codes that mean missing; `""` is an empty cell. No other code is missing. Source: METHODS §1."""
    integer_coded: IntegerCoded = False

    @property
    def plain(self) -> bool:
        """Whether only the name is declared."""
        return not self.missing and not self.integer_coded


Variables = tuple[
    Annotated[MatchedVariable, BeforeValidator(name_alone, json_schema_input_type=Name | MatchedVariable)], ...
]


class Radius(Section):
    """The largest difference of two equal numbers: exactly one of `relative` and `absolute`."""

    relative: Distance | None = None
    """A relative radius r: the synthetic y equals the confidential x if abs(y − x) ≤ r·abs(x). Source: METHODS §8."""
    absolute: Distance | None = None
    """An absolute radius d: y equals x if abs(y − x) ≤ d. Source: METHODS §8."""

    _one_of_them = exactly_one("relative", "absolute")

    @property
    def size(self) -> Fraction:
        """The relative or the absolute radius."""
        return self.absolute if self.relative is None else self.relative  # type: ignore[return-value]

    @property
    def text(self) -> str:
        """The radius as tables name it, such as ``relative 0.2``."""
        return f"{'absolute' if self.relative is None else 'relative'} {rational_text(self.size)}"


class Target(Section):
    """A condition on the confidential records; a record with a missing value does not meet it."""

    variable: Name
    """A column of the confidential file, matched or not."""
    equals: tuple[str, ...] | None = Field(None, min_length=1)
    """The values that meet the condition, compared like the codes of the variable."""
    at_least: Rational | None = None
    """The smallest number that meets the condition. The column must be numeric."""
    at_most: Rational | None = None
    """The largest number that meets the condition. The column must be numeric."""

    @model_validator(mode="before")
    @classmethod
    def _one_code(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("equals"), str):
            return {**value, "equals": [value["equals"]]}
        return value

    @model_validator(mode="after")
    def _one_kind(self) -> Target:
        numeric = self.at_least is not None or self.at_most is not None
        if numeric == (self.equals is not None):
            raise ValueError(
                "must have either `equals`, or at least one of `at_least` and `at_most`. Add or remove a key."
            )
        return self

    @property
    def numeric(self) -> bool:
        """Whether the column is read as numbers."""
        return self.equals is None


class Scenario(Section):
    """One intruder, with a named set of known variables."""

    name: Name = Field(max_length=80)
    """The name of the intruder in the report."""
    known: Variables
    """The variables that this intruder knows besides the synthesized ones. May be empty."""


class UncertainTargets(Section):
    """An intruder who does not know whether a target is in the file: exactly one of two population estimates."""

    sampling_fraction: Rational | None = Field(None, gt=0, le=1)
    """The share of the population in the file: among the records that match in a file, the target's own has this
    probability in total. Source: METHODS §8."""
    population_count: Name | None = None
    """A column of the confidential file with the estimated number of people who match the record on all known and
    synthesized variables; positive for every target. Source: METHODS §8."""

    _one_of_them = exactly_one("sampling_fraction", "population_count")


class Closest(Section):
    """Distances of synthetic records to the closest record."""

    holdout: SourceFile | None = None
    """A file of people who had no part in the synthesis, with the columns and codes of the confidential file. If
    absent: distances alone. Absent if `simulate` draws it. Source: METHODS §8.1.
    """
    variables: tuple[Name, ...] = ()
    """The variables of the distance, which are known or synthesized: numbers if they have a radius, otherwise
    categories. If absent: the synthesized variables."""


class NamedSet(NamedTuple):
    """A set of known variables; `listed` if the study names it, otherwise one of all subsets."""

    name: str
    known: tuple[str, ...]
    listed: bool


class Matching(Analysis):
    """Matching-based identification risk of synthetic data."""

    is_compared: ClassVar[bool] = True

    confidential: ConfidentialFile | None = None
    """The confidential file; absent if `simulate` draws it."""
    synthetic: tuple[SyntheticFile, ...] = Field((), max_length=1000)
    """The synthetic files, m ≥ 1; absent if `simulate` draws them."""
    known: (
        Annotated[
            Annotated[Variables, Tag("list")] | Annotated[Literal["all-subsets"], Tag("word")],
            Discriminator(word_or("list")),
        ]
        | None
    ) = None
    """The variables that the intruder knows and that are not synthesized, each as a name or as a mapping; or the word
    `all-subsets` for every set of at most `max_known` of the `candidates`. May be absent if there are `scenarios`.
    Source: METHODS §8."""
    candidates: Variables = ()
    """With `known: all-subsets`: the variables that an intruder may know."""
    max_known: int = Field(3, ge=1, le=63)
    """With `known: all-subsets`: the largest number of variables in a set."""
    scenarios: tuple[Scenario, ...] = ()
    """Further intruders to compare, each with a named set of known variables."""
    synthesized: Variables = Field(min_length=1)
    """The synthesized variables whose true values the intruder knows, each as a name or as a mapping."""
    radius: dict[Name, Radius] = Field(default_factory=dict)
    """The radius of each numeric variable, `{relative: r}` or `{absolute: d}`. Variables without a radius are compared
    as categories."""
    interval: Literal["closed", "open"] = "closed"
    """Whether numbers that differ by exactly the radius are equal (`closed`) or not (`open`). Source: METHODS §8."""
    missing: Literal["never", "each_other"] = "never"
    """Whether missing values never match, or match each other. Source: METHODS §8."""
    targets: Annotated[
        tuple[Target, ...], BeforeValidator(one_or_many(dict), json_schema_input_type=Target | tuple[Target, ...])
    ] = ()
    """The conditions that a confidential record must all meet to be a target (N). If absent: every record is a target.
    Targets are compared with all synthetic records."""
    uncertain_targets: UncertainTargets | None = None
    """The population that the targets are from, for a second intruder who does not know whether a target is in the
    file. Source: METHODS §8."""
    closest: Closest | None = Field(None, exclude_if=operator.not_)
    """The distance of each synthetic record to the closest confidential record, and to the closest record of a holdout;
    `{}` takes the defaults. If absent: not measured. Source: METHODS §8.1."""

    @property
    def closest_variables(self) -> tuple[str, ...]:
        """The variables of the distance to the closest record; empty without it."""
        if self.closest is None:
            return ()
        return self.closest.variables or tuple(variable.name for variable in self.synthesized)

    @property
    def holdout(self) -> SourceFile | None:
        """The file of people who had no part in the synthesis, if the study has one."""
        return self.closest.holdout if self.closest else None

    @property
    def population_count(self) -> str | None:
        """The column with population counts, if the study names one."""
        return self.uncertain_targets.population_count if self.uncertain_targets else None

    @property
    def variables(self) -> dict[str, MatchedVariable]:
        """All matched variables by name, as declared, in the order of their first mention."""
        variables: dict[str, MatchedVariable] = {}
        for variable in self._mentioned():
            if variable.name not in variables or variables[variable.name].plain:
                variables[variable.name] = variable
        return variables

    @property
    def sets(self) -> list[NamedSet]:
        """The sets of known variables: those that the study names, then all subsets by size."""
        named = [Scenario(name=KNOWN, known=self.known)] if isinstance(self.known, tuple) else []
        sets = [
            NamedSet(scenario.name, tuple(variable.name for variable in scenario.known), listed=True)
            for scenario in (*named, *self.scenarios)
        ]
        if self.known == ALL_SUBSETS:
            names = [variable.name for variable in self.candidates]
            sets += [NamedSet(" + ".join(subset), subset, listed=False) for subset in sets_up_to(names, self.max_known)]
        return sets

    def file(self, number: int | None = None) -> SourceFile:
        """Return the description of a synthetic file, counted from 0, or of the confidential file."""
        if self.confidential is None:
            raise ValueError("the files of this section are simulated")
        return self.confidential if number is None else self.synthetic[number]

    def key(self, number: int | None = None) -> tuple[str, ...]:
        """Return the key columns of a synthetic or the confidential file; empty if rows correspond by their order."""
        shared = (self.confidential and self.confidential.id) or ()
        return shared if number is None else (self.synthetic[number].id or shared)

    def _mentioned(self) -> Iterator[MatchedVariable]:
        """Yield every mention of a variable, known variables first."""
        if isinstance(self.known, tuple):
            yield from self.known
        yield from self.candidates
        for scenario in self.scenarios:
            yield from scenario.known
        yield from self.synthesized

    @model_validator(mode="after")
    def _known_is_declared(self) -> Matching:
        if self.known is None and not self.scenarios:
            raise ValueError("must have at least one of `known` and `scenarios`. Add what the intruder knows.")
        if (self.known == ALL_SUBSETS) != bool(self.candidates):
            raise ValueError(
                "`.candidates` must be given with `known: all-subsets`, and only then. Add the variables that an "
                "intruder may know as `candidates`, or list the known variables under `known`."
            )
        n = n_sets_up_to(len(self.candidates), self.max_known)
        refuse_many_sets(n, "known", "Reduce `max_known`, or shorten `candidates`.")
        names = [scenario.name for scenario in self.sets]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"`{name}` is the name of two scenarios. Rename one of them.")
        return self

    @model_validator(mode="after")
    def _variables_fit(self) -> Matching:
        synthesized = {variable.name for variable in self.synthesized}
        groups = [("synthesized", self.synthesized), ("candidates", self.candidates)]
        groups += [("known", self.known)] if isinstance(self.known, tuple) else []
        groups += [(f"scenarios.{scenario.name}", scenario.known) for scenario in self.scenarios]
        for key, group in groups:
            names = [variable.name for variable in group]
            refuse_repeats(names, key)
            for name in names:
                if key != "synthesized" and name in synthesized:
                    raise ValueError(
                        f"`{name}` must not be both in `{key}` and in `synthesized`. Remove it from one of the two "
                        "lists."
                    )
        for variable in self._mentioned():
            if not variable.plain and variable != self.variables[variable.name]:
                raise ValueError(
                    f"`{variable.name}` is declared in two different ways. Declare it once, and write its name "
                    "elsewhere."
                )
        if self.population_count and len(self.sets) > 1:
            raise ValueError(
                "`.uncertain_targets.population_count` must not be given with more than one set of known variables, "
                "because the counts are those of one set. Keep one set, or use `sampling_fraction`."
            )
        for name in self.radius:
            if name not in self.variables:
                raise ValueError(
                    f"`.radius.{name}` is not the radius of a known or synthesized variable. Correct the name."
                )
            if self.variables[name].integer_coded:
                raise ValueError(f"`{name}` must not have both a radius and `integer_coded`. Remove one of the two.")
        return self

    @model_validator(mode="after")
    def _closest_fits(self) -> Matching:
        refuse_repeats(self.closest_variables, "closest.variables")
        rule = "`.closest.variables` must name known or synthesized variables"
        refuse_strangers(self.closest_variables, self.variables, rule)
        return self

    @model_validator(mode="after")
    def _files_are_declared(self) -> Matching:
        if (self.confidential is None) != (not self.synthetic):
            raise ValueError(
                "`confidential` and `synthetic` must be given together. Add the other, or `simulate` both."
            )
        return self

    @model_validator(mode="after")
    def _keys_fit(self) -> Matching:
        width = len(self.key())
        for name in self.key():
            if name in RESERVED or re.fullmatch(r"[cTKF]_(\d+|confidential)", name):
                raise ValueError(
                    f"`{name}` must not be a key column, because a result column has this name. Rename the key column."
                )
            if name in self.variables:
                raise ValueError(f"`{name}` must not be both a key column and a variable. Remove one of the two.")
        for number, file in enumerate(self.synthetic, start=1):
            if file.id is not None and not width:
                raise ValueError(
                    f"`.synthetic[{number}].id` must not be given if `confidential` has no `id`. Add or remove one of "
                    "the two."
                )
            if file.id is not None and len(file.id) != width:
                raise ValueError(
                    f"`.synthetic[{number}].id` must have as many columns as `confidential.id`, but has {len(file.id)} "
                    f"instead of {width}. Correct one of the two."
                )
        return self
