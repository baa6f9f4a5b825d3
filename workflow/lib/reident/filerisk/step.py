"""The settings of the steps of the risk of one file, from the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.filerisk.section import POPULATION, UNPERTURBED, FileRisk
from reident.filerisk.settings import (
    RISKS,
    AssessmentSettings,
    Coarsening,
    LimitSettings,
    ModellingSettings,
    ProfileSettings,
    RiskFileSettings,
    SamplingSettings,
    ScenarioSettings,
    ThresholdSettings,
)
from reident.intake.step import unlabelled
from reident.sections.base import required
from reident.sections.codes import Coding, normaliser

if TYPE_CHECKING:
    from reident.study.model import Study


def risk_files(study: Study) -> RiskFileSettings:
    """Return the settings of the step `prepare_filerisk`."""
    options, sources = study.risk, study.risk_sources
    numerical_study = options.population.numerical_study if options.population else None
    return RiskFileSettings(
        options.side,
        sources[options.side],
        sources.get(POPULATION),
        study.risk_id,
        unlabelled(study.risk_key),
        options.weight,
        (numerical_study.strata or ()) if numerical_study else (),
        options.missing,
        study.binning.bins,
        sources.get(UNPERTURBED),
        (options.original.id or study.risk_id) if options.original else (),
        study.binning.ranks,
        options.units or (options.population_models.household if options.population_models else None) or (),
        unlabelled(study.risk_sensitive),
        _ordered(options),
        options.sampling_fraction if options.population else None,
    )


def _ordered(options: FileRisk) -> tuple[str, ...]:
    """Return the sensitive variables whose values are compared by their order."""
    return tuple(variable.name for variable in options.sensitive if variable.distance == "ordered")


def intruder_rules(study: Study) -> ScenarioSettings:
    """Return the settings of the step `assess_scenarios`."""
    options = study.risk
    names = [variable.name for variable in study.risk_key]
    return ScenarioSettings(
        tuple((scenario.name, scenario.known) for scenario in options.scenarios),
        tuple(options.key_sets.list_sets(names)) if options.key_sets else (),
        tuple(variable.name for variable in options.sensitive),
        options.sampling_fraction,
        options.missing == "wildcard",
        options.population_models is not None and options.population_models.household is not None,
        _ordered(options),
    )


def profiling(study: Study) -> ProfileSettings:
    """Return the settings of the step `assess_units`."""
    options, rules = study.risk, intruder_rules(study)
    key = tuple(variable.name for variable in study.risk_key)
    decision = study.decision
    limit = decision.share_above if decision else None
    return ProfileSettings(
        key,
        rules.scenarios,
        rules.sets,
        options.sampling_fraction,
        decision.k_anonymity_at_least if decision else None,
        limit.risk if limit else None,
    )


def modelling(study: Study) -> ModellingSettings:
    """Return the settings of the step `model_population`."""
    options = study.risk
    models = required(options.population_models, "file_risk.population_models")
    return ModellingSettings(
        study.risk_id,
        tuple(variable.name for variable in study.risk_key),
        options.sampling_fraction,
        options.missing == "wildcard",
        models.log_linear,
        models.household is not None,
        models.seed,
    )


def comparing_risks(study: Study) -> ThresholdSettings:
    """Return the settings of the step `measure_thresholds`."""
    options, limits = study.risk, _limits_on_file(study)
    declared = () if limits.risk is None else (limits.risk,)
    return ThresholdSettings(
        tuple(variable.name for variable in study.risk_key),
        options.sampling_fraction,
        options.missing == "wildcard",
        tuple(sorted({*RISKS, *declared})),
        limits,
    )


def _limits_on_file(study: Study) -> LimitSettings:
    """Return what the limits on one file need to judge records that miss a value."""
    options, decision, rules = study.risk, study.decision, intruder_rules(study)
    if decision is None:
        return LimitSettings()
    above = decision.share_above
    names = [name for name, _ in rules.scenarios]
    limited = {name for _, name, _ in decision.each("file_risk.scenarios", names)}
    sensitive = {name for _, name, _ in decision.each("file_risk.sensitive", rules.sensitive)}
    sets = dict.fromkeys((*(keys for _, keys in rules.scenarios), *rules.sets)) if sensitive else {}
    return LimitSettings(
        decision.k_anonymity_at_least,
        above.risk if above else None,
        tuple(scenario for scenario in rules.scenarios if scenario[0] in limited),
        tuple(sets),
        tuple(name for name in rules.sensitive if name in sensitive),
        tuple(name for name in rules.ordered if name in sensitive),
        options.units is not None,
    )


def assessment(study: Study) -> AssessmentSettings:
    """Return the settings of the step `assess_file`."""
    options = study.risk
    return AssessmentSettings(
        study.risk_id,
        tuple(variable.name for variable in study.risk_key),
        options.weighting,
        options.max_order,
        options.dis_suda,
        options.special,
        options.sampling_fraction,
        options.missing == "wildcard",
        _coarsenings(study),
    )


def _coarsenings(study: Study) -> tuple[Coarsening, ...]:
    """Return the coarser codes of `file_risk`, by the spelling that codes have in the prepared file."""
    spelling = {
        variable.name: normaliser(Coding("categorical", integer_coded=variable.integer_coded))
        for variable in study.risk_key
    }
    return tuple(
        Coarsening(item.variable, {spelling[item.variable](code): to for code, to in item.recode.items()})
        for item in study.risk.collapse
    )


def sampling(study: Study) -> SamplingSettings:
    """Return the settings of the step `sample_population`."""
    options = study.risk
    numerical_study = options.population.numerical_study if options.population else None
    if numerical_study is None or options.study_fraction is None:
        raise ValueError("the study has no section `numerical_study`")
    return SamplingSettings(
        tuple(variable.name for variable in study.risk_key),
        options.study_fraction,
        numerical_study.samples,
        numerical_study.seed,
        options.weighting,
        options.max_order,
        options.missing == "wildcard",
    )


def is_sampled(study: Study) -> bool:
    """Return whether samples are drawn from the population."""
    population = study.file_risk.population if study.file_risk else None
    return population is not None and population.numerical_study is not None


def is_modelled(study: Study) -> bool:
    """Return whether the population is modelled."""
    return study.file_risk is not None and study.file_risk.population_models is not None


def has_units(study: Study) -> bool:
    """Return whether the file has units, such as households."""
    return study.file_risk is not None and study.risk.units is not None


def has_scenarios(study: Study) -> bool:
    """Return whether several keys are measured."""
    risk = study.file_risk
    return risk is not None and bool(risk.scenarios or risk.key_sets)
