"""The section `attribute_disclosure` of a study file: keys, targets, and the files that are compared (METHODS §12)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from reident.matching.section import MatchedVariable, Radius
from reident.sections.base import Analysis, name_alone, refuse_repeats, refuse_strangers, word_or
from reident.sections.files import ORIGINAL, Name, Names, SourceFile
from reident.sections.keys import (
    KeyVariable,
    KeyVariables,
    n_sets_up_to,
    of_linking,
    refuse_many_sets,
    sets_up_to,
    taken_over,
)

if TYPE_CHECKING:
    from reident.sections.linkage import LinkingVariable
    from reident.study.model import Study

PUF, SYNTHETIC = "puf", "synthetic"
MAX_KEYS = 57

TRUTH, HOLDOUT = "attribution_original", "attribution_holdout"
"""The sides of the files that only this section reads; the released ones are `attribution_released_1` …."""

RESERVED = frozenset({"row", "target", "keys", "cap", "n_disclosed"})
"""Columns of the record table that must not be columns of the key."""


def released_side(number: int) -> str:
    """Return the side of a released file that only this section reads, counted from 1."""
    return f"attribution_released_{number}"


class ComparedFile(SourceFile):
    """A file that only this section reads."""

    id: Names | None = None
    """The columns that identify a person. If `original` and a released file have them, a baseline leaves out each
    person's own released record."""


class Target(KeyVariable):
    """A variable that an intruder wants to know."""

    within: Radius | None = None
    """Numeric targets and dates: the largest difference at which an inference counts as correct, of dates in days.
    Required for them. Source: METHODS §12."""

    @model_validator(mode="after")
    def _within_for_numbers(self) -> Target:
        if self.is_numeric != (self.within is not None):
            raise ValueError(
                "must have `within` if it has `type: numeric` or `type: date`, and only then. Add for example `within: "
                "{relative: 0.1}`, or `{absolute: 30}` for 30 days, or remove it."
            )
        if self.type == "date" and self.within is not None and self.within.relative is not None:
            raise ValueError("`.within` of a date must be `absolute`, a number of days. Write `{absolute: 30}`.")
        return self


Targets = tuple[Annotated[Target, BeforeValidator(name_alone, json_schema_input_type=Name | Target)], ...]


