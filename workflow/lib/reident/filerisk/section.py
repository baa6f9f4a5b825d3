"""The section `file_risk` of a study file: a file, a key and a sampling fraction (METHODS §7)."""

from __future__ import annotations

import operator
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from reident.filerisk.declared_models import PopulationModels
from reident.filerisk.key_sets import KeySets, RiskScenario, check_scenarios
from reident.sections.base import Analysis, Pattern, Section, exactly_one, refuse_repeats, word_or
from reident.sections.files import Name, Names, SourceFile
from reident.sections.keys import (
    Collapse,
    KeyVariable,
    KeyVariables,
    SensitiveVariable,
    SensitiveVariables,
    of_linking,
    taken_over,
)
from reident.simulation.section import LocalAuthorities

if TYPE_CHECKING:
    from reident.sections.linkage import LinkingVariable
    from reident.study.model import Study

MAX_KEY_VARIABLES, MAX_UNLIMITED, MAX_ORDER = 60, 57, 7
"""Key variables of a file, those whose sets can be searched without `max_order`, and its limit for more of them
(METHODS §7)."""

SURVEY, POPULATION, UNPERTURBED = "survey", "population", "unperturbed"
"""The sides of the files that only this section reads."""

RESERVED = frozenset(
    {
        "row", "cell_size", "unique", "special_unique", "n_msu", "min_msu", "smallest_msu", "suda", "dis_suda",
        "dis_suda_elliot_manning", "dis_suda_user_guide", "population_reciprocal", "n_coarser", "matches", "people",
        "individual_risk", "log_linear_risk", "household_risk", "true_risk",
    }
)  # fmt: skip
"""Columns of the record tables that must not be columns of the key."""


class RiskFile(SourceFile):
    """A file that only this section reads."""

    id: Names | None = None
    """The column or columns that identify a record, compared as text. If absent: the row number identifies a record."""


class UnperturbedFile(SourceFile):
    """The records of the file before perturbation."""

    id: Names | None = None
    """The columns that identify a record, in the order of those of the file. If absent: the columns have the same names
    as in the file."""


SIMULATED_SURVEY = RiskFile(path="survey.csv", id=("SERIAL",))
SIMULATED_POPULATION = SourceFile(path="population.csv")
"""The files that the simulation of local authorities creates."""


class SpecialForm(Section):
    """The special form of DIS, a simulation."""

    standard_error: float = Field(0.005, gt=0, lt=1)
    """The largest standard error of the result: rounds are repeated until it is reached, up to 100,000 rounds."""
    seed: int = Field(1, ge=0)
    """The seed for drawing the records that are removed and copied back."""


class NumericalStudy(Section):
    """Samples of the population, which show how accurate DIS and DIS-SUDA are."""

    samples: int = Field(50, ge=1, le=10_000)
    """The number of samples."""
    fraction: float | None = Field(None, gt=0, le=1)
    """The share of the population in a sample. If absent: `sampling_fraction`."""
    strata: Names | None = None
    """Columns of the population: the fraction is drawn from every group of equal values. If absent: from the whole
    population."""
    seed: int = Field(1, ge=0)
    """The seed for drawing the samples."""


class Population(Section):
    """The population that the file is a sample of."""

    file: SourceFile | None = None
    """The file of the population, with the columns of the key variables; absent if `simulate` draws it."""
    numerical_study: NumericalStudy | None = None
    """The numerical study of Elliot and Manning 2003 on this population; `{}` takes the defaults. If absent: not
    computed."""


Side = Annotated[
    str,
    Pattern(
        r"(puf|eif|confidential|synthetic_[1-9]\d*|survey)",
        "must be one of `puf`, `eif`, `confidential`, `synthetic_1` … and `survey`, or a section. Correct the word, or "
        "describe another file, for example `file: {path: survey.csv, id: pid}`.",
    ),
]


