"""Unpack a bag that comes from a stranger: regular files only, inside one new folder, or nothing (METHODS §10)."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipInfo

from reident.archive import layout
from reident.archive.container import Container, shown
from reident.errors import InputError

MAX_DEPTH = 20
MAX_PATH, MAX_PART = 1_000, 255
"""Levels of folders in a bag, and bytes of a path and of the name of a file or folder."""

MAX_TEXT = 2**26
MAX_TEXTS = 2**30
"""Bytes of a file that verification reads, and of all of them, which it keeps in memory."""

_NOT_READ = (layout.CODE, layout.REPORT, layout.SOURCES, layout.TABLES)
"""Folders whose files verification digests without reading them."""

_TOP = re.compile(r"[a-z0-9-]+-[0-9a-f]{16}")
_DRIVE = re.compile(r"[A-Za-z]:")
_UNPORTABLE = re.compile(r'[\\:*?"<>|%]|[. ](?:/|$)')
_PREFIX = ".unpacking-"
_WORTH_A_THREAD = 2**18
_BLOCK = 4096
"""Bytes by which a file takes room on a disk."""


class Content(NamedTuple):
    """A file of a bag.

    Attributes
    ----------
    size : int
    sha512 : str
    sha256 : str
    text : bytes
        Its content; empty for the files that verification does not read.
    """

    size: int
    sha512: str
    sha256: str
    text: bytes


class Unpacked(NamedTuple):
    """The files of a bag.

    Attributes
    ----------
    top : str
        The name of the folder that has them all.
    files : dict
        Every file by its path in that folder.
    """

    top: str
    files: dict[str, Content]


def unpack(path: Path, folder: Path | None = None) -> Unpacked:
    """Read every byte of the zip file of a bag once, digest its files, and write them into a folder.

    Parameters
    ----------
    path : pathlib.Path
    folder : pathlib.Path or None
        An empty folder; None to write nothing.

    Returns
    -------
    Unpacked

    Raises
    ------
    InputError
        If the file is not as a bag is written, or there is no room on the disk.
    """
    container = Container(path)
    try:
        top = _check_names(container)
        kept = [entry.file_size for entry in container.entries if _is_read(_inside(entry))]
        if max(kept, default=0) > MAX_TEXT or sum(kept) > MAX_TEXTS:
            raise container.refusal(
                f"the files that describe the bag must have at most {MAX_TEXT:,} bytes each"
            )
        if folder is not None:
            _check_room(container, folder)
        with ThreadPoolExecutor(1) as beside:
            files = {
                _inside(entry): _unpack_entry(container, entry, folder, beside) for entry in container.entries
            }
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise _no_room(path, folder) from None
    finally:
        container.close()
    return Unpacked(top, files)


def _inside(entry: ZipInfo) -> str:
    """Return the path of an entry in the folder of the bag."""
    return entry.filename.partition("/")[2]


def _is_read(path: str) -> bool:
    return not path.startswith(_NOT_READ)


def _check_names(container: Container) -> str:
    """See that the names are those of files in one folder, on every file system; return the name of the folder."""
    top = container.entries[0].filename.partition("/")[0]
    names: dict[str, tuple[str, bool]] = {}
    for entry in container.entries:
        if problem := name_problem(entry.filename):
            raise container.refusal(f"the name {shown(entry.filename)} must not {problem}")
        folder, _, path = entry.filename.partition("/")
        if folder != top or not path or not _TOP.fullmatch(top):
            raise container.refusal(
                "all files must be in one folder, whose name is that of the study and the digest of the bag"
            )
        parts = entry.filename.split("/")
        for length in range(1, len(parts) + 1):
            spelled, is_file = "/".join(parts[:length]), length == len(parts)
            # What a file system may take for one name: without case, in each form of Unicode.
            folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", spelled).casefold())
            if names.setdefault(folded, (spelled, is_file)) != (spelled, is_file):
                raise container.refusal(
                    f"the name {shown(entry.filename)} must not be that of another file or folder"
                )
    paths = [_inside(entry) for entry in container.entries]
    if paths != sorted(paths, key=layout.order):
        raise container.refusal("the files are not in the order in which a bag is written")
    return top


def name_problem(name: str) -> str | None:
    """Return what is wrong with the name of a file in a bag: it must not …; None if nothing is."""
    parts = name.split("/")
    categories = set() if name.isprintable() else set(map(unicodedata.category, name))
    if not categories.isdisjoint({"Cc", "Cf", "Zl", "Zp"}):
        return "have a control character"
    if name.startswith("/") or _DRIVE.match(name):
        return "be an absolute path"
    if not {"", ".", ".."}.isdisjoint(parts):
        return "leave its folder"
    if _UNPORTABLE.search(name) or unicodedata.normalize("NFC", name) != name:
        return "have characters that some file systems refuse or change"
    if len(name.encode()) > MAX_PATH:
        return f"have more than {MAX_PATH:,} bytes"
    if len(parts) > MAX_DEPTH or max(len(part.encode()) for part in parts) > MAX_PART:
        return f"have more than {MAX_DEPTH} levels, or {MAX_PART} bytes in one of them"
    return None


def _check_room(container: Container, folder: Path) -> None:
    """See that all files find room on the disk."""
    needed = sum(-(-entry.file_size // _BLOCK) + 1 for entry in container.entries) * _BLOCK
    if shutil.disk_usage(folder).free < needed:
        raise _no_room(container.path, folder)


def _no_room(path: Path, folder: Path | None) -> InputError:
    return InputError(
        f"{path}: there is not enough room on the disk to unpack the bag in {folder and folder.parent}. "
        "Make room on the disk and run the same command again."
    )


class _Target:
    """A new file, readable by its owner alone, with the digest that a ledger records; or the digest alone."""

    def __init__(self, path: Path | None) -> None:
        self.sha256 = hashlib.sha256()
        self._file = -1
        if path is not None:
            _make_folder(path.parent)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)

    def take(self, block: bytes) -> None:
        """Digest and write some bytes."""
        self.sha256.update(block)
        left = memoryview(block)
        while self._file >= 0 and left:
            left = left[os.write(self._file, left) :]

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)


def _make_folder(folder: Path) -> None:
    """Make a folder, and those above it, for its owner alone."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700)


