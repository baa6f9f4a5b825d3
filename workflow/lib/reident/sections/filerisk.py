"""The section `file_risk` of a study file: a file, a key, a sampling fraction (METHODS §7)."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from reident.sections.base import Section
from reident.sections.codes import Codes, IntegerCoded, both_spellings
from reident.sections.files import Name, Names, SourceFile

if TYPE_CHECKING:
    from reident.sections.linkage import LinkingVariable

MOST_KEY_VARIABLES = 57
SURVEY, POPULATION = "survey", "population"
"""The sides of the section's own two files."""

RESERVED = frozenset(
    {
        "row", "cell_size", "unique", "special_unique", "n_msu", "min_msu", "smallest_msu", "suda", "dis_suda",
        "dis_suda_elliot_manning", "dis_suda_user_guide", "population_reciprocal",
    }
)  # fmt: skip
"""Columns of the record table, beside those of the key."""


class RiskFile(SourceFile):
    """A file of its own."""

    id: Names | None = Field(
        None,
        description="The column, or columns, that name a record; compared as text. Absent: records are named by their "
        "row.",
    )


SIMULATED_SURVEY = RiskFile(path="survey.csv", id=("SERIAL",))
SIMULATED_POPULATION = SourceFile(path="population.csv")
"""The files that the simulation of local authorities writes."""


