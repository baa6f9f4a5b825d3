"""The section `matching` of a study file: a release of synthetic data, and what an intruder knows (METHODS §8)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from reident.sections.base import Section
from reident.sections.codes import Codes, IntegerCoded, both_spellings
from reident.sections.exact import Rational
from reident.sections.files import Name, Names, SourceFile

ALL_SUBSETS = "all-subsets"
KNOWN = "known"
"""The name of the set of known variables that the study lists as `known`."""

MOST_SETS = 10_000
RESERVED = {"scenario", "row", "risk"}
"""Columns of the record table, beside those of the key."""

Distance = Annotated[Rational, Field(ge=0)]


class ConfidentialFile(SourceFile):
    """The confidential file."""

    id: Names | None = Field(
        None,
        description="The column, or columns, of the key; compared as text. Absent: the rows of every synthetic file "
        "are in the order of this file's.",
    )


class SyntheticFile(SourceFile):
    """A synthetic file."""

    id: Names | None = Field(None, description="The columns of the key; absent: named as in `confidential`.")


class MatchedVariable(Section):
    """A variable that the confidential file and every synthetic file hold."""

    model_config = ConfigDict(json_schema_extra=both_spellings)

    name: Name = Field(description="The column, of the same name in all files.")
    missing: Codes = Field(
        (),
        description='The codes that mean missing; `""` is an empty cell. Nothing else is missing. Source: METHODS §1.',
    )
    integer_coded: IntegerCoded = False

    @property
    def plain(self) -> bool:
        """Whether nothing is declared but the name."""
        return not self.missing and not self.integer_coded


def _name_alone(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


_Declared = Annotated[
    MatchedVariable, BeforeValidator(_name_alone, json_schema_input_type=Name | MatchedVariable)
]
Variables = tuple[_Declared, ...]


class Radius(Section):
    """When two numbers are equal: exactly one of `relative` and `absolute`."""

    relative: Distance | None = Field(
        None,
        description="r: the synthetic y is equal to the confidential x if abs(y − x) ≤ r·abs(x). Source: METHODS §8.",
    )
    absolute: Distance | None = Field(None, description="d: y is equal to x if abs(y − x) ≤ d.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Radius:
        if (self.relative is None) == (self.absolute is None):
            raise ValueError("a radius is either `{relative: r}` or `{absolute: d}`; give exactly one.")
        return self

    @property
    def size(self) -> Fraction:
        """The share or the distance."""
        return self.absolute if self.relative is None else self.relative  # type: ignore[return-value]


class Target(Section):
    """A condition on the confidential records; a record whose value is missing does not meet it."""

    variable: Name = Field(description="A column of the confidential file; it need not be matched.")
    equals: tuple[str, ...] | None = Field(
        None,
        min_length=1,
        description="The codes of which the value is one, compared as those of the variable are.",
    )
    at_least: Rational | None = Field(None, description="The smallest number; the column is numeric.")
    at_most: Rational | None = Field(None, description="The largest number; the column is numeric.")

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
            raise ValueError("a target has either `equals` or `at_least` and `at_most`; give one of these.")
        return self

    @property
    def numeric(self) -> bool:
        """Whether the column is read as numbers."""
        return self.equals is None


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


class Scenario(Section):
    """One intruder: a named set of known variables."""

    name: Name = Field(max_length=80, description="What the report calls the intruder.")
    known: Variables = Field(
        description="The variables that this intruder knows; empty: none but the synthesized ones."
    )


class NamedSet(NamedTuple):
    """A set of known variables as it is computed; `listed` where the study names it, else one of all subsets."""

    name: str
    known: tuple[str, ...]
    listed: bool


def _form_of_known(value: Any) -> str:
    return "word" if isinstance(value, str) else "list"


class Matching(Section):
    """Matching-based identification risk of synthetic data."""

    confidential: ConfidentialFile | None = Field(
        None, description="The confidential file; absent where `simulate` draws it."
    )
    synthetic: tuple[SyntheticFile, ...] = Field(
        (), max_length=1000, description="The synthetic files, m ≥ 1; absent where `simulate` draws them."
    )
    known: (
        Annotated[
            Annotated[Variables, Tag("list")] | Annotated[Literal["all-subsets"], Tag("word")],
            Discriminator(_form_of_known),
        ]
        | None
    ) = Field(
        None,
        description="The variables that the intruder knows and that are not synthesized, by name or as a mapping as "
        "below; or the word `all-subsets`: every set of `candidates` of at most `max_known` variables. May be absent "
        "where `scenarios` are given. Source: METHODS §8.",
    )
    candidates: Variables = Field(
        (), description="With `known: all-subsets`: the variables that an intruder may know."
    )
    max_known: int = Field(
        3, ge=1, le=63, description="With `known: all-subsets`: the largest number of variables in a set."
    )
    scenarios: tuple[Scenario, ...] = Field(
        (), description="Further intruders, each a named set of known variables, compared with each other."
    )
    synthesized: Variables = Field(
        min_length=1,
        description="The synthesized variables whose true values the intruder knows, by name or as a mapping.",
    )
    radius: dict[Name, Radius] = Field(
        default_factory=dict,
        description="By variable: `{relative: r}` or `{absolute: d}`. A variable with a radius is numeric, all others "
        "are compared as categories.",
    )
    interval: Literal["closed", "open"] = Field(
        "closed", description="Whether a number at the very end of its radius is equal. Source: METHODS §8."
    )
    missing: Literal["never", "each_other"] = Field(
        "never", description="What a missing value matches. Source: METHODS §8."
    )
    targets: Annotated[
        tuple[Target, ...],
        BeforeValidator(_one_or_many, json_schema_input_type=Target | tuple[Target, ...]),
    ] = Field(
        (),
        description="Conditions, all of which a confidential record must meet to be a target (N); absent: every "
        "record is one. All records are matched against, targets or not.",
    )

    @property
    def variables(self) -> dict[str, MatchedVariable]:
        """Every matched variable by name, as it is declared, in the order in which they first stand."""
        found: dict[str, MatchedVariable] = {}
        for variable in self._mentioned():
            if variable.name not in found or found[variable.name].plain:
                found[variable.name] = variable
        return found

    @property
    def sets(self) -> list[NamedSet]:
        """The sets of known variables: what the study names first, then all subsets, smallest first."""
        named = [Scenario(name=KNOWN, known=self.known)] if isinstance(self.known, tuple) else []
        found = [
            NamedSet(name=one.name, known=tuple(v.name for v in one.known), listed=True)
            for one in (*named, *self.scenarios)
        ]
        if self.known == ALL_SUBSETS:
            names = [variable.name for variable in self.candidates]
            for size in range(1, min(self.max_known, len(names)) + 1):
                found += [
                    NamedSet(name=" + ".join(known), known=known, listed=False)
                    for known in combinations(names, size)
                ]
        return found

    def file(self, place: int | None = None) -> SourceFile:
        """The description of a synthetic file, counted from 0, or of the confidential one."""
        if self.confidential is None:
            raise ValueError("the files of this section are simulated")
        return self.confidential if place is None else self.synthetic[place]

    def key(self, file: int | None = None) -> tuple[str, ...]:
        """The key columns of a synthetic file, or of the confidential one; empty where rows correspond by order."""
        own = (self.confidential and self.confidential.id) or ()
        return own if file is None else (self.synthetic[file].id or own)

    def _mentioned(self) -> Iterator[MatchedVariable]:
        """Every mention of a variable: known ones first."""
        if isinstance(self.known, tuple):
            yield from self.known
        yield from self.candidates
        for scenario in self.scenarios:
            yield from scenario.known
        yield from self.synthesized

    @model_validator(mode="after")
    def _known_is_said(self) -> Matching:
        if self.known is None and not self.scenarios:
            raise ValueError("says what the intruder knows in `known` or in `scenarios`; add one of them.")
        if (self.known == ALL_SUBSETS) != bool(self.candidates):
            raise ValueError(
                "`known: all-subsets` and `candidates` go together: list the variables that an intruder may know as "
                "`candidates`, or list the known variables as `known`."
            )
        n = len(self.candidates)
        if (sets := sum(comb(n, size) for size in range(1, min(self.max_known, n) + 1))) > MOST_SETS:
            raise ValueError(
                f"`known: all-subsets` makes {sets:,} sets, more than {MOST_SETS:,}; lower `max_known` or shorten "
                "`candidates`."
            )
        names = [one.name for one in self.sets]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two scenarios have the name `{name}`; rename one of them.")
        return self

    @model_validator(mode="after")
    def _variables_fit(self) -> Matching:
        synthesized = {variable.name for variable in self.synthesized}
        groups = [("synthesized", self.synthesized), ("candidates", self.candidates)]
        groups += [("known", self.known)] if isinstance(self.known, tuple) else []
        groups += [(f"scenarios.{one.name}", one.known) for one in self.scenarios]
        for place, group in groups:
            names = [variable.name for variable in group]
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"`{name}` stands twice in `{place}`; keep one of the two.")
                if place != "synthesized" and name in synthesized:
                    raise ValueError(
                        f"`{name}` is in `{place}` and in `synthesized`; remove it from one of the two lists."
                    )
        for variable in self._mentioned():
            if not variable.plain and variable != self.variables[variable.name]:
                raise ValueError(
                    f"`{variable.name}` is declared twice and differently; declare it once, and elsewhere by its name."
                )
        for name in self.radius:
            if name not in self.variables:
                raise ValueError(
                    f"`radius` names `{name}`, which is neither a known nor a synthesized variable; correct the name."
                )
            if self.variables[name].integer_coded:
                raise ValueError(f"`{name}` has a radius, so it is a number; remove its `integer_coded`.")
        return self

    @model_validator(mode="after")
    def _files_are_said(self) -> Matching:
        if (self.confidential is None) != (not self.synthetic):
            raise ValueError("`confidential` and `synthetic` go together; give both, or `simulate` both.")
        return self

    @model_validator(mode="after")
    def _keys_fit(self) -> Matching:
        width = len(self.key())
        for name in self.key():
            if name in RESERVED or re.fullmatch(r"[cTKF]_(\d+|confidential)", name):
                raise ValueError(f"`{name}` is the name of a result column; rename the column of the key.")
            if name in self.variables:
                raise ValueError(
                    f"`{name}` is a column of the key and also a variable; remove one of the two."
                )
        for place, file in enumerate(self.synthetic, start=1):
            if file.id is not None and not width:
                raise ValueError(
                    f"synthetic file {place} has an `id` and `confidential` has none; give both or neither."
                )
            if file.id is not None and len(file.id) != width:
                raise ValueError(
                    f"the `id` of synthetic file {place} has {len(file.id)} columns and that of `confidential` has "
                    f"{width}; make them equal."
                )
        return self
