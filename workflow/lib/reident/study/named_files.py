"""Check that the files that a study names exist, beside the study file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reident.linkage.metrics import adhoc
from reident.sections.base import Section
from reident.sections.checklist import is_path
from reident.sections.files import SourceFile
from reident.study import reading as studyfile

if TYPE_CHECKING:
    from reident.study.model import Study

Location = tuple[str | int, ...]
"""Where the study file names a file: keys, and positions in lists from 0."""

FONT: Location = ("font",)

MAX_SHOWN = 300
"""The number of characters of a path that a message shows."""

MAX_PART = 255
"""The number of bytes of the name of a file or a folder; of more, few file systems have any."""


def named_files(study: Study) -> dict[Location, str]:
    """Return the files that a study names, as written, by their location in the study file."""
    return {**dict(_source_files(study, ())), **files_without_data(study)}


def files_without_data(study: Study) -> dict[Location, str]:
    """Return the files that are no source files, read or not: checklist, font, policy, earlier editions, functions."""
    named: dict[Location, str] = {}
    if study.checklist is not None:
        named |= {location: name for location, name in study.checklist.files.items() if is_path(name)}
    if study.font is not None:
        named[FONT] = study.font
    if study.release is not None:
        named |= study.release.named_files
    options = study.chosen.get("adhoc")
    if isinstance(options, adhoc.Options):
        for name, rule in options.scores.items():
            if rule.function is not None:
                named["metrics", "adhoc", "scores", name, "function"] = f"{rule.function.split(':')[0]}.py"
    return named


def _source_files(value: Any, location: Location) -> Iterator[tuple[Location, str]]:
    """Yield the location and the path of every source file in a section, in the order of the keys."""
    if isinstance(value, SourceFile) and value.path:
        yield (*location, "path"), value.path
    if isinstance(value, Section):
        for name in type(value).model_fields:
            yield from _source_files(getattr(value, name), (*location, name))
    elif isinstance(value, tuple):
        for at, item in enumerate(value):
            yield from _source_files(item, (*location, at))


def problems(study: Study, path: Path, is_made: Callable[[Path], bool] = lambda _: False) -> Iterator[str]:
    """Yield, with line and key, the problem of each file that a study names, relative to its file at `path`.

    A file about which ``is_made`` says that it is about to be made need not exist.
    """
    for location, name in named_files(study).items():
        problem = path_problem(name) or _access_problem(path.parent / name)
        if problem is None and location == FONT:
            problem = _font_problem(path.parent / name)
        if problem is not None and not is_made(path.parent / name):
            line = studyfile.line_of(studyfile.read(path, decide=False)[1], location)
            yield f"{path}, line {line}: `{studyfile.dotted_key(location)}`: {shown_path(name)} {problem}"


def shown_path(name: str) -> str:
    """Return a path as a message shows it."""
    text = "".join(letter if letter.isprintable() else "?" for letter in name[:MAX_SHOWN])
    return text if len(name) <= MAX_SHOWN else f"{text}…"


def path_problem(name: str) -> str | None:
    """Return the problem of the text of a path, without its subject, and a remedy; None for a valid path."""
    if {"{", "}"} & set(name):
        return "contains a brace, which Snakemake reads as a wildcard. Rename the file or its folder."
    if "\0" in name:
        return "contains a NUL character. Correct the path."
    if max(len(part.encode("utf-8", "surrogatepass")) for part in name.split("/")) > MAX_PART:
        return f"has a name of more than {MAX_PART} bytes. Rename the file or its folder."
    return None


def _access_problem(file: Path) -> str | None:
    """Return why a file cannot be read; None if it can."""
    try:
        if file.is_dir():
            return "is a folder. Name a file in it."
        if file.is_symlink() and not file.exists():
            return "is a broken link. Correct the link."
        if not file.exists():
            return "does not exist. Correct the path, which is relative to the study file."
        if not file.is_file():
            return "is a pipe or a device. Write its content to a file."
    except PermissionError:  # of a folder on the way
        return "is in a folder that you may not open. Change the permissions of the folder."
    except OSError as error:  # for example, the name is too long or the disk does not answer
        return f"cannot be accessed ({error.strerror}). Correct the path, or move the file."
    if not os.access(file, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        return "cannot be read. Change its permissions."
    try:
        with file.open("rb") as stream:
            stream.read(1)
    except OSError as error:  # for example, a file of the kernel, or a damaged disk
        return f"cannot be read ({error.strerror}). Name another file, or check the disk."
    return None


def _font_problem(file: Path) -> str | None:
    """Return the reason why figures, pages and PDF cannot show letters with a file; None if it is a suitable font."""
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - few studies name a font

    size = file.stat().st_size
    try:
        with file.open("rb") as stream, TTFont(stream, fontNumber=0, lazy=True) as font:
            whole = all(table.offset + table.length <= size for table in font.reader.tables.values())
            drawn = not font.flavor and {"glyf", "CFF ", "CFF2"} & set(font.keys()) and font["name"]
            if whole and drawn and font.getBestCmap():
                return None
    except Exception:  # noqa: BLE001, S110 - a damaged font may raise anything
        pass
    return "is not a TrueType or OpenType font. Name another file that ends in .ttf, .otf or .ttc."
