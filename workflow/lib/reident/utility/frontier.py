"""Choices of which no other one has less risk and less loss (METHODS §13)."""

from __future__ import annotations

from collections.abc import Sequence


def dominated(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return for each pair of risk and loss whether another one has at most its risk and its loss, and less of one."""
    return [
        any(other[0] <= point[0] and other[1] <= point[1] and other != point for other in points) for point in points
    ]