class FileRisk(Analysis):
    """The risk of one file: sample uniques, DIS, SUDA and DIS-SUDA."""

    is_compared: ClassVar[bool] = True

    file: Annotated[
        Annotated[Side, Tag("word")] | Annotated[RiskFile, Tag("section")], Discriminator(word_or("section"))
    ] = "puf"
    """The file whose risk is measured: a file of the study (`puf`, `eif`, `confidential`, `synthetic_1` …, or `survey`,
    which `simulate` with the kind `local-authorities` draws), or a section that describes another file."""
    key_variables: KeyVariables = Field((), max_length=MAX_KEY_VARIABLES)
    """The key variables, each as a name or as a mapping. If absent: the linking variables. With `puf` or `eif`, the
    name of a linking variable is sufficient."""
    original: UnperturbedFile | None = None
    """The file before perturbation: the same records by their key. DIS is then also computed for an intruder who
    knows the original values. Source: METHODS §7."""
    missing: Literal["excluded", "category", "wildcard"] = "excluded"
    """What a missing value of the key means: no cell, a category, or a match with every value (as in sdcMicro and
    µ-ARGUS). Source: METHODS §7.
    """
    collapse: tuple[Collapse, ...] = ()
    """Coarser codes of key variables, such as regions instead of districts; the report shows which sample uniques
    stay unique. Source: METHODS §7."""
    sampling_fraction: float | None = Field(None, gt=0, le=1)
    """The sampling fraction f, the share of the population in the file. Exactly one of this and `weight`."""
    weight: Name | None = None
    """A column of the file with weights; f is 1 divided by their mean."""
    max_order: int | None = Field(None, ge=1)
    """The largest number of variables of a minimal sample unique. If absent: no limit, for at most 57 key
    variables. Required with 58 to 60, at most 7. Source: METHODS §7."""
    weighting: Literal["elliot", "normalised"] = "elliot"
    """The weight of a minimal sample unique in the SUDA score. Source: METHODS §7."""
    dis_suda: Literal["elliot-manning", "user-guide"] = "elliot-manning"
    """The definition of the column `dis_suda` of the records; the other definition is computed as well. Source: METHODS
    §7."""
    special: SpecialForm = Field(default_factory=SpecialForm)
    population: Population | None = None
    """The population that the file is a sample of, if it is available."""
    population_models: PopulationModels | None = Field(None, exclude_if=operator.not_)
    """Models that estimate the risk in the population from the file alone: individual risk, log-linear models, and
    models of population uniques; `{}` takes the defaults. If absent: not computed. Source: METHODS §7.1."""
    scenarios: tuple[RiskScenario, ...] = Field((), exclude_if=operator.not_)
    """Intruders who know some of the key variables each, whose risk is measured side by side. Source: METHODS §7.5."""
    key_sets: KeySets | None = Field(None, exclude_if=operator.not_)
    """Every set of key variables up to a size, measured as a scenario; `{}` takes the defaults. If absent: not
    computed. Source: METHODS §7.5."""
    sensitive: SensitiveVariables = Field((), exclude_if=operator.not_)
    """Variables that an intruder wants to know, each as a name or as a mapping. The l-diversity of each is measured for
    every scenario and set without it. The name of a key variable is sufficient, with `puf` or `eif` also that of a
    linking variable. Source: METHODS §7.5."""

    units: Names | None = Field(None, exclude_if=operator.not_)
    """The columns that identify a unit, such as a household; uniques, k-anonymity, DIS and limits are then also
    those of units. If absent: the `units` of the study, for `puf` and `eif`. Source: METHODS §7.7.
    """

    @property
    def side(self) -> str:
        """The side of the file in the study; ``survey`` for a file that only this section reads."""
        return self.file if isinstance(self.file, str) else SURVEY

    @property
    def described_file(self) -> RiskFile:
        """The file that only this section reads, declared or simulated."""
        return self.file if isinstance(self.file, RiskFile) else SIMULATED_SURVEY

    def sources(self, study_sources: Mapping[str, SourceFile]) -> dict[str, SourceFile]:
        """Return the files of this section by side; ``study_sources`` are the other files of the study."""
        sources: dict[str, SourceFile] = {
            self.side: self.described_file if self.side == SURVEY else study_sources[self.side]
        }
        if self.original is not None:
            sources[UNPERTURBED] = self.original
        if self.population is not None:
            sources[POPULATION] = self.population.file or SIMULATED_POPULATION
        return sources

    def key(self, linking: Sequence[LinkingVariable]) -> tuple[KeyVariable, ...]:
        """Return the key variables; a linking variable is taken over as it is declared."""
        declared = self._declared(linking)
        if declared and not self.key_variables:
            return tuple(declared.values())
        return tuple(taken_over(variable, declared) for variable in self.key_variables)

    def known_to_all(self, key: Sequence[str]) -> frozenset[str]:
        """Return the variables of every scenario and set, whose diversity is not measured."""
        sets = [scenario.known for scenario in self.scenarios]
        sets += self.key_sets.list_sets(key) if self.key_sets else []
        return frozenset.intersection(*map(frozenset, sets)) if sets else frozenset()

    def targets(self, linking: Sequence[LinkingVariable]) -> tuple[SensitiveVariable, ...]:
        """Return the sensitive variables; a key variable or a linking variable is taken over as it is declared."""
        declared = self._declared(linking) | {variable.name: variable for variable in self.key(linking)}
        return tuple(
            variable.complete(declared[variable.name])
            if variable.is_name_alone and variable.name in declared
            else variable
            for variable in self.sensitive
        )

    def _declared(self, linking: Sequence[LinkingVariable]) -> dict[str, KeyVariable]:
        """Return the linking variables by name, where the file is one of those that are linked."""
        if self.side not in ("puf", "eif"):
            return {}
        return {variable.name: of_linking(variable, self.side) for variable in linking}

    @property
    def study_fraction(self) -> float | None:
        """The sampling fraction of the numerical study; None if it follows from the weights."""
        study = self.population.numerical_study if self.population else None
        return study.fraction if study and study.fraction is not None else self.sampling_fraction

    def fit(self, study: Study) -> None:
        """Refuse files, key variables, sensitive variables and units that the study does not have, or not like this."""
        simulated = isinstance(study.simulate, LocalAuthorities)
        self.check_files({**study.linked_sources, **study.matched_sources}, simulated=simulated)
        self.check_key(study.risk_key, study.risk_id)
        self.check_targets(study.linking_variables)
        self.check_household(study.risk_units)

    def check_files(self, sides: Container[str], *, simulated: bool) -> None:
        """Refuse files that the study, whose other files have these sides, does not have."""
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
        """Refuse an empty or too long key, options that do not fit it, and names of results as columns of the id."""
        if not 1 <= len(key) <= MAX_KEY_VARIABLES:
            raise ValueError(
                f"`.file_risk` must have 1 to {MAX_KEY_VARIABLES} key variables. List them as `key_variables`."
            )
        if len(key) > MAX_UNLIMITED and (self.max_order is None or self.max_order > MAX_ORDER):
            raise ValueError(
                f"`.file_risk` must have a `max_order` of at most {MAX_ORDER} for {len(key)} key variables; it need "
                f"not for at most {MAX_UNLIMITED}. Add it, or remove key variables."
            )
        for coarser in self.collapse:
            coarser.check(key)
        variables = [variable.name for variable in key]
        if self.population_models is not None:
            self.population_models.check(variables)
        check_scenarios(self.scenarios, self.key_sets, variables)
        if self.original is not None and not names:
            raise ValueError(
                "`.file_risk.original` must not be given for a file without `id`, because its records are matched by "
                "their key. Add `id` to the file."
            )
        if self.original is not None and len(self.original.id or names) != len(names):
            raise ValueError(
                f"`.file_risk.original.id` must have as many columns as the key of the file ({len(names)}). Correct it."
            )
        reserved = RESERVED | {*variables, *(variable.name for variable in self.sensitive)}
        for name in names:
            if name in reserved:
                raise ValueError(
                    f"`{name}` must not identify a record of `file_risk`, because a key variable or a result column "
                    "has this name. Give the variable another `name`, or rename the column."
                )

    def check_targets(self, linking: Sequence[LinkingVariable]) -> None:
        """Refuse a distance by the order of values that have no order."""
        for at, variable in enumerate(self.targets(linking), start=1):
            if variable.distance == "ordered" and not variable.is_numeric and variable.order is None:
                raise ValueError(
                    f"`.file_risk.sensitive[{at}].distance` must not be `ordered`, because `{variable.name}` is "
                    "categorical and has no `order`. Declare its `order`, or remove `distance`."
                )

    def check_household(self, units: tuple[str, ...] | None) -> None:
        """Refuse households that are not the units of the file."""
        household = self.population_models.household if self.population_models else None
        if None not in (household, units) and household != units:
            raise ValueError(
                "`.file_risk.population_models.household` must have the columns of `units`, because a record belongs "
                "to one household. Correct one of the two."
            )

    _one_fraction = exactly_one("sampling_fraction", "weight")

    @model_validator(mode="after")
    def _names_fit(self) -> FileRisk:
        refuse_repeats((variable.name for variable in self.key_variables), "key_variables")
        refuse_repeats((variable.name for variable in self.sensitive), "sensitive")
        refuse_repeats((scenario.name for scenario in self.scenarios), "scenarios")
        return self

    @model_validator(mode="after")
    def _sensitive_fits(self) -> FileRisk:
        if self.sensitive and not (self.scenarios or self.key_sets):
            raise ValueError(
                "`.sensitive` must not be given without `scenarios` or `key_sets`, for which its diversity is "
                "measured. Add one of them, or remove it."
            )
        if self.sensitive and self.missing == "wildcard":
            raise ValueError(
                "`.sensitive` must not be given with `missing: wildcard`, because diversity needs cells. Remove it, "
                "or choose another `missing`."
            )
        keys = {variable.name for variable in self.key_variables}
        for at, variable in enumerate(self.sensitive, start=1):
            if variable.name in keys and not variable.is_name_alone:
                raise ValueError(
                    f"`.sensitive[{at}]` must be a name alone, or one with `distance`, because `{variable.name}` is a "
                    "key variable, which is declared there. Remove everything else."
                )
        return self

    @model_validator(mode="after")
    def _units_fit(self) -> FileRisk:
        if self.units is None:
            return self
        refuse_repeats(self.units, "file_risk.units")
        if self.missing == "wildcard":
            raise ValueError(
                "`.units` must not be given with `missing: wildcard`, because units are compared in cells. Remove it, "
                "or choose another `missing`."
            )
        return self

    @model_validator(mode="after")
    def _study_has_a_fraction(self) -> FileRisk:
        if self.population and self.population.numerical_study and self.study_fraction is None:
            raise ValueError(
                "`.population.numerical_study.fraction` is missing. Add it, or replace `weight` by `sampling_fraction`."
            )
        return self
