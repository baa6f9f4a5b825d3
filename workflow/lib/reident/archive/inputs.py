"""Find the inputs of a sealed study by their hashes, whatever their names are today (METHODS §10)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from reident.archive import layout
from reident.errors import InputError
from reident.pipeline.digests import sha256

SHOWN_DIGITS = 16
"""Hexadecimal digits of a hash in a message: enough to tell files apart, short enough to read."""


class Input(NamedTuple):
    """An input as the seal records it: its path in the study file, its SHA-256 and its size in bytes."""

    path: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """The name of the file, without its folders."""
        return self.path.replace("\\", "/").rsplit("/", 1)[-1]


class Missing(NamedTuple):
    """An input that was not found.

    Attributes
    ----------
    input : Input
    changed : bool
        Whether a file of its name was found that has other content.
    """

    input: Input
    changed: bool

    def __str__(self) -> str:
        size, digits = self.input.size, self.input.sha256[:SHOWN_DIGITS]
        found = "; a file of this name has other content" if self.changed else ""
        return f"{self.input.path} ({size:,} bytes, SHA-256 {digits}…){found}"


class Search(NamedTuple):
    """What a search found.

    Attributes
    ----------
    found : dict
        A file for each SHA-256 that was found.
    missing : list of Missing
        In the order of the seal.
    unreadable : int
        Files and folders that could not be read, and may be what is missing.
    """

    found: dict[str, Path]
    missing: list[Missing]
    unreadable: int


def declared(lines: list[dict[str, Any]]) -> list[Input]:
    """Return the inputs that a bag names."""
    return [Input(str(line["path"]), str(line["sha256"]), int(line["size"])) for line in lines]


def find(inputs: list[Input], bag: Path, folder: Path | None) -> Search:
    """Find inputs in a verified bag, or in a folder and all folders in it.

    Sizes are compared first: only a file of the size of an input that is still missing is hashed. Links are not
    followed.

    Parameters
    ----------
    inputs : list of Input
    bag : pathlib.Path
        The folder of an unpacked bag.
    folder : pathlib.Path or None

    Returns
    -------
    Search

    Raises
    ------
    InputError
        If the folder does not exist, is not a folder, or cannot be read.
    """
    found = {path.name.partition(".")[0]: path for path in (bag / layout.SOURCES).glob("*")}
    found = {item.sha256: found[item.sha256] for item in inputs if item.sha256 in found}
    sought = {item for item in inputs if item.sha256 not in found}
    unreadable, names = 0, set[str]()
    if folder is not None and sought:
        _check_folder(folder)
        wanted = {item.name for item in sought}
        candidates = []
        for entry in _files(folder):
            try:
                size = -1 if entry is None else entry.stat(follow_symlinks=False).st_size
            except OSError:
                size = -1
            if entry is None or size < 0:
                unreadable += 1
                continue
            names |= {entry.name} & wanted
            if any(item.size == size for item in sought):
                candidates.append((entry.name not in wanted, entry.path, size))
        for _, path, size in sorted(candidates):  # those of the right name first
            left = {item.sha256 for item in sought if item.size == size and item.sha256 not in found}
            if not left:
                continue
            try:
                digest = sha256(Path(path))
            except OSError:
                unreadable += 1
                continue
            if digest in left:
                found[digest] = Path(path).resolve()
    missing = [Missing(item, item.name in names) for item in inputs if item.sha256 not in found]
    return Search(found, missing, unreadable)


def _check_folder(folder: Path) -> None:
    """Refuse what is not a folder that can be read."""
    try:
        os.scandir(folder).close()
    except FileNotFoundError:
        raise InputError(f"{folder}: the folder does not exist. Correct `inputs`.") from None
    except NotADirectoryError:
        raise InputError(f"{folder} must be a folder, not a file. Name the folder that holds the inputs.") from None
    except OSError as error:
        raise InputError(
            f"{folder}: the folder cannot be read ({error.strerror}). Change its permissions or correct `inputs`."
        ) from None


def _files(folder: Path) -> Iterator[os.DirEntry[str] | None]:
    """Yield the regular files below a folder, and None for each folder that cannot be read."""
    todo = [os.fspath(folder)]
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry
        except OSError:
            yield None
