"""The library runs as its sources stand: compiled modules are held against them by content, not by time and size.

Python takes a compiled module for current if it notes the size and the time stamp of the source. An edit that keeps
both would leave the old code running, under the digest of the new sources in the ledger.
"""

from __future__ import annotations

import contextlib
import importlib.util
import py_compile
import sys
from pathlib import Path

CHECKED = b"\x03\0\0\0"
"""The flags of a compiled module that notes the digest of its source, and is checked against it (PEP 552)."""


def check_by_content(library: Path) -> None:
    """Compile what is compiled by time, or not yet, such that Python itself compares the digest of the source.

    From then on Python keeps to it: what it compiles in place of such a module is of the same kind.

    Raises
    ------
    OSError
        If a module that is compiled by time can be neither replaced nor removed.
    """
    for source in sorted(library.rglob("*.py")):
        compiled = Path(importlib.util.cache_from_source(str(source)))
        with contextlib.suppress(FileNotFoundError), compiled.open("rb") as stream:
            if stream.read(8)[4:] == CHECKED:
                continue
        compiled.unlink(missing_ok=True)
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError, py_compile.PyCompileError):
                py_compile.compile(
                    str(source), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
                )
