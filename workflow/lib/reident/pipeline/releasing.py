"""The settings of the releasable edition of a study with its variants (METHODS §11)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from reident.linkage.metrics import REGISTRY
from reident.pipeline.step_settings import Heading, heading
from reident.sections.base import required
from reident.sections.codes import Coding, normaliser
from reident.sections.linkage import Binning, LinkingVariable, StrataVariable
from reident.study.model import Study


@dataclasses.dataclass(frozen=True)
class Alike:
    """Public knowledge of variants beside the study itself: their common files and records, and their rank limits."""

    files: tuple[str, ...]  # variants with the files, strata and links of the study
    # Variants and metrics whose pairs are those of the study, the rank limit aside.
    attacks: tuple[tuple[str, str], ...]
    max_pairs: Mapping[str, int]  # the rank limit in force by variant


@dataclasses.dataclass(frozen=True)
class Attack:
    """The settings that decide which pairs of the files an attack suspects."""

    strata: tuple[StrataVariable, ...]
    variables: tuple[LinkingVariable, ...]
    binning: Binning
    metrics: Mapping[str, Any]
    members: Literal["all", "some"] | None = None  # of units, those whom the intruder knows


@dataclasses.dataclass(frozen=True)
class ReleaseSettings:
    """The settings of the step `release`."""

    study: str
    heading: Heading
    seed: str
    known: tuple[str, ...]
    metrics: tuple[tuple[str, str], ...]  # names and titles, in order
    ranked: tuple[str, ...]
    max_pairs: int
    interval: str
    level: float
    by_estimate: bool  # whether conditional rates themselves are compared with their limit
    strata: Mapping[str, Mapping[str, str]]  # by name, the labels of the codes of each strata variable
    linking_variables: tuple[str, ...]
    varied: tuple[str, ...]
    variants: Mapping[str, Mapping[str, str]]  # the labels of each variant
    alike: Alike
    attacks: Mapping[str, Attack]  # by variant, empty for the study; those on the files of the study
    file_is_puf: bool  # whether the file whose risk is measured is the PUF
    scenarios: tuple[str, ...]
    # Pairs of scenarios of matching, the second of which knows more variables.
    nested_scenarios: tuple[tuple[str, str], ...]

    @property
    def counts_units(self) -> bool:
        """Whether counts of the attack are those of units, not of records."""
        return any(attack.members for attack in self.attacks.values())


def releasing(
    study: Study, variants: Mapping[str, Mapping[str, str]], alike: Alike, members: Mapping[str, Study]
) -> ReleaseSettings:
    """Return the settings of the step `release`, for a study whose variants have these labels and studies."""
    release = required(study.release, "release")
    sets = [scenario for scenario in study.matched.sets if scenario.listed] if study.matching else []
    scenarios = {scenario.name: set(scenario.known) for scenario in sets}
    return ReleaseSettings(
        study=study.id,
        heading=heading(study),
        seed=release.seed or "",
        known=release.known,
        metrics=tuple((name, REGISTRY[name].title) for name in study.chosen),
        ranked=tuple(name for name in study.chosen if REGISTRY[name].ranked),
        max_pairs=study.rank_filter.max_pairs,
        interval=study.rates.interval,
        level=study.rates.level,
        by_estimate=study.decision is None or study.decision.by == "estimate",
        strata={variable.name: _labels(variable) for variable in study.strata},
        linking_variables=tuple(variable.name for variable in study.linking_variables),
        varied=tuple(dict.fromkeys(name for labels in variants.values() for name in labels)),
        variants=variants,
        alike=alike,
        attacks={
            variant: Attack(other.strata, other.linking_variables, other.binning, other.chosen, _members(other))
            for variant, other in {"": study, **members}.items()
            if study.chosen and _compared(other) == _compared(study)
        },
        file_is_puf=study.file_risk is not None and study.risk.side == "puf",
        scenarios=tuple(scenarios),
        nested_scenarios=tuple(
            (smaller, larger) for smaller in scenarios for larger in scenarios if scenarios[smaller] < scenarios[larger]
        ),
    )


def _compared(study: Study) -> tuple[Any, ...]:
    """Return the settings that make the files to compare."""
    units = study.units and (study.units.puf, study.units.eif)
    return study.linked_files, study.microaggregate, study.simulate, units


def _members(study: Study) -> Literal["all", "some"] | None:
    """Return which members of units the intruder knows; None where records are compared."""
    return study.units.members if study.units else None


def _labels(variable: Any) -> dict[str, str]:
    """Return the declared labels of the codes of a strata variable, by code as the tables have it."""
    normal = normaliser(Coding("categorical", integer_coded=variable.integer_coded))
    return {normal(code): label for code, label in variable.labels.items()}
