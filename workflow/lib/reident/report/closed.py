"""Start a kernel that cannot open what is closed to it: the results and the study file (METHODS §11).

``python -m reident.report.closed`` starts the kernel in place of ``ipykernel_launcher``. A hook of the interpreter,
which nothing can remove, sees every file that Python opens. It is there before the first cell is.

The hook sees what Python opens and not what compiled code opens. The packages that read files by compiled code of
their own cannot be imported, and neither libraries nor programs can be started.
"""

from __future__ import annotations

import ctypes  # numpy needs it: it is loaded before the hook, which refuses to load libraries by it
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

CLOSED = "REIDENT_CLOSED"
"""The variable of the environment that names the closed files and folders, as a list in JSON."""

ONE_PATH = frozenset(
    {
        "open", "os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.chdir", "os.remove", "os.rmdir", "os.mkdir",
        "os.truncate", "os.chmod", "os.chown", "os.utime", "os.getxattr", "os.listxattr", "os.setxattr", "glob.glob",
        "pathlib.Path.glob", "pathlib.Path.rglob", "shutil.rmtree", "shutil.copytree", "shutil.copyfile",
    }
)  # fmt: skip
TWO_PATHS = frozenset(
    {"os.link", "os.symlink", "os.rename", "shutil.move", "shutil.copyfile", "shutil.copytree"}
)
"""Events of Python whose first one or two arguments are paths."""

PROGRAMS = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.startfile"}
)
LIBRARIES = frozenset({"ctypes.dlopen"})
READERS = frozenset({"pyarrow", "pyreadstat", "sqlite3", "_sqlite3", "numba", "cffi", "_cffi_backend"})
"""Packages whose compiled code opens files or calls any function of the system."""

Hook = Callable[[str, tuple[Any, ...]], None]


def guard(closed: Iterable[Path]) -> Hook:
    """Return a hook that refuses to open closed files and folders and all that is below them.

    Parameters
    ----------
    closed : iterable of pathlib.Path
        They need not exist. A file is refused by each of its names.

    Returns
    -------
    callable
        For :func:`sys.addaudithook`. It raises PermissionError, and ImportError for :data:`READERS`.
    """
    roots = [os.path.realpath(path) for path in closed]
    identities = {identity for root in roots if (identity := _identity(root))}
    above = {parent for root in roots for parent in map(str, Path(root).parents)}

    def refused(path: Any, *, opened: bool) -> bool:
        if isinstance(path, int) or path is None:
            return False
        real = os.path.realpath(os.fsdecode(path))
        # A descriptor of a folder above a closed one would lead into it by relative paths.
        if opened and real in above:
            return True
        return any(
            str(step) in roots or _identity(str(step)) in identities for step in (real, *Path(real).parents)
        )

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ONE_PATH or event in TWO_PATHS:
            for path in arguments[: 2 if event in TWO_PATHS else 1]:
                if refused(path, opened=event == "open"):
                    raise PermissionError(f"{event}: {os.fsdecode(path)} is closed to this notebook.")
        elif event in PROGRAMS or event in LIBRARIES:
            raise PermissionError(f"{event}: this notebook must not start programs or load libraries.")
        elif event == "import" and str(arguments[0]).partition(".")[0] in READERS:
            raise ImportError(f"{arguments[0]} cannot be imported by this notebook.")

    return hook


def _identity(path: str) -> tuple[int, int] | None:
    """Return what the file system knows a file by, whatever its name, or None if it does not exist."""
    try:
        status = os.stat(path)  # noqa: PTH116 - called for each file that is opened
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def main() -> None:
    """Start the kernel behind the guard."""
    sys.addaudithook(guard(map(Path, json.loads(os.environ.pop(CLOSED)))))
    from ipykernel.kernelapp import launch_new_instance  # noqa: PLC0415 - nothing of the kernel precedes the guard

    launch_new_instance()


if __name__ == "__main__":
    assert ctypes  # noqa: S101 - imported for its effect
    main()
