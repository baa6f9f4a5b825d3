"""Let copies of this process do work while it goes on, as many at a time as it may use processors.

What the work returns does not depend on who does it: where a copy cannot do it, this process does.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
import warnings
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from reident.starter import end_with, processors

Made = TypeVar("Made")

_running: dict[int, Later[Any]] = {}
_most = 0


def allow() -> None:
    """Allow copies of this process, on Linux: its other threads must hold nothing that the work needs."""
    global _most  # noqa: PLW0603 - a property of the process
    most = processors()
    _most = most if most > 1 and hasattr(os, "memfd_create") else 0


class Later(Generic[Made]):
    """What a function returns: known at once, or once a copy of this process has found it.

    Parameters
    ----------
    work : callable
        A function without arguments or effects, whose value can be pickled.
    """

    def __init__(self, work: Callable[[], Made]) -> None:
        context = copy_context()
        self._work: Callable[[], Made] = lambda: context.run(work)
        self._known: list[Made] = []
        self._copy = self._answer = -1
        if _most:
            self._begin()
        else:
            self._known = [work()]

    def _begin(self) -> None:
        """Start a copy; first wait for the oldest where there are as many as processors."""
        if len(_running) >= _most:
            next(iter(_running.values())).value()
        self._answer, maker = os.memfd_create("reident"), os.getpid()
        with warnings.catch_warnings():
            # Since Python 3.12. The threads of a kernel wait for messages.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            self._copy = os.fork()
        if not self._copy:
            _work_and_end(self._work, self._answer, maker)
        _running[self._copy] = self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Later) and bool(self.value() == other.value())

    def __hash__(self) -> int:
        return hash(self.value())

    def value(self) -> Made:
        """Return it; wait where it is not known yet."""
        if not self._known:
            # A copy that could not do it leaves the error, or the warning, to this process.
            self._known = self._of_copy() or [self._work()]
        return self._known[0]

    def _of_copy(self) -> list[Made]:
        """Return what the copy found; empty where it found nothing, or has been asked before."""
        copy, self._copy = self._copy, -1
        if _running.pop(copy, None) is None:
            return []
        _, status = os.waitpid(copy, 0)
        with os.fdopen(self._answer, "rb") as answer:
            answer.seek(0)
            return [] if status else [pickle.load(answer)]  # noqa: S301 - of our own making


def _work_and_end(work: Callable[[], Any], answer: int, maker: int) -> None:
    """In a copy: write the value and end; nothing of the process that made it goes on here."""
    status = 1
    with contextlib.suppress(BaseException):
        end_with(maker)
        gc.disable()  # it would take apart what belongs to the threads that are not here
        warnings.simplefilter("error")
        sys.stdout = sys.stderr = None  # those of a kernel belong to its threads
        content = pickle.dumps(work())
        with os.fdopen(answer, "wb") as stream:
            stream.write(content)
        status = 0
    os._exit(status)
