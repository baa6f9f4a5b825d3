"""Access to the files of a run, and the list of files that hold data (docs/explanation/confidentiality.md)."""

from __future__ import annotations

import contextlib
import os
import resource
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path

from reident.errors import InputError
from reident.pipeline.release import ROOT

OTHERS = 0o077
"""The permissions of the group and of everyone else, as bits of a file's mode."""

OF_CHECKOUT = "README.md"
"""The only file of a fresh checkout in the folders of results and reports, which a run then closes."""

MIN_FILE = 2**20
"""Bytes that a file of a run may need."""

_ADAPTERS = sorted(path.name for path in (ROOT / "workflow/scripts").glob("*.py"))
# The brackets: the text in which bash searches holds the pattern too.
_STEPS = "|".join(f"*/.snakemake/script[s]/*.{name}*" for name in _ADAPTERS)

SILENT_STEPS = (
    'if [ -n "$BASH_VERSION" ]; then set -eo pipefail; '
    f"case $BASH_EXECUTION_STRING in {_STEPS}) exec 2>/dev/null;; esac; set -u; fi;"
)
"""For Snakemake's ``shell.prefix``: what a step writes to its standard error, from before Python starts, is dropped.

A step tells its log why it failed. What else comes there, a traceback above all, may hold settings or data.
"""


def check_folders(folders: Iterable[Path], allowed: bool) -> list[str]:
    """Refuse confidential folders that others may enter or read, or that a run cannot write to.

    If open folders are `allowed`, return one warning for each of them. Folders that do not exist yet count as closed:
    a run creates them closed, and closes those of a fresh checkout.

    Raises
    ------
    InputError
        Naming the first open folder and the command that closes it, the first folder that is not writable, or the
        limit of the size of files.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit != resource.RLIM_INFINITY and limit < MIN_FILE:
        raise InputError(
            f"`ulimit -f` limits files to {limit:,} bytes, but a run needs at least {MIN_FILE:,}. Raise the limit."
        )
    warnings = []
    for folder in folders:
        if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(
                f"{folder.resolve()} must be a folder in which you may write. Change its permissions or its owner, or "
                "run in another folder."
            )
        if not folder.is_dir() or not (mode := folder.stat().st_mode) & OTHERS:
            continue
        if [path.name for path in folder.iterdir()] == [OF_CHECKOUT]:
            folder.chmod(stat.S_IMODE(mode) & ~OTHERS)
            continue
        path = folder.resolve()
        command = f"chmod -R go= {shlex.quote(str(path))}"
        what = f"{path} holds confidential data and is open to others ({stat.filemode(mode)})"
        if not allowed:
            raise InputError(
                f"{what}. Close it by `{command}`, or set `shared_results: true` in config/config.yaml if all of "
                "them may read it."
            )
        warnings.append(f"{what}, which `shared_results` allows; `{command}` closes it.")
    return warnings


def close(folder: Path) -> None:
    """Close a scheduler's folder, its logs and its records to all but their owner.

    The scheduler creates some of them before the workflow is read, and opens its records to the group. On a file
    system without permissions nothing changes.
    """
    names = ("log", "slurm_logs", "metadata", "incomplete")
    inside = [path for name in names for path in (folder / name).rglob("*")]
    for path in (folder, *folder.glob("*"), *inside):
        with contextlib.suppress(OSError):
            mode = path.lstat().st_mode
            if mode & OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~OTHERS)
