"""A study with its files: named or drawn by a study file, or data frames in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pydantic import ValidationError

from reident import reading
from reident.errors import InputError
from reident.intake.settings import Extract
from reident.intake.sources import batches
from reident.linkage.metrics import adhoc
from reident.microaggregation import masking
from reident.microaggregation import step as microaggregation_step
from reident.pipeline.sources import drawn_files
from reident.reading.names import TEXT, MissingColumnError, check_header
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
    reident.errors.InputError
        With the file, line and key of the first mistake, and what to do.

    Examples
    --------
    >>> import reident
    >>> study = reident.read_study("my-study/study.yaml")  # doctest: +SKIP
    >>> reident.attack(study).rates  # doctest: +SKIP
    """
    file = Path(path)
    model = load(file)
    for problem in named_files.problems(model, file):
        raise InputError(problem)
    return StudyFiles(model, file)


def of_frames(sections: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> StudyFiles:
    """Return a study of data frames by side, from sections as in a study file.

    Raises
    ------
    InputError
        With the key of the first mistake, and what to do.
    """
    data = {"id": "in-memory", **_written(sections)}
    try:
        return StudyFiles(Study.model_validate(data), NO_FILE, frames)
    except ValidationError as error:
        problem = studyfile.first_problem(error, data, Study)
        for key, keyword in _KEYWORDS.items():
            problem = problem.replace(f"`{key}", f"`{keyword}")
        raise InputError(problem) from None


_KEYWORDS = {"linking_variables": "variables", "file_risk.key_variables": "keys", "file_risk.": "", "matching.": ""}
"""How functions call the keys of a study file, for messages."""


def named(**frames: Any) -> dict[str, pd.DataFrame]:
    """Return data frames whose columns are named by text, as in a file; refuse anything else."""
    for name, frame in frames.items():
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(f"`{name}` must be a pandas DataFrame, not {type(frame).__name__}")
    return {name: frame.set_axis([str(one) for one in frame.columns], axis=1) for name, frame in frames.items()}


def file_section(side: str, **keys: Any) -> dict[str, Any]:
    """Return the section of a file that is a data frame: messages call it by its side, and count rows from 1."""
    return {"path": side, "format": "parquet", **{key: value for key, value in keys.items() if value}}


def _written(value: Any) -> Any:
    """Return a section as a study file has it: numbers and truth values as text, tuples as lists."""
    if isinstance(value, Mapping):
        return {str(key): _written(item) for key, item in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, Iterable):
        return [_written(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def frame_text(file: str, frame: pd.DataFrame, names: list[str], keys: Iterable[str]) -> pa.Table:
    """Return columns of a data frame as text, as those of a Parquet file are read; NaN is empty text."""
    path, columns = Path(file), list(frame.columns)
    try:
        check_header(path, columns, names, row="")
    except MissingColumnError as error:
        raise InputError(
            f"{file}: the data frame has no column `{error.missing[0]}`. Correct the name, or add the column."
        ) from None
    texts = {}
    for name in names:
        try:
            column = pa.Array.from_pandas(frame.iloc[:, columns.index(name)])
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # whose messages have values
            raise InputError(
                f"{file}, column `{name}`: the values have several types. Convert them to one type, such as text."
            ) from None
        texts[name] = reading.stored_text(path, name, column, key=name in keys)
    return pa.table(texts)


def with_missing(
    variable: str | Mapping[str, Any], columns: Mapping[str, pd.Series | None], *, by_side: bool
) -> dict[str, Any]:
    """Return the section of a variable with NaN as a missing code, where a column has it.

    `columns` are those of the files by side, None for one that is not there; `by_side` tells whether a section has
    missing codes for each side.
    """
    section = {"name": variable} if isinstance(variable, str) else dict(variable)
    incomplete = [side for side, column in columns.items() if column is not None and column.isna().to_numpy().any()]
    if not incomplete:
        return section
    declared: Any = section.get("missing", {} if by_side else [])
    if not by_side:
        return section | {"missing": _with_empty(declared)}
    codes = declared if isinstance(declared, Mapping) else dict.fromkeys(columns, declared)
    return section | {
        "missing": {
            side: _with_empty(codes.get(side, [])) if side in incomplete else codes.get(side, []) for side in columns
        }
    }


def _with_empty(codes: Any) -> list[Any]:
    return list(dict.fromkeys([*([codes] if isinstance(codes, str) else codes), ""]))
