"""Read an earlier edition, and hold the section `release` to what it names (METHODS §11.3)."""

from __future__ import annotations

import json
import lzma
import struct
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import ValidationError

from reident.errors import InputError
from reident.sections.edition import Edition
from reident.sections.release import RECORD
from reident.study import bundled
from reident.study import reading as studyfile

if TYPE_CHECKING:
    from reident.study.model import Study

MAX_BYTES = 4_000_000
"""The size of a published file: one that is larger is none."""

FOLDER, OLD_RECORD = "releasable", "release.json"
_NAME = "Name the folder `releasable` of a study, or a `.zip` file that has it, as it was published."


def read(path: Path) -> Edition:
    """Read an earlier edition from its published file, or from a `.zip` file that has it.

    Raises
    ------
    InputError
        If it is missing, damaged, or of a version that published other numbers.
    """
    shown = f"{path.parent.name}/{path.name}" if path.suffix == ".json" else path.name
    data = _parsed(shown, _content(path, shown))
    try:
        return Edition.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{shown}: {studyfile.first_problem(error, data, Edition)}") from None


def check(study: Study, study_file: Path) -> None:
    """Check every earlier edition that a study names and that is there, and those before it; raises as :func:`read`."""
    paths = [study_file.parent / name for name in (study.release.edition_files if study.release is not None else ())]
    editions = [read(path) for path in paths if path.exists() or _is_old(path)]
    named = {(edition.title, edition.date) for edition in editions}
    for edition in editions if len(editions) == len(paths) else ():
        for earlier in edition.after:
            if (earlier.title, earlier.date) not in named:
                raise bundled.error(
                    study_file, ("release", "after"),
                    f"must name every edition about the same people, but `{earlier.title}`, on which `{edition.title}` "
                    "builds, is missing. Add it.",
                )  # fmt: skip


def _content(path: Path, shown: str) -> bytes:
    if not path.exists() and _is_old(path):
        raise _old(shown)
    try:
        if path.suffix == ".json":
            with path.open("rb") as stream:
                return stream.read(MAX_BYTES + 1)
        with zipfile.ZipFile(path) as archive:
            return _member(archive, shown)
    except FileNotFoundError:
        raise InputError(f"{shown}: the earlier edition is missing. {_NAME}") from None
    except (
        OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, NotImplementedError, RuntimeError,
        EOFError, ValueError, OverflowError,
    ):  # fmt: skip
        raise InputError(f"{shown}: the earlier edition cannot be read. {_NAME}") from None


def _is_old(path: Path) -> bool:
    """Return whether the folder of a published file has what an earlier version wrote."""
    return path.suffix == ".json" and path.with_name(OLD_RECORD).exists()


def _member(archive: zipfile.ZipFile, shown: str) -> bytes:
    """Return the published file in an archive, which has it once."""
    names = [name for name in archive.namelist() if name.split("/")[-2:] == [FOLDER, RECORD]]
    if not names and any(name.split("/")[-2:] == [FOLDER, OLD_RECORD] for name in archive.namelist()):
        raise _old(shown)
    if len(names) != 1:
        raise InputError(f"{shown}: must have exactly one file `{FOLDER}/{RECORD}`. {_NAME}")
    with archive.open(names[0]) as stream:
        return stream.read(MAX_BYTES + 1)


def _old(shown: str) -> InputError:
    return InputError(
        f"{shown}: is an edition of an earlier version of reident, which published counts that no statement can take "
        "into account. Remove `release` from the study: beside that edition, a new one would not hold."
    )


def _parsed(shown: str, content: bytes) -> Any:
    if len(content) > MAX_BYTES:
        raise InputError(f"{shown}: must have at most {MAX_BYTES:,} bytes. {_NAME}")
    try:
        # A number with thousands of digits, a text that is no UTF-8 and a comma too many are all a ValueError.
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_number, object_pairs_hook=_distinct)
    except (ValueError, RecursionError):
        raise InputError(f"{shown}: is not a published edition, or it is damaged. {_NAME}") from None


def _no_number(_: str) -> NoReturn:
    raise ValueError("no number of JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)
