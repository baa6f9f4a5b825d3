"""The short public statement about a study (METHODS §11.2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

WITHIN, ABOVE, WITHHELD = "within", "above", "withheld"
"""Outcomes of a limit."""


class Count(NamedTuple):
    """What a statement tells of a count: a run of consecutive texts of the policy."""

    quantity: Hashable
    first: str  # the text of the smallest count that the statement leaves; both empty where nothing is told
    last: str
    # The smallest and the largest count that texts, limits and earlier statements tell; None where nothing tells it.
    at_least: int | None
    at_most: int | None


class Limit(NamedTuple):
    """What a statement tells of a limit."""

    quantity: Hashable
    largest: int  # the largest count within the limit
    outcome: str  # :data:`WITHIN`, :data:`ABOVE` or :data:`WITHHELD`


@dataclass(frozen=True)
class Statement:
    """Everything that is published about the secret; equal statements are published alike."""

    counts: tuple[Count, ...]
    limits: tuple[Limit, ...]
    is_safe: bool = True  # False where nothing may be told, not even what was told before

    def ends(self, suspected: Mapping[Hashable, int]) -> dict[Hashable, tuple[int, int]]:
        """Return the interval of each count that is told, as `earlier` of :func:`state`."""
        return {
            count.quantity: (count.at_least or 0, suspected[count.quantity] if count.at_most is None else count.at_most)
            for count in self.counts
        }
