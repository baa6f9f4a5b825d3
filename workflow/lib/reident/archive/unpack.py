"""Read the zip file of a bag from a stranger: files in one new folder, or nothing (METHODS §10).

Programs that read zip files disagree about damaged and crafted ones. The names and contents of its files determine
every byte of a bag: once its limits are checked, `zipfile` writes them once more, and the bytes are compared.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import io
import os
import re
import shutil
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from reident.archive import layout
from reident.errors import InputError
from reident.ledger.stored import FULL
from reident.pipeline.steps import STEPS, maker_of

MAX_ENTRIES = 100_000
MAX_TABLE = 2**25
"""Bytes of the table of contents."""

MAX_SIZE = 2**40
"""Bytes of a file, and of all files, when they are unpacked: 1 TiB."""

MAX_RATIO, FREE_SIZE = 100, 2**26
"""How much larger than its compressed bytes a file, and the whole bag, may be beyond 64 MiB."""

MAX_DEPTH, MAX_PATH, MAX_PART = 20, 1_000, 255
"""Levels of folders in a bag, and bytes of a path and of the name of a file or folder."""

MAX_TEXT, MAX_TEXTS = 2**26, 2**30
"""Bytes of a file that verification reads, and of all of them, which it keeps in memory."""

REMEDY = "Do not use the file; get the bag again from those who sealed it."

_LIMITS = f"at most {MAX_SIZE:,} bytes, and at most {MAX_RATIO} times as many as in the zip file"
_NOT_READ = (layout.CODE, layout.REPORT, layout.SOURCES, layout.TABLES)
"""Folders whose files verification digests without reading them, but for the tables of these steps:"""

_VERDICT = {"judge", *STEPS["judge"].after}
"""The step that reaches the verdict, and those whose tables it reads."""

_TOP = re.compile(r"[a-z0-9-]+-[0-9a-f]{16}")
_DRIVE = re.compile(r"[A-Za-z]:")
_UNPORTABLE = re.compile(r'[\\:*?"<>|%]|[. ](?:/|$)')
_PREFIX = ".unpacking-"
_BLOCK, _DISK_BLOCK = 2**20, 4096
"""Bytes that are read at once, and those by which a file takes room on a disk."""

_NOT_A_ZIP = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error,
)  # fmt: skip
"""What `zipfile` raises on damaged and crafted files; a `RuntimeError` where one is encrypted."""


class Content(NamedTuple):
    """A file of a bag: its digests, and its bytes, which are empty where verification does not read them."""

    size: int
    sha512: str
    sha256: str
    text: bytes


class Unpacked(NamedTuple):
    """A bag: the name of the folder that has all files, and every file by its path in that folder."""

    top: str
    files: dict[str, Content]


def unpack(path: Path, folder: Path | None = None) -> Unpacked:
    """Read every byte of the zip file of a bag once, digest its files, and write them into an empty folder, if any.

    Raises
    ------
    InputError
        If the file is not as a bag is written, or there is no room on the disk. What was written by then is no bag.
    """
    if not layout.is_file(path):
        raise InputError(f"{path} is not a file. Name the zip file of a bag.")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path} cannot be read. Change its permissions.")
    written = "the file is not a complete zip file, or not as a bag is written"
    try:
        with _Limited(path) as stream, _Copy(path) as copy, zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
            top = _check(path, entries, folder)
            with zipfile.ZipFile(copy, "w") as rebuilt:
                files = {_inside(entry): _read(archive, entry, rebuilt, folder) for entry in entries}
            if not copy.is_equal():
                raise zipfile.BadZipFile
    except _NOT_A_ZIP:
        raise refusal(path, written) from None
    except OSError as error:
        if error.errno == errno.EINVAL:  # a place before the beginning of the file
            raise refusal(path, written) from None
        if error.errno in FULL:
            raise _no_room(path, folder) from None
        raise
    return Unpacked(top, files)


def header(name: str, size: int, method: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    """Return the header of a file of a bag, which tells nothing of the machine and of the time.

    The name has the folder of the bag. Bags before release 0.3 are deflated.
    """
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.create_system, entry.external_attr, entry.file_size = 3, 0o100600 << 16, size
    entry.compress_type = method
    return entry


class _Limited(io.FileIO):
    """A file that is read in pieces no larger than the largest table of contents."""

    def read(self, n: int | None = -1, /) -> bytes:
        if n is not None and n > MAX_TABLE:
            raise zipfile.BadZipFile
        return super().read(n) or b""


class _Copy(io.FileIO):
    """A file that is compared, not written; `zipfile` corrects its headers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._different: set[int] = set()
        self._end = 0

    def write(self, content: Any, /) -> int:
        at = self.tell()
        if super().read(len(content)) == content:
            self._different.discard(at)
        else:
            self._different.add(at)
        self.seek(at + len(content))
        self._end = max(self._end, at + len(content))
        return len(content)

    def is_equal(self) -> bool:
        return not self._different and self._end == self.seek(0, os.SEEK_END)


