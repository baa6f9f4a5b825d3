"""Lines on the terminal where a draft takes long."""

from __future__ import annotations

import sys
import time

EVERY = 5.0
"""Seconds before the first line, and between two of them."""

_last = [0.0]


def start() -> None:
    """Begin a draft."""
    _last[0] = time.monotonic()


def progress(step: str) -> None:
    """Write what is being done, if nothing was written for a while."""
    if (now := time.monotonic()) - _last[0] > EVERY:
        _last[0] = now
        sys.stderr.write(f"{step} …\n")
        sys.stderr.flush()
