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
    """A file that the study names, as the seal records it.

    Attributes
    ----------
    path : str
        As the study file has it.
    sha256 : str
    size : int
    bag : str or None
        Where the bag has it, from ``data/``; None for a file of which the bag has the hash alone.
    """

    path: str
    sha256: str
    size: int
    bag: str | None

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
        if _is_code(self.input._asdict()):
            found += "; it is code, which is taken from the bag only with `--trust`"
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


def declared(document: dict[str, Any], trusted: bool) -> list[Input]:
    """Return the files that a study names: its sources, and others such as scoring functions.

    Parameters
    ----------
    document : dict
        The bag's list of inputs.
    trusted : bool
        Whether code of the bag may run. If not, scoring functions are not taken from the bag.
    """
    return [
        Input(
            line["path"], line["sha256"], line["size"], line["bag"] if trusted or not _is_code(line) else None
        )
        for line in (*document["inputs"], *document["files"])
    ]


def _is_code(line: dict[str, Any]) -> bool:
    return str(line["path"]).endswith(".py")


def find(inputs: list[Input], bag: Path, folder: Path | None) -> Search:
    """Find inputs in a verified bag, or in a folder and all folders in it.

    An input whose path is absolute is looked for there too. Sizes are compared first: only a file of the size of an
    input that is still missing is hashed. Links are not followed.

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
    found = {item.sha256: (bag / layout.PAYLOAD / item.bag).resolve() for item in inputs if item.bag}
    sought = [item for item in inputs if item.sha256 not in found]
    candidates, names, unreadable = list[tuple[Path, int]](), set[str](), 0
    if folder is not None:
        _check_folder(folder)
        candidates, names, unreadable = _candidates(folder, sought)
    places = [(Path(item.path), item.size) for item in sought if Path(item.path).is_absolute()]
    candidates = [(path, size) for path, size in places if path.is_file()] + candidates
    left = {item.sha256: item.size for item in sought}
    for path, size in candidates:
        if size not in left.values():
            continue
        try:
            digest = sha256(path)
        except OSError:
            unreadable += 1
            continue
        if left.pop(digest, None) is not None:
            found[digest] = path.resolve()
    missing = [Missing(item, item.name in names) for item in sought if item.sha256 in left]
    return Search(found, missing, unreadable)


def _candidates(folder: Path, sought: list[Input]) -> tuple[list[tuple[Path, int]], set[str], int]:
    """Return the files that have the size of an input, those of the right name first, and more.

    Then the names of inputs that files have, and how many files and folders could not be read.
    """
    wanted, sizes = {item.name for item in sought}, {item.size for item in sought}
    candidates, names, unreadable = list[tuple[bool, str, int]](), set[str](), 0
    for entry in _files(folder):
        try:
            size = -1 if entry is None else entry.stat(follow_symlinks=False).st_size
        except OSError:
            size = -1
        if entry is None or size < 0:
            unreadable += 1
            continue
        names |= {entry.name} & wanted
        if size in sizes:
            candidates.append((entry.name not in wanted, entry.path, size))
    return [(Path(path), size) for _, path, size in sorted(candidates)], names, unreadable


def _check_folder(folder: Path) -> None:
    """Refuse what is not a folder that can be read."""
    try:
        os.scandir(folder).close()
    except FileNotFoundError:
        raise InputError(f"{folder}: the folder does not exist. Correct `--inputs`.") from None
    except NotADirectoryError:
        raise InputError(
            f"{folder} must be a folder, not a file. Name the folder that holds the inputs."
        ) from None
    except OSError as error:
        raise InputError(
            f"{folder}: the folder cannot be read ({error.strerror}). Change its permissions or correct `--inputs`."
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
