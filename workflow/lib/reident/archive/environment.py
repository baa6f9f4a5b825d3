"""Set up ``.venv`` from the locks, and notice where it is no longer what they say.

    python -m reident.archive.environment .venv/ready-1234=requirements.lock

Every ``make`` asks, so that the answer reads no file of a package: the names of the folders in site-packages have the
versions. This module runs before anything is installed, perhaps with a Python that is too old: it imports the standard
library alone.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from reident.errors import InputError

FOLDER = Path(".venv")
OLDEST, NEWEST = (3, 11), (3, 13)
PTH = "reident.pth"
LIBRARY = "../../../../workflow/lib\n"
"""The folder of the library, from site-packages: a checkout may be moved."""

_LOCKED = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;]+)( ;)?", re.MULTILINE)
_INSTALLED = re.compile(r"(.+?)-([^-]+)\.dist-info")
_EXCLUDED = re.compile(r"^exclude-dependencies = \[(.*)\]$", re.MULTILINE)


def site_packages(folder: Path) -> Path:
    """Return where an environment of the running Python has its packages."""
    return folder / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"


def problem(folder: Path, lock: Path, ready: Path, *, asked: bool) -> str | None:
    """Return why an environment is not the one that a lock describes, in words; None if it is.

    Packages that are in no lock are left to the user who installed them.

    Parameters
    ----------
    folder : pathlib.Path
        The environment.
    lock : pathlib.Path
        The packages that must be installed.
    ready : pathlib.Path
        The file that set-up wrote last, whose name stands for the lock and the folder of the checkout.
    asked : bool
        Whether the user named the Python that runs now, so that the environment must be of this Python.
    """
    packages = site_packages(folder)
    if asked and (python := _python_of(folder)) != _this_python():
        return f"it was set up with {python}"
    if not ready.is_file():
        return f"{lock} or this folder changed, or setting up did not end"
    if not (packages / PTH).is_file():
        return f"its packages are not for Python {'.'.join(map(str, sys.version_info[:2]))}"
    return next(_differences(packages, lock), None)


def _differences(packages: Path, lock: Path) -> Iterator[str]:
    """Yield the packages that are not there, or not in the version of the lock."""
    installed: dict[str, list[str]] = {}
    for name in os.listdir(packages):  # noqa: PTH208 - the names alone
        if found := _INSTALLED.fullmatch(name):
            installed.setdefault(_normal(found[1]), []).append(found[2])
    locked: dict[str, list[str]] = {}
    optional = set()
    for name, version, marker in _LOCKED.findall(lock.read_text(encoding="utf-8")):
        locked.setdefault(_normal(name), []).append(version)
        if marker:
            optional.add(_normal(name))
    for name, versions in locked.items():
        here = installed.get(name, [])
        if not here and name not in optional:
            yield f"{name} is not installed"
        if len(here) > 1 or not set(here) <= set(versions):
            yield f"{name} is {' and '.join(sorted(here))}, and {lock} has {' or '.join(versions)}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _this_python() -> str:
    """Return the Python that runs, or the one of which its environment was made."""
    version = ".".join(map(str, sys.version_info[:3]))
    return f"Python {version} ({Path(getattr(sys, '_base_executable', sys.executable)).resolve()})"


def _python_of(folder: Path) -> str:
    """Return the Python of which an environment was made."""
    try:
        lines = (folder / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "a Python that is not known"
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return f"Python {values.get('version')} ({Path(values.get('executable', '')).resolve()})"


def set_up(
    folder: Path, locks: Sequence[tuple[Path, Path]], *, asked: bool = False, wheelhouse: str = ""
) -> None:
    """Set up an environment, or what of it is not there, unless it is as the locks say.

    Parameters
    ----------
    folder : pathlib.Path
    locks : sequence of tuple
        For each lock the file that tells that it is installed, and the lock. The first makes the environment; the
        others add packages to it.
    asked : bool
        As :func:`problem`.
    wheelhouse : str
        What to install from in place of an index.

    Raises
    ------
    InputError
    """
    for number, (ready, lock) in enumerate(locks):
        why = problem(folder, lock, ready, asked=asked and not number)
        if why is None:
            continue
        if number:
            print(f"Adding the packages of {lock} to {folder} ...", flush=True)  # noqa: T201 - an answer to `make`
            ready.unlink(missing_ok=True)
        else:
            _create(folder, lock, why)
        _install(folder, lock, wheelhouse)
        _make_ready(folder)
        ready.touch()
    # Also where no package is missing: another release of this checkout may start its command otherwise.
    _make_ready(folder)


def _create(folder: Path, lock: Path, why: str) -> None:
    """Make an environment without packages, in place of another one."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise InputError("Python 3.11, 3.12 or 3.13 is needed. Name one: make PYTHON=python3.12")
    there = os.path.lexists(folder)
    again = f" again, since {why}" if there else ""
    print(f"Setting up {folder} from {lock}{again} (about a minute) ...", flush=True)  # noqa: T201
    # This Python may be that of the folder: its base makes the new one.
    python = getattr(sys, "_base_executable", sys.executable)
    if there:
        _remove(folder)
    try:
        subprocess.run([python, "-m", "venv", str(folder)], check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        raise InputError(
            f"{folder} could not be made with {python}. Install its module `venv`, or name another Python: "
            "make PYTHON=python3.12"
        ) from None


def _remove(folder: Path) -> None:
    """Remove an environment; of a link to one, the link alone."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink()
        return
    for ready in folder.glob("ready-*"):  # first: what is removed in part is not ready
        ready.unlink()
    shutil.rmtree(folder)


def _install(folder: Path, lock: Path, wheelhouse: str) -> None:
    """Install what a lock names, and nothing else: it has what the packages ask for, but for what no study needs."""
    python = [str(folder / "bin" / "python")]
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    if wheelhouse:
        command = ["-m", "reident.archive.wheelhouse", "install", wheelhouse, "--lock", str(lock)]
    else:
        command = ["-m", "pip", "install", *options, "--requirement", str(lock)]
    if subprocess.run([*python, *command], check=False).returncode:  # noqa: S603 - this environment's pip
        raise InputError(
            f"the packages of {lock} could not be installed. Correct what pip says above, and run `make` again."
        )
    checked = subprocess.run(  # noqa: S603
        [*python, "-m", "pip", "check", "--disable-pip-version-check"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    excluded = "|".join(map(re.escape, excludes(lock.with_name("pyproject.toml"))))
    needed = re.compile(rf".* requires (?:{excluded}), which is not installed\.")
    lines = checked.stdout.splitlines() if checked.returncode else []
    if wrong := [line for line in lines if not needed.fullmatch(line)]:
        raise InputError(f"{lock}: {'; '.join(wrong)}. Run `make lock`.")


def _make_ready(folder: Path) -> None:
    """Let an environment find the library of this checkout, and give it the command `reident`, which runs it."""
    python, command = shlex.quote(str(folder.absolute() / "bin" / "python")), folder / "bin" / "reident"
    try:
        _keep(site_packages(folder) / PTH, LIBRARY)
        _keep(command, f'#!/bin/sh\nexec {python} -P -m reident.command "$@"\n', 0o755)
    except OSError as error:
        raise InputError(
            f"{folder} is not as this release needs it, and could not be changed ({error.strerror}). Run `make` as its "
            "owner."
        ) from None


def _keep(path: Path, text: str, mode: int = 0o644) -> None:
    """Put a file in place, unless it is as it should be: a run may be reading it, and another user may own it."""
    if path.is_file() and path.read_text(encoding="utf-8") == text and path.stat().st_mode & 0o777 == mode:
        return
    path.parent.mkdir(exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_text(text, encoding="utf-8")
    aside.chmod(mode)
    aside.replace(path)


def excludes(project: Path) -> list[str]:
    """Return the packages that the locks leave out, although others ask for them."""
    with contextlib.suppress(OSError):
        if found := _EXCLUDED.search(project.read_text(encoding="utf-8")):
            return re.findall(r'"([^"]+)"', found[1])
    return []


def main(arguments: Sequence[str]) -> int:
    """Set up the environment, and say in one sentence what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m reident.archive.environment")
    parser.add_argument("locks", nargs="+", metavar="READY=LOCK", help="what is written last, and the lock")
    parser.add_argument("--asked", action="store_true", help="the environment must be of this Python")
    parser.add_argument("--wheelhouse", default="", help="install from here, and not from an index")
    given = parser.parse_args(arguments)
    try:
        pairs = [
            (Path(ready), Path(lock)) for ready, _, lock in (text.partition("=") for text in given.locks)
        ]
        set_up(FOLDER, pairs, asked=given.asked, wheelhouse=given.wheelhouse)
    except InputError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
