"""The rule that decides what a statement tells of each count (METHODS §11.2).

Each decision is a function of what was told before. A count is looked at only to say in which of two intervals, both of
which may be told, it lies: what is withheld therefore tells nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from reident.edition.safety import Audit, Box
from reident.edition.space import Space
from reident.edition.statement import ABOVE, WITHHELD, WITHIN, Count, Limit, Statement
from reident.edition.texts import Texts

MAX_PLACES = 24
"""The places at which an interval is tried to be split, before it stays as it is."""


class ContradictionError(ValueError):
    """The counts do not agree with what is public already."""


class Told:
    """What is told of each count so far.

    Parameters
    ----------
    space : Space
    audit : Audit
    texts : sequence of Texts
        Of each quantity.
    box : Box
        The intervals that are told from the start.
    """

    def __init__(self, space: Space, audit: Audit, texts: Sequence[Texts], box: Box) -> None:
        self._space, self._audit, self._texts = space, audit, texts
        self.box = box

    def possible(self, at: int) -> tuple[int, int]:
        """Return the smallest and the largest count of a quantity that can follow from all intervals.

        A record that counts for one quantity and not for another one has a candidate that does.
        """
        low, high = np.array(self.box, np.int64).T
        return int((low - self._space.excess[:, at]).max()), int((high + self._space.excess[at]).min())

    def split(self, at: int, cut: int, count: int) -> bool:
        """Tell whether a count is at most at a place, or above it, if either may be told; return whether it is told."""
        low, high = self.box[at]
        lower, upper = self._with(at, (low, cut)), self._with(at, (cut + 1, high))
        if not (self._audit.is_safe(lower) and self._audit.is_safe(upper)):
            return False
        self.box = lower if count <= cut else upper
        return True

    def limit(self, at: int, largest: int, count: int) -> str:
        """Return the outcome of a limit, telling it if it may be told."""
        low, high = self.possible(at)
        if largest >= high:
            return WITHIN
        if largest < low:
            return ABOVE
        if not self.split(at, largest, count):
            return WITHHELD
        return WITHIN if count <= largest else ABOVE

    def narrow(self, at: int, count: int) -> None:
        """Tell of a count in which of fewer and fewer texts it lies, as long as either part may be told."""
        low, high = self.possible(at)
        texts = self._texts[at]
        while cut := next((cut for cut in _places(texts, low, high) if self.split(at, cut, count)), None):
            if count <= cut:
                high = cut
            else:
                low = cut + 1

    def count(self, at: int, quantity: Hashable) -> Count:
        """Return what is told of a count in the end."""
        texts, n = self._texts[at], int(self._space.suspected[at])
        low, high = self.box[at]
        ends = (low if low > 0 else None, high if high < n else None)
        low, high = self.possible(at)
        first, last = texts.at(max(0, low)), texts.at(min(n, high))
        if n and first == texts.at(0) and last == texts.at(n) and first != last:
            return Count(quantity, "", "", *ends)
        return Count(quantity, first.label, last.label, *ends)

    def _with(self, at: int, interval: tuple[int, int]) -> Box:
        return (*self.box[:at], interval, *self.box[at + 1 :])


@dataclass(frozen=True)
class Design:
    """Everything public about a statement that the rule needs.

    Attributes
    ----------
    quantities : tuple
        The names of the counts, in the order in which they are told.
    space : Space
    texts : tuple of Texts
        Of each quantity.
    margin, hidden : int
        M and W of the policy, see :class:`reident.edition.safety.Audit`.
    limits : tuple
        Positions of quantities, with the largest count within a limit, in the order in which they are told.
    box : Box
        The intervals that are public from the start.
    """

    quantities: tuple[Hashable, ...]
    space: Space
    texts: tuple[Texts, ...]
    margin: int
    hidden: int
    limits: tuple[tuple[int, int], ...]
    box: Box

    def audit(self) -> Audit:
        """Return what decides which intervals may be told."""
        return Audit(self.space, self.texts, self.margin, self.hidden)

    def state(self, counts: Sequence[int], audit: Audit | None = None) -> Statement:
        """Return the statement on the exact counts of the quantities.

        Raises
        ------
        ValueError
            If a count contradicts what is public from the start.
        """
        if any(not low <= count <= high for count, (low, high) in zip(counts, self.box, strict=True)):
            raise ContradictionError(
                "must have counts that agree with what is public already. Correct `earlier` or `within`."
            )
        audit = audit or self.audit()
        if not audit.is_safe(self.box):
            return self.nothing()
        told = Told(self.space, audit, self.texts, self.box)
        limits = tuple(
            Limit(self.quantities[at], largest, told.limit(at, largest, counts[at])) for at, largest in self.limits
        )
        for at, count in enumerate(counts):
            told.narrow(at, count)
        return Statement(tuple(told.count(at, quantity) for at, quantity in enumerate(self.quantities)), limits)

    def nothing(self) -> Statement:
        """Return the statement that tells nothing, which leaves what was told before as it is."""
        counts = tuple(Count(quantity, "", "", None, None) for quantity in self.quantities)
        limits = tuple(Limit(self.quantities[at], largest, WITHHELD) for at, largest in self.limits)
        return Statement(counts, limits, is_safe=False)


def _places(texts: Texts, low: int, high: int) -> list[int]:
    """Return the ends of texts at which an interval can be split, the nearest to its middle first."""
    ends: list[int] = []
    at = low
    while len(ends) <= MAX_PLACES and (end := texts.at(at).last) < high:
        ends.append(end)
        at = end + 1
    if len(ends) > MAX_PLACES:
        spaced = {texts.at(low + (high - low) * part // MAX_PLACES).last for part in range(MAX_PLACES)}
        ends = [end for end in spaced if end < high]
    return sorted(ends, key=lambda end: (abs(2 * end + 1 - low - high), end))
