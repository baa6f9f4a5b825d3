"""Find the inputs of a sealed study: by their hashes, whatever their names are today, or else by name (METHODS §10)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

from reident.archive import layout
from reident.errors import InputError
from reident.ledger.withheld import is_known_to_intruder
from reident.pipeline.digests import sha256

MESSAGE_DIGITS = 16
"""Hexadecimal digits of a hash in a message: enough to tell files apart, short enough to read."""


class Input(NamedTuple):
    """A file that the study names, as the seal records it."""

    path: str  # as the study file has it
    # None of a file from whose digest links could be found by trying.
    sha256: str | None
    size: int | None
    # Where the bag has it, from ``data/``; None for a file that it does not have.
    bag: str | None
    may_be_told: bool = True  # its digest, in a message or on a page

    @property
    def name(self) -> str:
        """The name of the file, without its folders."""
        return self.path.replace("\\", "/").rsplit("/", 1)[-1]

    @property
    def key(self) -> str:
        """The identity of an input: its digest, or else its path."""
        return self.sha256 or self.path

    @property
    def is_code(self) -> bool:
        """Whether it is a scoring function."""
        return self.path.endswith(".py")


class Missing(NamedTuple):
    """An input that was not found, and whether a file of its name has other content, or several files have it."""

    input: Input
    changed: bool

    def __str__(self) -> str:
        if self.input.sha256 is None or self.input.size is None:
            found = "; files of this name differ, or cannot be read" if self.changed else ""
            return f"{self.input.path} (found by its name alone, as the bag has no digest of it){found}"
        notes = "; a file of this name has other content" if self.changed else ""
        if self.input.is_code:
            notes += "; it is code, which is taken from the bag only with `--trust`"
        digest = f", SHA-256 {self.input.sha256[:MESSAGE_DIGITS]}…" if self.input.may_be_told else ""
        return f"{self.input.path} ({self.input.size:,} bytes{digest}){notes}"


class Search(NamedTuple):
    """The findings of a search."""

    paths: dict[str, Path]  # by SHA-256, or see `Input.key`
    missing: list[Missing]  # in the order of the seal
    unreadable: int  # files and folders that could not be read, and may be what is missing


def declared(document: dict[str, Any], trusted: bool) -> list[Input]:
    """Return the sources and other files that a study names, from the bag's list of inputs.

    Scoring functions are taken from the bag only if its code is trusted.
    """
    files = [
        Input(
            line["path"],
            line["sha256"],
            line["size"],
            line["bag"],
            all(map(is_known_to_intruder, line.get("sides", ()))),
        )
        for line in (*document["inputs"], *document["files"])
    ]
    return [file._replace(bag=None) if file.is_code and not trusted else file for file in files]


def find(inputs: list[Input], bag: Path, folder: Path | None) -> Search:
    """Find inputs in the folder of a verified bag, or in a folder and all folders in it.

    An input whose path is absolute is looked for there too. Sizes are compared first: only a file of the size of an
    input that is still missing is hashed. An input without a digest is the one file of its name. Links are not
    followed.

    Raises
    ------
    InputError
        If the folder does not exist, is not a folder, or cannot be read.
    """
    paths = {item.key: (bag / layout.PAYLOAD / item.bag).resolve() for item in inputs if item.bag}
    missing = {item.key: item for item in inputs if item.key not in paths}
    names, sizes = {item.name for item in missing.values()}, {item.size for item in missing.values()}
    places = [Path(item.path) for item in missing.values() if Path(item.path).is_absolute()]
    candidates = [(path, path.stat().st_size) for path in places if layout.is_file(path)]
    files, unreadable = ([], 0) if folder is None else _files(folder)
    present = {path.name for path, _ in files} & names
    likely = sorted(files, key=lambda file: (file[0].name not in names, file[0]))
    candidates += [(path, size) for path, size in likely if size in sizes]
    for path, size in candidates:
        if all(size != item.size for item in missing.values()):
            continue
        try:
            digest = sha256(path)
        except OSError:
            unreadable += 1
            continue
        if missing.pop(digest, None) is not None:
            paths[digest] = path.resolve()
    several = set()
    for item in [item for item in missing.values() if item.sha256 is None]:
        named = [path for path in places if str(path) == item.path and layout.is_file(path)]
        named = named or [path for path, _ in files if path.name == item.name]
        if len({sha256(path) for path in named if os.access(path, os.R_OK)}) == 1:
            paths[item.key] = named[0].resolve()
            del missing[item.key]
        elif named:
            several.add(item.key)
    lacking = [
        Missing(item, item.key in several or (item.sha256 is not None and item.name in present))
        for item in inputs
        if item.key in missing
    ]
    return Search(paths, lacking, unreadable)


def _files(folder: Path) -> tuple[list[tuple[Path, int]], int]:
    """Return the regular files below a folder with their sizes, and how many files and folders cannot be read."""
    files, errors = list[tuple[Path, int]](), list[OSError]()
    for parent, _, names in os.walk(folder, onerror=errors.append):
        for path in (Path(parent, name) for name in names):
            try:
                status = path.lstat()
            except OSError as error:
                errors.append(error)
                continue
            if stat.S_ISREG(status.st_mode):
                files.append((path, status.st_size))
    if errors and errors[0].filename == os.fspath(folder):
        raise _not_a_folder(folder, errors[0])
    return files, len(errors)


def _not_a_folder(folder: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"{folder}: the folder does not exist. Correct `--inputs`.")
    if isinstance(error, NotADirectoryError):
        return InputError(f"{folder} must be a folder, not a file. Name the folder that holds the inputs.")
    return InputError(
        f"{folder}: the folder cannot be read ({error.strerror}). Change its permissions or correct `--inputs`."
    )
