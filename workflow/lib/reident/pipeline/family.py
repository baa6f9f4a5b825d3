"""A study and its variants, each with its own folder of results.

The study itself, as its file declares it without `variants`, is the reference and always computed; its results
are in ``results/{id}``. The results of a variant are in ``results/{id}/variants/{variant}``. A combination of
values that equals the study itself shares the results of the study.

Variants share the results that their values do not affect. The results of a step are in the folder of the study
that sets only the values on which the step, or a step before it, depends: the study itself if there are none,
otherwise a variant that sets a part of what varies. This folder does not depend on other variants, so a new
variant moves no results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from reident.errors import InputError
from reident.linkage.step import directions, strata_names
from reident.pipeline.canonical import digest
from reident.pipeline.editions import editing
from reident.pipeline.steps import STEPS
from reident.sections.variants import label_of
from reident.study import checklists, editions, named_files, rounding, variants
from reident.study import model as studies
from reident.study import reading as studyfile
from reident.study.model import Study
from reident.study.step import resolving

CHECKLIST = "checklist"
"""The side of the questions of the board, a source that is no data."""

FONT = "font"
"""The side of the font of labels, which the pages alone need."""

REFERENCE = "study"
"""The name, among the variants, of a study that does not equal any of its variants."""


_OF_STUDY = {"release": None, "confirmed_csv": False, "together": None}
"""What a variant does not have, as values of the model."""


class Member(NamedTuple):
    """The study itself, or a variant."""

    variant: str  # the variant's id, or :data:`REFERENCE`
    labels: dict[str, str]  # the label of each thing that varies, by its name
    place: str  # the folder of its results, below that of the study: empty for the study itself
    study: Study  # the complete study; that of a variant has no variants


@dataclass(frozen=True)
class Compared:
    """A study in the comparison of a study's variants.

    ``variant`` is its id, or what stands for the study that is none of its variants; ``reference`` tells whether it is
    the study as its file says.
    """

    variant: str
    labels: Mapping[str, str]
    reference: bool


class Family:
    """A study file with all its variants.

    ``content`` is what of the file is the study, see :func:`reident.study.reading.read`; by default all of it.

    Raises
    ------
    InputError
        As :func:`reident.study.reading.load`.
    """

    def __init__(self, path: Path, content: tuple[dict[str, Any], Any] | None = None) -> None:
        self.path = path
        self._data: dict[str, Any]
        self._node: Any
        self._data, self._node = studyfile.read(path) if content is None else content
        self.study = studyfile.validated(path, Study, self._data, self._node)
        self._complete = studies.plain(self.study)
        self.at, self.home, self.digest = cache(self._at), cache(self._home), cache(self._digest)
        self._chain = cache(self._find_chain)

    @cached_property
    def _variants(self) -> dict[str, variants.Variant]:
        """Every combination of values of some or all varied keys, the file before protection included, by place."""
        varied = (*self.study.variants, *variants.before_protection(self.study))
        try:
            combinations = variants.expand(varied, partly=True)
        except ValueError:
            raise InputError(
                f"{self.path}: `variants` must not have an item with the name `{next(iter(variants.BEFORE))}` in a "
                "study that gives the file before protection. Rename the item."
            ) from None
        return {f"variants/{variant.id}": variant for variant in combinations}

    def before(self, place: str) -> str:
        """Return the place of the attack on the file before protection that the study at a place is compared with."""
        labels = self._variants[place].labels if place else {}
        return _place({**labels, **variants.BEFORE})

    @cached_property
    def members(self) -> list[Member]:
        """The variants, and before them the study itself unless it equals one of them.

        Raises
        ------
        InputError
            For a variant that is not a valid study or equals another, with its name and the line of its value.
        """
        _ = self.intruders
        if not self.study.variants:
            return [Member(REFERENCE, {}, "", self.study)]
        reference, members = _content(self.study), list[Member]()
        seen: dict[str, str] = {}
        for variant in variants.expand(self.study.variants):
            place = f"variants/{variant.id}"
            content = _content(self.at(place))
            if content in seen:
                raise self._error(
                    variant, f" is the same study as the variant `{seen[content]}`. Remove one of the two."
                )
            seen[content] = variant.id
            where = "" if content == reference else place
            members.append(Member(variant.id, variant.labels, where, self.at(where)))
        if all(member.place for member in members):
            members.insert(0, Member(REFERENCE, _labels(self.study, self._complete), "", self.study))
        return members

    @cached_property
    def intruders(self) -> dict[str, str]:
        """The places of the attacks with each of the files of `together`, by the label of the file.

        Raises
        ------
        InputError
            For a file whose attack does not fit those with the others.
        """
        if self.study.together is None:
            return {}
        places = {label: _place({self.study.together: label}) for label in self.study.intruders.labelled}
        for place in places.values():
            study = self.at(place)
            if _shared_by_intruders(study) != _shared_by_intruders(self.study):
                raise self._error(
                    self._variants[place],
                    ": the files of `together` must be compared with the same metrics, strata and released file, and "
                    "all or none of them must have `person`. Vary the external file and its links only.",
                )
        return places

    def _at(self, place: str) -> Study:
        """Return the study whose results are at a place: the study itself, or a variant."""
        if not place:
            return self.study
        if place not in self._variants:
            raise InputError(
                f"{self.path}: the study has no variant `{place.removeprefix('variants/')}`. Correct the name, or add "
                "the variant."
            )
        return self._make(self._variants[place])

    def has(self, place: str) -> bool:
        """Return whether there is a valid study at a place."""
        try:
            return bool(self.at(place))
        except InputError:
            return False

    def settings(self, place: str, rule: str, metric: str | None = None) -> Any:
        """Return the settings of a step in the study at a place."""
        if rule == "edition":
            return editing(self.study)
        return self._compared() if rule == "compare_variants" else STEPS[rule].settings_of(self.at(place), metric)

    def _compared(self) -> tuple[Compared, ...]:
        return tuple(Compared(member.variant, member.labels, not member.place) for member in self.members)

    def _digest(self, place: str, rule: str, metric: str | None = None) -> str:
        """Return the digest of the settings of a step in the study at a place."""
        return digest(self.settings(place, rule, metric))

    def known_digest(self, place: str, rule: str, metric: str | None = None) -> str | None:
        """Return the digest as `digest` does; None if the study has no such step or metric."""
        step, study = STEPS.get(rule), self.at(place)
        if step is None or not step.wanted(study) or (metric is not None and metric not in study.chosen):
            return None
        return self.digest(place, rule, metric)

    def _home(self, place: str, step: str, metric: str | None = None) -> str:
        """Return the place of the results of a step that the study at a place takes."""
        chain = self._chain(place, step, metric)
        if not place or chain is None:
            return place
        labels = self._variants[place].labels
        for name in self._variants[place].labels:
            fewer = {other: label for other, label in labels.items() if other != name}
            if self._chain(_place(fewer), step, metric) == chain:
                labels = fewer
        return _place(labels)

    def _find_chain(self, place: str, rule: str, metric: str | None) -> str | None:
        """Return the digest of the settings of a step and of the steps before it; None if it is not shared."""
        if not STEPS[rule].shared or not self.has(place):
            return None
        steps = self._steps_to(place, rule, metric)
        return digest({step: self.digest(place, step, metric) for step in steps})

    def _steps_to(self, place: str, rule: str, metric: str | None) -> set[str]:
        """Return a step and every step before it that the study at a place asks for."""
        study, steps, todo = self.at(place), set(), [rule]
        while todo:
            step = STEPS[todo.pop()]
            if step.wanted(study):
                steps.add(step.rule)
                todo += step.before(metric)
        return steps

    def _make(self, variant: variants.Variant) -> Study:
        try:
            content = variants.with_settings(self._data, self._complete, variant.settings)
        except ValueError as error:
            raise self._error(variant, f": {error}") from None
        try:
            study = Study.model_validate(content)
        except ValidationError as error:
            first = studyfile.mistakes(error, content, self._node, studyfile.known_keys(Study))[0]
            raise self._error(variant, f": {first.message}", first.location) from None
        if study.release != self.study.release:
            raise self._error(
                variant, ": `release` must not be changed by a variant. Keep it as in the study.", ("release",)
            )
        # The attack on the file before protection has nothing to compare that file with.
        before = variants.BEFORE.keys() <= variant.labels.keys()
        either = {**study.analyses, **self.study.analyses}
        for name in sorted(study.analyses.keys() ^ self.study.analyses.keys()):
            if either[name].is_compared and not (before and either[name].is_on_release):
                raise self._error(
                    variant, f": `{name}` must not be added or removed by a variant. Keep it as in the study."
                )
        # The edition is of the study with its variants, and the copies for people are of the study itself.
        return study.model_copy(update=_OF_STUDY)

    def _error(self, variant: variants.Variant, message: str, location: tuple[str | int, ...] = ()) -> InputError:
        """Return an error of a variant, with the line of the value that causes it."""
        place: tuple[str | int, ...] = ("variants",)
        for key, value_place in variant.places.items():
            way = variants.split(key)
            related = location and (location[: len(way)] == way or way[: len(location)] == location)
            if related or len(variant.places) == 1:
                place = value_place
        line = studyfile.line_of(self._node, place)
        return InputError(f"{self.path}, line {line}: variant `{variant.id}`{message}")


def _shared_by_intruders(study: Study) -> tuple[Any, ...]:
    """Return the settings that the attacks with the files of one intruder have in common."""
    files = study.linked_files
    return directions(study), strata_names(study), study.keys["puf"], files.puf, files.eif.person is None


def _place(labels: dict[str, str]) -> str:
    return f"variants/{variants.id_of(labels)}" if labels else ""


def check_files(members: list[Member], path: Path, is_made: Callable[[Path], bool] = lambda _: False) -> None:
    """Check that every file that a study or one of its variants names exists, and that checklist and rounding fit.

    A file about which ``is_made`` says that it is about to be made need not be there.

    Raises
    ------
    InputError
        For the first file that does not exist, with the variant that names it.
    """
    for member in members:
        try:
            if not member.place:
                editions.check(member.study, path)
            for problem in named_files.problems(member.study, path, is_made):
                raise InputError(problem)
            if not member.place or member.study.checklist != members[0].study.checklist:
                checklists.check(member.study, path)
            if not member.place:
                rounding.check(member.study, path)
        except InputError as error:
            raise InputError(f"{error} (variant {member.variant})" if member.place else str(error)) from None


def notebooks(report: Path) -> dict[str, Path]:
    """Return the notebook of the report, by the name of the input."""
    return {"notebook": report}


def sources(study: Study, path: Path) -> dict[str, Path]:
    """Return the declared files that a study reads, by side: those of data, and those of :func:`settings_files`."""
    files = {side: path.parent / file.path for side, file in study.sources.items() if side not in study.made}
    return files | settings_files(study, path)


def settings_files(study: Study, path: Path) -> dict[str, Path]:
    """Return the files without data that a study reads, by side: checklists, font, policy, earlier editions."""
    paths = [] if study.checklist is None else checklists.paths_of(study.checklist, path)
    files = {CHECKLIST if at == 1 else f"{CHECKLIST}_{at}": file for at, file in enumerate(paths, start=1)}
    if study.font is not None:
        files[FONT] = path.parent / study.font
    return files if study.release is None else files | rounding.sources(study.release, path)


def _content(study: Study) -> str:
    """Return the digest of everything that a result depends on, which is equal for equal studies."""
    return digest(resolving(study).model_copy(update={"variants": (), "decision": None, **_OF_STUDY}))


def _labels(study: Study, whole: dict[str, Any]) -> dict[str, str]:
    """Return the value in the study itself of each thing that varies; empty if it is not a single word."""
    labels = {}
    for name, varied in zip(variants.names(study.variants), study.variants, strict=True):
        values = {str(variants.value_at(whole, key)) for key in varied.keys}
        value = variants.value_at(whole, varied.keys[0])
        single = varied.set is not None and len(values) == 1 and not isinstance(value, dict | list)
        labels[name] = label_of(value) if single else ""
    return labels
