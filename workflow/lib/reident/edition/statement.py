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
    # The smallest and the largest count with these texts, where the end is told; None where it is not, or where a limit
    # tells it.
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
        """Return the interval of each count that is told by its texts and limits, as `earlier` of :func:`state`."""
        ends = {
            count.quantity: (count.at_least or 0, suspected[count.quantity] if count.at_most is None else count.at_most)
            for count in self.counts
        }
        for limit in self.limits:
            low, high = ends[limit.quantity]
            if limit.outcome == WITHIN:
                ends[limit.quantity] = low, min(high, limit.largest)
            elif limit.outcome == ABOVE:
                ends[limit.quantity] = max(low, limit.largest + 1), high
        return ends