class KeyVariable(Section):
    """A variable of the key."""

    model_config = ConfigDict(json_schema_extra=both_spellings)

    name: Name = Field(description="The name in the study.")
    column: Name = Field(
        "",
        validate_default=False,
        description="The column of the file, and of the population; empty: the name.",
    )
    type: Literal["categorical", "numeric"] = Field(
        "categorical",
        description="Whether equal codes are equal, or equal bins: a numeric variable is cut at the quantiles of the "
        "whole file, into as many bins as `binning` says. Source: METHODS §3, §7.",
    )
    missing: Codes = Field(
        (), description='The codes that mean missing; `""` is an empty cell. Nothing else is missing. '
        "They are looked up before recoding. Source: METHODS §1.",
    )  # fmt: skip
    recode: dict[str, str] = Field(
        default_factory=dict, description="From the code of the file to that of the study."
    )
    order: tuple[str, ...] | None = Field(
        None, min_length=2, description="Categorical: every category after recoding, from lowest to highest."
    )
    integer_coded: IntegerCoded = False

    @model_validator(mode="before")
    @classmethod
    def _column_defaults_to_the_name(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            return {"column": value["name"], **value}
        return value

    @model_validator(mode="after")
    def _type_fits(self) -> KeyVariable:
        if self.type == "numeric" and (self.order is not None or self.integer_coded):
            raise ValueError(
                "`order` and `integer_coded` go with `type: categorical`; remove them or change the type."
            )
        if self.order is not None and len(set(self.order)) < len(self.order):
            raise ValueError("a category stands twice in `order`; keep one of the two.")
        return self


def _name_alone(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


KeyVariables = tuple[
    Annotated[KeyVariable, BeforeValidator(_name_alone, json_schema_input_type=Name | KeyVariable)], ...
]


class SpecialForm(Section):
    """The special form of DIS, which is simulated."""

    standard_error: float = Field(
        0.005,
        gt=0,
        lt=1,
        description="Rounds go on until the standard error is not above it, but for no more than 100,000.",
    )
    seed: int = Field(1, ge=0, description="The seed of the records that are removed and copied back.")


class NumericalStudy(Section):
    """Samples drawn from the population, to see how true DIS and DIS-SUDA are."""

    samples: int = Field(50, ge=1, le=10_000, description="How many samples are drawn.")
    fraction: float | None = Field(
        None, gt=0, le=1, description="Share of the population in a sample; absent: `sampling_fraction`."
    )
    strata: Names | None = Field(
        None,
        description="Columns of the population; the fraction is taken of every group of equal values. Absent: of the "
        "whole.",
    )
    seed: int = Field(1, ge=0, description="The seed of the samples.")


class Population(Section):
    """The population of which the file is a sample."""

    file: SourceFile | None = Field(
        None,
        description="The file of the population, with the columns of the key variables; absent where `simulate` "
        "draws it.",
    )
    numerical_study: NumericalStudy | None = Field(
        None,
        description="The numerical study of Elliot and Manning 2003 on this population; absent: none. `{}` takes the "
        "defaults.",
    )


def _form_of_file(value: Any) -> str:
    return "word" if isinstance(value, str) else "section"


_SIDE = re.compile(r"puf|eif|confidential|synthetic_[1-9]\d*|survey")


def _is_a_side(value: str) -> str:
    if not _SIDE.fullmatch(value):
        raise ValueError(
            f"`{value}` is none of `puf`, `eif`, `confidential`, `synthetic_1` …, `survey`; a file of its own is a "
            "section, for example `file: {path: survey.csv, id: pid}`."
        )
    return value


Side = Annotated[str, AfterValidator(_is_a_side)]


class FileRisk(Section):
    """Risk of one file: sample uniques, DIS, SUDA, DIS-SUDA."""

    file: Annotated[
        Annotated[Side, Tag("word")] | Annotated[RiskFile, Tag("section")], Discriminator(_form_of_file)
    ] = Field(
        "puf",
        description="The file whose risk is measured: a file that the study has (`puf`, `eif`, `confidential`, "
        "`synthetic_1` …, or `survey`, which `simulate` of the kind `local-authorities` draws), or a file of its own.",
    )
    key_variables: KeyVariables = Field(
        (),
        max_length=MOST_KEY_VARIABLES,
        description="The key, by name or as a mapping; absent: the linking variables. With `puf` or `eif` a linking "
        "variable needs its name alone.",
    )
    missing: Literal["excluded", "category"] = Field(
        "excluded",
        description="Whether a record takes no part in sets with a variable that it misses, or missing is a category "
        "of its own. Source: METHODS §7.",
    )
    sampling_fraction: float | None = Field(
        None, gt=0, le=1, description="f, the share of the population in the file. This or `weight`."
    )
    weight: Name | None = Field(
        None, description="A column of the file with weights: f is 1 divided by their mean."
    )
    max_order: int | None = Field(
        None,
        ge=1,
        description="The largest minimal sample unique that is searched for; absent: every size. "
        "Source: METHODS §7.",
    )
    weighting: Literal["elliot", "normalised"] = Field(
        "elliot", description="What a minimal sample unique adds to the SUDA score. Source: METHODS §7."
    )
    dis_suda: Literal["elliot-manning", "user-guide"] = Field(
        "elliot-manning",
        description="The definition that `dis_suda` of the records takes; the other is computed beside it. "
        "Source: METHODS §7.",
    )
    special: SpecialForm = Field(
        default_factory=SpecialForm, description="The special form of DIS, which is simulated."
    )
    population: Population | None = Field(
        None, description="The population of which the file is a sample, where there is one."
    )

    @property
    def side(self) -> str:
        """The file by its side in the study; ``survey`` for one of its own."""
        return self.file if isinstance(self.file, str) else SURVEY

    @property
    def own_file(self) -> RiskFile:
        """The file of the section's own, declared or simulated."""
        return self.file if isinstance(self.file, RiskFile) else SIMULATED_SURVEY

    def sources(self, known: Mapping[str, SourceFile]) -> dict[str, SourceFile]:
        """The file by its side, and ``population``; ``known`` are the other files of the study."""
        found = {self.side: self.own_file if self.side == SURVEY else known[self.side]}
        if self.population is not None:
            found[POPULATION] = self.population.file or SIMULATED_POPULATION
        return found

    @property
    def named_files(self) -> dict[tuple[str | int, ...], str]:
        """The paths that the section names, by their place in the study file."""
        found: dict[tuple[str | int, ...], str] = {}
        if isinstance(self.file, RiskFile):
            found["file_risk", "file", "path"] = self.file.path
        if self.population is not None and self.population.file is not None:
            found["file_risk", "population", "file", "path"] = self.population.file.path
        return found

    def key(self, linking: Sequence[LinkingVariable]) -> tuple[KeyVariable, ...]:
        """The variables of the key, those of the study's linking variables as these are declared."""
        if self.side not in ("puf", "eif"):
            return self.key_variables
        declared = {variable.name: _of_linking(variable, self.side) for variable in linking}
        if not self.key_variables:
            return tuple(declared.values())
        return tuple(
            declared.get(own.name, own) if own == KeyVariable(name=own.name) else own
            for own in self.key_variables
        )

    @property
    def study_fraction(self) -> float | None:
        """The fraction of a sample of the numerical study; None: that of the weights."""
        own = self.population.numerical_study if self.population else None
        return own.fraction if own and own.fraction is not None else self.sampling_fraction

    def check_files(self, sides: Container[str], *, simulated: bool) -> None:
        """See that the study has the files; ``simulated`` where it simulates those of this section.

        Raises
        ------
        ValueError
        """
        if simulated != (self.file == SURVEY):
            raise ValueError(
                "`file_risk` with `file: survey` and `simulate` of the kind `local-authorities` go together; give "
                "both, or name the file."
            )
        if self.side != SURVEY and self.side not in sides:
            raise ValueError(
                f"`file_risk` is that of `{self.side}`, which the study does not have; name a file of its own, for "
                "example `file: {path: survey.csv, id: pid}`."
            )
        if self.population is not None and (self.population.file is None) != simulated:
            raise ValueError(
                "`population` of `file_risk` has its own `file`, or `simulate` of the kind `local-authorities` draws "
                "it: give exactly one of them."
            )

    def check_key(self, key: Sequence[KeyVariable], names: Sequence[str]) -> None:
        """See that there is a key, and that the columns that name a record can stand beside the results.

        Raises
        ------
        ValueError
        """
        if not 1 <= len(key) <= MOST_KEY_VARIABLES:
            raise ValueError(
                f"`file_risk` takes 1 to {MOST_KEY_VARIABLES} variables; list its `key_variables`."
            )
        taken = RESERVED | {variable.name for variable in key}
        for name in names:
            if name in taken:
                raise ValueError(
                    f"`{name}` names a record of `file_risk` and is also a key variable or a column of its results; "
                    "give the variable another `name`, or rename the column."
                )

    @model_validator(mode="after")
    def _one_fraction(self) -> FileRisk:
        if (self.sampling_fraction is None) == (self.weight is None):
            raise ValueError("takes f from `sampling_fraction` or from `weight`; give exactly one of them.")
        return self

    @model_validator(mode="after")
    def _names_fit(self) -> FileRisk:
        names = [variable.name for variable in self.key_variables]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"`{name}` stands twice in `key_variables`; keep one of the two.")
        return self

    @model_validator(mode="after")
    def _study_has_a_fraction(self) -> FileRisk:
        if self.population and self.population.numerical_study and self.study_fraction is None:
            raise ValueError("`numerical_study` needs the share of a sample; add its `fraction`.")
        return self


def _of_linking(variable: LinkingVariable, side: str) -> KeyVariable:
    """A linking variable as a variable of the key, as it is in one file."""
    return KeyVariable(
        name=variable.name,
        column=getattr(variable, side),
        type=variable.type,
        missing=getattr(variable.missing, side),
        recode=getattr(variable.recode, side),
        order=variable.order,
        integer_coded=variable.integer_coded,
    )
