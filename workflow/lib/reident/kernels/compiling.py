"""The options of compilation: once, cached, without the GIL, never with fast math."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import numba
import numpy as np
from numba.core import event

from reident.kernels import cache

cache.install()


@contextmanager
def _without(package: str) -> Iterator[None]:
    """Let imports of a package that is not there yet fail."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


# numba looks for BLAS in this package, whose import takes longer than most kernels; none of them multiplies matrices.
with _without("scipy.linalg"), suppress(ImportError):
    import_module("numba.np.arraymath")

jit = numba.njit(cache=True, nogil=True, error_model="numpy")
"""For functions that allocate arrays."""

lean_jit = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
"""For functions that allocate nothing: without the reference counts that numba keeps for arrays. In inner functions
that take tuples of arrays, counting costs more than the work, and threads wait for one another."""

inner_jit = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)
"""For such functions in an inner loop: passing a tuple of arrays costs more than the work, so that they become part of
the function that calls them."""


ZERO, ONE = np.int64(0), np.int64(1)
"""As arguments and first values in compiled code: for a literal, numba compiles the called function once more."""

INLINE = {"nogil": True, "error_model": "numpy", "_nrt": False, "forceinline": True}
"""As `inner_jit`, for what is compiled for a type of arguments alone."""


class Clock(event.Listener):
    """The seconds that this process has spent compiling; code from the cache counts for nothing.

    Parameters
    ----------
    changed : callable
        Takes whether a kernel is being compiled, wherever that changes.
    """

    def __init__(self, changed: Callable[[bool], Any]) -> None:
        self._changed = changed
        self._lock = threading.Lock()  # threads compile too, for one another
        self._depth = 0
        self._start = self._spent = 0.0
        event.register("numba:compile", self)

    @property
    def seconds(self) -> float:
        """The seconds spent so far."""
        with self._lock:
            return self._spent + (time.monotonic() - self._start if self._depth else 0.0)

    @property
    def runs(self) -> bool:
        """Whether a kernel is being compiled now."""
        return self._depth > 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - as numba calls it
        """Begin to count, unless one kernel is compiled for another."""
        with self._lock:
            self._depth += 1
            outermost = self._depth == 1
            if outermost:
                self._start = time.monotonic()
        if outermost:
            self._changed(True)

    def on_end(self, event: Any) -> None:  # noqa: ARG002 - as numba calls it
        """Count no further, where no other kernel is being compiled."""
        with self._lock:
            self._depth -= 1
            outermost = not self._depth
            if outermost:
                self._spent += time.monotonic() - self._start
        if outermost:
            self._changed(False)

    def stop(self) -> None:
        """Listen no more."""
        event.unregister("numba:compile", self)
