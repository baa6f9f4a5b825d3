"""The folder of compiled kernels: one per user, named by content, so that every checkout compiles them once.

Numba's own locators put a hash of the path into the name of the folder: every clone, worktree, container and module
would compile for minutes what is compiled next door. And they notice an edit of the file that has a function, but not
of a module from which that function inlines another. Here the name is a digest of all sources of the kernels, of numba,
of Python and of the processor.

What is in the cache is code that runs. Nobody therefore runs what another user wrote, except for :data:`WARM`, which
whoever installed the software has filled.
"""

import atexit
import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import numba
from llvmlite import binding
from numba.core import caching

SOURCES = Path(__file__).parent

CHECKOUT = SOURCES.parents[3]

WARM = CHECKOUT / ".cache" / "kernels"
"""Kernels that are compiled already, beside the workflow: an image of a container has them."""

MAX_AGE = 60 * 24 * 3600.0
"""Seconds after which kernels that nobody has loaded are removed, when others are compiled."""


def content_digest() -> str:
    """Return a digest of everything that compiled code depends on: sources, numba, Python, the processor."""
    built = (numba.__version__, sys.implementation.cache_tag, binding.get_host_cpu_name())
    features = binding.get_host_cpu_features().flatten()
    digest = hashlib.sha256("\0".join([*built, features]).encode())
    for source in sorted(SOURCES.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _roots() -> Iterator[Path]:
    """Yield where the folder may be, the best first: as declared, in the user's cache, beside the workflow."""
    if declared := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(declared)
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - there may be no home
    yield Path(caches, "reident", "kernels")
    if (CHECKOUT / "Snakefile").is_file():
        yield WARM


def open_folder(name: str) -> Path:
    """Return the folder of that name, ready to be written to; without any such place, one for this process alone."""
    for root in _roots():
        with contextlib.suppress(OSError):
            folder = root.absolute() / name
            if not folder.is_dir():
                _make(folder)
            if folder.stat().st_uid == os.geteuid():
                tempfile.TemporaryFile(dir=folder).close()
                os.utime(folder)
                return folder
    folder = Path(tempfile.mkdtemp(prefix="reident-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _link(WARM / name, folder)
    return folder


def _make(folder: Path) -> None:
    """Make a folder with the compiled kernels, as a whole: other processes may do so at the same time."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _prune(folder.parent)
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        _link(WARM / folder.name, made)
        made.rename(folder)
    except OSError:
        shutil.rmtree(made)
        if not folder.is_dir():
            raise


def _prune(root: Path) -> None:
    """Remove the folders that no process has opened for a long time."""
    for folder in root.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > MAX_AGE:
                shutil.rmtree(folder)


def _link(warm: Path, folder: Path) -> None:
    """Let a folder have the kernels of another one; numba replaces its files and never writes into them."""
    if warm.is_dir():
        for file in warm.iterdir():
            (folder / file.name).symlink_to(file)


NUMBAS = (
    "UserProvidedCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator", "IPythonCacheLocator", "ZipCacheLocator",
)  # fmt: skip
"""The locators that numba asks by default."""

FOLDER = open_folder(content_digest())


class ByContent(caching.UserWideCacheLocator):
    """Keeps the kernels in :data:`FOLDER`; functions of other packages are kept where numba keeps them."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(FOLDER)

    def get_source_stamp(self) -> str:
        """Return a constant: the folder is named by the sources."""
        return FOLDER.name

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Self | None:
        """Return a locator for a function of this package, None for others."""
        return cls(py_func, py_file) if Path(py_file).parent == SOURCES else None


def install() -> None:
    """Let numba ask :class:`ByContent` before its own locators."""
    numba.config.CACHE_LOCATOR_CLASSES = ",".join([f"{__name__}.{ByContent.__name__}", *NUMBAS])
