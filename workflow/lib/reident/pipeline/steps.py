"""The steps of a study: the one table of what each takes, runs, reads and makes.

The rules, the ledger, the report, the comparison of variants and the documentation are derived from this table, or a
test holds them to it. A new step is a line here, its module, its rule and its adapter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reident.linkage.metrics import REGISTRY
from reident.pipeline import tables
from reident.pipeline.tables import Table

if TYPE_CHECKING:
    from reident.study.model import Study


class _Parts:
    """The functions of :mod:`reident.pipeline.parts`; it is imported when one is called, since a job needs none."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def make(*arguments: Any) -> Any:
            return getattr(import_module("reident.pipeline.parts"), name)(*arguments)

        return make


parts = _Parts()


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes
    ----------
    rule : str
        Of Snakemake; the adapter has its name.
    label : str
        What it does, in words for the terminal.
    modules : tuple of str
        The modules of the library that it runs; with what these import they make the library digest.
    part : callable
        ``part(study, metric)`` gives the frozen value that the step takes from the study; None for a step that
        takes the study with all its variants, see :meth:`reident.pipeline.family.Family.part`.
    wanted : callable
        ``wanted(study)`` tells whether the study asks for the step.
    after : tuple of str
        The steps whose results it reads.
    tables : tuple of Table
        What it makes.
    compiled : bool
        Whether it runs kernels.
    shared : bool
        Whether variants that agree on what it takes, and on what the steps before it take, share its results.
    gathers : bool
        Whether its input ``tables`` are results of several variants, each with a chain of its own to the sources.
    on_request : callable
        ``on_request(study)`` tells whether only a command of its own asks for it, and no run of the study.
    """

    rule: str
    label: str
    modules: tuple[str, ...]
    part: Callable[[Study, str | None], Any] | None
    wanted: Callable[[Study], bool]
    after: tuple[str, ...]
    tables: tuple[Table, ...]
    compiled: bool = False
    shared: bool = True
    gathers: bool = False
    on_request: Callable[[Study], bool] = lambda _: False

    def before(self, metric: str | None) -> tuple[str, ...]:
        """Return the steps whose results it reads for a metric: scoring reads bins and weights only where needed."""
        if self.rule != "score" or metric is None:
            return self.after
        unused = {"bin": REGISTRY[metric].reads != "binned", "weigh": not REGISTRY[metric].weighs}
        return tuple(step for step in self.after if not unused.get(step, False))


def _always(_: Study) -> bool:
    return True


def _linked(study: Study) -> bool:
    return study.metrics is not None


def _weighed(study: Study) -> bool:
    return any(REGISTRY[name].weighs for name in study.chosen)


def _matched(study: Study) -> bool:
    return study.matching is not None


def _assessed(study: Study) -> bool:
    return study.file_risk is not None


def _attributed(study: Study) -> bool:
    return study.attribute_disclosure is not None


def _explained(study: Study) -> bool:
    return study.why is not None


def _limited(study: Study) -> bool:
    return _linked(study) and study.decision is not None and bool(study.decision.of_metrics)


def _measured(study: Study) -> bool:
    return study.utility is not None


def _sampled(study: Study) -> bool:
    population = study.file_risk.population if study.file_risk else None
    return population is not None and population.numerical_study is not None


def _modelled(study: Study) -> bool:
    return study.file_risk is not None and study.file_risk.population_models is not None


def _has_scenarios(study: Study) -> bool:
    risk = study.file_risk
    return risk is not None and bool(risk.scenarios or risk.key_sets)


def _released(study: Study) -> bool:
    return study.release is not None


def _enlarged(study: Study) -> bool:
    return study.larger_intruder is not None


def _simulated(kind: str) -> Callable[[Study], bool]:
    return lambda study: type(study.simulate).__name__ == kind


def _compared_with_original(study: Study) -> bool:
    return bool(import_module("reident.study.variants").before_protection(study))


def _of_study(make: Callable[[Study], Any]) -> Callable[[Study, str | None], Any]:
    """A part that is the same for every metric."""
    return lambda study, _: make(study)


def _of_metric(study: Study, metric: str | None) -> Any:
    if metric is None:
        raise ValueError("scoring needs a metric")
    return parts.scoring(study, metric)


def _steps() -> Iterator[Step]:
    simulate = _of_study(parts.simulating)
    yield Step(
        "resolve",
        "Filling in the study",
        ("study.model", "study.reading", "pipeline.family"),
        _of_study(parts.resolving),
        _always,
        (),
        tables.RESOLVE,
        shared=False,
    )
    yield Step(
        "checklist",
        "Reading the checklist",
        ("study.checklists", "study.reading"),
        _of_study(parts.answering),
        lambda study: study.checklist is not None,
        (),
        tables.CHECKLIST,
        shared=False,
    )
    yield Step(
        "simulate",
        "Simulating the survey",
        ("simulation.survey",),
        simulate,
        _simulated("HouseholdSurvey"),
        (),
        tables.SIMULATE,
    )
    yield Step(
        "synthesize",
        "Simulating the synthetic files",
        ("simulation.synthesis",),
        simulate,
        _simulated("SyntheticSurvey"),
        (),
        tables.SYNTHESIZE,
    )
    yield Step(
        "simulate_amounts",
        "Simulating the file of amounts",
        ("simulation.skewed",),
        simulate,
        _simulated("SkewedAmounts"),
        (),
        tables.SIMULATE_AMOUNTS,
    )
    yield Step(
        "populate",
        "Simulating the population",
        ("simulation.authorities",),
        simulate,
        _simulated("LocalAuthorities"),
        (),
        tables.POPULATE,
    )
    yield Step(
        "microaggregate",
        "Masking the file",
        ("microaggregation.masking",),
        _of_study(parts.masking),
        lambda study: study.microaggregate is not None,
        ("simulate_amounts",),
        tables.MICROAGGREGATE,
    )
    yield Step(
        "prepare",
        "Reading the files",
        ("intake.prepare",),
        _of_study(parts.preparing),
        _linked,
        ("simulate", "microaggregate"),
        tables.PREPARE,
    )
    yield Step(
        "stratify",
        "Forming the strata",
        ("linkage.strata",),
        _of_study(parts.stratifying),
        _linked,
        ("prepare",),
        tables.STRATIFY,
    )
    yield Step(
        "bin",
        "Cutting variables into categories",
        ("linkage.bins",),
        _of_study(parts.cutting),
        _linked,
        ("prepare", "stratify"),
        tables.BIN,
    )
    yield Step(
        "weigh",
        "Estimating the weights",
        ("linkage.weights",),
        _of_study(parts.weighing),
        _weighed,
        ("prepare", "stratify", "bin"),
        tables.WEIGH,
        compiled=True,
    )
    yield Step(
        "score",
        "Comparing records",
        ("linkage.scoring", "linkage.metrics.{metric}"),
        _of_metric,
        _linked,
        ("prepare", "stratify", "bin", "weigh"),
        tables.SCORE,
        compiled=True,
    )
    yield Step(
        "rank",
        "Ranking the pairs",
        ("linkage.ranking",),
        parts.assigning,
        _linked,
        ("stratify", "score"),
        tables.RANK,
        compiled=True,  # a one-to-one assignment is
    )
    yield Step(
        "confirm",
        "Confirming the pairs",
        ("linkage.confirmation",),
        _of_study(parts.confirming),
        _linked,
        ("prepare", "stratify", "rank"),
        tables.CONFIRM,
    )
    yield Step(
        "export_confirmed",
        "Writing suspected pairs as CSV",
        ("linkage.confirmation",),
        _of_study(lambda _: None),
        lambda study: study.confirmed_csv and _linked(study),
        ("confirm",),
        tables.EXPORT_CONFIRMED,
        shared=False,
    )
    yield Step(
        "rate",
        "Computing the rates",
        ("linkage.rates", "linkage.clusters"),
        _of_study(parts.rating),
        _linked,
        ("prepare", "stratify", "weigh", "confirm"),
        tables.RATE,
        shared=False,
    )
    yield Step(
        "calibrate",
        "Comparing probabilities with true links",
        ("linkage.calibration",),
        _of_study(lambda _: None),
        _weighed,
        ("weigh", "confirm"),
        tables.CALIBRATE,
        shared=False,
    )
    yield Step(
        "describe",
        "Describing the variables",
        ("linkage.description",),
        _of_study(parts.describing),
        _linked,
        ("prepare", "stratify", "bin", "confirm"),
        tables.DESCRIBE,
        shared=False,
    )
    yield Step(
        "explain",
        "Explaining the confirmed records",
        ("linkage.explanation", "linkage.metrics.{metric}"),
        parts.explaining,
        _explained,
        ("prepare", "stratify", "bin", "confirm"),
        tables.EXPLAIN,
        compiled=True,
        shared=False,
    )
    yield Step(
        "export_why",
        "Writing what carries each pair as CSV",
        ("linkage.confirmation",),
        _of_study(lambda _: None),
        lambda study: study.confirmed_csv and _explained(study),
        ("explain",),
        tables.EXPORT_WHY,
        shared=False,
    )
    yield Step(
        "agreements",
        "Counting agreements",
        ("linkage.agreements",),
        _of_study(parts.counting),
        lambda study: "winkler" in study.chosen,
        ("confirm", "rate"),
        tables.AGREEMENTS,
        shared=False,
    )
    yield Step(
        "thin",
        "Attacking with a part of the file",
        ("larger.thinning", "linkage.metrics.{metric}"),
        parts.thinning,
        _enlarged,
        ("prepare", "stratify", "rank"),
        tables.THIN,
        compiled=True,
    )
    yield Step(
        "extrapolate",
        "Extrapolating to a larger intruder",
        ("larger.curves",),
        _of_study(parts.extrapolating),
        _enlarged,
        ("thin",),
        tables.EXTRAPOLATE,
        shared=False,
    )
    yield Step(
        "prepare_matching",
        "Reading the synthetic files",
        ("matching.prepare",),
        _of_study(lambda study: parts.matched_files(study.matched)),
        _matched,
        ("synthesize",),
        tables.PREPARE_MATCHING,
    )
    yield Step(
        "match",
        "Matching records",
        ("matching.summary",),
        _of_study(lambda study: parts.match_rules(study.matched)),
        _matched,
        ("prepare_matching",),
        tables.MATCH,
        compiled=True,
        shared=False,
    )
    yield Step(
        "prepare_filerisk",
        "Reading the file and its population",
        ("filerisk.prepare",),
        _of_study(parts.risk_files),
        _assessed,
        ("populate", "simulate", "microaggregate", "synthesize"),
        tables.PREPARE_FILERISK,
    )
    yield Step(
        "assess_file",
        "Measuring the risk of the file",
        ("filerisk.assessment",),
        _of_study(parts.assessment),
        _assessed,
        ("prepare_filerisk",),
        tables.ASSESS_FILE,
        compiled=True,
        shared=False,
    )
    yield Step(
        "model_population",
        "Modelling the population",
        ("filerisk.modelling",),
        _of_study(parts.modelling),
        _modelled,
        ("prepare_filerisk",),
        tables.MODEL_POPULATION,
        compiled=True,
        shared=False,
    )
    yield Step(
        "assess_scenarios",
        "Measuring several keys at once",
        ("filerisk.scenarios",),
        _of_study(parts.intruder_rules),
        _has_scenarios,
        ("prepare_filerisk",),
        tables.ASSESS_SCENARIOS,
        compiled=True,
        shared=False,
    )
    yield Step(
        "sample_population",
        "Sampling the population",
        ("filerisk.numerical_study",),
        _of_study(parts.sampling),
        _sampled,
        ("prepare_filerisk",),
        tables.SAMPLE_POPULATION,
        compiled=True,
        shared=False,
    )
    yield Step(
        "prepare_attribution",
        "Reading original and released files",
        ("attribution.prepare",),
        _of_study(parts.attribution_files),
        _attributed,
        ("synthesize",),
        tables.PREPARE_ATTRIBUTION,
    )
    yield Step(
        "assess_attribution",
        "Measuring what could be learnt",
        ("attribution.assessment",),
        _of_study(parts.attribution_rules),
        _attributed,
        ("prepare_attribution",),
        tables.ASSESS_ATTRIBUTION,
        compiled=True,
        shared=False,
    )
    yield Step(
        "measure_utility",
        "Measuring the utility",
        ("utility.measure",),
        _of_study(parts.measuring),
        _measured,
        ("prepare",),
        tables.MEASURE_UTILITY,
        compiled=True,
        shared=False,
        gathers=True,
    )
    yield Step(
        "judge",
        "Reaching the verdict",
        ("verdict.limits", "verdict.terminal"),
        _of_study(parts.judging),
        _always,
        (
            "prepare",
            "stratify",
            "rate",
            "prepare_matching",
            "match",
            "prepare_filerisk",
            "assess_file",
            "assess_scenarios",
            "prepare_attribution",
            "assess_attribution",
        ),
        tables.JUDGE,
        shared=False,
    )
    yield Step(
        "compare_variants",
        "Comparing the variants",
        ("pipeline.comparison",),
        None,
        lambda study: bool(study.variants),
        ("rate", "agreements", "match", "assess_file", "measure_utility", "judge"),
        tables.COMPARE,
        shared=False,
        gathers=True,
    )
    yield Step(
        "compare_protection",
        "Comparing before and after protection",
        ("linkage.protection",),
        _of_study(lambda study: tuple(variable.name for variable in study.strata)),
        _compared_with_original,
        ("stratify", "rate"),
        tables.PROTECTION,
        shared=False,
        gathers=True,
    )
    yield Step(
        "try_recodings",
        "Trying coarser values",
        ("suggestion.suggest", "linkage.metrics"),
        _of_study(parts.suggesting),
        _limited,
        ("prepare", "stratify", "bin", "confirm"),
        tables.SUGGEST,
        compiled=True,
        shared=False,
        on_request=lambda study: study.why is None or not study.why.suggest,
    )
    yield Step(
        "release",
        "Rounding for publication",
        ("release.gate",),
        None,
        _released,
        (
            "stratify",
            "bin",
            "confirm",
            "rate",
            "match",
            "assess_file",
            "judge",
            "compare_variants",
            "compare_protection",
        ),
        tables.RELEASE,
        shared=False,
    )
    yield Step(
        "edition",
        "Writing the edition for publication",
        ("report.edition",),
        _of_study(parts.heading),
        _released,
        ("release",),
        tables.EDITION,
        shared=False,
    )
    yield Step(
        "report",
        "Writing the report",
        ("report", "report.execute", "report.render", "report.tables", "report.figures", "pipeline.release"),
        _of_study(parts.heading),
        _always,
        (),
        tables.REPORT,
        shared=False,
    )


STEPS: dict[str, Step] = {step.rule: step for step in _steps()}
"""Every step by the name of its rule, each after those whose results it reads."""


def wanted(study: Study) -> list[Step]:
    """Return the steps that a study asks for."""
    return [step for step in STEPS.values() if step.wanted(study)]


def expected(study: Study) -> list[tuple[str, str | None]]:
    """Return the rule and metric of every step that a run of a study may ask for."""
    return [
        (step.rule, metric)
        for step in wanted(study)
        if not step.on_request(study)
        for metric in (study.chosen if any("{metric}" in table.path for table in step.tables) else (None,))
    ]


def last_rules(study: Study) -> list[str]:
    """Return the rules of the steps on which no other step rests but comparisons and the report."""
    rules = [
        step
        for step in wanted(study)
        if step.rule not in ("resolve", "report") and not step.gathers and not step.on_request(study)
    ]
    rested_on = {rule for step in rules for rule in step.after}
    return [step.rule for step in rules if step.rule not in rested_on]


def paths(table: Table, study: Study) -> list[str]:
    """Return where a table is, from the study's results folder: one path for each metric, or compared table."""
    values = {"{metric}": list(study.chosen), "{table}": compared_tables(study)}
    for wildcard, names in values.items():
        if wildcard in table.path:
            return [table.path.replace(wildcard, name) for name in names]
    return [table.path]


