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


def close(folder: Path) -> None:
    """Take a folder, its own files and those of its logs from everybody but the owner.

    What lies deeper is out of reach with it. A file system without permissions keeps what it has.
    """
    inside = [*folder.glob("*"), *folder.glob("log/*")]
    for path in (folder, *inside):
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(path.lstat().st_mode)
            if mode & OTHERS and not path.is_symlink():
                path.chmod(mode & ~OTHERS)
