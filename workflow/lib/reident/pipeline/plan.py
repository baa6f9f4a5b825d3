"""The answers to Snakemake while it builds the graph of jobs: inputs, parameters and resources, by wildcards.

Asking has no side effects. Every method that a rule calls gives a function of the job's wildcards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from snakemake.io import local

from reident.errors import InputError
from reident.linkage.metrics import REGISTRY
from reident.linkage.step import weighing
from reident.pipeline import digests, family, steps
from reident.pipeline.canonical import setting_digests
from reident.pipeline.editions import public_metrics
from reident.pipeline.family import CHECKLIST, FONT, Family
from reident.pipeline.handed import Handed
from reident.sections.base import required
from reident.sections.files import ORIGINAL
from reident.study import rounding
from reident.study.model import Study
from reident.verdict.settings import TABLES as JUDGED

WildcardFunction = Callable[[Any], Any]
"""A function of a job's wildcards."""

RESULTS = Path("results")
"""The folder of the results, from the working directory."""

LARGE_FILE = 100_000
"""Bytes above which reading a file, or a search in it, is worth more than one thread."""

MANY_RECORDS = 500_000
"""Bytes above which the pairs of prepared files are worth more than one thread."""

START_MEMORY = 1000
"""Megabytes of any job: its packages, those of a notebook's kernel, and on a node two processes of Snakemake."""


def load_families(paths: list[Path]) -> dict[str, Family]:
    """Return the studies of a run with their variants, by study id; the files that they name need not be there.

    Raises
    ------
    InputError
        For the first mistake of a study file, or an id given twice.
    """
    families: dict[str, Family] = {}
    for path in paths:
        member = Family(path)
        _ = member.members  # a mistake in a variant is one of the study file
        if (other := families.get(member.study.id)) is not None:
            raise InputError(
                f"{path}: `id` must not be that of another study of this run ({other.path}). Change one of the two."
            )
        families[member.study.id] = member
    return families


def check_files(families: Mapping[str, Family]) -> None:
    """Check that the files that the studies of a run name exist.

    Raises
    ------
    InputError
        For the first file that does not exist.
    """
    for members in families.values():
        family.check_files(members.members, members.path)


def memory(factor: float) -> Callable[..., int]:
    """Give the megabytes that a job asks a cluster for: in proportion to its files, and more at each attempt.

    `factor` is megabytes in memory for a megabyte of input files: about 5 where a step works batch by batch, and 40
    where it holds records and searches among them.
    """

    def ask(wildcards: Any, input: Any, attempt: int) -> int:  # noqa: A002, ARG001 - Snakemake's names
        return int((START_MEMORY + factor * input.size_mb) * attempt)

    return ask


def minutes(wildcards: Any, input: Any, attempt: int) -> int:  # noqa: A002, ARG001 - Snakemake's names
    """Return the minutes that a job asks a cluster for: a half hour, one per megabyte, more at each attempt."""
    return int((30 + input.size_mb) * attempt)