def _check(path: Path, entries: list[zipfile.ZipInfo], folder: Path | None) -> str:
    """See that the files are few, small and well named before one of them is read; return their folder."""
    if not 0 < len(entries) <= MAX_ENTRIES:
        raise refusal(path, f"the bag must have at least one file, and at most {MAX_ENTRIES:,} files")
    for entry in entries:
        if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise refusal(path, f"{quote(entry.filename)} must be stored or deflated")
        if _bursts(entry.file_size, entry.compress_size):
            raise refusal(path, f"{quote(entry.filename)} must have {_LIMITS}")
    if _bursts(sum(entry.file_size for entry in entries), path.stat().st_size):
        raise refusal(path, f"the unpacked files must have {_LIMITS}")
    top = _check_names(path, [entry.filename for entry in entries])
    text_sizes = [entry.file_size for entry in entries if _is_read(entry)]
    if max(text_sizes, default=0) > MAX_TEXT or sum(text_sizes) > MAX_TEXTS:
        raise refusal(path, f"the files that describe the bag must have at most {MAX_TEXT:,} bytes each")
    needed = sum(-(-entry.file_size // _DISK_BLOCK) + 1 for entry in entries) * _DISK_BLOCK
    if folder is not None and shutil.disk_usage(folder).free < needed:
        raise _no_room(path, folder)
    return top


def _bursts(size: int, packed: int) -> bool:
    """Return whether compressed bytes become more than an honest file does."""
    return size > MAX_SIZE or size > max(FREE_SIZE, MAX_RATIO * packed)


def _check_names(path: Path, names: list[str]) -> str:
    """See that the names are those of files in one folder, on every file system; return the name of the folder."""
    top = names[0].partition("/")[0]
    taken: dict[str, tuple[str, bool]] = {}
    for name in names:
        if problem := name_problem(name):
            raise refusal(path, f"the name {quote(name)} must not {problem}")
        folder, _, inside = name.partition("/")
        if folder != top or not inside or not _TOP.fullmatch(top):
            name_of_folder = "whose name is that of the study and the digest of the bag"
            raise refusal(path, f"all files must be in one folder, {name_of_folder}")
        parts = name.split("/")
        for length in range(1, len(parts) + 1):
            spelled, is_file = "/".join(parts[:length]), length == len(parts)
            # What a file system may take for one name: without case, in each form of Unicode.
            folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", spelled).casefold())
            if taken.setdefault(folded, (spelled, is_file)) != (spelled, is_file):
                raise refusal(path, f"the name {quote(name)} must not be that of another file or folder")
    if len(set(names)) < len(names):
        raise refusal(path, "the name of a file is given twice")
    if names != sorted(names, key=lambda name: layout.order(name.partition("/")[2])):
        raise refusal(path, "the files are not in the order in which a bag is written")
    return top


def name_problem(name: str) -> str | None:
    """Return the problem with the name of a file in a bag: it must not …; None for a valid name."""
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


def _inside(entry: zipfile.ZipInfo) -> str:
    """Return the path of an entry in the folder of the bag."""
    return entry.filename.partition("/")[2]


def _is_read(entry: zipfile.ZipInfo) -> bool:
    path = _inside(entry)
    if not path.startswith(_NOT_READ):
        return True
    if not path.startswith(layout.TABLES) or entry.file_size > MAX_TEXT:
        return False
    try:
        return maker_of(path) in _VERDICT
    except ValueError:
        return False


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, rebuilt: zipfile.ZipFile, folder: Path | None) -> Content:
    """Digest a file of a bag, compare it with the content that `zipfile` reads, and write it."""
    sha512, sha256, blocks = hashlib.sha512(), hashlib.sha256(), list[bytes]()
    again = header(entry.filename, entry.file_size, entry.compress_type)
    with archive.open(entry) as source, rebuilt.open(again, "w") as copy, _target(entry, folder) as target:
        while block := source.read(_BLOCK):
            sha512.update(block)
            sha256.update(block)
            copy.write(block)
            if target is not None:
                target.write(block)
            if _is_read(entry):
                blocks.append(block)
    return Content(entry.file_size, sha512.hexdigest(), sha256.hexdigest(), b"".join(blocks))


@contextlib.contextmanager
def _target(entry: zipfile.ZipInfo, folder: Path | None) -> Iterator[IO[bytes] | None]:
    """Open a new file, readable by its owner alone, in new folders; nothing where nothing is to be written."""
    if folder is None:
        yield None
        return
    path = folder / entry.filename
    for parent in reversed(path.relative_to(folder).parents):
        (folder / parent).mkdir(mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "wb") as stream:
        yield stream


def _no_room(path: Path, folder: Path | None) -> InputError:
    return InputError(
        f"{path}: there is not enough room on the disk to unpack the bag in {folder and folder.parent}. "
        "Make room on the disk and run the same command again."
    )


def refusal(path: Path, what: str) -> InputError:
    """Return the error for a file that is not a bag, or not as it was sealed."""
    return InputError(f"{path}: {what}. {REMEDY}")


def quote(name: str) -> str:
    """Return a name from a stranger as a message may show it."""
    text = printable(name)
    return f"`{text if len(text) <= 80 else '...' + text[-77:]}`"


def printable(text: str) -> str:
    """Return a text from a stranger without characters that steer a terminal."""
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


@contextlib.contextmanager
def staging(into: Path) -> Iterator[Path]:
    """Make a folder of this process alone in `into`, removed at the end; remove those of processes that were killed."""
    into.mkdir(parents=True, exist_ok=True, mode=0o700)
    both = os.open(into, os.O_RDONLY)
    try:
        _lock(both, fcntl.LOCK_EX)  # a folder is not yet locked right after it was made
        for path in into.glob(f"{_PREFIX}*"):
            _remove_abandoned(path)
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
