"""The identity of the code of this checkout: version, commit, and the digest of its sources (METHODS §10).

Every step records the commit; the first process of a run asks git for it. Only the digest of the sources tells what
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
from importlib import metadata
from pathlib import Path
from typing import Any

from reident.errors import InputError
from reident.pipeline.digests import LIBRARY, versions

ROOT = LIBRARY.parents[2]
PROJECT, LOCK = "pyproject.toml", "requirements.lock"
SOURCES = ("Snakefile", PROJECT, LOCK, "environment.yml", "workflow")
"""The files and folders of a checkout that hold code, or name the packages that it runs with."""
NOTEBOOK = ROOT / "workflow" / "notebooks" / "disclosure-review.ipynb"
"""What the report is made from."""

KINDS = (
    ".css", ".csv", ".html", ".ipynb", ".js", ".json", ".lock", ".lua", ".py", ".rst", ".smk", ".toml", ".typ", ".yaml",
    ".yml", "",
)  # fmt: skip
"""The suffixes of sources: caches and what an editor leaves behind are not sources."""

COPY = "release.json"
"""Beside the Snakefile of a copy without git: what :func:`describe` returned where the copy was made."""

ANSWER = "REIDENT_GIT"
"""The environment variable that tells the processes of a run what git answered, for which sources."""

_COMMIT = re.compile(rb"# branch\.oid ([0-9a-f]{40,64})")


def describe(root: Path = ROOT) -> dict[str, Any]:
    """Return :func:`recorded` with ``lock``, the SHA-256 of the locked packages, and the ``versions`` in use."""
    lock = root / LOCK
    return {**recorded(root), "lock": _digest(lock) if lock.is_file() else None, "versions": versions()}


def recorded(root: Path = ROOT) -> dict[str, Any]:
    """Return the description of the code for every entry of the ledger.

    That is its ``version``; the ``commit``, None without git; ``modified``, whether the sources differ from it, None
    where nothing tells; and ``tree``, the SHA-256 of the sources.
    """
    tree = tree_digest(root)
    state = _state(root, tree) if (root / ".git").exists() else _copied(root, tree)
    return {"version": version(root), "commit": state.get("commit"), "modified": state.get("modified"), "tree": tree}


def named(record: Any) -> str:
    """Return a release in words, from the value of :func:`recorded` when it ran."""
    if not isinstance(record, dict):  # an entry of a release that did not record itself
        return "an earlier version of reident"
    words = [f"reident {record.get('version') or '(version unknown)'}"]
    if commit := record.get("commit"):
        words.append(f"commit {str(commit)[:12]}{' (modified)' if record.get('modified') else ''}")
    return ", ".join([*words, f"sources {str(record.get('tree'))[:12]}"])


def version(root: Path = ROOT) -> str | None:
    """Return the version that the checkout declares, or that of the installed package; None where nothing tells."""
    try:
        return str(tomllib.loads((root / PROJECT).read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, KeyError, ValueError):
        return None if root != ROOT or in_checkout() else installed()


def installed() -> str | None:
    """Return the version of the installed package; None where it is not installed."""
    try:
        return metadata.version(LIBRARY.name)
    except metadata.PackageNotFoundError:
        return None


def in_checkout() -> bool:
    """Return whether this is the library of a checkout: a package alone has no rules, scripts and notebooks."""
    return NOTEBOOK.is_file()


def require_checkout(what: str) -> None:
    """Refuse a task that needs the checkout.

    Raises
    ------
    InputError
        Naming what was asked for.
    """
    if not in_checkout():
        raise InputError(
            f"{what} needs a checkout of the project, and this is the installed package alone. Clone the project, set "
            "it up by `make setup`, and run the command of its `.venv`."
        )


def source_files(root: Path = ROOT) -> list[str]:
    """Return the sources of a checkout, by their paths in it, in one order on every machine."""
    files = [path for name in SOURCES for path in ((root / name), *(root / name).rglob("*")) if path.is_file()]
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
    """Return the description in a copy without git; nothing if its sources are not those that were copied."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        record = json.loads((root / COPY).read_text(encoding="utf-8"))
        if record.get("tree") == tree:
            return dict(record)
    return {}


# git


def _state(root: Path, tree: str) -> dict[str, Any]:
    """Return the commit that is checked out, and whether the sources differ from it; nothing if git does not answer.

    The first process of a run asks git, and the others find its answer in their environment. It holds for the sources
    that it names.
    """
    key = [str(root), tree]
    with contextlib.suppress(KeyError, ValueError):
        answer = json.loads(os.environ[ANSWER])
        if answer[:2] == key:
            return dict(answer[2])
    state = _ask_git(root)
    os.environ[ANSWER] = json.dumps([*key, state])
    return state


def _ask_git(root: Path) -> dict[str, Any]:
    # Nothing of a user's settings, or of a hook that runs this, may lead git to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ("git", f"--git-dir={root / '.git'}", f"--work-tree={root}", "-c", "safe.directory=*")
    options = ("--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=all", "--", *SOURCES)
    try:
        ended = subprocess.run(  # noqa: S603
            [*command, "-c", "core.fsmonitor=false", "--no-optional-locks", "status", *options],
            cwd=root,
            env=environment,
            capture_output=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = ended.stdout.split(b"\0")
    commit = next(filter(None, map(_COMMIT.fullmatch, lines)), None)
    if commit is None:
        return {}
    # A changed file has eight fields before its path, a file in conflict ten, a new one the letter `?`.
    fields = {b"1": 8, b"u": 10, b"?": 1}
    paths = [os.fsdecode(line.split(b" ", fields[line[:1]])[-1]) for line in lines if line[:1] in fields]
    return {"commit": commit[1].decode(), "modified": any(map(_is_source, paths))}