def released_tables(study: Study) -> list[str]:
    """Return the tables whose numbers are in the releasable edition of a study."""
    released = [table for step in wanted(study) for table in step.tables if table.released]
    return [
        path
        for table in released
        for path in paths(table, study)
        if table not in tables.COMPARE or COMPARED[Path(path).stem].released
    ]


def table_of(path: Path | str) -> Table:
    """Return the declaration of a file, see :func:`declared`."""
    return declared(path)[0]


def maker_of(path: Path | str) -> str:
    """Return the rule that makes a file, see :func:`declared`."""
    table, _ = declared(path)
    return _MAKERS[table.path]


def declared(path: Path | str) -> tuple[Table, dict[str, str]]:
    """Return the declaration of a file, and what its path has in place of wildcards.

    Parameters
    ----------
    path : pathlib.Path or str
        Where the file is, from anywhere above the results folder of its study.

    Returns
    -------
    table : Table
        A comparison has the columns of the table that it compares.
    wildcards : dict

    Raises
    ------
    ValueError
        If no step declares the file.
    """
    parts = Path(path).parts
    names = ["/".join(parts[-length:]) for length in range(min(len(parts), MAX_DEPTH), 0, -1)]
    for name in names:
        for pattern, table in _PATTERNS:
            if match := pattern.fullmatch(name):
                return _with_columns(table, match.groupdict()), match.groupdict()
    raise ValueError(
        f"{names[0]} is not declared as a table of a step; declare it in `reident.pipeline.tables`"
    )


