"""A study with its files: named or drawn by a study file, or data frames in memory."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pydantic import ValidationError

from reident.api.frames import frame_text, items, written
from reident.errors import InputError
from reident.intake.settings import Extract
from reident.intake.sources import batches
from reident.linkage.metrics import adhoc
from reident.microaggregation import masking
from reident.microaggregation import step as microaggregation_step
from reident.pipeline.sources import drawn_files
from reident.reading.names import TEXT, check_header
from reident.sections.files import ORIGINAL
from reident.study import named_files
from reident.study import reading as studyfile
from reident.study.model import Study, load

NO_FILE = Path("in-memory.yaml")
"""The path of a study whose files are all data frames."""


@dataclass(frozen=True)
class StudyFiles:
    """A study and its files.

    Attributes
    ----------
    model : Study
        The sections of the study, with every default.
    path : pathlib.Path
        The study file, to which the paths of its files are relative.
    frames : mapping of pandas.DataFrame
        The files that are in memory, by side.
    """

    model: Study
    path: Path = NO_FILE
    frames: Mapping[str, pd.DataFrame] = field(default_factory=dict, repr=False)

    def texts(
        self,
        extracts: Mapping[str, Extract],
        sides: Mapping[str, str] | None = None,
        made: Mapping[str, pd.DataFrame] | None = None,
    ) -> dict[str, Iterable[pa.Table]]:
        """Return the text of files in batches, by name; `sides` has the side of a file with another name."""
        made = self.made() if made is None else made
        return {name: self._text((sides or {}).get(name, name), extract, made) for name, extract in extracts.items()}

    @property
    def functions(self) -> list[Path]:
        """The files of the study's own scoring functions."""
        options = self.model.chosen.get("adhoc")
        rules = options.scores.values() if isinstance(options, adhoc.Options) else ()
        modules = sorted({rule.function.split(":")[0] for rule in rules if rule.function is not None})
        return [self.path.parent / f"{module}.py" for module in modules]

    def made(self) -> dict[str, pd.DataFrame]:
        """Return the files that the study makes: drawn, or micro-aggregated."""
        made = drawn_files(self.model)
        if self.model.microaggregate is None:
            return made
        settings = microaggregation_step.masking(self.model)
        key = [] if not settings.options.id and settings.options.path else list(settings.options.key)
        extract = Extract(settings.options.source, key, masking.columns_of(settings))
        original = pa.concat_tables(self._text(ORIGINAL, extract, made))
        masked = masking.make(settings, original)
        return made | {side: getattr(masked, side) for side in ("puf", "eif", "iuf")}

    def _text(self, side: str, extract: Extract, made: Mapping[str, pd.DataFrame]) -> Iterable[pa.Table]:
        names = list(dict.fromkeys(extract.names))
        if side in self.frames:
            return [frame_text(extract.source.file_name, self.frames[side], names, extract.key)]
        if side in made:
            check_header(Path(extract.source.file_name), list(made[side].columns), names)
            return [pa.table({name: pa.chunked_array([pa.array(made[side][name], TEXT)]) for name in names})]
        return batches(extract, self.path.parent / extract.source.path)


def read_study(path: str | os.PathLike[str]) -> StudyFiles:
    """Read and check a study file.

    Its variants are not read: each is a study of its own.

    Parameters
    ----------
    path : path-like
        The study file. The files that it names must exist.

    Returns
    -------
    StudyFiles
        What :func:`reident.attack` and the other functions take.

    Raises
    ------
    reident.InputError
        With the file, line and key of the first mistake, and what to do.

    Examples
    --------
    >>> import reident
    >>> study = reident.read_study("my-study/study.yaml")  # doctest: +SKIP
    >>> reident.attack(study).rates  # doctest: +SKIP
    """
    file = valid_path("path", path)
    model = load(file)
    for problem in named_files.problems(model, file):
        raise InputError(problem)
    return StudyFiles(model, file)


def valid_path(name: str, path: str | os.PathLike[str]) -> Path:
    """Return the path that is an argument; refuse what is no path."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"`{name}` must be a path, not {type(path).__name__}")
    text = os.fsdecode(path)
    if (problem := named_files.path_problem(text)) is not None:
        raise InputError(f"{named_files.shown_path(text)} {problem}")
    return Path(text)


def sole_study(function: Callable[..., Any], arguments: dict[str, Any], section: str) -> StudyFiles | None:
    """Return the study that a function is given in place of data frames, and None where it is given these.

    `arguments` are all of its arguments by name, the study or the first data frame first; `section` is the one that the
    study must have.

    Raises
    ------
    InputError
        If the study does not have the section.
    TypeError
        For the path of a study, and for another argument beside a study, which would count for nothing.
    """
    study, name = next(iter(arguments.values())), function.__name__
    if isinstance(study, str | os.PathLike):
        raise TypeError(
            f"`{name}` takes a study or data frames, not a path. Write `reident.{name}(reident.read_study(PATH))` for "
            "a study file, and read a data file into a data frame."
        )
    if not isinstance(study, StudyFiles):
        return None
    usual = {other: parameter.default for other, parameter in inspect.signature(function).parameters.items()}
    given = (
        arguments | arguments.get("options", {}) | {"options": usual.get("options"), "threads": usual.get("threads")}
    )
    for other in list(given)[1:]:
        if given[other] is not usual.get(other):
            raise TypeError(f"`{name}` takes no `{other}` beside a study. Declare it in the study file, or remove it.")
    value: Any = study.model
    for part in section.split("."):
        value = getattr(value, part)
        if value is None:
            raise InputError(f"{study.path}: the study has no `{section}`. Add the section, or call another function.")
    return study


def of_frames(sections: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> StudyFiles:
    """Return a study of data frames by side, from sections as in a study file; a list of one item may be the item.

    Raises
    ------
    InputError
        With the key of the first mistake, and what to do.
    """
    data = {"id": "in-memory", **written(sections)}
    while True:
        try:
            return StudyFiles(Study.model_validate(data), NO_FILE, frames)
        except ValidationError as error:
            if not _make_lists(error, data):
                raise _refusal(error, data) from None


def _make_lists(error: ValidationError, data: Any) -> bool:
    """Put single items into lists where the study needs a list; return whether there were any."""
    made = False
    for item in error.errors(include_url=False):
        *above, last = studyfile.location_in(data, item["loc"]) or [""]
        if item["type"] == "tuple_type" and isinstance(item["input"], str | dict):
            section = functools.reduce(operator.getitem, above, data)
            section[last], made = [section[last]], True
    return made


def _refusal(error: ValidationError, data: Any) -> InputError:
    problem = studyfile.first_problem(error, data, Study)
    for key, keyword in _KEYWORDS.items():
        problem = problem.replace(f"`{key}", f"`{keyword}")
    return InputError(problem)


_KEYWORDS = {
    "linking_variables": "variables",
    "file_risk.key_variables": "keys",
    "key_variables": "keys",
    "file_risk.": "",
    "matching.": "",
    "attribute_disclosure.": "",
    "confirm.": "",
}
"""How functions call the keys of a study file, for messages."""


def file_section(name: str, **keys: Any) -> dict[str, Any]:
    """Return the section of a file that is a data frame: messages call it by its argument, and count rows from 1."""
    return {"path": name, "format": "parquet", **{key: items(value) for key, value in keys.items() if value}}
