"""The solver calls that an audit may spend, so that it ends (METHODS §11.3).

Calls are counted, and time is not measured: the same edition comes from every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

LINEAR, WHOLE = 1, 10
"""What a linear program counts, and a program of whole numbers, each of whose nodes is a linear program, more."""

BASE, PER_CELL = 6000, 4
"""The limit of a system, and what each of its cells adds. Few small studies need more than half of it."""

PHASES = 3
"""A search, the suppression of groups where it reaches its limit, and the last audit."""


class Calls:
    """A count of solver calls, with a limit for each phase. `progress` takes the share of those of all phases."""

    def __init__(self, limit: float = math.inf, progress: Callable[[float], None] | None = None) -> None:
        self.limit, self._progress = limit, progress
        self._before = self._spent = 0
        self._has_ended = False

    @property
    def are_spent(self) -> bool:
        """Whether the phase has reached its limit, or has been ended."""
        return self._has_ended or self._spent >= self.limit

    def add(self, n: int) -> None:
        """Count calls."""
        self._spent += n
        if self._progress is not None:
            self._progress(min((self._before + self._spent) / (PHASES * self.limit), 1.0))

    def end(self) -> None:
        """End the phase: further calls cannot help."""
        self._has_ended = True

    def renew(self) -> None:
        """Begin a new phase."""
        self._before, self._spent, self._has_ended = self._before + self._spent, 0, False


def limit(n_cells: int) -> int:
    """Return the number of calls that a phase may spend on a system of so many cells."""
    return BASE + PER_CELL * n_cells
