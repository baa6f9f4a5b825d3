"""Validate studies with their files, and report the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from reident.drafting.sheet import number
from reident.errors import InputError
from reident.filerisk.settings import FILE, POPULATION, RiskFileSettings
from reident.filerisk.settings import ORIGINAL as ORIGINAL_RECORDS
from reident.intake.settings import PreparationSettings
from reident.matching.section import HOLDOUT
from reident.matching.settings import CONFIDENTIAL
from reident.microaggregation import masking
from reident.microaggregation.settings import MaskingSettings
from reident.pipeline import family
from reident.pipeline.family import Family
from reident.pipeline.sources import drawn_files
from reident.pipeline.steps import STEPS
from reident.plausibility import grouping
from reident.sections.files import ORIGINAL
from reident.study import checklists, editions, named_files, rounding, variants
from reident.study.model import Study
from reident.validation import analyses, linked, studyfile
from reident.validation.findings import Findings
from reident.validation.texts import Texts, Wanted

CHECKS: dict[str, Callable[[Any, Mapping[str, pa.Table | None], Findings], None]] = {
    "prepare": linked.check,
    "prepare_matching": analyses.check_matching,
    "prepare_filerisk": analyses.check_risk,
    "prepare_attribution": analyses.check_attribution,
    "confirm_values": analyses.check_values,
}
"""By step that reads the files of a study, what checks them."""


class Answer(NamedTuple):
    """The result of a validation: the numbers of errors and warnings, and the lines that the terminal shows."""

    errors: int
    warnings: int
    lines: list[str]


def validate(paths: list[Path]) -> Answer:
    """Return every error and every warning of some study files and of the files that they name."""
    lines, ids = list[str](), dict[str, Path]()
    errors = warnings = 0
    for path in paths:
        findings = Findings()
        study = check(path, findings)
        if study is not None and ids.setdefault(study.id, path) != path:
            findings.error(
                f"{path}: `id` must not be that of another study of this run ({ids[study.id]}). Change one of the two."
            )
        lines += [f"Error: {one}" for one in findings.errors.values()]
        lines += [f"Warning: {one}" for one in findings.warnings.values()]
        if study is None:
            lines.append(f"{path}: the files of the study were not read. First correct the study file.")
        lines += [f"\n{hint}\n" for hint in findings.hints.values()]
        errors, warnings = errors + len(findings.errors), warnings + len(findings.warnings)
    total = f"{number(errors, 'error')}, {number(warnings, 'warning')}. {_next(paths, errors, warnings)}"
    return Answer(errors, warnings, [*lines, total])


def _next(paths: list[Path], errors: int, warnings: int) -> str:
    """Return the next step for the user."""
    if errors:
        return "Correct the errors, and validate again."
    if not paths:
        return "Name a study, for example `reident validate my-study/study.yaml`."
    run = f"`snakemake --config study={','.join(map(str, paths))}`"
    return f"Read the warnings; then run {run}." if warnings else f"Run {run}."


def check(path: Path, findings: Findings) -> Study | None:
    """Note the problems of one study and its files; return the study without them, if any is left."""
    content = studyfile.read(path, findings)
    if content is None:
        return None
    members = Family(path, content)
    findings.note_all(_variant_problems(members))
    places = {"": "", **{place: place.removeprefix("variants/") for place in _places(members)}}
    for place, variant in places.items():
        findings.variant = variant
        study = members.at(place)
        findings.note_all(named_files.problems(study, path))
        for settings in (checklists, rounding, editions):
            if not place:
                with findings.noting():
                    settings.check(study, path)
    _check_files(members, places, findings)
    findings.variant = ""
    return members.study


def _variant_problems(members: Family) -> Iterator[str]:
    """Yield the problems of each variant; where there are none, those of all variants together."""
    good = True
    for variant in variants.expand(members.study.variants):
        try:
            members.at(f"variants/{variant.id}")
        except InputError as error:
            good = False
            yield str(error)
    if good:
        try:
            _ = members.members
        except InputError as error:
            yield str(error)


def _places(members: Family) -> Iterator[str]:
    """Yield the places of valid variants, and of the attack on the file before protection."""
    for variant in variants.expand(members.study.variants):
        if members.has(place := f"variants/{variant.id}"):
            yield place
    try:
        if members.has(before := members.before("")):
            yield before
    except InputError:
        return  # which is an error of the variants


def _check_files(members: Family, places: dict[str, str], findings: Findings) -> None:
    """Note the problems of the files of a study and its variants, each once."""
    texts, made, firsts = Texts(findings), _Made(members), dict[tuple[str, str], str]()
    for place in places:
        for rule in CHECKS:
            if STEPS[rule].wanted(members.at(place)):
                firsts.setdefault((rule, members.home(place, rule)), place)
    # Masking reads its file first, and what comes of it is read like other files.
    for (rule, _), place in firsts.items():
        study = members.at(place)
        findings.variant = places[place]
        if study.microaggregate is not None and rule in ("prepare", "prepare_filerisk"):
            made.mask(place, texts, findings)
    wanted = {(rule, place): _wanted(members, made, rule, place) for (rule, _), place in firsts.items()}
    for files in wanted.values():
        for file in files.values():
            texts.want(file)
    for (rule, place), files in wanted.items():
        findings.variant = places[place]
        CHECKS[rule](members.settings(place, rule), {side: texts.get(file) for side, file in files.items()}, findings)


def _wanted(members: Family, made: _Made, rule: str, place: str) -> dict[str, Wanted]:
    """Return the parts of each file that a step reads."""
    settings: Any = members.settings(place, rule)
    paths = family.sources(members.at(place), members.path)

    def want(side: str, source: Any, columns: Any, keys: Any) -> Wanted:
        if side in paths:
            return Wanted(paths[side], source, columns, keys)
        drawn = made.file(place, side)
        if drawn is not None and made.is_masked(place, side):  # what its source lacks is noted already
            columns = [name for name in columns if name in drawn]
        return Wanted(Path(f"{side}.csv"), source, columns, keys, drawn, is_made=True)

    sides: dict[str, str] = {}
    if isinstance(settings, RiskFileSettings):
        sides = {FILE: settings.side, POPULATION: "population", ORIGINAL_RECORDS: "unperturbed"}
    # What is wrong with the synthetic files is told before what is wrong with the confidential one.
    names = sorted(settings.extracts, key=lambda name: (name == HOLDOUT, name == CONFIDENTIAL))
    extracts = ((name, settings.extracts[name]) for name in names)
    files = {
        name: want(sides.get(name, name), extract.source, extract.names, extract.key) for name, extract in extracts
    }
    return _with_groups(settings, files) if isinstance(settings, PreparationSettings) else files


def _with_groups(settings: PreparationSettings, files: dict[str, Wanted]) -> dict[str, Wanted]:
    """Return the files of an attack with the further columns that may group rows."""
    records = {side: files[side] for side in linked.SIDES}
    paths = {
        side: file.path
        for side, file in records.items()
        if not file.is_made and named_files.path_problem(str(file.path)) is None
    }
    made = {side: list(file.made) for side, file in records.items() if file.made is not None}
    columns = grouping.further(settings, paths, made)
    return files | {
        side: file._replace(columns=[*file.columns, *columns.get(side, ())]) for side, file in records.items()
    }


class _Made:
    """The files that a study makes: drawn, or micro-aggregated; in memory, and each once."""

    def __init__(self, members: Family) -> None:
        self._members = members
        self._drawn: dict[str, dict[str, pd.DataFrame]] = {}
        self._masked: dict[str, dict[str, pd.DataFrame]] = {}

    def mask(self, place: str, texts: Texts, findings: Findings) -> None:
        """Micro-aggregate the file of a study."""
        home = self._members.home(place, "microaggregate")
        if home in self._masked:
            return
        settings: MaskingSettings = self._members.settings(home, "microaggregate")
        study, options = self._members.at(home), settings.options
        path = family.sources(study, self._members.path).get(ORIGINAL)
        drawn = self._draw(home).get(ORIGINAL)
        keys = [] if not options.id and options.path else list(options.key)
        columns = [*keys, *masking.columns_of(settings)]
        wanted = Wanted(path or Path(f"{ORIGINAL}.csv"), options.source, columns, keys, drawn, path is None)
        text = texts.get(wanted)
        self._masked[home] = analyses.masked(settings, text, findings)

    def is_masked(self, place: str, side: str) -> bool:
        """Return whether micro-aggregation makes a file."""
        return self._members.at(place).made.get(side) == "microaggregation"

    def file(self, place: str, side: str) -> pd.DataFrame | None:
        """Return a file that a study makes; None if it could not make it."""
        if self.is_masked(place, side):
            return self._masked.get(self._members.home(place, "microaggregate"), {}).get(side)
        return self._draw(place).get(side)

    def _draw(self, place: str) -> dict[str, pd.DataFrame]:
        """Return the files that `simulate` draws, by side."""
        spec = self._members.at(place).simulate
        key = "" if spec is None else spec.model_dump_json()
        if key not in self._drawn:
            self._drawn[key] = drawn_files(self._members.at(place))
        return self._drawn[key]
