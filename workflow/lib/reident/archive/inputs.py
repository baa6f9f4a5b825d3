"""Find the inputs of a sealed study: by their hashes, whatever their names are today, or else by name (METHODS §10)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

from reident.archive import layout
from reident.errors import InputError
from reident.ledger.withheld import is_held
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
    def is_code(self) -> bool:
        """Whether it is a scoring function."""
        return self.path.endswith(".py")


class Missing(NamedTuple):
    """An input that was not found, and the number of files of its name that have other content, or may have."""

    input: Input
    others: int

    def __str__(self) -> str:
        if self.input.sha256 is None or self.input.size is None:
            found = f"; {self.others} different files have its name" if self.others else ""
            return f"{self.input.path} (found by its name alone, as the bag has no digest of it){found}"
        notes = "; a file of this name has other content" if self.others else ""
        if self.input.is_code:
            notes += "; it is code, which is taken from the bag only with `--trust`"
        digest = f", SHA-256 {self.input.sha256[:MESSAGE_DIGITS]}…" if self.input.may_be_told else ""
        return f"{self.input.path} ({self.input.size:,} bytes{digest}){notes}"


class Search(NamedTuple):
    """What a search found."""

    paths: dict[str, Path]  # by the path in the study file
    missing: list[Missing]  # in the order of the seal
    unreadable: int  # files and folders that could not be read, and may be what is missing


def declared(document: dict[str, Any], trusted: bool) -> list[Input]:
    """Return the sources and other files that a study names, from the bag's list of inputs.

    Scoring functions are taken from the bag only if its code is trusted.
    """
    files = [
        Input(line["path"], line["sha256"], line["size"], line["bag"], all(map(is_held, line.get("sides", ()))))
        for line in (*document["inputs"], *document["files"])
    ]
    return [file._replace(bag=None) if file.is_code and not trusted else file for file in files]


def find(inputs: list[Input], bag: Path, folder: Path | None) -> Search:
    """Find inputs in the folder of a verified bag, or in a folder and all folders in it.

    An input whose path is absolute is looked for there too. Sizes are compared first: only a file of the size of an
    input that is still missing is hashed. An input without a digest is the one file of its name. Links are not followed.

    Raises
    ------
    InputError
        If the folder does not exist, is not a folder, or cannot be read.
    """
    paths = {item.path: (bag / layout.PAYLOAD / item.bag).resolve() for item in inputs if item.bag}
    files, unreadable = ([], 0) if folder is None else _files(folder)
    absolute = [Path(item.path) for item in inputs if Path(item.path).is_absolute()]
    places = [(path, path.stat().st_size) for path in absolute if layout.is_file(path)]
    lacking = [item for item in inputs if item.path not in paths]
    names, sizes = {item.name for item in lacking}, {item.size for item in lacking}
    likely = sorted(files, key=lambda file: (file[0].name not in names, file[0]))
    digests = _Digests()
    for path, size in [*places, *likely]:
        if size not in sizes:
            continue
        digest = digests(path)
        for item in [item for item in lacking if digest and item.sha256 == digest]:
            paths[item.path] = path.resolve()
            lacking.remove(item)
            sizes = {item.size for item in lacking}
    missing = []
    for item in lacking:
        named = [path for path, _ in files if path.name == item.name]
        if item.sha256 is None:
            exact = [path for path, _ in places if str(path) == item.path]
            found = {digests(path): path for path in exact or named}
            if len(found) == 1 and "" not in found:
                paths[item.path] = found.popitem()[1].resolve()
                continue
            missing.append(Missing(item, len(found)))
        else:
            missing.append(Missing(item, len(named)))
    return Search(paths, missing, unreadable + digests.unreadable)


class _Digests:
    """The digests of files, each computed once; empty for a file that cannot be read."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def __call__(self, path: Path) -> str:
        if path not in self._known:
            try:
                self._known[path] = sha256(path)
            except OSError:
                self._known[path] = ""
        return self._known[path]

    @property
    def unreadable(self) -> int:
        """The number of files that could not be read."""
        return sum(not digest for digest in self._known.values())


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
