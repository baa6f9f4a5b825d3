"""Progress of a long step: the estimate of its end, and the line of the log that carries it.

The terminal reads what it shows of a running step from the step's log: one file, wherever the step runs.
"""

from __future__ import annotations

import re
from typing import NamedTuple

INTERVAL = 10
"""Progress interval of a step, in seconds."""

LOG_INTERVAL = 2
"""Progress interval in the log of a step that has done a further per cent of its work, in seconds."""

SILENCE = 10.0
"""Seconds of work without which there is no estimate."""

MIN_SHARE = 0.01
"""The share of the work without which there is no estimate."""

_LINE = re.compile(r"^[^ ]+: (\d+)% done(?:, about (.+) left)?$")
_COMPILING = "compiling the kernels, once for this version"
_COMPILED = "a kernel is compiled"


class Estimate:
    """The time that a step still needs, from its reports: the share of its work after seconds of work.

    The pace is that of the more recent half of the seconds worked, so that reading the files, and a part of the work
    that is unlike the rest, count for less and less. Time spent compiling is no work: it must not be part of the
    seconds that are reported.
    """

    def __init__(self) -> None:
        self._reports: list[tuple[float, float]] = [(0.0, 0.0)]

    @property
    def share(self) -> float:
        """The share of the work that is done; it never falls."""
        return self._reports[-1][1]

    def report(self, worked: float, share: float) -> None:
        """Take the share of the work that is done, from 0 to 1, after seconds of work; ignore a decrease."""
        last, before = self._reports[-1]
        self._reports.append((max(worked, last), min(max(share, before), 1.0)))

    def left(self, worked: float | None = None) -> float | None:
        """Return the seconds of work left after seconds of work, by default those of the last report.

        None where there is no ground for an estimate.
        """
        reported, share = self._reports[-1]
        now = reported if worked is None else max(worked, reported)
        if now < SILENCE or share < MIN_SHARE:
            return None
        half = reported / 2
        span, growth = reported - half, share - self._share_at(half)
        if growth <= 0 or span <= 0:
            return None
        return max((1 - share) * span / growth - (now - reported), 0.0)

    def _share_at(self, worked: float) -> float:
        """Return the share of the work after some seconds, between two reports in proportion."""
        for (start, before), (end, after) in zip(self._reports, self._reports[1:], strict=False):
            if worked <= end:
                return after if end == start else before + (after - before) * (worked - start) / (end - start)
        return self.share


class Shown(NamedTuple):
    """The progress of a step in a line of its log."""

    share: float | None = None  # of the work that is done, from 0 to 1
    left: str = ""  # the time left, in words; empty if there is no estimate
    compiling: bool = False  # whether the step compiles kernels and does not work yet


def line(step: str, share: float, left: float | None) -> str:
    """Return the line of the log on the progress of a step."""
    forecast = "" if left is None else f", about {duration(left)} left"
    return f"{step}: {int(share * 100)}% done{forecast}"


def compiling(step: str, *, runs: bool) -> str:
    """Return the line of the log on a step that begins to compile a kernel, or has done so."""
    return f"{step}: {_COMPILING if runs else _COMPILED}"


def read(log: str) -> Shown:
    """Return the progress of a step in its log: the last share, and whether kernels are being compiled since."""
    lines = log.splitlines()
    waits = bool(lines) and lines[-1].endswith(f": {_COMPILING}")
    for text in reversed(lines):
        if match := _LINE.match(text):
            return Shown(int(match[1]) / 100, "" if waits else match[2] or "", waits)
    return Shown(compiling=waits)


def duration(seconds: float) -> str:
    """Return a rounded duration in words: 40 s, 12 min, 3.5 h."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"
