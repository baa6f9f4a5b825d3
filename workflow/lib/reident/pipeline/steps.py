"""The steps of a study: the one table of their settings, modules, inputs and outputs.

The rules, the ledger, the report, the comparison of variants and the documentation are derived from this table, or a
test holds them to it. A new step is a line here, its module, its rule and its adapter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reident.pipeline import tables
from reident.pipeline.tables import Table

if TYPE_CHECKING:
    from reident.study.model import Study


@dataclass(frozen=True)
class Step:
    """One step."""

    rule: str  # of Snakemake; the adapter has its name
    label: str  # what it does, in words for the terminal
    # The modules of the library that it runs; with what these import they make the library digest.
    modules: tuple[str, ...]
    wanted: Callable[[Study], bool]  # ``wanted(study)`` tells whether the study asks for the step
    tables: tuple[Table, ...]  # what it makes
    after: tuple[str, ...] = ()  # the steps whose results it reads
    compiled: bool = False  # whether it runs kernels
    # Whether variants that agree on what it takes, and on what the steps before it take, share its results.
    shared: bool = False
    # Whether its input ``tables`` are results of several variants, each with a chain of its own to the sources.
    gathers: bool = False

    def on_request(self, study: Study) -> bool:
        """Return whether only a command of its own asks for it, and no run of the study."""
        return self.rule == "try_recodings" and (study.why is None or not study.why.suggest)

    def before(self, metric: str | None) -> tuple[str, ...]:
        """Return the steps whose results it reads for a metric: scoring reads bins and weights only where needed."""
        if self.rule != "score" or metric is None:
            return self.after
        entry = _registry()[metric]
        unused = {"bin": entry.reads != "binned", "weigh": not entry.weighs}
        return tuple(step for step in self.after if not unused.get(step, False))


def _registry() -> Mapping[str, Any]:
    """Return the metrics: a running step need not wait for the options of all of them."""
    from reident.linkage.metrics import REGISTRY  # noqa: PLC0415

    return REGISTRY


def _always(_: Study) -> bool:
    return True


def _has(section: str) -> Callable[[Study], bool]:
    return lambda study: getattr(study, section) is not None


_linked = _has("metrics")


def _weighed(study: Study) -> bool:
    return any(_registry()[name].weighs for name in study.chosen)


def _limited(study: Study) -> bool:
    return _linked(study) and study.decision is not None and bool(study.decision.given("metrics"))


def _sampled(study: Study) -> bool:
    population = study.file_risk.population if study.file_risk else None
    return population is not None and population.numerical_study is not None


def _modelled(study: Study) -> bool:
    return study.file_risk is not None and study.file_risk.population_models is not None


def _has_distances(study: Study) -> bool:
    return study.matching is not None and study.matching.closest is not None


def _has_units_of_file(study: Study) -> bool:
    return study.file_risk is not None and study.risk.units is not None


def _has_scenarios(study: Study) -> bool:
    risk = study.file_risk
    return risk is not None and bool(risk.scenarios or risk.key_sets)


def _simulated(kind: str) -> Callable[[Study], bool]:
    return lambda study: type(study.simulate).__name__ == kind


def _compared_with_original(study: Study) -> bool:
    return bool(import_module("reident.study.variants").before_protection(study))


# fmt: off
_TABLE = (
    # rule, label, modules that it runs, who wants it, steps whose results it reads; compiled, gathers, shared
    ("resolve", "Filling in the study", "study.model study.reading pipeline.family", _always, "", ""),
    ("checklist", "Reading the checklist", "study.checklists study.reading", _has("checklist"), "", ""),
    ("simulate", "Simulating the survey", "simulation.survey simulation.households simulation.visits",
     lambda study: hasattr(study.simulate, "files"), "", "shared"),
    ("synthesize", "Simulating the synthetic files", "simulation.synthesis", _simulated("SyntheticSurvey"),
     "", "shared"),
    ("simulate_amounts", "Simulating the file of amounts", "simulation.skewed", _simulated("SkewedAmounts"),
     "", "shared"),
    ("populate", "Simulating the population", "simulation.authorities", _simulated("LocalAuthorities"), "", "shared"),
    ("microaggregate", "Masking the file", "microaggregation.masking", _has("microaggregate"),
     "simulate_amounts", "shared"),
    ("prepare", "Reading the files", "intake.prepare", _linked, "simulate microaggregate", "shared"),
    ("stratify", "Forming the strata", "linkage.strata", _linked, "prepare", "shared"),
    ("check_description", "Checking the description", "plausibility.check", _linked,
     "simulate microaggregate prepare stratify", "shared"),
    ("bin", "Cutting variables into categories", "linkage.bins", _linked, "prepare stratify", "shared"),
    ("weigh", "Estimating the weights", "linkage.weights", _weighed, "prepare stratify bin", "compiled shared"),
    ("score", "Comparing records", "linkage.scoring linkage.metrics.{metric}", _linked,
     "prepare stratify bin weigh", "compiled shared"),
    ("rank", "Ranking the pairs", "linkage.ranking", _linked, "stratify score", "compiled shared"),
    ("confirm", "Confirming the pairs", "linkage.confirmation", _linked, "prepare stratify rank", "shared"),
    ("export_confirmed", "Writing suspected pairs as CSV",
     "linkage.confirmation", lambda study: study.confirmed_csv and _linked(study),
     "confirm", ""),
    ("rate", "Computing the rates", "linkage.rates linkage.clusters linkage.description", _linked,
     "prepare stratify bin weigh confirm", ""),
    ("count_members", "Counting the members of units", "linkage.members", _has("units"),
     "prepare stratify bin confirm", "compiled"),
    ("order_claims", "Ordering the claims", "linkage.surest", _linked, "prepare score", "shared"),
    ("compare_metrics", "Comparing the metrics", "linkage.agreement_of_metrics linkage.surest", _linked,
     "prepare stratify rank confirm order_claims", ""),
    ("challenge", "Trying the attacks at hand", "challenge.attacks linkage.metrics", _linked,
     "prepare stratify bin weigh confirm rate compare_metrics", "compiled shared"),
    ("calibrate", "Comparing probabilities with true links", "linkage.calibration", _weighed, "weigh confirm", ""),
    ("explain", "Explaining the confirmed records", "linkage.explanation linkage.metrics.{metric}", _has("why"),
     "prepare stratify bin confirm", "compiled"),
    ("export_why", "Writing what carries each pair as CSV",
     "linkage.confirmation", lambda study: study.confirmed_csv and study.why is not None,
     "explain", ""),
    ("agreements", "Counting agreements", "linkage.agreements", lambda study: "winkler" in study.chosen,
     "confirm rate", ""),
    ("thin", "Attacking with a part of the file", "larger.thinning linkage.metrics.{metric}", _has("larger_intruder"),
     "prepare stratify rank", "compiled shared"),
    ("extrapolate", "Extrapolating to a larger intruder", "larger.curves", _has("larger_intruder"), "thin", ""),
    ("prepare_matching", "Reading the synthetic files", "matching.prepare", _has("matching"), "synthesize", "shared"),
    ("match", "Matching records", "matching.summary", _has("matching"), "prepare_matching", "compiled"),
    ("measure_distances", "Searching for the closest records", "matching.closest", _has_distances,
     "prepare_matching", "compiled"),
    ("prepare_filerisk", "Reading the file and its population", "filerisk.prepare", _has("file_risk"),
     "populate simulate microaggregate synthesize", "shared"),
    ("assess_file", "Measuring the risk of the file", "filerisk.assessment", _has("file_risk"),
     "prepare_filerisk", "compiled"),
    ("model_population", "Modelling the population", "filerisk.modelling", _modelled, "prepare_filerisk", "compiled"),
    ("assess_scenarios", "Measuring several keys at once", "filerisk.scenarios", _has_scenarios,
     "prepare_filerisk", "compiled"),
    ("measure_thresholds", "Comparing risks with thresholds", "filerisk.thresholds", _has("file_risk"),
      "prepare_filerisk", "compiled"),
    ("assess_units", "Measuring the units of the file", "filerisk.profiles", _has_units_of_file,
     "prepare_filerisk", "compiled"),
    ("sample_population", "Sampling the population", "filerisk.numerical_study", _sampled,
     "prepare_filerisk", "compiled"),
    ("prepare_attribution", "Reading original and released files", "attribution.prepare", _has("attribute_disclosure"),
     "synthesize", "shared"),
    ("assess_attribution", "Measuring what could be learnt", "attribution.assessment", _has("attribute_disclosure"),
     "prepare_attribution", "compiled"),
    ("measure_utility", "Measuring the utility", "utility.measure", _has("utility"), "prepare", "compiled gathers"),
    ("join_files", "Joining the intruder's files", "linkage.together",
     lambda study: study.together is not None, "prepare stratify confirm", "gathers"),
    ("judge", "Reaching the verdict",
     "verdict.limits verdict.terminal", _always,
     ("prepare stratify check_description rate count_members compare_metrics challenge calibrate join_files match"
      " measure_distances assess_file model_population assess_scenarios measure_thresholds assess_attribution"
      " prepare_matching prepare_filerisk prepare_attribution"), ""),
    ("compare_variants", "Comparing the variants", "pipeline.comparison", lambda study: bool(study.variants),
     "rate compare_metrics agreements match assess_file measure_utility judge", "gathers"),
    ("compare_protection", "Comparing before and after protection", "linkage.protection", _compared_with_original,
     "stratify rate", "gathers"),
    ("try_recodings", "Trying coarser values", "suggestion.suggest linkage.metrics", _limited,
     "prepare stratify bin confirm", "compiled"),
    ("edition", "Writing the edition for publication", "edition.make edition.publish report.edition study.editions",
     _has("release"),
     "prepare stratify confirm rate prepare_matching match prepare_filerisk assess_file measure_thresholds", ""),
    ("report", "Writing the report",
     "report report.execute report.render report.blocks.* pipeline.release", _always,
     "", ""),
)
# fmt: on


STEPS: dict[str, Step] = {
    rule: Step(
        rule,
        label,
        tuple(modules.split()),
        wanted,
        tables.TABLES[rule],
        tuple(after.split()),
        **dict.fromkeys(traits.split(), True),
    )
    for rule, label, modules, wanted, after, traits in _TABLE
}
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


def table_of(path: Path | str) -> Table:
    """Return the declaration of a file, see :func:`declared`."""
    return declared(path)[0]


def maker_of(path: Path | str) -> str:
    """Return the rule that makes a file, see :func:`declared`."""
    table, _ = declared(path)
    return _MAKERS[table.path]


def declared(path: Path | str) -> tuple[Table, dict[str, str]]:
    """Return the declaration of a file, and the values of the wildcards in its path.

    The path may begin anywhere above the results folder of the study. A comparison has the columns of the table that it
    compares. A file that no step declares is a ValueError.
    """
    parts = Path(path).parts
    names = ["/".join(parts[-length:]) for length in range(min(len(parts), MAX_DEPTH), 0, -1)]
    for name in names:
        for pattern, table in _PATTERNS:
            if match := pattern.fullmatch(name):
                return _with_columns(table, match.groupdict()), match.groupdict()
    raise ValueError(
        f"{names[0]} is not declared as a table of a step; declare it in workflow/lib/reident/pipeline/tables.csv"
    )


def _with_columns(table: Table, wildcards: dict[str, str]) -> Table:
    if table not in tables.COMPARE_VARIANTS:
        return table
    lines = COMPARED[wildcards["table"]]
    compared = [column for column in lines.columns if lines.compared and column.name != lines.compared.column]
    columns = [column for column in table.columns if column.name != tables.COMPARED_COLUMNS]
    return table._replace(columns=(*columns, *compared))


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
    study_tables = {table for step in wanted(study) for table in step.tables}
    return [name for name, table in COMPARED.items() if table in study_tables]
