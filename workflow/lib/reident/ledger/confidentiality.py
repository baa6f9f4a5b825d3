"""Who may read what a run makes, and which files hold data of the sources (README, Confidentiality)."""

from __future__ import annotations

import contextlib
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path

from reident.errors import InputError

OTHERS = 0o077
"""What the group and everybody else may do with a file, as bits of its mode."""


def check_folders(folders: Iterable[Path], allowed: bool) -> list[str]:
    """Refuse confidential folders that others may enter or read.

    Parameters
    ----------
    folders : iterable of pathlib.Path
        Those that are not there count as closed: a run makes them so.
    allowed : bool
        Whether such folders are warned of instead.

    Returns
    -------
    list of str
        A warning per open folder.

    Raises
    ------
    InputError
        Naming the first open folder and the command that closes it.
    """
    found = []
    for folder in folders:
        if not folder.is_dir() or not (mode := folder.stat().st_mode) & OTHERS:
            continue
        place, command = folder.resolve(), f"chmod -R go= {shlex.quote(str(folder.resolve()))}"
        if not allowed:
            raise InputError(
                f"{place} holds confidential data and is open to others ({stat.filemode(mode)}); close it by "
                f"`{command}`, or set `shared_results: true` in config/config.yaml if all of them may read it."
            )
        found.append(
            f"{place} holds confidential data and is open to others ({stat.filemode(mode)}), which "
            f"`shared_results` allows; `{command}` closes it."
        )
    return found


def check_records(folder: Path) -> None:
    """See that the scheduler's records are files, which it does not do itself.

    Raises
    ------
    InputError
        Naming the first folder in place of a record.
    """
    for path in (path for name in ("metadata", "incomplete") for path in (folder / name).rglob("*")):
        if path.is_dir() and not path.name.startswith("@"):  # parts of long names
            raise InputError(
                f"{path} must be a file, not a folder: it is a record of Snakemake. Rename it so that its name "
                "begins with `@`, or move it to another folder, and run the same command again."
            )


def close(folder: Path) -> None:
    """Take a scheduler's folder, its logs and its records from everybody but the owner.

    The scheduler has made some of them before the workflow is read, and opens its records to the group. A file
    system without permissions keeps what it has.
    """
    names = ("log", "slurm_logs", "metadata", "incomplete")
    inside = [path for name in names for path in (folder / name).rglob("*")]
    for path in (folder, *folder.glob("*"), *inside):
        with contextlib.suppress(OSError):
            mode = path.lstat().st_mode
            if mode & OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~OTHERS)