def _with_columns(table: Table, wildcards: dict[str, str]) -> Table:
    if table not in tables.COMPARE:
        return table
    lines = COMPARED[wildcards["table"]]
    compared = [column for column in lines.columns if lines.compared and column.name != lines.compared.column]
    own = [column for column in table.columns if column.name != tables.COMPARED_COLUMNS]
    return table._replace(columns=(*own, *compared))


def _pattern(path: str) -> re.Pattern[str]:
    literal = re.escape(path).replace(r"\{", "{").replace(r"\}", "}")
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/.]+)", literal))


_PATTERNS = [
    (_pattern(table.path), table)
    for table in sorted(
        (table for step in STEPS.values() for table in step.tables), key=lambda table: table.path.count("{")
    )
]
"""Every table with the pattern of its path; a path without wildcards comes before one with them."""

_MAKERS = {table.path: step.rule for step in STEPS.values() for table in step.tables}

MAX_DEPTH = max(table.path.count("/") for _, table in _PATTERNS) + 1
"""Levels of folders below the results of a study, the file included."""


def reported_tables(study: Study) -> dict[str, list[str]]:
    """Return the tables that the report of a study shows, by the rule and the output that make them.

    The step `report` has them as its inputs, and its notebook reads no others: a section that is dropped from a study
    leaves its tables on the disk.
    """
    return {
        f"{step.rule}_{table.output}": paths(table, study)
        for step in wanted(study)
        for table in step.tables
        if table.reported and not step.on_request(study)
    }


COMPARED: dict[str, Table] = {
    table.compared.name: table for step in STEPS.values() for table in step.tables if table.compared
}
"""The tables by which variants are compared, by the name of the comparison."""


def compared_tables(study: Study) -> list[str]:
    """Return the comparisons of a study and its variants; none without variants."""
    if not study.variants:
        return []
    made = {table for step in wanted(study) for table in step.tables}
    return [name for name, table in COMPARED.items() if table in made]
