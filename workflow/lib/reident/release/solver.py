"""HiGHS, silent: some of its messages go to the standard output of the process, whatever it is told."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from scipy import optimize


def milp(*arguments: Any, **options: Any) -> Any:
    """Solve as :func:`scipy.optimize.milp`."""
    with _silence():
        return optimize.milp(*arguments, **options)


def linprog(*arguments: Any, **options: Any) -> Any:
    """Solve as :func:`scipy.optimize.linprog`."""
    with _silence():
        return optimize.linprog(*arguments, **options)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Send what compiled code prints to nowhere."""
    sys.stdout.flush()
    before, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)
        os.close(nowhere)