def _unpack_entry(container: Container, entry: ZipInfo, folder: Path | None, beside: Executor) -> Content:
    """Digest an entry and write it; SHA-512 takes as long as everything else, which runs beside it."""
    path = _inside(entry)
    kept: list[bytes] = []
    sha512 = hashlib.sha512()
    with contextlib.closing(_Target(None if folder is None else folder / entry.filename)) as target:
        for block in container.blocks(entry):
            long = len(block) >= _WORTH_A_THREAD
            rest = beside.submit(target.take, block) if long else None
            sha512.update(block)
            if rest is None:
                target.take(block)
            else:
                rest.result()
            if _is_read(path):
                kept.append(block)
    return Content(entry.file_size, sha512.hexdigest(), target.sha256.hexdigest(), b"".join(kept))


@contextlib.contextmanager
def staging(into: Path) -> Iterator[Path]:
    """Make a folder of this process alone, which is removed at the end; remove those of processes that were killed.

    Parameters
    ----------
    into : pathlib.Path
        The folder in which to make it.

    Yields
    ------
    pathlib.Path
    """
    into.mkdir(parents=True, exist_ok=True, mode=0o700)
    both = os.open(into, os.O_RDONLY)
    try:
        _lock(both, fcntl.LOCK_EX)  # a folder is not yet locked right after it was made
        for left in into.glob(f"{_PREFIX}*"):
            _remove_abandoned(left)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=into))
        lock = os.open(folder, os.O_RDONLY)
        _lock(lock, fcntl.LOCK_EX)
    finally:
        os.close(both)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _lock(descriptor: int, kind: int) -> bool:
    """Lock a folder as long as this process lives; return whether it could, as some file systems have no locks."""
    try:
        fcntl.flock(descriptor, kind)
    except OSError:
        return False
    return True


def _remove_abandoned(folder: Path) -> None:
    """Remove a staging folder that no living process holds."""
    if folder.is_symlink() or not folder.is_dir():
        return
    lock = os.open(folder, os.O_RDONLY)
    try:
        if _lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
