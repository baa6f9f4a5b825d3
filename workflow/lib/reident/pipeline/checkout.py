"""Where the files of this workflow are, whoever runs it: here, or in a repository from which another workflow takes it.

This module runs before the library can be imported: it imports the standard library alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

PROJECT, LOCK = "pyproject.toml", "requirements.lock"
SOURCES = ("Snakefile", PROJECT, LOCK, "environment.yml", "workflow")
"""The files and folders of a checkout that hold code, or name the packages that it runs with."""


def root(folder: Any, cache: str | Path) -> Path:
    """Return the checkout that a folder of the workflow belongs to.

    A module of another workflow may be declared as a file of a hosted repository (``github(…)``), of which Snakemake
    keeps a clone and takes single files. The steps need the library: the commit is checked out into the cache, once.

    Parameters
    ----------
    folder : snakemake.sourcecache.SourceFile
        The folder ``workflow/rules``.
    cache : str or pathlib.Path
        Where Snakemake keeps the sources of workflows.

    Returns
    -------
    pathlib.Path
        The folder with ``workflow/`` in it.

    Raises
    ------
    OSError, subprocess.CalledProcessError
        If git does not give the commit.
    """
    if not hasattr(folder, "ref"):
        return Path(os.path.abspath(folder.get_path_or_uri(secret_free=False))).parents[1]  # noqa: PTH100 - links stay
    hosted = hasattr(folder, "hosted_repo")
    repository = Path(folder.hosted_repo.repo_clone if hosted else folder.repo_path).resolve()
    commit = _git(repository, "rev-parse", "--verify", f"{folder.ref}^{{commit}}")
    target = Path(cache, "checkouts", commit)
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = Path(tempfile.mkdtemp(dir=target.parent))
        try:
            _git(scratch, "clone", "--quiet", "--no-checkout", str(repository), str(scratch / commit))
            _git(scratch / commit, "checkout", "--quiet", "--detach", commit)
            # Another process may have been faster.
            if not target.is_dir():
                (scratch / commit).rename(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target / Path(folder.path).parents[1]


def _git(folder: Path, *arguments: str) -> str:
    """Return what git answers, whoever owns the repository."""
    command = ["git", "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
