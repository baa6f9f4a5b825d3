"""What each step takes from a study: one frozen value, made here, and its digest.

A library function receives its value and never the study, and the digest of that very value is a parameter of the
step's rule. Nothing in a study can therefore influence a step without running it again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial
from inspect import signature
from operator import attrgetter
from typing import Any, TypeVar

from pydantic import BaseModel

from reident.attribution.parts import AttributionFiles, AttributionRules
from reident.filerisk.parts import Assessment, Coarsening, IntruderRules, Modelling, RiskFiles, Sampling
from reident.intake.parts import Preparing
from reident.larger.parts import Extrapolating, Thinning
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.winkler import Closest, Nearest
from reident.linkage.parts import (
    Assigning,
    Confirming,
    Counting,
    Cutting,
    Describing,
    Explaining,
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
from reident.sections.attribution import SYNTHETIC
from reident.sections.base import Section, SectionT, required
from reident.sections.codes import Coding, normaliser
from reident.sections.exact import rational_text
from reident.sections.filerisk import POPULATION, UNPERTURBED
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
    return tuple(
        Variable(variable.name, variable.type, variable.integer_coded) for variable in study.linking_variables
    )


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
    return Masking(study.microaggregated, _unlabelled((*study.strata, *variables_)))


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


@_part_of("bin")
def cutting(study: Study) -> Cutting:
    """Return what binning takes."""
    return Cutting(variables(study), study.binning)


def ordered_variables(study: Study) -> tuple[OrderedVariable, ...]:
    """Return the linking variables with the order of their categories."""
    return tuple(
        OrderedVariable(variable.name, variable.type, variable.integer_coded, variable.compared_order)
        for variable in study.linking_variables
    )


@_part_of("score")
def scoring(study: Study, metric: str) -> Scoring:
    """Return what scoring with a metric takes."""
    compared = ordered_variables(study) if REGISTRY[metric].weighs else variables(study)
    return Scoring(compared, study.binning.scope, study.rank_filter.keep, study.chosen[metric])


@_part_of("weigh")
def weighing(study: Study) -> Weighing:
    """Return what the estimation of weights takes."""
    options: Any = study.chosen["fellegi_sunter"]
    limit = options.threshold
    return Weighing(
        ordered_variables(study), options.partial, limit.probability, limit.weight, options.m == "informed"
    )


@_part_of("rank")
def assigning(study: Study, metric: str | None) -> Assigning | None:
    """Return what the ranking of a metric takes: nothing, unless its pairs are assigned one to one."""
    one_to_one = metric is not None and getattr(study.chosen[metric], "one_to_one", False)
    return Assigning(study.rank_filter.max_pairs) if one_to_one else None


@_part_of("confirm")
def confirming(study: Study) -> Confirming:
    """Return what confirmation takes."""
    return Confirming(study.keys, study.rank_filter.max_pairs, study.rank_filter.keep)


@_part_of("explain")
def explaining(study: Study, metric: str) -> Explaining:
    """Return what the explanation of confirmed records takes."""
    return attacking(study, metric, required(study.why, "why"))


def attacking(study: Study, metric: str, why: Why) -> Explaining:
    """Return what an attack with coarser values takes."""
    return Explaining(
        study.keys,
        ordered_variables(study),
        study.binning,
        study.chosen[metric],
        weighing(study) if REGISTRY[metric].weighs else None,
        study.rank_filter.max_pairs,
        assigning(study, metric) is not None,
        tuple(study.chosen),
        why.recodings,
        tuple(variable.name for variable in study.linking_variables if variable.coarsen is not None),
        why.max_size,
    )


def rating(study: Study) -> Rating:
    """Return what the rates take."""
    tolerances = {}
    for name, options in study.chosen.items():
        if not REGISTRY[name].weighs:
            tolerance = partial(REGISTRY[name].tolerance, options, study.linking_variables)
            tolerances[name] = tolerance(False), tolerance(True)
    names = tuple(variable.name for variable in study.linking_variables)
    return Rating(tuple(study.chosen), tolerances, names, study.rank_filter.max_pairs, study.rates)


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
    return Thinning(
        cutting(study),
        scoring(study, metric),
        weighing(study) if REGISTRY[metric].weighs else None,
        assigning(study, metric),
        study.rank_filter.max_pairs,
        study.rank_filter.keep,
        required(study.larger_intruder, "larger_intruder").seed,
    )


@_part_of("extrapolate")
def extrapolating(study: Study) -> Extrapolating:
    """Return what the rates of a larger intruder take."""
    options = required(study.larger_intruder, "larger_intruder")
    limits = {name: study.rank_filter.max_pairs if REGISTRY[name].ranked else None for name in study.chosen}
    fixed = tuple(name for name, metric in study.chosen.items() if _depends_on_size(metric))
    return Extrapolating(
        tuple(study.chosen),
        limits,
        fixed,
        study.rank_filter.keep,
        options.times,
        options.population,
        study.rates.level,
    )


def _depends_on_size(options: Any) -> bool:
    """Return whether a metric compares two records otherwise in a larger file (METHODS §6.5)."""
    return (
        getattr(options, "m", None) == "blind"
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
    strata = tuple(
        Variable(variable.name, "categorical", variable.integer_coded) for variable in study.strata
    )
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
        {name: attacking(study, name, why) for name in study.chosen},
        confirming(study),
        study.rates,
        required(study.decision, "decision"),
        measuring(measured),
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
    )


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


@dataclasses.dataclass(frozen=True)
class Alike:
    """What the public knows of variants beside the study itself: what both have in common, and their rank limits.

    Attributes
    ----------
    files : tuple of str
        Variants with the files, strata and links of the study.
    attacks : tuple of (str, str)
        Variants and metrics whose pairs are those of the study, the rank limit aside.
    max_pairs : mapping
        The rank limit in force by variant.
    """

    files: tuple[str, ...]
    attacks: tuple[tuple[str, str], ...]
    max_pairs: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Releasing:
    """What the releasable edition takes from the study.

    Attributes
    ----------
    metrics : names and titles, in order
    one_candidate : the metrics that pair a record with at most one record
    by_estimate : whether conditional rates themselves are compared with their limit
    strata : by name, the labels of the codes of each strata variable
    variants : the labels of each variant
    file_is_puf : whether the file whose risk is measured is the PUF
    nested_scenarios : pairs of scenarios of matching, the second of which knows more variables
    """

    study: str
    heading: Heading
    seed: str
    known: tuple[str, ...]
    metrics: tuple[tuple[str, str], ...]
    ranked: tuple[str, ...]
    one_candidate: tuple[str, ...]
    max_pairs: int
    interval: str
    level: float
    by_estimate: bool
    strata: Mapping[str, Mapping[str, str]]
    linking_variables: tuple[str, ...]
    varied: tuple[str, ...]
    variants: Mapping[str, Mapping[str, str]]
    alike: Alike
    file_is_puf: bool
    scenarios: tuple[str, ...]
    nested_scenarios: tuple[tuple[str, str], ...]


def releasing(study: Study, variants: Mapping[str, Mapping[str, str]], alike: Alike) -> Releasing:
    """Return what the releasable edition takes from a study, whose variants have these labels."""
    release = required(study.release, "release")
    unicity: Any = study.chosen.get("unicity")
    sets = [scenario for scenario in study.matched.sets if scenario.listed] if study.matching else []
    scenarios = {scenario.name: set(scenario.known) for scenario in sets}
    return Releasing(
        study=study.id,
        heading=heading(study),
        seed=release.seed or "",
        known=release.known,
        metrics=tuple((name, REGISTRY[name].title) for name in study.chosen),
        ranked=tuple(name for name in study.chosen if REGISTRY[name].ranked),
        one_candidate=("unicity",) if unicity is not None and unicity.interactions == "full" else (),
        max_pairs=study.rank_filter.max_pairs,
        interval=study.rates.interval,
        level=study.rates.level,
        by_estimate=study.decision is None or study.decision.by == "estimate",
        strata={variable.name: _labels(variable) for variable in study.strata},
        linking_variables=tuple(variable.name for variable in study.linking_variables),
        varied=tuple(dict.fromkeys(name for labels in variants.values() for name in labels)),
        variants=variants,
        alike=alike,
        file_is_puf=study.file_risk is not None and study.risk.side == "puf",
        scenarios=tuple(scenarios),
        nested_scenarios=tuple(
            (smaller, larger)
            for smaller in scenarios
            for larger in scenarios
            if scenarios[smaller] < scenarios[larger]
        ),
    )


def _labels(variable: Any) -> dict[str, str]:
    """Return the declared labels of the codes of a strata variable, by code as the tables have it."""
    normal = normaliser(Coding("categorical", integer_coded=variable.integer_coded))
    return {normal(code): label for code, label in variable.labels.items()}


def plain(value: Any) -> Any:
    """Return a frozen value in JSON's types, every field of it by its runtime type.

    Raises
    ------
    TypeError
        For a type of which it is not known how to tell two values apart.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, BaseModel):
        # A key that a study does not give, and earlier releases did not know, changes no digest.
        return {
            name: plain(getattr(value, name))
            for name, field in type(value).model_fields.items()
            if not (field.exclude_if and field.exclude_if(getattr(value, name)))
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return rational_text(value)
    if isinstance(value, Decimal | date):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no canonical form")


def settings(part: Any) -> str:
    """Return the names of the settings in a part, each with a short digest of its value, in JSON.

    They tell which settings changed, without a value or the key of a mapping: codes in a study file are data.
    """
    return json.dumps({name: digest(value)[:8] for name, value in _settings(part, "")}, sort_keys=True)


def _settings(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every setting by its name; sections in a list are counted from 1."""
    items: list[tuple[str, Any]] = []
    if isinstance(value, BaseModel):
        items = [(field, getattr(value, field)) for field in type(value).model_fields]
    elif dataclasses.is_dataclass(value):
        items = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    elif isinstance(value, tuple) and all(isinstance(one, BaseModel) for one in value):
        items = [(str(number), one) for number, one in enumerate(value, start=1)]
    if not items:
        yield name, value
    for key, item in items:
        yield from _settings(item, f"{name}.{key}".lstrip("."))


def digest(value: Any) -> str:
    """Return the SHA-256 of a frozen value, or of any JSON-like value."""
    text = json.dumps(plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
