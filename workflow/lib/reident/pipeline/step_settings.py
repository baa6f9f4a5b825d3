"""The settings of each step, one frozen value, made here from a study.

A library function receives its value and never the study, and the digest of that very value is a parameter of the
step's rule. Nothing in a study can therefore influence a step without running it again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from reident.attribution.section import SYNTHETIC
from reident.attribution.settings import AttributionFileSettings, AttributionSettings
from reident.challenge.settings import ChallengeSettings
from reident.challenge.standard import standard
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
from reident.intake.settings import PreparationSettings
from reident.larger.settings import ExtrapolationSettings, ThinningSettings
from reident.linkage.attack_settings import AttackSettings, ExplanationSettings
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.winkler import Closest, Nearest
from reident.linkage.settings import (
    AgreementSettings,
    AssignmentSettings,
    BinningSettings,
    ClaimSettings,
    ConfirmationSettings,
    DescriptionSettings,
    JoiningSettings,
    MemberSettings,
    MetricComparisonSettings,
    OrderedVariable,
    RateStepSettings,
    RatingSettings,
    ScoringSettings,
    StratificationSettings,
    Variable,
    WeighingSettings,
)
from reident.matching.section import Matching
from reident.matching.settings import ClosestSettings, MatchingFileSettings, MatchingSettings
from reident.microaggregation.settings import MaskingSettings
from reident.plausibility.settings import DescriptionCheckSettings
from reident.sections.base import Section, SectionT, required
from reident.sections.codes import Coding, normaliser
from reident.sections.seal import Seal
from reident.study.model import Study
from reident.suggestion.settings import SuggestionSettings
from reident.utility.section import Utility
from reident.utility.settings import UtilitySettings
from reident.verdict.settings import VerdictSettings
from reident.why.section import Why


def strata_names(study: Study) -> tuple[str, ...]:
    """Return the names of the strata variables."""
    return tuple(variable.name for variable in study.strata)


def variables(study: Study) -> tuple[Variable, ...]:
    """Return the linking variables as the metrics know them."""
    return tuple(Variable(variable.name, variable.type, variable.integer_coded) for variable in study.linking_variables)


def _unlabelled(variables: tuple[SectionT, ...]) -> tuple[SectionT, ...]:
    """Return variables without the labels of their codes, which change no number."""
    return tuple(variable.model_copy(update={"labels": {}}) for variable in variables)


def resolving(study: Study) -> Study:
    """Return the study without how it is sealed, which changes none of its results."""
    return study.model_copy(update={"seal": Seal()})


def simulating(study: Study) -> Section:
    """Return the section `simulate`."""
    return required(study.simulate, "simulate")


def masking(study: Study) -> MaskingSettings:
    """Return the settings of the step `microaggregate`."""
    variables_ = tuple(variable.model_copy(update={"coarsen": None}) for variable in study.linking_variables)
    options = required(study.microaggregate, "microaggregate")
    return MaskingSettings(options, _unlabelled((*study.strata, *variables_)))


def preparing(study: Study) -> PreparationSettings:
    """Return the settings of the step `prepare`."""
    strata, variables_ = _unlabelled(study.strata), _unlabelled(study.linking_variables)
    units = study.units and study.units.model_copy(update={"kind": None})  # a word of the report
    return PreparationSettings(study.linked_files, strata, variables_, study.rates.cluster or (), units)


def stratifying(study: Study) -> StratificationSettings:
    """Return the settings of the step `stratify`."""
    files = study.linked_files
    names = [file.file_name for file in (files.puf, files.eif)]
    return StratificationSettings(tuple(variable.name for variable in study.strata), (names[0], names[1]))


def checking(study: Study) -> DescriptionCheckSettings:
    """Return the settings of the step `check_description`."""
    return DescriptionCheckSettings(variables(study), study.keys, preparing(study))


def attacking(study: Study) -> AttackSettings:
    """Return the settings of the attack, of which each of its steps takes a slice."""
    limits, members = study.rank_filter, study.units.members if study.units is not None else None
    searched = ordered_variables(study), study.binning, study.chosen, limits.max_pairs, limits.kept
    return AttackSettings(*searched, study.keys, study.rates, members=members)


def cutting(study: Study) -> BinningSettings:
    """Return the settings of the step `bin`."""
    return attacking(study).cutting


def ordered_variables(study: Study) -> tuple[OrderedVariable, ...]:
    """Return the linking variables with the order of their categories."""
    return tuple(
        OrderedVariable(variable.name, variable.type, variable.integer_coded, variable.compared_order)
        for variable in study.linking_variables
    )


def scoring(study: Study, metric: str) -> ScoringSettings:
    """Return the settings of the step `score` for a metric."""
    return attacking(study).scoring(metric)


def weighing(study: Study) -> WeighingSettings:
    """Return the settings of the step `weigh`."""
    weighing = attacking(study).weighing
    if weighing is None:
        raise ValueError("the study has no metric that weighs")
    return weighing


def assigning(study: Study, metric: str | None) -> AssignmentSettings | None:
    """Return the settings of the step `rank` for a metric: None unless its pairs are assigned one to one."""
    return None if metric is None else attacking(study).assigning(metric)


def confirming(study: Study) -> ConfirmationSettings:
    """Return the settings of the step `confirm`."""
    return attacking(study).confirming


def explaining(study: Study, metric: str) -> ExplanationSettings:
    """Return the settings of the step `explain` for a metric."""
    why = required(study.why, "why")
    # Pairs beyond the rank limit in force do not count.
    attack = dataclasses.replace(attacking(study).search(metric), keep=study.rank_filter.max_pairs)
    names = tuple(study.chosen)
    return ExplanationSettings(attack, study.keys, names, why.recodings, coarsened(study), why.max_size)


def coarsened(study: Study) -> tuple[str, ...]:
    """Return the names of the linking variables that have coarser values already."""
    return tuple(variable.name for variable in study.linking_variables if variable.coarsen is not None)


def rating(study: Study) -> RatingSettings:
    """Return the settings of the rates."""
    return attacking(study).rating


def joining(study: Study) -> JoiningSettings:
    """Return the settings of the step `join_files`."""
    return JoiningSettings(
        tuple(study.intruders.labelled),
        directions(study),
        (*study.keys["puf"], *strata_names(study)),
        study.linked_files.eif.person is not None,
        study.rates,
    )


def directions(study: Study) -> dict[str, bool]:
    """Return by metric whether a lower score is the better one."""
    return {name: REGISTRY[name].low_is_best(options) for name, options in study.chosen.items()}


def thinning(study: Study, metric: str) -> ThinningSettings:
    """Return the settings of the step `thin` for a metric."""
    attack = attacking(study).search(metric)
    if not REGISTRY[metric].weighs:  # the order of categories counts for weights alone
        plain = tuple(dataclasses.replace(variable, order=()) for variable in attack.variables)
        attack = dataclasses.replace(attack, variables=plain)
    return ThinningSettings(attack, required(study.larger_intruder, "larger_intruder").seed)


def extrapolating(study: Study) -> ExtrapolationSettings:
    """Return the settings of the step `extrapolate`."""
    options = required(study.larger_intruder, "larger_intruder")
    limits = {name: study.rank_filter.max_pairs if REGISTRY[name].ranked else None for name in study.chosen}
    fixed = tuple(name for name, metric in study.chosen.items() if _depends_on_size(metric))
    return ExtrapolationSettings(
        tuple(study.chosen), limits, fixed, study.rank_filter.kept, options.times, options.population, study.rates.level
    )


def _depends_on_size(options: Any) -> bool:
    """Return whether a metric compares two records otherwise in a larger file (METHODS §6.5)."""
    return (
        getattr(options, "m", None) == "blind"
        or getattr(options, "competition", False)
        or getattr(options, "frequency", False)
        or getattr(options, "one_to_one", False)
        or getattr(options, "max_order", None) is not None
        or isinstance(getattr(options, "agreement", None), Nearest)
    )


def counting_members(study: Study) -> MemberSettings:
    """Return the settings of the step `count_members`."""
    return attacking(study).counting_members


def describing(study: Study) -> DescriptionSettings:
    """Return the settings of the description."""
    columns = tuple((variable.puf, variable.eif) for variable in study.linking_variables)
    return DescriptionSettings(variables(study), columns, tuple(study.chosen))


def rated(study: Study) -> RateStepSettings:
    """Return the settings of the step `rate`."""
    return RateStepSettings(rating(study), describing(study))


def claiming(study: Study, metric: str) -> ClaimSettings:
    """Return the settings of the step `order_claims` for a metric."""
    return attacking(study).claiming(metric)


def comparing_metrics(study: Study) -> MetricComparisonSettings:
    """Return the settings of the step `compare_metrics`."""
    limit = study.decision.surest if study.decision is not None else None
    return MetricComparisonSettings(rating(study), None if limit is None else limit.right)


def challenging(study: Study) -> ChallengeSettings:
    """Return the settings of the step `challenge`."""
    declared = attacking(study)
    return ChallengeSettings(declared, standard(declared), comparing_metrics(study).right, study.challenge.work)


def counting(study: Study) -> AgreementSettings:
    """Return the settings of the step `agreements`."""
    options: Any = study.chosen["winkler"]
    if isinstance(options.agreement, Closest):
        return AgreementSettings((None,))
    return AgreementSettings(tuple(range(options.min_agree, len(study.linking_variables) + 1)))


def measuring(study: Study) -> UtilitySettings:
    """Return the settings of the step `measure_utility`."""
    strata = tuple(Variable(variable.name, "categorical", variable.integer_coded) for variable in study.strata)
    return UtilitySettings(
        study.keys["puf"],
        (*strata, *variables(study)),
        study.binning.bins,
        study.binning.ranks,
        study.rates.level,
        required(study.utility, "utility"),
    )


def suggesting(study: Study) -> SuggestionSettings:
    """Return the settings of the step `try_recodings`."""
    options, why = study.utility or Utility(), study.why or Why()
    # A regression cannot be compared without its variables, and pMSE tells any file without one of them apart.
    update = {"regression": None, "loss": "univariate"}
    measured = study.model_copy(update={"utility": options.model_copy(update=update)})
    return SuggestionSettings(
        attacking(study), why.recodings, coarsened(study), required(study.decision, "decision"), measuring(measured)
    )


def judging(study: Study) -> VerdictSettings:
    """Return the settings of the step `judge`."""
    names = [variable.name for variable in study.linking_variables]
    scores = getattr(study.chosen.get("adhoc"), "scores", None)
    default = [] if scores is None else [name for name in names if name not in scores]
    limited = {section: names for section, names in study.limited.items() if names and study.decision}
    units = study.decision is not None and study.risk_units is not None
    return VerdictSettings(study.decision, len(names), tuple(default), limited, units)


def matched_files(matching: Matching) -> MatchingFileSettings:
    """Return the settings of the step `prepare_matching`."""
    if matching.confidential is None:
        raise ValueError("the files of this section are simulated")
    return MatchingFileSettings(
        matching.confidential,
        matching.synthetic,
        tuple(matching.variables.values()),
        frozenset(matching.radius),
        tuple(variable.name for variable in matching.synthesized),
        matching.targets,
        matching.population_count,
        matching.holdout,
        matching.closest_variables,
    )


def match_rules(matching: Matching) -> MatchingSettings:
    """Return the settings of the step `match`."""
    return MatchingSettings(
        tuple(matching.variables),
        tuple(variable.name for variable in matching.synthesized),
        tuple(matching.sets),
        matching.radius,
        matching.interval,
        matching.missing,
        matching.key(),
        matching.uncertain_targets,
    )


def closest_rules(study: Study) -> ClosestSettings:
    """Return the settings of the step `measure_distances`."""
    matching = study.matched
    names = matching.closest_variables
    return ClosestSettings(names, frozenset(matching.radius) & set(names), matching.key(), study.rates.level)


def risk_files(study: Study) -> RiskFileSettings:
    """Return the settings of the step `prepare_filerisk`."""
    options, sources = study.risk, study.risk_sources
    numerical_study = options.population.numerical_study if options.population else None
    return RiskFileSettings(
        options.side,
        sources[options.side],
        sources.get(POPULATION),
        study.risk_id,
        _unlabelled(study.risk_key),
        options.weight,
        (numerical_study.strata or ()) if numerical_study else (),
        options.missing,
        study.binning.bins,
        sources.get(UNPERTURBED),
        (options.original.id or study.risk_id) if options.original else (),
        study.binning.ranks,
        options.units or (options.population_models.household if options.population_models else None) or (),
        _unlabelled(study.risk_sensitive),
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


def attribution_files(study: Study) -> AttributionFileSettings:
    """Return the settings of the step `prepare_attribution`."""
    options, files = study.attributed, study.attribution_sources
    keys, targets = study.attribution_variables
    behind = list(files)[1:]
    return AttributionFileSettings(
        files=files,
        released=tuple(behind[:-1] if options.holdout else behind),
        ids=study.attribution_ids,
        by_order=options.released == SYNTHETIC,
        keys=_unlabelled(keys),
        targets=_unlabelled(targets),
        missing=options.missing,
        bins=study.binning.bins,
        ranks=study.binning.ranks,
    )


def attribution_rules(study: Study) -> AttributionSettings:
    """Return the settings of the step `assess_attribution`."""
    _, targets = study.attribution_variables
    original = next(iter(study.attribution_sources))
    return AttributionSettings(
        id=study.attribution_ids.get(original, ()),
        sets=tuple(study.attributed.key_sets),
        targets={target.name: target.within for target in targets},
        category=study.attributed.missing == "category",
    )


def answering(study: Study) -> Mapping[str, str]:
    """Return the answers to the board's checklist, by question."""
    return required(study.checklist, "checklist").answers


