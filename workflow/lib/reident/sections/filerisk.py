"""The section `file_risk` of a study file: a file, a key and a sampling fraction (METHODS §7)."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from reident.sections.base import Pattern, Section, name_alone, refuse_repeats
from reident.sections.codes import (
    Codes,
    Coding,
    IntegerCoded,
    both_spellings,
    check_order,
    check_recodes,
)
from reident.sections.files import Name, Names, SourceFile

if TYPE_CHECKING:
    from reident.sections.linkage import LinkingVariable

MAX_KEY_VARIABLES = 57
SURVEY, POPULATION = "survey", "population"
"""The sides of the two files that only this section reads."""

RESERVED = frozenset(
    {
        "row", "cell_size", "unique", "special_unique", "n_msu", "min_msu", "smallest_msu", "suda", "dis_suda",
        "dis_suda_elliot_manning", "dis_suda_user_guide", "population_reciprocal",
    }
)  # fmt: skip
"""Columns of the record table that must not be columns of the key."""


class RiskFile(SourceFile):
    """A file that only this section reads."""

    id: Names | None = Field(
        None,
        description="The column or columns that identify a record, compared as text. If absent: the row number "
        "identifies a record.",
    )


SIMULATED_SURVEY = RiskFile(path="survey.csv", id=("SERIAL",))
SIMULATED_POPULATION = SourceFile(path="population.csv")
"""The files that the simulation of local authorities creates."""


class KeyVariable(Section):
    """A key variable."""

    model_config = ConfigDict(json_schema_extra=both_spellings)

    name: Name = Field(description="The name of the variable in the study.")
    column: Name = Field(
        "",
        validate_default=False,
        description="The column of the file, and of the population. If absent: the name of the variable.",
    )
    type: Literal["categorical", "numeric"] = Field(
        "categorical",
        description="How values are read. Values of a categorical variable are compared as codes. A numeric variable "
        "is cut at the quantiles of the whole file, and its bins are compared; `binning` has their number. Source: "
        "METHODS §3, §7.",
    )
    missing: Codes = Field(
        (),
        description='The codes that mean missing; `""` is an empty cell. No other code is missing. Missing codes are '
        "looked up before recoding. Source: METHODS §1.",
    )
    recode: dict[str, str] = Field(
        default_factory=dict, description="The mapping from the codes of the file to those of the study."
    )
    order: tuple[str, ...] | None = Field(
        None, min_length=2, description="Categorical: all categories after recoding, from lowest to highest."
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
        check_order(self.type, self.order, integer_coded=self.integer_coded)
        return self

    @model_validator(mode="after")
    def _recodes_fit(self) -> KeyVariable:
        coding = Coding(self.type, self.missing, self.recode, self.order, self.integer_coded)
        check_recodes(coding, "recode", "missing")
        return self


KeyVariables = tuple[
    Annotated[KeyVariable, BeforeValidator(name_alone, json_schema_input_type=Name | KeyVariable)], ...
]


class SpecialForm(Section):
    """The special form of DIS, a simulation."""

    standard_error: float = Field(
        0.005,
        gt=0,
        lt=1,
        description="The largest standard error of the result: rounds are repeated until it is reached, up to 100,000 "
        "rounds.",
    )
    seed: int = Field(
        1, ge=0, description="The seed for drawing the records that are removed and copied back."
    )


class NumericalStudy(Section):
    """Samples of the population, which show how accurate DIS and DIS-SUDA are."""

    samples: int = Field(50, ge=1, le=10_000, description="The number of samples.")
    fraction: float | None = Field(
        None,
        gt=0,
        le=1,
        description="The share of the population in a sample. If absent: `sampling_fraction`.",
    )
    strata: Names | None = Field(
        None,
        description="Columns of the population: the fraction is drawn from every group of equal values. If absent: "
        "from the whole population.",
    )
    seed: int = Field(1, ge=0, description="The seed for drawing the samples.")


class Population(Section):
    """The population that the file is a sample of."""

    file: SourceFile | None = Field(
        None,
        description="The file of the population, with the columns of the key variables; absent if `simulate` draws it.",
    )
    numerical_study: NumericalStudy | None = Field(
        None,
        description="The numerical study of Elliot and Manning 2003 on this population; `{}` takes the defaults. If "
        "absent: not computed.",
    )


def _form_of_file(value: Any) -> str:
    return "word" if isinstance(value, str) else "section"


Side = Annotated[
    str,
    Pattern(
        r"(puf|eif|confidential|synthetic_[1-9]\d*|survey)",
        "must be one of `puf`, `eif`, `confidential`, `synthetic_1` … and `survey`, or a section. Correct the word, or "
        "describe another file, for example `file: {path: survey.csv, id: pid}`.",
    ),
]


class FileRisk(Section):
    """The risk of one file: sample uniques, DIS, SUDA and DIS-SUDA."""

    file: Annotated[
        Annotated[Side, Tag("word")] | Annotated[RiskFile, Tag("section")], Discriminator(_form_of_file)
    ] = Field(
        "puf",
        description="The file whose risk is measured: a file of the study (`puf`, `eif`, `confidential`, `synthetic_1` "
        "…, or `survey`, which `simulate` with the kind `local-authorities` draws), or a section that describes "
        "another file.",
    )
    key_variables: KeyVariables = Field(
        (),
        max_length=MAX_KEY_VARIABLES,
        description="The key variables, each as a name or as a mapping. If absent: the linking variables. With `puf` "
        "or `eif`, the name of a linking variable is sufficient.",
    )
    missing: Literal["excluded", "category"] = Field(
        "excluded",
        description="Whether a record is excluded from sets with a variable whose value is missing, or missing is a "
        "category like any other. Source: METHODS §7.",
    )
    sampling_fraction: float | None = Field(
        None,
        gt=0,
        le=1,
        description="The sampling fraction f, the share of the population in the file. Exactly one of this and "
        "`weight`.",
    )
    weight: Name | None = Field(
        None, description="A column of the file with weights; f is 1 divided by their mean."
    )
    max_order: int | None = Field(
        None,
        ge=1,
        description="The largest number of variables of a minimal sample unique. If absent: no limit. Source: METHODS "
        "§7.",
    )
    weighting: Literal["elliot", "normalised"] = Field(
        "elliot", description="The weight of a minimal sample unique in the SUDA score. Source: METHODS §7."
    )
    dis_suda: Literal["elliot-manning", "user-guide"] = Field(
        "elliot-manning",
        description="The definition of the column `dis_suda` of the records; the other definition is computed as well. "
        "Source: METHODS §7.",
    )
    special: SpecialForm = Field(
        default_factory=SpecialForm, description="The special form of DIS, a simulation."
    )
    population: Population | None = Field(
        None, description="The population that the file is a sample of, if it is available."
    )

    @property
    def side(self) -> str:
        """The side of the file in the study; ``survey`` for a file that only this section reads."""
        return self.file if isinstance(self.file, str) else SURVEY

    @property
    def described_file(self) -> RiskFile:
        """The file that only this section reads, declared or simulated."""
        return self.file if isinstance(self.file, RiskFile) else SIMULATED_SURVEY

    def sources(self, known: Mapping[str, SourceFile]) -> dict[str, SourceFile]:
        """Return the files of this section by side; ``known`` are the other files of the study."""
        sources = {self.side: self.described_file if self.side == SURVEY else known[self.side]}
        if self.population is not None:
            sources[POPULATION] = self.population.file or SIMULATED_POPULATION
        return sources

    @property
    def named_files(self) -> dict[tuple[str | int, ...], str]:
        """The paths that the section names, by their location in the study file."""
        paths: dict[tuple[str | int, ...], str] = {}
        if isinstance(self.file, RiskFile):
            paths["file_risk", "file", "path"] = self.file.path
        if self.population is not None and self.population.file is not None:
            paths["file_risk", "population", "file", "path"] = self.population.file.path
        return paths

    def key(self, linking: Sequence[LinkingVariable]) -> tuple[KeyVariable, ...]:
        """Return the key variables; a linking variable is taken over as it is declared."""
        if self.side not in ("puf", "eif"):
            return self.key_variables
        declared = {variable.name: _of_linking(variable, self.side) for variable in linking}
        if not self.key_variables:
            return tuple(declared.values())
        return tuple(
            declared.get(variable.name, variable) if variable == KeyVariable(name=variable.name) else variable
            for variable in self.key_variables
        )

    @property
    def study_fraction(self) -> float | None:
        """The sampling fraction of the numerical study; None if it follows from the weights."""
        study = self.population.numerical_study if self.population else None
        return study.fraction if study and study.fraction is not None else self.sampling_fraction

    def check_files(self, sides: Container[str], *, simulated: bool) -> None:
        """Refuse files that the study does not have.

        Parameters
        ----------
        sides : container of str
            The sides of the other files of the study.
        simulated : bool
            Whether the study simulates the files of this section.

        Raises
        ------
        ValueError
        """
        if simulated != (self.file == SURVEY):
            raise ValueError(
                "`.file_risk.file` must be `survey` if `simulate` has the kind `local-authorities`, and only then. "
                "Give both, or describe the file under `file`."
            )
        if self.side != SURVEY and self.side not in sides:
            raise ValueError(
                f"`.file_risk.file` must be a file of the study, but the study has no `{self.side}`. Name another "
                "file, or describe one, for example `file: {path: survey.csv, id: pid}`."
            )
        if self.population is not None and (self.population.file is None) != simulated:
            raise ValueError(
                "`.file_risk.population` must have exactly one source: its `file`, or `simulate` with the kind "
                "`local-authorities`. Remove the other, or add one."
            )

    def check_key(self, key: Sequence[KeyVariable], names: Sequence[str]) -> None:
        """Refuse an empty or too long key, and columns of the id that other columns of the results have as names.

        Parameters
        ----------
        key : sequence of KeyVariable
        names : sequence of str
            The columns that identify a record.

        Raises
        ------
        ValueError
        """
        if not 1 <= len(key) <= MAX_KEY_VARIABLES:
            raise ValueError(
                f"`.file_risk` must have 1 to {MAX_KEY_VARIABLES} key variables. List them as `key_variables`."
            )
        other = RESERVED | {variable.name for variable in key}
        for name in names:
            if name in other:
                raise ValueError(
                    f"`{name}` must not identify a record of `file_risk`, because a key variable or a result column "
                    "has this name. Give the variable another `name`, or rename the column."
                )

    @model_validator(mode="after")
    def _one_fraction(self) -> FileRisk:
        if (self.sampling_fraction is None) == (self.weight is None):
            raise ValueError(
                "must have exactly one of `sampling_fraction` and `weight`. Remove the other, or add one."
            )
        return self

    @model_validator(mode="after")
    def _names_fit(self) -> FileRisk:
        refuse_repeats((variable.name for variable in self.key_variables), "key_variables")
        return self

    @model_validator(mode="after")
    def _study_has_a_fraction(self) -> FileRisk:
        if self.population and self.population.numerical_study and self.study_fraction is None:
            raise ValueError(
                "`.population.numerical_study.fraction` is missing. Add it, or replace `weight` by `sampling_fraction`."
            )
        return self


def _of_linking(variable: LinkingVariable, side: str) -> KeyVariable:
    """Return a linking variable as a key variable of one file."""
    return KeyVariable(
        name=variable.name,
        column=getattr(variable, side),
        type=variable.type,
        missing=getattr(variable.missing, side),
        recode=getattr(variable.recode, side),
        order=variable.order,
        integer_coded=variable.integer_coded,
    )