class AttributeDisclosure(Analysis):
    """The disclosure of a target to an intruder who knows the keys of a person."""

    is_on_release: ClassVar[bool] = True

    original: ComparedFile | None = None
    """The file with the true values; required with a list of released files, only then."""
    released: Annotated[
        Annotated[Literal["puf", "synthetic"], Tag("word")]
        | Annotated[tuple[ComparedFile, ...], Field(min_length=1, max_length=1000), Tag("list")],
        Discriminator(word_or("list")),
    ]
    """The released files: `puf`, which is compared with `files.original`; `synthetic`, all synthetic files of
    `matching`, which are compared with its confidential file; or a list of files, which are compared with
    `original`."""
    holdout: SourceFile | None = None
    """Persons who are not in the original file, with its columns and codes, for a baseline. Source: METHODS §12."""
    keys: KeyVariables = Field(min_length=1, max_length=MAX_KEYS)
    """The variables that an intruder may know of a person, each as a name or as a mapping. With `puf` the name of a
    linking variable is sufficient; with `synthetic` a name alone has the missing codes of `matching`."""
    targets: Targets = Field(min_length=1)
    """The variables that an intruder wants to know, each as a name or as a mapping with the keys of a key variable. A
    numeric target needs `within`."""
    max_keys: int = Field(3, ge=1, le=MAX_KEYS)
    """Every set of at most this number of keys is an intruder, and so is the set of all keys."""
    sets: tuple[Annotated[tuple[Name, ...], Field(min_length=1)], ...] = ()
    """The sets of keys, instead of every set: lists of names of `keys`."""
    missing: Literal["excluded", "category"] = "excluded"
    """Whether a record that misses a value of the set or the target is left out, or missing is a category
    (synthpop's default). Source: METHODS §12."""

    @property
    def key_sets(self) -> list[tuple[str, ...]]:
        """The sets of keys: those that the study names, or every set by size and then that of all keys."""
        if self.sets:
            return list(self.sets)
        names = [variable.name for variable in self.keys]
        sets = sets_up_to(names, self.max_keys)
        return sets if len(names) <= self.max_keys else [*sets, tuple(names)]

    @property
    def described_files(self) -> dict[str, SourceFile]:
        """The files that only this section reads, by side."""
        files: dict[str, SourceFile] = {TRUTH: self.original} if self.original else {}
        files |= {released_side(at): file for at, file in enumerate(self._released_files, start=1)}
        return files | ({HOLDOUT: self.holdout} if self.holdout else {})

    def variables(
        self, linking: Sequence[LinkingVariable], matched: Mapping[str, MatchedVariable]
    ) -> tuple[tuple[KeyVariable, ...], tuple[Target, ...]]:
        """Return keys and targets; a name alone is taken over as `linking_variables` or `matching` declare it."""
        declared: dict[str, KeyVariable] = {}
        if self.released == PUF:
            declared = {variable.name: of_linking(variable, PUF) for variable in linking}
        elif self.released == SYNTHETIC:
            declared = {
                name: KeyVariable(name=name, missing=variable.missing, integer_coded=variable.integer_coded)
                for name, variable in matched.items()
            }
        keys = tuple(taken_over(variable, declared) for variable in self.keys)
        return keys, tuple(_target_taken_over(target, declared) for target in self.targets)

    def sources(self, linked: Mapping[str, SourceFile], matched: Mapping[str, SourceFile]) -> dict[str, SourceFile]:
        """Return the files that are compared by side: original, released, holdout.

        Parameters
        ----------
        linked : mapping
            The files of the study by side, with :data:`~reident.sections.files.ORIGINAL`, the untreated one.
        matched : mapping
            The files of `matching` by side, the confidential one first.
        """
        if self.released == PUF:
            return {side: linked[side] for side in (ORIGINAL, PUF) if side in linked} | self.described_files
        return {**matched, **self.described_files} if self.released == SYNTHETIC else self.described_files

    def ids(self, puf: tuple[str, ...], matched: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Return the columns that identify a person by side, of the public use file and of `matching` as given."""
        if self.released == PUF:
            return dict.fromkeys((ORIGINAL, PUF), puf)
        if self.released == SYNTHETIC:
            return dict(matched)
        files = self.described_files.items()
        return {side: file.id or () for side, file in files if isinstance(file, ComparedFile)}

    def fit(self, study: Study) -> None:
        """Refuse files that the study does not have or compares as units, and names that clash."""
        untreated = study.files is not None and study.files.original is not None
        self.check_files(untreated=untreated, matched=study.matching is not None)
        keys, targets = study.attribution_variables
        self.check_names([*keys, *targets], study.attribution_ids)
        if self.released == PUF and study.units is not None:
            raise ValueError(
                "`.attribute_disclosure.released` must not be `puf` with `units`, because it compares single records. "
                "Use it in a study without `units`."
            )

    def check_files(self, *, untreated: bool, matched: bool) -> None:
        """Refuse files that the study does not have: the untreated one, or those of `matching`."""
        if self.released == PUF and not untreated:
            raise ValueError(
                "`.attribute_disclosure.released` must not be `puf` without `files.original`, with which the public "
                "use file is compared. Add `files.original`, or list the released files."
            )
        if self.released == SYNTHETIC and not matched:
            raise ValueError(
                "`.attribute_disclosure.released` must not be `synthetic` without `matching`, which names the files. "
                "Add `matching`, or list the released files."
            )

    def check_names(self, variables: Sequence[KeyVariable], ids: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse variables and results with the name of a column that identifies a person."""
        names = RESERVED | {variable.name for variable in variables}
        for name in itertools.chain.from_iterable(ids.values()):
            if name in names:
                raise ValueError(
                    f"`{name}` must not identify a person of `attribute_disclosure`, because a key, a target or a "
                    "result column has this name. Give the variable another `name`, or rename the column."
                )

    @model_validator(mode="after")
    def _names_fit(self) -> AttributeDisclosure:
        names = [variable.name for variable in self.keys]
        targets = [target.name for target in self.targets]
        refuse_repeats(names, "keys")
        refuse_repeats(targets, "targets")
        for name in targets:
            if name in names:
                raise ValueError(
                    f"`{name}` must not be both in `keys` and in `targets`. Remove it from one of the two lists."
                )
        for at, chosen in enumerate(self.sets, start=1):
            refuse_repeats(chosen, f"sets[{at}]")
            refuse_strangers(chosen, names, f"`.sets[{at}]` must consist of names of `keys`")
        if len({frozenset(chosen) for chosen in self.sets}) < len(self.sets):
            raise ValueError("`.sets` must not have the same set twice. Remove one of the two.")
        n = len(self.sets) or n_sets_up_to(len(self.keys), self.max_keys)
        refuse_many_sets(n, "keys", "Reduce `max_keys`, or list the `sets`.")
        return self

    @model_validator(mode="after")
    def _files_fit(self) -> AttributeDisclosure:
        if isinstance(self.released, tuple) != (self.original is not None):
            raise ValueError(
                "`.original` must be given with a list of released files, and only then. Add it, or remove it."
            )
        ids = {len(file.id) for file in (self.original, *self._released_files) if file and file.id}
        if len(ids) > 1:
            raise ValueError("`.released` must have as many columns in each `id` as `original`. Correct the columns.")
        return self

    @property
    def _released_files(self) -> tuple[ComparedFile, ...]:
        return self.released if isinstance(self.released, tuple) else ()


def _target_taken_over(target: Target, declared: Mapping[str, KeyVariable]) -> Target:
    """Return a target; with `within` alone beside its name and type it is a declared variable too."""
    declaration = declared.get(target.name)
    plain = Target(name=target.name, type=target.type, within=target.within)
    if declaration is None or target != plain:
        return target
    if declaration.type != target.type:  # it is read otherwise than the declared variable
        return target.model_copy(update={"column": declaration.column, "missing": declaration.missing})
    return Target(**{**declaration.model_dump(), "within": target.within})
