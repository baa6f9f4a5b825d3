"""What the code of this checkout is: version, commit, and the digest of its sources (METHODS §10).

The commit is read from git's files, without a process: every step records it. Only the digest of the sources tells what
ran, and it is the same in a clone, a worktree and an unpacked archive, whatever the line ends, time stamps and caches.
Nothing is computed again because of what this module returns.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from reident.pipeline.digests import LIBRARY, versions

ROOT = LIBRARY.parents[2]
PROJECT, LOCK = "pyproject.toml", "requirements.lock"
SOURCES = ("Snakefile", PROJECT, LOCK, "environment.yml", "workflow")
"""The files and folders of a checkout that hold code, or name the packages that it runs with."""
NOTEBOOK = ROOT / "workflow" / "notebooks" / "disclosure-review.ipynb"
"""What the report is made from."""

KINDS = frozenset(
    {
        ".css",
        ".html",
        ".ipynb",
        ".js",
        ".json",
        ".lock",
        ".lua",
        ".py",
        ".rst",
        ".smk",
        ".toml",
        ".typ",
        ".yaml",
        ".yml",
        "",
    }
)
"""The suffixes of sources: caches and what an editor leaves behind are not sources."""

COPY = "release.json"
"""Beside the Snakefile of a copy without git: what :func:`describe` returned where the copy was made."""

MODIFIED = "REIDENT_MODIFIED"
"""The environment variable that tells the processes of a run whether the sources differ from the commit."""

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
MAX_LINKS = 5
"""References that lead from one to the next, as git follows them."""


def describe(root: Path = ROOT) -> dict[str, Any]:
    """Return what tells the code of a checkout from any other, and what it runs with.

    Parameters
    ----------
    root : pathlib.Path
        The folder of the Snakefile.

    Returns
    -------
    dict
        What :func:`recorded` returns; ``lock``, the SHA-256 of the locked packages; ``versions`` of Python and the
        installed packages.
    """
    lock = root / LOCK
    return {
        **recorded(root),
        "lock": _digest(lock) if lock.is_file() else None,
        "versions": versions(),
    }


def recorded(root: Path = ROOT) -> dict[str, Any]:
    """Return what every entry of the ledger says of the code.

    Parameters
    ----------
    root : pathlib.Path
        The folder of the Snakefile.

    Returns
    -------
    dict
        ``version``; ``commit``, None without git; ``modified``, whether the sources differ from that commit, None
        where nothing tells; ``tree``, the SHA-256 of the sources.
    """
    tree = tree_digest(root)
    if (root / ".git").exists():
        known = commit(root)
        modified = None if known is None else _is_modified(root, f"{known} {tree}")
    else:
        copied = _copied(root, tree)
        known, modified = copied.get("commit"), copied.get("modified")
    return {"version": version(root), "commit": known, "modified": modified, "tree": tree}


def named(found: Any) -> str:
    """Return a release in words, from what :func:`recorded` returned when it ran."""
    if not isinstance(found, dict):  # an entry of a release that did not record itself
        return "an earlier version of reident"
    words = [f"reident {found.get('version') or '(version unknown)'}"]
    if commit := found.get("commit"):
        words.append(f"commit {str(commit)[:12]}{' (modified)' if found.get('modified') else ''}")
    return ", ".join([*words, f"sources {str(found.get('tree'))[:12]}"])


def version(root: Path = ROOT) -> str | None:
    """Return the version that the checkout declares; None where its declaration is not there."""
    try:
        return str(tomllib.loads((root / PROJECT).read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, KeyError, ValueError):
        return None


def source_files(root: Path = ROOT) -> list[str]:
    """Return the sources of a checkout, by their paths in it, in one order on every machine."""
    files = [
        path for name in SOURCES for path in ((root / name), *(root / name).rglob("*")) if path.is_file()
    ]
    return sorted(name for path in files if _is_source(name := path.relative_to(root).as_posix()))


def _is_source(name: str) -> bool:
    *folders, last = name.split("/")
    hidden = any(part.startswith((".", "__pycache__")) for part in (*folders, last))
    return not hidden and Path(last).suffix in KINDS


@cache
def tree_digest(root: Path = ROOT) -> str:
    """Return the SHA-256 over the paths and the contents of all sources; line ends do not count."""
    lines = (f"{name}\0{_digest(root / name)}\n" for name in source_files(root))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def _copied(root: Path, tree: str) -> dict[str, Any]:
    """Return what a copy without git says of itself; nothing if its sources are not those that were copied."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        said = json.loads((root / COPY).read_text(encoding="utf-8"))
        if said.get("tree") == tree:
            return dict(said)
    return {}


# git


def commit(root: Path = ROOT) -> str | None:
    """Return the commit that is checked out; None without one, or if git's files are not as they are known."""
    try:
        folder = _git_folder(root)
        shared = folder / "commondir"  # of a worktree: where the references of all worktrees are
        common = folder / shared.read_text(encoding="utf-8").strip() if shared.is_file() else folder
        value = (folder / "HEAD").read_text(encoding="utf-8").strip()
        for _ in range(MAX_LINKS):
            if _COMMIT.fullmatch(value):
                return value
            value = _reference(folder, common, value.removeprefix("ref: "))
    except (OSError, ValueError):
        pass
    return None


def _git_folder(root: Path) -> Path:
    """Return git's folder; in a worktree or a submodule, a file names it."""
    path = root / ".git"
    if path.is_dir():
        return path
    return root / path.read_text(encoding="utf-8").strip().removeprefix("gitdir: ")


def _reference(folder: Path, common: Path, name: str) -> str:
    """Return what a reference holds: its own file is newer than the packed ones."""
    for path in (folder / name, common / name):
        if path.is_file():
            return path.read_text(encoding="utf-8").strip()
    for line in (common / "packed-refs").read_text(encoding="utf-8").splitlines():
        value, _, packed = line.partition(" ")
        if packed == name:
            return value
    raise ValueError


def _is_modified(root: Path, state: str) -> bool | None:
    """Return whether sources differ from the commit, or are in no commit; None where git does not answer.

    The first process of a run asks git, and the others find its answer in their environment. It holds for the state of
    the sources that it names.
    """
    asked, _, answer = os.environ.get(MODIFIED, "").rpartition(" ")
    if asked != state:
        answer = str(_ask_git(root))
        os.environ[MODIFIED] = f"{state} {answer}"
    return {"True": True, "False": False}.get(answer)


def _ask_git(root: Path) -> bool | None:
    # Nothing of a user's settings, or of a hook that runs this, may lead git to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ("git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "--no-optional-locks", "status")
    options = ("--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", *SOURCES)
    try:
        ended = subprocess.run(  # noqa: S603
            [*command, *options], cwd=root, env=environment, capture_output=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return any(_is_source(os.fsdecode(line[3:])) for line in ended.stdout.split(b"\0") if line)