class Plan:
    """The studies of a run, as the rules ask for them.

    `notebook` is what the report is made from, `shards` the items into which scoring is scattered.
    """

    def __init__(self, families: Mapping[str, Family], notebook: Path, shards: Sequence[str]) -> None:
        self.families, self.notebook, self._shards = families, notebook, shards

    # The study of a job

    def family(self, study: str) -> tuple[Family, str]:
        """Return the family of a study id, ``{id}`` or ``{id}/variants/{variant}``, and the place in it."""
        name, _, place = study.partition("/")
        return self.families[name], place

    def study(self, wildcards: Any) -> Study:
        """Return the study, or the variant, that a job belongs to."""
        members, place = self.family(wildcards.study)
        return members.at(place)

    @property
    def releasable(self) -> list[str]:
        """The studies of the run that have a releasable edition."""
        return [name for name, members in self.families.items() if members.study.release is not None]

    @property
    def study_files(self) -> list[str]:
        """The study files of the run."""
        return [_outside(members.path) for members in self.families.values()]

    def params(self, rule: str) -> dict[str, WildcardFunction]:
        """Return the parameters of a step's rule: its settings, their digest, and the digest of its code.

        Snakemake hands settings and a path to the job and does not compare them, since they are no text or number. What
        runs a step again is a digest; the digests of single settings tell which of them changed.
        """

        def of_settings(take: Callable[[Family, str, str, str | None], Any]) -> WildcardFunction:
            def ask(wildcards: Any) -> Any:
                members, place = self.family(wildcards.study)
                return take(members, place, rule, wildcards.get("metric"))

            return ask

        return {
            "settings": of_settings(lambda members, *step: Handed(members.settings(*step))),
            "study": of_settings(lambda members, *step: members.digest(*step)),
            "setting_digests": of_settings(lambda members, *step: setting_digests(members.settings(*step))),
            "library": lambda wildcards: digests.library_digest(rule, wildcards.get("metric")),
            "file": lambda wildcards: self.family(wildcards.study)[0].path.absolute(),
        }

    # Results

    def path(self, wildcards: Any, rule: str, path: str, metric: str | None = None, place: str | None = None) -> str:
        """Return a result of a step, in the folder of the study or of the variant that shares it.

        ``path`` is from the study's results folder; ``place`` is another study of the family than that of the job.
        """
        members, job_place = self.family(wildcards.study)
        home = members.home(job_place if place is None else place, rule, metric)
        return str(RESULTS / members.study.id / home / path)

    def result(self, rule: str, path: str, metric: str | None = None) -> WildcardFunction:
        """Give a result of a step, wherever it is."""
        return lambda wildcards: self.path(wildcards, rule, path.format(**wildcards), metric or wildcards.get("metric"))

    def results(self, rule: str, path: str) -> WildcardFunction:
        """Give a result of a step for every metric of the study."""
        return lambda wildcards: [
            self.path(wildcards, rule, path.format(metric=metric), metric) for metric in self.study(wildcards).chosen
        ]

    def listed(self, *given: WildcardFunction) -> WildcardFunction:
        """Give the results of several functions in one list."""

        def ask(wildcards: Any) -> list[str]:
            answers = [answer(wildcards) for answer in given]
            return [path for own in answers for path in ([own] if isinstance(own, str) else own)]

        return ask

    def before_protection(self, rule: str, path: str) -> WildcardFunction:
        """Give a result of a step in the attack on the file before protection."""

        def ask(wildcards: Any) -> str:
            members, place = self.family(wildcards.study)
            return self.path(wildcards, rule, path, place=members.before(place))

        return ask

    def of_intruders(self, rule: str, path: str) -> WildcardFunction:
        """Give a result of a step in the attack with each file of `together`, those of a metric after one another."""

        def ask(wildcards: Any) -> list[str]:
            members, _ = self.family(wildcards.study)
            metrics = members.study.chosen if "{metric}" in path else (None,)
            return [
                self.path(wildcards, rule, path.format(metric=metric), metric, place)
                for metric in metrics
                for place in members.intruders.values()
            ]

        return ask

    def of_studies(self, rule: str, path: str) -> list[str]:
        """Return a result of a step, of the studies of the run that may ask for it."""
        asking = (name for name, members in self.families.items() if steps.STEPS[rule].wanted(members.study))
        return [str(RESULTS / name / path) for name in asking]

    def accounts(self, wildcards: Any) -> list[str]:
        """Return the row accounts of a study."""
        tables = {"prepare": "prepared/account.csv", "stratify": "strata/account.csv"}
        return [self.result(rule, path)(wildcards) for rule, path in tables.items()]

    def judged(self, wildcards: Any) -> list[str]:
        """Return the tables that the verdict reads, of the steps that the study has."""
        makers = {table.path: step.rule for step in steps.wanted(self.study(wildcards)) for table in step.tables}
        return [self.result(makers[path], path)(wildcards) for path in JUDGED if path in makers]

    @property
    def exported(self) -> list[str]:
        """The copies of results for people, of the studies of the run that ask for them."""
        return [
            str(RESULTS / name / path)
            for name, members in self.families.items()
            for step in steps.wanted(members.study)
            for table in step.tables
            if table.exported
            for path in steps.paths(table, members.study)
        ]

    def compared(self, side: str) -> WildcardFunction:
        """Give the table that the metric of a job compares, or that which weighs."""

        def ask(wildcards: Any) -> str:
            metric = wildcards.get("metric") or next(
                name for name in self.study(wildcards).chosen if REGISTRY[name].weighs
            )
            reads = REGISTRY[metric].table(self.study(wildcards).chosen[metric])
            rule = "bin" if reads == "binned" else "prepare"
            return self.path(wildcards, rule, f"{reads}/{side}.parquet", wildcards.get("metric"))

        return ask

    def weights(self, table: str) -> WildcardFunction:
        """Give a table of weights where the metric of a job, or one of its study, needs them."""

        def ask(wildcards: Any) -> list[str]:
            metric = wildcards.get("metric")
            metrics = [metric] if metric else self.study(wildcards).chosen
            if not any(REGISTRY[name].weighs for name in metrics):
                return []
            return [self.path(wildcards, "weigh", f"weights/{table}.csv", metric)]

        return ask

    def known_links(self, wildcards: Any) -> list[str]:
        """Return the true links where the intruder who estimates weights knows them."""
        informed = weighing(self.study(wildcards)).informed
        return [self.result("prepare", "prepared/iuf.parquet")(wildcards)] if informed else []

    def compared_tables(self, wildcards: Any) -> list[str]:
        """Return a table of the study and of each of its variants, in their order."""
        members, _ = self.family(wildcards.study)
        path = steps.COMPARED[wildcards.table].path
        return [str(RESULTS / members.study.id / member.place / path) for member in members.members]

    def reported(self, wildcards: Any) -> dict[str, Any]:
        """Return the tables that the report shows and the sources that it depends on; it reads no other table."""
        folder, tables = RESULTS / wildcards.study, steps.reported_tables(self.study(wildcards))
        results = {name: [f"{folder}/{path}" for path in paths] for name, paths in tables.items()}
        return self.chain_sources(wildcards) | results

    def stated(self, wildcards: Any) -> dict[str, Any]:
        """Return the results that the public statement is about, and all sources of the study.

        The policy and the earlier editions, which the step itself reads, have the names of their sides.
        """
        study, rounding_files = self.study(wildcards), self.rounding(wildcards)
        metrics, by_stratum = public_metrics(study), required(study.release, "release").strata
        pairs = [self.path(wildcards, "confirm", f"confirmed/{name}.pairs.parquet", name) for name in metrics]
        results = {
            "rates": ("rate", "rates.csv", metrics),
            "manifest": ("stratify", "strata/manifest.csv", metrics and by_stratum),
            "strata": ("stratify", "strata/puf.parquet", metrics and by_stratum),
            "persons": ("prepare", "prepared/eif.parquet", metrics and study.linked_files.eif.person),
            "cells": ("assess_file", "filerisk/cells.csv", study.file_risk),
            "risks": ("measure_thresholds", "filerisk/risks.csv", study.file_risk),
            "file": ("prepare_filerisk", "filerisk/prepared/file.parquet", study.file_risk),
            "pooled": ("match", "matching/pooled.csv", study.matching),
            "synthetic": ("prepare_matching", "matching/prepared/synthetic.parquet", study.matching),
        }
        read = {name: self.path(wildcards, rule, path) for name, (rule, path, is_read) in results.items() if is_read}
        sources = self.chain_sources(wildcards)
        behind = {name: path for name, path in sources.items() if name.removeprefix("source_") not in rounding_files}
        return behind | rounding_files | read | {"pairs": pairs}

    def chain_sources(self, wildcards: Any) -> dict[str, str]:
        """Return every source of a study, its settings files too, by which a step checks the chain before it.

        No step before the pages reads the font.
        """
        study = self.study(wildcards)
        settings = family.settings_files(study, self.family(wildcards.study)[0].path)
        files = {f"source_{side}": _outside(path) for side, path in settings.items() if side != FONT}
        return self._sides(study.sources, wildcards, "source_") | files

    # Sources

    def sources(self, study: str) -> dict[str, Path]:
        """Return the source files that a study declares, by side; those that it makes are results like others."""
        members, place = self.family(study)
        return family.sources(members.at(place), members.path)

    def source(self, side: str) -> WildcardFunction:
        """Give the path of a source file: declared, or made by the study."""

        def ask(wildcards: Any) -> str:
            study = self.study(wildcards)
            if (folder := study.made.get(side)) is None:
                return _outside(self.sources(wildcards.study)[side])
            return self.path(wildcards, _maker(study, side), f"{folder}/{side}.csv")

        return ask

    def source_digests(self, wildcards: Any) -> list[str]:
        """Return the digests of declared sources, which change even where a time stamp was kept.

        They must be parameters: what parameters derive from an input function, Snakemake does not compare.
        """
        data = self.study(wildcards).sources
        paths = [path for side, path in self.sources(wildcards.study).items() if side in data]
        # What a rule outside this workflow makes may not be there yet; Snakemake asks again before the job runs.
        return [digests.sha256(path) if path.exists() else "not made yet" for path in paths]

    def checklists(self, wildcards: Any) -> dict[str, str]:
        """Return the questions of the board, by side."""
        sources = self.sources(wildcards.study).items()
        return {side: _outside(path) for side, path in sources if side.startswith(CHECKLIST)}

    def checklist_digest(self, wildcards: Any) -> str:
        """Return the digests of the questions of the board, as :meth:`source_digests`."""
        return " ".join(digests.sha256(Path(path)) for path in self.checklists(wildcards).values())

    def font(self, wildcards: Any) -> list[str]:
        """Return the font of labels, where the study names one."""
        font = self.study(wildcards).font
        return [] if font is None else [_outside(self.family(wildcards.study)[0].path.parent / font)]

    def font_digest(self, wildcards: Any) -> list[str]:
        """Return the digest of the font of labels, as :meth:`source_digests`."""
        return [digests.sha256(Path(path)) for path in self.font(wildcards)]

    def rounding(self, wildcards: Any) -> dict[str, str]:
        """Return the rounding policy of a study and its earlier editions, by side."""
        study, path = self.study(wildcards), self.family(wildcards.study)[0].path
        files = {} if study.release is None else rounding.sources(study.release, path)
        return {side: _outside(file) for side, file in files.items()}

    def rounding_digests(self, wildcards: Any) -> list[str]:
        """Return the digests of the policy and the earlier editions, as :meth:`source_digests`."""
        return [digests.sha256(Path(path)) for path in self.rounding(wildcards).values()]

    def original(self, wildcards: Any) -> dict[str, str]:
        """Return the public use file before protection, where the study declares it."""
        files = self.study(wildcards).files
        return self._sides([ORIGINAL] if files and files.original else [], wildcards, "")

    def files(self, kind: Literal["linked", "matched", "risk", "attribution"], prefix: str = "") -> WildcardFunction:
        """Give the source files of an analysis by side; the rates depend on the sources of linked files too."""

        def ask(wildcards: Any) -> dict[str, str]:
            study = self.study(wildcards)
            sides = {
                "linked": [*study.linked_sources, *({ORIGINAL} & study.sources.keys())],
                "matched": [*study.matched_sources, *study.holdout_sources],
                "risk": study.risk_sources,
                "attribution": study.attribution_sources,
            }
            return self._sides(sides[kind], wildcards, prefix)

        return ask

    def _sides(self, sides: Any, wildcards: Any, prefix: str) -> dict[str, str]:
        return {prefix + side: self.source(side)(wildcards) for side in sides}

    def functions(self, wildcards: Any) -> list[str]:
        """Return the files of the scoring functions of a metric, or of all metrics of a study."""
        chosen, metric = self.study(wildcards).chosen, wildcards.get("metric", "adhoc")
        rules = getattr(chosen.get(metric), "scores", {}).values() if metric == "adhoc" else []
        modules = sorted({rule.function.split(":")[0] for rule in rules if rule.function is not None})
        folder = self.family(wildcards.study)[0].path.parent
        return [_outside(folder / f"{module}.py") for module in modules]

    # Shards

    def all_shards(self, wildcards: Any) -> list[str]:
        """Return the scores of every shard of a metric."""
        return self._of_shards(wildcards, "scores")

    def all_claims(self, wildcards: Any) -> list[str]:
        """Return the candidates of the claims of every shard of a metric."""
        return self._of_shards(wildcards, "claims")

    def _of_shards(self, wildcards: Any, folder: str) -> list[str]:
        metric = wildcards.metric
        return [self.path(wildcards, "score", f"{folder}/{metric}/{shard}.parquet", metric) for shard in self._shards]


def _outside(path: Path) -> str:
    """Return the path of a file that is not a result, as an importer's rules name it, without a module's prefix."""
    return local(os.path.normpath(path))


def _maker(study: Study, side: str) -> str:
    """Return the rule that makes a source file which the study does not declare."""
    if study.made[side] == "microaggregation":
        return "microaggregate"
    output = "file" if side in {**study.matched_sources, **study.holdout_sources} else side
    return next(
        step.rule
        for step in steps.wanted(study)
        if any(table.output == output and table.path.startswith("simulated/") for table in step.tables)
    )


def is_large(path: str, limit: int = LARGE_FILE) -> bool:
    """Return whether a file is large, or not there yet; `input.size_mb` is not known where `--report` asks."""
    return not Path(path).is_file() or Path(path).stat().st_size > limit


def are_many(*paths: str) -> bool:
    """Return whether one of the prepared files to be compared has many records, or is not there yet."""
    return any(is_large(path, MANY_RECORDS) for path in paths)
