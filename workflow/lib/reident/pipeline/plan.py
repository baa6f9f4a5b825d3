"""What Snakemake asks while it builds the graph of jobs: inputs, parameters and resources, by wildcards.

Asking has no side effects. Every method that a rule calls gives a function of the job's wildcards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from reident.errors import InputError
from reident.linkage.metrics import REGISTRY
from reident.pipeline import digests, family, steps
from reident.pipeline.family import CHECKLIST, Family
from reident.sections.microaggregation import ORIGINAL
from reident.study import rounding
from reident.study.model import Study

Asked = Callable[[Any], Any]
"""A function of a job's wildcards."""

RESULTS = Path("results")
"""The folder of the results, from the working directory."""

LARGE_FILE = 100_000
"""Bytes above which a file counts as large in the overview of ``snakemake --report``."""

FORKED_FROM = 4
"""The number of jobs from which a fork server is worth its start."""

LARGE_SHARD = 10**9
"""Pairs above which a shard is worth more than one thread: a smaller one ends before a second thread starts."""


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


def check_files(
    families: Mapping[str, Family],
    targets: Iterable[str],
    is_made: Callable[[Path], bool] = lambda _: False,
) -> None:
    """Check that the files that the studies of a run name exist, unless no target of the run is a step.

    A file need not be there where ``is_made(path)`` tells that a rule outside this workflow makes it.

    Raises
    ------
    InputError
        For the first file that does not exist, or a run of steps without a study.
    """
    if (rules := set(targets)) and not rules & {ALL, *steps.STEPS}:
        return
    if not families:
        raise InputError("config: the settings name no study. Name a study with `--config study=PATH`.")
    for members in families.values():
        family.check_files(members.members, members.path, is_made)


ALL = "all"
"""The rule that makes everything."""

JUDGED = {
    "prepared": "prepared/warnings.csv",
    "strata": "strata/account.csv",
    "rates": "rates.csv",
    "matched": "matching/warnings.csv",
    "scenarios": "matching/scenarios.csv",
    "pooled": "matching/pooled.csv",
    "risk": "filerisk/warnings.csv",
    "cells": "filerisk/cells.csv",
    "summary": "filerisk/summary.csv",
    "known": "filerisk/scenarios.csv",
    "attributed": "attribution/warnings.csv",
    "learnt": "attribution/summary.csv",
}
"""The tables that the verdict reads, by the names that it knows them by."""


