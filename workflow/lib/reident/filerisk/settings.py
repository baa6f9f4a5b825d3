"""The settings of each step of file risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reident.intake.settings import Extract

if TYPE_CHECKING:
    from reident.filerisk.section import SpecialForm
    from reident.sections.files import SourceFile
    from reident.sections.keys import KeyVariable

FILE, POPULATION, ORIGINAL = "file", "population", "original"
"""The prepared tables: the file, its population, and its records before perturbation."""

SAMPLE = "sample"
"""The basis of a risk that is that of the file alone; the others are the population and the individual risk."""

INCOMPLETE = "incomplete"
"""The basis of a number of records that miss a value, which a model of the population leaves out."""

BELOW, BEYOND = "records_below_k_at_most", "n_beyond"
"""Lines of `filerisk/judged.csv` beside those of limits: the share of the records below k, and the records that more
records of the file than people of the population match."""

UNITS = "units"
"""The basis of a limit that is compared with units instead of records."""

RISKS = (0.05, 0.075, 0.09, 0.1, 0.2, 0.33, 0.5)
"""The risks with which those of the records are compared, beside the one that a limit declares."""

PLACE = ".place."
"""The prefix of the column with the place of each value in the order of a sensitive variable."""


def of_units(scenario: str) -> str:
    """Return what a limit is judged by: the units of the whole key, or of a scenario."""
    return f"{UNITS}: {scenario}" if scenario else UNITS


@dataclass(frozen=True)
class RiskFileSettings:
    """The settings of the step `prepare_filerisk`.

    Attributes
    ----------
    side : the file by its side in the study
    file : the file whose risk is measured
    population : the file of its population, where there is one
    id : the columns that name a record; empty: its row does
    key : the key variables
    weight : the column of weights, where the sampling fraction comes from it
    strata : the columns of the population by which samples of a numerical study are drawn
    missing : {'excluded', 'category', 'wildcard'}
    bins : into how many quantile bins a numeric variable is cut
    original : the file before perturbation, where there is one
    original_id : the columns that name a record in it
    ranks : see :func:`reident.linkage.bins.cut_points`
    household : the columns of the file that identify a household
    sensitive : the variables outside the key whose diversity is measured
    ordered : names of the sensitive variables whose values are compared by their order
    fraction : the sampling fraction, where the study declares it and has a population to compare it with
    """

    side: str
    file: SourceFile
    population: SourceFile | None
    id: tuple[str, ...]
    key: tuple[KeyVariable, ...]
    weight: str | None
    strata: tuple[str, ...]
    missing: Literal["excluded", "category", "wildcard"]
    bins: int
    original: SourceFile | None
    original_id: tuple[str, ...]
    ranks: Literal["mean", "high"] | None
    household: tuple[str, ...] = ()
    sensitive: tuple[KeyVariable, ...] = ()
    ordered: tuple[str, ...] = ()
    fraction: float | None = None

    @property
    def variables(self) -> tuple[KeyVariable, ...]:
        """The variables of the prepared file; the other tables have only those of the key."""
        return (*self.key, *self.sensitive)

    @property
    def extracts(self) -> dict[str, Extract]:
        """The extract that the study needs of the source of each prepared table."""
        key = [variable.column for variable in self.key]
        columns = [self.weight] if self.weight else []
        columns += [*self.household, *(variable.column for variable in self.variables)]
        extracts = {FILE: Extract(self.file, self.id, columns)}
        if self.population is not None:
            extracts[POPULATION] = Extract(self.population, (), [*key, *self.strata])
        if self.original is not None:
            extracts[ORIGINAL] = Extract(self.original, self.original_id, key)
        return extracts


@dataclass(frozen=True)
class Coarsening:
    """Coarser codes of one key variable, `recode`, spelled as the labels of its categories."""

    variable: str
    recode: Mapping[str, str]


@dataclass(frozen=True)
class AssessmentSettings:
    """The settings of the step `assess_file`.

    Attributes
    ----------
    id : the columns that name a record; empty: its row does
    weighting, dis_suda, max_order, special : as in the section `file_risk`
    sampling_fraction : f; None: 1 divided by the mean weight
    wildcard : whether a missing value matches every value
    collapse : coarser codes of key variables
    """

    id: tuple[str, ...]
    key: tuple[str, ...]
    weighting: Literal["elliot", "normalised"]
    max_order: int | None
    dis_suda: Literal["elliot-manning", "user-guide"]
    special: SpecialForm
    sampling_fraction: float | None
    wildcard: bool
    collapse: tuple[Coarsening, ...]


@dataclass(frozen=True)
class SamplingSettings:
    """The settings of the step `sample_population`, the numerical study.

    Attributes
    ----------
    fraction : share of the population in a sample
    weighting, max_order : as in the section `file_risk`
    wildcard : whether a missing value matches every value
    """

    key: tuple[str, ...]
    fraction: float
    samples: int
    seed: int
    weighting: Literal["elliot", "normalised"]
    max_order: int | None
    wildcard: bool


@dataclass(frozen=True)
class ModellingSettings:
    """The settings of the step `model_population`.

    Attributes
    ----------
    id : the columns that name a record; empty: its row does
    sampling_fraction : f; None: 1 divided by the mean weight
    wildcard : whether a missing value matches every value
    seed : the seed of simulated files
    """

    id: tuple[str, ...]
    key: tuple[str, ...]
    sampling_fraction: float | None
    wildcard: bool
    log_linear: tuple[str | tuple[tuple[str, ...], ...], ...]
    household: bool
    seed: int


@dataclass(frozen=True)
class ScenarioSettings:
    """The settings of the step `assess_scenarios`.

    Attributes
    ----------
    scenarios : the named intruders, each with the key variables that it knows
    sets : every set of key variables that is measured
    sensitive : names of the variables whose diversity is measured, for the sets without them
    sampling_fraction : f; None: 1 divided by the mean weight
    wildcard : whether a missing value matches every value
    ordered : names of the sensitive variables whose values are compared by their order
    """

    scenarios: tuple[tuple[str, tuple[str, ...]], ...]
    sets: tuple[tuple[str, ...], ...]
    sensitive: tuple[str, ...]
    sampling_fraction: float | None
    wildcard: bool
    household: bool
    ordered: tuple[str, ...] = ()


@dataclass(frozen=True)
class LimitSettings:
    """What the limits of a study on one file need to judge records that miss a value (METHODS §7.8).

    Attributes
    ----------
    k : that of `k_anonymity_at_least`
    risk : that of `share_above`
    scenarios : the intruders with a limit on their share of unique records, each with the key variables that it knows
    sets : every set of key variables on which the diversity of a sensitive variable is limited
    sensitive : the sensitive variables with a limit
    ordered : names of the sensitive variables whose values are compared by their order
    units : whether the file has units, such as households
    """

    k: int | None = None
    risk: float | None = None
    scenarios: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    sensitive: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    units: bool = False


@dataclass(frozen=True)
class ThresholdSettings:
    """The settings of the step `measure_thresholds`.

    Attributes
    ----------
    sampling_fraction : f; None: 1 divided by the mean weight
    wildcard : whether a missing value matches every value
    risks : the thresholds, rising
    limits : what the limits on the file need
    """

    key: tuple[str, ...]
    sampling_fraction: float | None
    wildcard: bool
    risks: tuple[float, ...]
    limits: LimitSettings = LimitSettings()


@dataclass(frozen=True)
class ProfileSettings:
    """The settings of the step `assess_units`.

    Attributes
    ----------
    scenarios : the named intruders, each with the key variables that it knows
    sets : every set of key variables that is measured
    sampling_fraction : f, the share of the units in the file; None: 1 divided by the mean weight of units
    k : units in smaller cells are counted, where a limit declares it
    risk : units with a larger risk in the file are counted, where a limit declares it
    """

    key: tuple[str, ...]
    scenarios: tuple[tuple[str, tuple[str, ...]], ...]
    sets: tuple[tuple[str, ...], ...]
    sampling_fraction: float | None
    k: int | None = None
    risk: float | None = None