@dataclasses.dataclass(frozen=True)
class Heading:
    """The settings of the report; its tables include the study with every default."""

    title: str
    agency: str
    date: date | None
    language: str


def heading(study: Study) -> Heading:
    """Return the heading of the report."""
    return Heading(study.title or study.id, study.agency, study.date, study.language)


BY_STUDY: dict[str, Callable[[Study], Any]] = {
    "compare_protection": strata_names,
    "resolve": resolving,
    "simulate": simulating,
    "synthesize": simulating,
    "simulate_amounts": simulating,
    "populate": simulating,
    "microaggregate": masking,
    "prepare": preparing,
    "stratify": stratifying,
    "check_description": checking,
    "challenge": challenging,
    "bin": cutting,
    "weigh": weighing,
    "confirm": confirming,
    "join_files": joining,
    "extrapolate": extrapolating,
    "rate": rated,
    "count_members": counting_members,
    "compare_metrics": comparing_metrics,
    "agreements": counting,
    "measure_utility": measuring,
    "try_recodings": suggesting,
    "judge": judging,
    "prepare_matching": lambda study: matched_files(study.matched),
    "match": lambda study: match_rules(study.matched),
    "measure_distances": closest_rules,
    "prepare_filerisk": risk_files,
    "assess_scenarios": intruder_rules,
    "assess_units": profiling,
    "model_population": modelling,
    "assess_file": assessment,
    "measure_thresholds": comparing_risks,
    "sample_population": sampling,
    "prepare_attribution": attribution_files,
    "assess_attribution": attribution_rules,
    "checklist": answering,
    "edition": heading,
    "report": heading,
}
"""The functions that make the settings of steps, by rule; a step that is in neither table has no settings."""

BY_METRIC: dict[str, Callable[[Study, str], Any]] = {
    "score": scoring,
    "rank": assigning,
    "explain": explaining,
    "thin": thinning,
    "order_claims": claiming,
}
"""The same for steps with settings of a metric."""


def settings_of(study: Study, rule: str, metric: str | None) -> Any:
    """Return the settings of a step in a study; None for a step without any."""
    if metric is not None and rule in BY_METRIC:
        return BY_METRIC[rule](study, metric)
    return BY_STUDY[rule](study) if rule in BY_STUDY else None