class Plan:
    """The studies of a run, as the rules ask for them.

    Parameters
    ----------
    families : mapping
        The studies with their variants, by id.
    notebook : pathlib.Path
        What the report is made from.
    shards : callable
        ``shards(study)`` gives the shard table of a study once the checkpoint has made it.
    results : pathlib.Path
        Where the results are. What the rules ask for is in :data:`RESULTS`: Snakemake adds the prefix of a module.
    """

    def __init__(
        self,
        families: Mapping[str, Family],
        notebook: Path,
        shards: Callable[[str], Path],
        results: Path = RESULTS,
    ) -> None:
        self.families, self.notebook = families, notebook
        self._results, self._shard_tables = results, shards
        self._shards = cache(self._read_shards)

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
    def suggested(self) -> list[str]:
        """What the search for coarser values makes, of the studies of the run that have limits on rates."""
        return [
            str(RESULTS / name / "suggest/suggestions.csv")
            for name, members in self.families.items()
            if steps.STEPS["try_recodings"].wanted(members.study)
        ]

    @property
    def releasable(self) -> list[str]:
        """The studies of the run that have a releasable edition."""
        return [name for name, members in self.families.items() if members.study.release is not None]

    def study_file(self, wildcards: Any) -> str:
        """Return the study file."""
        return str(self.family(wildcards.study)[0].path)

    def part_digest(self, rule: str) -> Asked:
        """Give the digest of what a step takes from the study."""

        def ask(wildcards: Any) -> str:
            members, place = self.family(wildcards.study)
            return members.digest(place, rule, wildcards.get("metric"))

        return ask

    def library_digest(self, rule: str) -> Asked:
        """Give the digest of the modules that a step runs."""
        return lambda wildcards: digests.library_digest(rule, wildcards.get("metric"))

    def known(self, study: str) -> dict[str, tuple[Callable[[str, str | None], str | None], dict[str, Path]]]:
        """Return what a study and those of its variants that have results are now, by the place of the results.

        For each, the digest of what a step takes, by rule and metric, and the files outside the results that its
        steps read, by the names of the inputs.
        """
        members, _ = self.family(study)
        places = [
            "",
            *sorted(f"variants/{folder.name}" for folder in (self._results / study).glob("variants/*")),
        ]
        return {
            place: (
                partial(members.known_digest, place),
                family.sources(members.at(place), members.path) | family.notebooks(self.notebook),
            )
            for place in places
            if members.has(place)
        }

    def modules(self, jobs: Collection[tuple[str, str, str | None]]) -> list[str]:
        """Return what a fork server imports for the jobs of a run, in the order of steps.

        Parameters
        ----------
        jobs : collection of tuple
            The rule, study and metric of each job, by the names that this workflow gives them. Those that scoring
            leads to are not known before the strata are formed: all steps of the study then count.

        Returns
        -------
        list of str
            Names of modules; none where the jobs are too few to be worth a server.
        """
        ran = {(rule, metric) for rule, _, metric in jobs}
        for study in {study for rule, study, _ in jobs if rule == "stratify"}:
            members, place = self.family(study)
            ran.update(steps.expected(members.at(place)))
        if max(len(jobs), len(ran)) < FORKED_FROM:
            return []
        order = {rule: at for at, rule in enumerate(steps.STEPS)}
        inside = sorted(ran, key=lambda own: (order.get(own[0], len(order)), own[0], own[1] or ""))
        return list(dict.fromkeys(module for own in inside for module in digests.imports(*own)))

    # Results

    def home(self, study: str, rule: str, metric: str | None) -> Path:
        """Return where the results of a step are: with the study, or with that of which a variant shares them."""
        members, place = self.family(study)
        return RESULTS / members.study.id / members.home(place, rule, metric)

    def result(self, rule: str, path: str, metric: str | None = None) -> Asked:
        """Give a result of a step, wherever it is."""

        def ask(wildcards: Any) -> str:
            home = self.home(wildcards.study, rule, metric or wildcards.get("metric"))
            return f"{home}/{path}".format(**wildcards)

        return ask

    def accounts(self, wildcards: Any) -> list[str]:
        """Return the row accounts of a study."""
        tables = {"prepare": "prepared/account.csv", "stratify": "strata/account.csv"}
        return [self.result(rule, path)(wildcards) for rule, path in tables.items()]

    def judged(self, wildcards: Any) -> dict[str, str]:
        """Return the tables that the verdict reads, of the steps that the study has."""
        makers = {
            table.path: step.rule for step in steps.wanted(self.study(wildcards)) for table in step.tables
        }
        return {
            name: self.result(makers[path], path)(wildcards)
            for name, path in JUDGED.items()
            if path in makers
        }

    def confirmed(self, kind: str) -> Asked:
        """Give a file that confirmation makes for every metric of the study."""
        return lambda wildcards: [
            f"{self.home(wildcards.study, 'confirm', metric)}/confirmed/{metric}.{kind}"
            for metric in self.study(wildcards).chosen
        ]

    def thinned(self, wildcards: Any) -> list[str]:
        """Return the counts of the attacks with parts of the intruder's file, of every metric of the study."""
        return [
            f"{self.home(wildcards.study, 'thin', metric)}/larger/{metric}.counts.csv"
            for metric in self.study(wildcards).chosen
        ]

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

    def compared(self, side: str) -> Asked:
        """Give the table that a metric compares."""

        def ask(wildcards: Any) -> str:
            reads = REGISTRY[wildcards.metric].reads
            rule = "bin" if reads == "binned" else "prepare"
            return f"{self.home(wildcards.study, rule, wildcards.metric)}/{reads}/{side}.parquet"

        return ask

    def weights(self, table: str) -> Asked:
        """Give a table of weights where the metric of a job, or one of its study, needs them."""

        def ask(wildcards: Any) -> list[str]:
            metric = wildcards.get("metric")
            metrics = [metric] if metric else self.study(wildcards).chosen
            if not any(REGISTRY[name].weighs for name in metrics):
                return []
            return [f"{self.home(wildcards.study, 'weigh', metric)}/weights/{table}.csv"]

        return ask

    def known_links(self, wildcards: Any) -> list[str]:
        """Return the true links where the intruder who estimates weights knows them."""
        part = steps.STEPS["weigh"].part
        informed = part is not None and part(self.study(wildcards), None).informed
        return [self.result("prepare", "prepared/iuf.parquet")(wildcards)] if informed else []

    def compared_tables(self, wildcards: Any) -> list[str]:
        """Return a table of the study and of each of its variants, in their order."""
        members, _ = self.family(wildcards.study)
        path = steps.COMPARED[wildcards.table].path
        return [str(RESULTS / members.study.id / member.place / path) for member in members.members]

    def protection(self, wildcards: Any) -> list[str]:
        """Return the rates and the strata of a study, and those of the attack on the file before protection."""
        members, place = self.family(wildcards.study)
        return [
            str(self.home(f"{members.study.id}/{at}".rstrip("/"), rule, None) / path)
            for at in (place, members.before(place))
            for rule, path in (("rate", "rates.csv"), ("stratify", "strata/manifest.csv"))
        ]

    def untreated(self, wildcards: Any) -> list[str]:
        """Return the prepared records of a study before protection, and after it."""
        members, place = self.family(wildcards.study)
        return [
            f"{self.home(f'{members.study.id}/{at}'.rstrip('/'), 'prepare', None)}/prepared/puf.parquet"
            for at in (members.before(place), place)
        ]

    def reported(self, wildcards: Any) -> dict[str, Any]:
        """Return what the report shows and the sources that it depends on; it reads no other table."""
        folder, tables = RESULTS / wildcards.study, steps.reported_tables(self.study(wildcards))
        results = {name: [f"{folder}/{path}" for path in paths] for name, paths in tables.items()}
        return self.chain_sources(wildcards) | results

    def released(self, wildcards: Any) -> dict[str, Any]:
        """Return the tables whose numbers are in the releasable edition, and all sources of the study.

        The policy and the earlier editions, which the step itself reads, have the names of their sides.
        """
        folder, rounding_files = RESULTS / wildcards.study, self.rounding(wildcards)
        tables = [f"{folder}/{path}" for path in steps.released_tables(self.study(wildcards))]
        sources = self.chain_sources(wildcards)
        behind = {
            name: path for name, path in sources.items() if name.removeprefix("source_") not in rounding_files
        }
        return behind | rounding_files | {"tables": tables}

    def chain_sources(self, wildcards: Any) -> dict[str, str]:
        """Return every source of a study, its settings files too, by which a step checks the chain before it."""
        study = self.study(wildcards)
        settings = family.settings_files(study, Path(self.study_file(wildcards)))
        files = {f"source_{side}": str(path) for side, path in settings.items()}
        return self._sides(study.sources, wildcards, "source_") | files

    # Sources

    def sources(self, study: str) -> dict[str, Path]:
        """Return the source files that a study declares, by side; those that it makes are results like others."""
        members, place = self.family(study)
        return family.sources(members.at(place), members.path)

    def source(self, side: str) -> Asked:
        """Give the path of a source file: declared, or made by the study."""

        def ask(wildcards: Any) -> str:
            study = self.study(wildcards)
            if (folder := study.made.get(side)) is None:
                return str(self.sources(wildcards.study)[side])
            return f"{self.home(wildcards.study, _maker(study, side), None)}/{folder}/{side}.csv"

        return ask

    def source_digests(self, wildcards: Any) -> list[str]:
        """Return the digests of declared sources, which change even where a time stamp was kept.

        They must be parameters: what parameters derive from an input function, Snakemake does not compare.
        """
        data = self.study(wildcards).sources
        paths = [path for side, path in self.sources(wildcards.study).items() if side in data]
        # What a rule outside this workflow makes may not be there yet; Snakemake asks again before the job runs.
        return [digests.sha256(path) if path.exists() else "not made yet" for path in paths]

    def checklist(self, wildcards: Any) -> str:
        """Return the questions of the board."""
        return str(self.sources(wildcards.study)[CHECKLIST])

    def checklist_digest(self, wildcards: Any) -> str:
        """Return the digest of the questions of the board, as :meth:`source_digests`."""
        return digests.sha256(Path(self.checklist(wildcards)))

    def rounding(self, wildcards: Any) -> dict[str, str]:
        """Return the rounding policy of a study and its earlier editions, by side."""
        study, path = self.study(wildcards), Path(self.study_file(wildcards))
        files = {} if study.release is None else rounding.sources(study.release, path)
        return {side: str(file) for side, file in files.items()}

    def rounding_digests(self, wildcards: Any) -> list[str]:
        """Return the digests of the policy and the earlier editions, as :meth:`source_digests`."""
        return [digests.sha256(Path(path)) for path in self.rounding(wildcards).values()]

    def linked_sources(self, wildcards: Any) -> dict[str, str]:
        """Return the sources that the rates depend on: the three files, and what they were made from."""
        study = self.study(wildcards)
        sides = [*study.linked_sources, *([ORIGINAL] if ORIGINAL in study.sources else [])]
        return self._sides(sides, wildcards, "source_")

    def original(self, wildcards: Any) -> dict[str, str]:
        """Return the public use file before protection, where the study declares it."""
        files = self.study(wildcards).files
        return self._sides([ORIGINAL] if files and files.original else [], wildcards, "")

    def matched_sources(self, prefix: str = "") -> Asked:
        """Give the confidential file and the synthetic files of a study, by side."""
        return lambda wildcards: self._sides(self.study(wildcards).matched_sources, wildcards, prefix)

    def risk_sources(self, prefix: str = "") -> Asked:
        """Give the file whose risk is measured, and its population, by side."""
        return lambda wildcards: self._sides(self.study(wildcards).risk_sources, wildcards, prefix)

    def attribution_sources(self, prefix: str = "") -> Asked:
        """Give the original file, the released files and the holdout of `attribute_disclosure`, by side."""
        return lambda wildcards: self._sides(self.study(wildcards).attribution_sources, wildcards, prefix)

    def _sides(self, sides: Any, wildcards: Any, prefix: str) -> dict[str, str]:
        return {prefix + side: self.source(side)(wildcards) for side in sides}

    def functions(self, wildcards: Any) -> list[str]:
        """Return the files of the scoring functions of a metric, or of all metrics of a study."""
        chosen, metric = self.study(wildcards).chosen, wildcards.get("metric", "adhoc")
        rules = getattr(chosen.get(metric), "scores", {}).values() if metric == "adhoc" else []
        modules = sorted({rule.function.split(":")[0] for rule in rules if rule.function is not None})
        folder = self.family(wildcards.study)[0].path.parent
        return [str(folder / f"{module}.py") for module in modules]

    # Shards

    def _read_shards(self, table: Path) -> list[dict[str, str]]:
        with table.open(encoding="utf-8") as stream:
            names, *lines = (line.rstrip("\n").split(",") for line in stream)
        return [dict(zip(names, line, strict=True)) for line in lines]

    def shards(self, wildcards: Any) -> list[dict[str, str]]:
        """Return the lines of the study's shard table, once its strata are known."""
        home = self.home(wildcards.study, "stratify", None)
        return self._shards(self._shard_tables(home.relative_to(RESULTS).as_posix()))

    def all_shards(self, wildcards: Any) -> list[str]:
        """Return the scores of every shard of a metric, enumerated from the shard table."""
        home = self.home(wildcards.study, "score", wildcards.metric)
        shards = sorted({line["shard"] for line in self.shards(wildcards)})
        return [f"{home}/scores/{wildcards.metric}/{shard}.parquet" for shard in shards]

    def shard_pairs(self, wildcards: Any) -> int:
        """Return how many pairs a shard compares."""
        lines = self.shards(wildcards)
        return sum(int(line["pairs"]) for line in lines if line["shard"] == wildcards.shard)


def _maker(study: Study, side: str) -> str:
    """Return the rule that makes a source file which the study does not declare."""
    if study.made[side] == "microaggregation":
        return "microaggregate"
    output = "file" if side in study.matched_sources else side
    return next(
        step.rule
        for step in steps.wanted(study)
        if any(table.output == output and table.path.startswith("simulated/") for table in step.tables)
    )


def is_large(path: str) -> bool:
    """Return whether a file is large, or not there yet; `input.size_mb` is not known where `--report` asks."""
    return not Path(path).is_file() or Path(path).stat().st_size > LARGE_FILE
