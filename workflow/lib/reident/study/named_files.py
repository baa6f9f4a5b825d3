"""Whether the files that a study names are there, beside the study file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from reident.errors import InputError
from reident.linkage.metrics import adhoc
from reident.study import reading as studyfile

if TYPE_CHECKING:
    from reident.study.model import Study

Location = tuple[str | int, ...]
"""Where a name stands in the study file: keys, and places in lists from 0."""

_LONGEST_SHOWN = 300
"""So many characters of a name are shown."""


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
        if (found := _unreadable(path.parent, name)) is None:
            continue
        problem, remedy = found
        line = studyfile.line_of(studyfile.read(path)[1], location)
        shown = "".join(f"[{key + 1}]" if isinstance(key, int) else f".{key}" for key in location)[1:]
        called = "".join(letter if letter.isprintable() else "?" for letter in name[:_LONGEST_SHOWN])
        cut = "…" if len(name) > _LONGEST_SHOWN else ""
        raise InputError(f"{path}, line {line}: `{shown}`: {called}{cut} {problem}; {remedy}.")


def _unreadable(folder: Path, name: str) -> tuple[str, str] | None:
    """Why a file cannot be read, and what to do; None where it can."""
    if {"{", "}"} & set(name):
        return "has a brace, which stands for several files in a workflow", "rename the file or its folder"
    if "\0" in name:
        return "has a NUL character", "correct it"
    file = folder / name
    try:
        if file.is_dir():
            return "is a folder", "name the file in it"
        if file.is_symlink() and not file.exists():
            return "is a link that leads to no file", "correct the link"
        if not file.exists():
            return "does not exist", "correct it; a path is relative to the study file"
        if not file.is_file():
            return "is a pipe or a device", "write it to a file"
    except PermissionError:  # of a folder on the way
        return "may not be reached", "change the permissions of its folder"
    except OSError as error:  # a name that is too long, a disk that does not answer
        return f"cannot be looked up ({error.strerror})", "correct it, or move the file"
    readable = os.access(file, os.R_OK, effective_ids=os.access in os.supports_effective_ids)
    return None if readable else ("may not be read", "change its permissions")
