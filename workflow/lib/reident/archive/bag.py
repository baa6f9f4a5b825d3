"""A bag as one zip file: the same bytes for the same content, each byte read and hashed once (METHODS §10).

Its files are stored as they are, so that its bytes do not depend on the version of a compressor. It is written under a
temporary name, synced and renamed. The names in it have its digest, which is known at the end: the headers are written
with zeros in its place, and corrected before the file is closed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import uuid
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from reident.archive import layout
from reident.archive.unpack import header, name_problem, printable
from reident.errors import InputError
from reident.ledger import stored

CHUNK = 2**20
_HEADER = 30
"""Bytes of the header of a file before its name."""


class Item(NamedTuple):
    """A file of the payload: its path in the bag, and its bytes or the file that has them."""

    path: str
    content: bytes | Path
    sha256: str = ""  # of a file, the digest that it had when it was collected


class Bag(NamedTuple):
    """A bag that was written: its file, the digest that names it, the number of its files, and its signature if any."""

    path: Path
    digest: str
    files: int
    signature: bytes | None


def write(
    folder: Path,
    study: str,
    payload: Iterable[Item],
    info: Mapping[str, str],
    sign: Callable[[bytes, Path], Mapping[str, bytes]],
) -> Bag:
    """Write a bag into a folder: complete, or not at all.

    Parameters
    ----------
    folder : pathlib.Path
    study : str
        The id of the study.
    payload : iterable of Item
    info : mapping
        Lines of ``bag-info.txt``.
    sign : callable
        ``sign(tag_manifest, path)`` gives the signatures of the bag by their paths; `path` is its own.

    Raises
    ------
    InputError
        If a file changed since it was collected, a name is not portable, or the disk is full.
    """
    items = sorted(payload)
    _check_names([item.path for item in items])
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    for part in folder.glob(".*.part"):  # of a command that was killed; only one runs in a working directory
        part.unlink(missing_ok=True)
    with _draft(folder / f"{study}.zip", folder) as draft:
        with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as stream:
            bag = _fill(stream, folder, study, items, info, sign)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(bag.path)
    return bag


def append(path: Path, files: Mapping[str, bytes]) -> None:
    """Add files to a bag, complete or not at all; files that are there stay as they are.

    Raises
    ------
    InputError
        If the disk is full.
    """
    with _draft(path, path) as draft:
        shutil.copyfile(path, draft)
        draft.chmod(0o600)
        with draft.open("r+b") as stream:
            with zipfile.ZipFile(stream, "a") as archive:
                for file, content in sorted(files.items()):
                    _add(archive, path.stem, Item(file, content))
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)


@contextlib.contextmanager
def _draft(path: Path, subject: Path) -> Iterator[Path]:
    """Give a temporary name beside a file, and leave nothing under it; tell errors of the disk in a sentence."""
    draft = stored.temporary(path)
    try:
        yield draft
    except OSError as error:
        raise explain(error, subject) from None
    finally:
        draft.unlink(missing_ok=True)
    stored.sync_folder(path.parent)


def _fill(
    stream: IO[bytes],
    folder: Path,
    study: str,
    items: list[Item],
    info: Mapping[str, str],
    sign: Callable[[bytes, Path], Mapping[str, bytes]],
) -> Bag:
    """Write the content of a bag; its name is known once the tag manifest is."""
    top = f"{study}-{'0' * 16}"
    with zipfile.ZipFile(stream, "w") as archive:
        sizes, manifest = 0, ""
        for item in items:
            sha512, size = _add(archive, top, item)
            manifest += f"{sha512}  {item.path}\n"
            sizes += size
        identifier = uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha512(manifest.encode()).hexdigest())
        lines = {**info, "External-Identifier": identifier.urn, "Payload-Oxum": f"{sizes}.{len(items)}"}
        tags = {
            layout.DECLARATION: "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
            layout.INFO: "".join(f"{key}: {' '.join(value.split())}\n" for key, value in sorted(lines.items())),
            layout.PAYLOAD_MANIFEST: manifest,
        }
        added = {name: _add(archive, top, Item(name, tags[name].encode()))[0] for name in sorted(tags)}
        tag_manifest = "".join(f"{sha512}  {name}\n" for name, sha512 in added.items()).encode()
        _add(archive, top, Item(layout.TAG_MANIFEST, tag_manifest))
        digest = layout.digest(tag_manifest)
        name = f"{study}-{digest}"
        path = folder / f"{name}.zip"
        signatures = sign(tag_manifest, path)
        for file, content in sorted(signatures.items()):
            _add(archive, top, Item(file, content))
        _rename(archive, stream, top, name)
    return Bag(path, digest, len(archive.filelist), signatures.get(layout.SEAL_SIGNATURE))


def _add(archive: zipfile.ZipFile, top: str, item: Item) -> tuple[str, int]:
    """Write a file into the zip and return its SHA-512 and size; each byte is read once."""
    content = item.content
    expected = content.stat().st_size if isinstance(content, Path) else len(content)
    sha512, sha256, size = hashlib.sha512(), hashlib.sha256(), 0
    source = io.BytesIO(content) if isinstance(content, bytes) else content.open("rb", buffering=0)
    with source, archive.open(header(f"{top}/{item.path}", expected), "w") as target:
        while chunk := source.read(CHUNK):
            sha512.update(chunk)
            if item.sha256:
                sha256.update(chunk)
            size += len(chunk)
            target.write(chunk)
    if item.sha256 not in ("", sha256.hexdigest()):
        raise InputError(f"{item.path}: the file changed while it was being sealed. Run the same command again.")
    return sha512.hexdigest(), size


def _rename(archive: zipfile.ZipFile, stream: IO[bytes], top: str, name: str) -> None:
    """Give the folder of a bag its name, as long as the one before it; the directory at the end is not yet written."""
    for entry in archive.filelist:
        stream.seek(entry.header_offset + _HEADER)
        stream.write(name.encode())
        entry.filename = name + entry.filename.removeprefix(top)


def _check_names(names: list[str]) -> None:
    """Refuse names that some system could not unpack, or could not tell apart."""
    folded = set()
    for name in names:
        file = name.removeprefix(layout.STUDY)
        if (problem := name_problem(name)) is not None:
            what = f"`{printable(file)}`: the name of a file in a sealed study must not {problem}"
            raise InputError(f"{what}. Rename the file.")
        if name.casefold() in folded:
            raise InputError(f"`{file}` must not be the name of two files of a sealed study. Rename one of them.")
        folded.add(name.casefold())


def explain(error: OSError, path: Path) -> InputError:
    """Return one sentence for an error of the disk."""
    if error.errno in stored.FULL:
        return InputError(f"{path}: the disk is full. Make room on the disk and run the same command again.")
    what = f"the file cannot be read or written ({error.strerror})"
    return InputError(f"{error.filename or path}: {what}. Check it and its folder.")
