"""Whether the files that a study names are there, beside the study file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from reident import studyfile
from reident.errors import InputError
from reident.metrics import adhoc

if TYPE_CHECKING:
    from reident.study import Study

Location = tuple[str | int, ...]
"""Where a name stands in the study file: keys, and places in lists from 0."""


def named_files(study: Study) -> dict[Location, str]:
    """The files that a study names, as it names them, by where it does."""
    named: dict[Location, str] = {}
    if study.files is not None:
        named = {("files", side, "path"): source.path for side, source in study.linked_sources.items()}
    if study.microaggregate is not None and study.microaggregate.path:
        named["microaggregate", "path"] = study.microaggregate.path
    if study.matching is not None and study.matching.confidential is not None:
        named["matching", "confidential", "path"] = study.matching.confidential.path
        for at, copy in enumerate(study.matching.synthetic):
            named["matching", "synthetic", at, "path"] = copy.path
    if study.file_risk is not None:
        named |= study.file_risk.named_files
    options = study.chosen.get("adhoc")
    if isinstance(options, adhoc.Options):
        for name, rule in options.scores.items():
            if rule.function is not None:
                named["metrics", "adhoc", "scores", name, "function"] = f"{rule.function.split(':')[0]}.py"
    return named


def check_files(study: Study, path: Path) -> None:
    """See that every file that a study names is there, beside the study file at `path`.

    Raises
    ------
    InputError
        With the line and key of the first that is not.
    """
    for location, name in named_files(study).items():
        file = path.parent / name
        if file.is_dir():
            problem, remedy = "is a folder", "name the file in it"
        elif not file.exists():
            problem, remedy = "does not exist", "correct it; a path is relative to the study file"
        elif not os.access(file, os.R_OK):
            problem, remedy = "may not be read", "change its permissions"
        else:
            continue
        line = studyfile.line_of(studyfile.read(path)[1], location)
        shown = "".join(f"[{key + 1}]" if isinstance(key, int) else f".{key}" for key in location)[1:]
        raise InputError(f"{path}, line {line}: `{shown}`: {name} {problem}; {remedy}.")
