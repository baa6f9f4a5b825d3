"""What each step takes from a study: one frozen value, made here.

A library function receives its value and never the study, and the digest of that very value is a parameter of the
step's rule. Nothing in a study can therefore influence a step without running it again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import date
from inspect import signature
from operator import attrgetter
from typing import Any, TypeVar

from reident.attribution.parts import AttributionFiles, AttributionRules
from reident.filerisk.parts import Assessment, Coarsening, IntruderRules, Modelling, RiskFiles, Sampling
from reident.intake.parts import Preparing
from reident.larger.parts import Extrapolating, Thinning
from reident.linkage.attack_settings import AttackSettings, Explaining
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.winkler import Closest, Nearest
from reident.linkage.parts import (
    Assigning,
    Confirming,
    Counting,
    Cutting,
    Describing,
    Joining,
    OrderedVariable,
    Rated,
    Rating,
    Scoring,
    Stratifying,
    Variable,
    Weighing,
)
from reident.matching.parts import ClosestRules, MatchedFiles, MatchRules
from reident.microaggregation.parts import Masking
from reident.plausibility.parts import Checking
from reident.sections.attribution import SYNTHETIC
from reident.sections.base import Section, SectionT, required
from reident.sections.codes import Coding, normaliser
from reident.sections.filerisk import POPULATION, UNPERTURBED, FileRisk
from reident.sections.matching import Matching
from reident.sections.seal import Seal
from reident.sections.utility import Utility
from reident.sections.why import Why
from reident.study.model import Study
from reident.suggestion.parts import Suggesting
from reident.utility.parts import Measuring
from reident.verdict.parts import Judging

MakeT = TypeVar("MakeT", bound=Callable[..., Any])
_PARTS: dict[str, tuple[Callable[..., Any], Callable[[Study], Any]]] = {}


def _part_of(*rules: str, of: Callable[[Study], Any] = lambda study: study) -> Callable[[MakeT], MakeT]:
    """Register a function of a study, or of a section of it, and possibly of the metric, as the part of rules."""

    def register(make: MakeT) -> MakeT:
        _PARTS.update(dict.fromkeys(rules, (make, of)))
        return make

    return register


def part(study: Study, rule: str, metric: str | None) -> Any:
    """Return the frozen value that a step takes from a study; None for a step that takes nothing of it."""
    if rule not in _PARTS:
        return None
    make, of = _PARTS[rule]
    return make(of(study), metric) if "metric" in signature(make).parameters else make(of(study))


@_part_of("compare_protection")
def strata_names(study: Study) -> tuple[str, ...]:
    """Return the names of the strata variables."""
    return tuple(variable.name for variable in study.strata)


def variables(study: Study) -> tuple[Variable, ...]:
    """Return the linking variables as the metrics know them."""
    return tuple(Variable(variable.name, variable.type, variable.integer_coded) for variable in study.linking_variables)


def _unlabelled(variables: tuple[SectionT, ...]) -> tuple[SectionT, ...]:
    """Return variables without the labels of their codes, which change no number."""
    return tuple(variable.model_copy(update={"labels": {}}) for variable in variables)


@_part_of("resolve")
def resolving(study: Study) -> Study:
    """Return the study without how it is sealed, which changes none of its results."""
    return study.model_copy(update={"seal": Seal()})


@_part_of("simulate", "synthesize", "simulate_amounts", "populate")
def simulating(study: Study) -> Section:
    """Return the section `simulate`."""
    return required(study.simulate, "simulate")


@_part_of("microaggregate")
def masking(study: Study) -> Masking:
    """Return what masking a file takes."""
    variables_ = tuple(variable.model_copy(update={"coarsen": None}) for variable in study.linking_variables)
    options = required(study.microaggregate, "microaggregate")
    return Masking(options, _unlabelled((*study.strata, *variables_)))


@_part_of("prepare")
def preparing(study: Study) -> Preparing:
    """Return what typing the three files takes."""
    strata, variables_ = _unlabelled(study.strata), _unlabelled(study.linking_variables)
    return Preparing(study.linked_files, strata, variables_, study.rates.cluster or ())


@_part_of("stratify")
def stratifying(study: Study) -> Stratifying:
    """Return what stratification takes."""
    files = study.linked_files
    names = [file.file_name for file in (files.puf, files.eif)]
    return Stratifying(tuple(variable.name for variable in study.strata), (names[0], names[1]))


@_part_of("check_description")
def checking(study: Study) -> Checking:
    """Return what the checks of the description take."""
    return Checking(variables(study), study.keys)


@_part_of("leave_out")
def attacking(study: Study) -> AttackSettings:
    """Return the settings of the attack, of which each of its steps takes a slice."""
    limits = study.rank_filter
    return AttackSettings(
        ordered_variables(study), study.binning, study.chosen, limits.max_pairs, limits.keep, study.keys, study.rates
    )


@_part_of("bin")
def cutting(study: Study) -> Cutting:
    """Return what binning takes."""
    return attacking(study).cutting


def ordered_variables(study: Study) -> tuple[OrderedVariable, ...]:
    """Return the linking variables with the order of their categories."""
    return tuple(
        OrderedVariable(variable.name, variable.type, variable.integer_coded, variable.compared_order)
        for variable in study.linking_variables
    )


@_part_of("score")
def scoring(study: Study, metric: str) -> Scoring:
    """Return what scoring with a metric takes."""
    return attacking(study).scoring(metric)


@_part_of("weigh")
def weighing(study: Study) -> Weighing:
    """Return what the estimation of weights takes."""
    weighing = attacking(study).weighing
    if weighing is None:
        raise ValueError("the study has no metric that weighs")
    return weighing


@_part_of("rank")
def assigning(study: Study, metric: str | None) -> Assigning | None:
    """Return what the ranking of a metric takes: nothing, unless its pairs are assigned one to one."""
    return None if metric is None else attacking(study).assigning(metric)


@_part_of("confirm")
def confirming(study: Study) -> Confirming:
    """Return what confirmation takes."""
    return attacking(study).confirming


@_part_of("explain")
def explaining(study: Study, metric: str) -> Explaining:
    """Return what the explanation of confirmed records takes."""
    why = required(study.why, "why")
    # Pairs beyond the rank limit in force do not count.
    attack = dataclasses.replace(attacking(study).search(metric), keep=study.rank_filter.max_pairs)
    names = tuple(study.chosen)
    return Explaining(attack, study.keys, names, why.recodings, coarsened(study), why.max_size)


def coarsened(study: Study) -> tuple[str, ...]:
    """Return the names of the linking variables that have coarser values already."""
    return tuple(variable.name for variable in study.linking_variables if variable.coarsen is not None)


def rating(study: Study) -> Rating:
    """Return what the rates take."""
    return attacking(study).rating


@_part_of("join_files")
def joining(study: Study) -> Joining:
    """Return what joining the attacks with several files takes."""
    return Joining(
        tuple(study.intruders.labelled),
        directions(study),
        (*study.keys["puf"], *strata_names(study)),
        study.linked_files.eif.person is not None,
        study.rates,
    )


def directions(study: Study) -> dict[str, bool]:
    """Return by metric whether a lower score is the better one."""
    return {name: REGISTRY[name].low_is_best(options) for name, options in study.chosen.items()}


@_part_of("thin")
def thinning(study: Study, metric: str) -> Thinning:
    """Return what thinning the external intruder file takes, for a metric."""
    attack = attacking(study).search(metric)
    if not REGISTRY[metric].weighs:  # the order of categories counts for weights alone
        plain = tuple(dataclasses.replace(variable, order=()) for variable in attack.variables)
        attack = dataclasses.replace(attack, variables=plain)
    return Thinning(attack, required(study.larger_intruder, "larger_intruder").seed)


@_part_of("extrapolate")
def extrapolating(study: Study) -> Extrapolating:
    """Return what the rates of a larger intruder take."""
    options = required(study.larger_intruder, "larger_intruder")
    limits = {name: study.rank_filter.max_pairs if REGISTRY[name].ranked else None for name in study.chosen}
    fixed = tuple(name for name, metric in study.chosen.items() if _depends_on_size(metric))
    return Extrapolating(
        tuple(study.chosen), limits, fixed, study.rank_filter.keep, options.times, options.population, study.rates.level
    )


def _depends_on_size(options: Any) -> bool:
    """Return whether a metric compares two records otherwise in a larger file (METHODS §6.5)."""
    return (
        getattr(options, "m", None) == "blind"
        or getattr(options, "competition", False)
        or getattr(options, "one_to_one", False)
        or getattr(options, "max_order", None) is not None
        or isinstance(getattr(options, "agreement", None), Nearest)
    )


def describing(study: Study) -> Describing:
    """Return what the description takes."""
    columns = tuple((variable.puf, variable.eif) for variable in study.linking_variables)
    return Describing(variables(study), columns, tuple(study.chosen))


@_part_of("rate")
def rated(study: Study) -> Rated:
    """Return what the rates and the description take."""
    return Rated(rating(study), describing(study))


@_part_of("agreements")
def counting(study: Study) -> Counting:
    """Return what counting agreements takes."""
    options: Any = study.chosen["winkler"]
    if isinstance(options.agreement, Closest):
        return Counting((None,))
    return Counting(tuple(range(options.min_agree, len(study.linking_variables) + 1)))


@_part_of("measure_utility")
def measuring(study: Study) -> Measuring:
    """Return what measuring utility takes."""
    strata = tuple(Variable(variable.name, "categorical", variable.integer_coded) for variable in study.strata)
    return Measuring(
        study.keys["puf"],
        (*strata, *variables(study)),
        study.binning.bins,
        study.binning.ranks,
        study.rates.level,
        required(study.utility, "utility"),
    )


@_part_of("try_recodings")
def suggesting(study: Study) -> Suggesting:
    """Return what the search for coarser values takes."""
    options, why = study.utility or Utility(), study.why or Why()
    # A regression cannot be compared without its variables, and pMSE tells any file without one of them apart.
    update = {"regression": None, "loss": "univariate"}
    measured = study.model_copy(update={"utility": options.model_copy(update=update)})
    return Suggesting(
        attacking(study), why.recodings, coarsened(study), required(study.decision, "decision"), measuring(measured)
    )


@_part_of("judge")
def judging(study: Study) -> Judging:
    """Return what the verdict takes."""
    names = [variable.name for variable in study.linking_variables]
    scores = getattr(study.chosen.get("adhoc"), "scores", None)
    default = [] if scores is None else [name for name in names if name not in scores]
    return Judging(study.decision, len(names), tuple(default))


@_part_of("prepare_matching", of=attrgetter("matched"))
def matched_files(matching: Matching) -> MatchedFiles:
    """Return what typing the confidential and the synthetic files takes."""
    if matching.confidential is None:
        raise ValueError("the files of this section are simulated")
    return MatchedFiles(
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


@_part_of("match", of=attrgetter("matched"))
def match_rules(matching: Matching) -> MatchRules:
    """Return what matching takes."""
    return MatchRules(
        tuple(matching.variables),
        tuple(variable.name for variable in matching.synthesized),
        tuple(matching.sets),
        matching.radius,
        matching.interval,
        matching.missing,
        matching.key(),
        matching.uncertain_targets,
    )


@_part_of("measure_distances")
def closest_rules(study: Study) -> ClosestRules:
    """Return what distances to the closest record take."""
    matching = study.matched
    names = matching.closest_variables
    return ClosestRules(names, frozenset(matching.radius) & set(names), matching.key(), study.rates.level)


@_part_of("prepare_filerisk")
def risk_files(study: Study) -> RiskFiles:
    """Return what typing the file of `file_risk` takes."""
    options, sources = study.risk, study.risk_sources
    numerical_study = options.population.numerical_study if options.population else None
    return RiskFiles(
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
        (options.population_models.household or ()) if options.population_models else (),
        _unlabelled(study.risk_sensitive),
        _ordered(options),
    )


def _ordered(options: FileRisk) -> tuple[str, ...]:
    """Return the sensitive variables whose values are compared by their order."""
    return tuple(variable.name for variable in options.sensitive if variable.distance == "ordered")


@_part_of("assess_scenarios")
def intruder_rules(study: Study) -> IntruderRules:
    """Return what measuring scenarios and sets of key variables takes."""
    options = study.risk
    names = [variable.name for variable in study.risk_key]
    return IntruderRules(
        tuple((scenario.name, scenario.known) for scenario in options.scenarios),
        tuple(options.key_sets.of(names)) if options.key_sets else (),
        tuple(variable.name for variable in options.sensitive),
        options.sampling_fraction,
        options.missing == "wildcard",
        options.population_models is not None and options.population_models.household is not None,
        _ordered(options),
    )


@_part_of("model_population")
def modelling(study: Study) -> Modelling:
    """Return what the models of the population take."""
    options = study.risk
    models = required(options.population_models, "file_risk.population_models")
    return Modelling(
        study.risk_id,
        tuple(variable.name for variable in study.risk_key),
        options.sampling_fraction,
        options.missing == "wildcard",
        models.log_linear,
        models.household is not None,
        models.seed,
    )


@_part_of("assess_file")
def assessment(study: Study) -> Assessment:
    """Return what measuring the risk of a file takes."""
    options = study.risk
    return Assessment(
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


@_part_of("sample_population")
def sampling(study: Study) -> Sampling:
    """Return what the numerical study takes."""
    options = study.risk
    numerical_study = options.population.numerical_study if options.population else None
    if numerical_study is None or options.study_fraction is None:
        raise ValueError("the study has no section `numerical_study`")
    return Sampling(
        tuple(variable.name for variable in study.risk_key),
        options.study_fraction,
        numerical_study.samples,
        numerical_study.seed,
        options.weighting,
        options.max_order,
        options.missing == "wildcard",
    )


@_part_of("prepare_attribution")
def attribution_files(study: Study) -> AttributionFiles:
    """Return what typing the files of `attribute_disclosure` takes."""
    options, files = study.attributed, study.attribution_sources
    keys, targets = study.attribution_variables
    behind = list(files)[1:]
    return AttributionFiles(
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


@_part_of("assess_attribution")
def attribution_rules(study: Study) -> AttributionRules:
    """Return what measuring attribute disclosure takes."""
    _, targets = study.attribution_variables
    original = next(iter(study.attribution_sources))
    return AttributionRules(
        id=study.attribution_ids.get(original, ()),
        sets=tuple(study.attributed.key_sets),
        targets={target.name: target.within for target in targets},
        category=study.attributed.missing == "category",
    )


@_part_of("checklist")
def answering(study: Study) -> Mapping[str, str]:
    """Return the answers to the board's checklist, by question."""
    return required(study.checklist, "checklist").answers


@dataclasses.dataclass(frozen=True)
class Heading:
    """What the report takes from the study beside its tables, among which is the study with every default."""

    title: str
    agency: str
    date: date | None
    language: str


@_part_of("edition", "report")
def heading(study: Study) -> Heading:
    """Return what stands above the report."""
    return Heading(study.title or study.id, study.agency, study.date, study.language)
