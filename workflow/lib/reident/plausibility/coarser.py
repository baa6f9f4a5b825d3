"""Numbers that are intervals, or have a top code, in one file only, and what makes both equally coarse (METHODS §1.1).

A shift, or another unit, of such numbers shows once both are coarsened: it is proposed together with `coarsen`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reident.plausibility import conversions
from reident.plausibility.conversions import MIN_EXACT, Conversion, precision

MIN_PAIRS = 20
"""Linked pairs of numbers from which coarser ones are evidence."""

MIN_INTERVALS, MIN_ON = 2, 0.95
"""The fewest numbers at equal distances, and the smallest share of a file that has them, for intervals."""

MAX_ON = 0.7
"""The largest share of the other file that has numbers at these distances by chance."""

MIN_TOP, MIN_ABOVE = 0.05, 0.25
"""The smallest share of a file at its largest number, and of its partners that are larger, for a top code."""

MIN_EQUAL, MIN_SHIFTED = 0.5, 0.1
"""The smallest share of links that are equal once both files are coarser, and the smallest gain by a shift, too."""

MIN_KAPPA = 0.5
"""The smallest share of that by which more could be equal than strangers: numbers that all are one tell nothing."""

REACH = 3
"""Intervals up to which a shift is tried on either side."""


class Coarser(NamedTuple):
    """What makes the numbers of two files equally coarse: intervals of a width, and a top.

    Attributes
    ----------
    width, top : float, or None
        As `coarsen` of the study file has them.
    side : str
        The file with the finer numbers, ``puf`` or ``eif``.
    plus : float
        What its numbers are converted by before; 0 for nothing.
    equal : float
        The share of the links that are equal then.
    """

    width: float | None
    top: float | None
    side: str
    plus: float = 0.0
    equal: float = 0.0

    def apply(self, values: np.ndarray, side: str) -> np.ndarray:
        """Return the coarser numbers of a file: the lower ends of their intervals, or themselves."""
        values = values + self.plus if side == self.side else values
        if self.top is not None:
            values = np.minimum(values, self.top)
        return values if self.width is None else np.floor(values / self.width + 1e-9) * self.width

    @property
    def is_shifted(self) -> bool:
        """Whether it has a shift by more than an interval, or one of several units: a smaller one may be rounding."""
        return abs(self.plus) > (self.width or 1)

    @property
    def is_rounding(self) -> bool:
        """Whether its shift is half of an interval upward, as of numbers that are rounded to protect them."""
        half = (self.width or 0) / 2
        return self.plus > 0 and abs(self.plus - half) <= half / 2

    @property
    def words(self) -> str:
        """What the study file declares: `coarsen` first, then `convert` of the finer file."""
        return ", ".join(f"{key}: {value}" for key, value in self.sections.items())

    @property
    def sections(self) -> dict[str, str]:
        """What the study file declares, by key."""
        ends = {"width": self.width, "top": self.top}
        inner = ", ".join(f"{key}: {value:.6g}" for key, value in ends.items() if value is not None)
        convert = {"convert": f"{{{self.side}: {{plus: {self.plus:.6g}}}}}"} if self.plus else {}
        return {"coarsen": f"{{{inner}}}", **convert}


def converted(ours: np.ndarray, theirs: np.ndarray, *, dates: bool = False) -> Conversion | Coarser | None:
    """Return the conversion of numbers of linked records, or what makes both equally coarse if more are equal by it.

    Parameters are those of :func:`reident.plausibility.conversions.find`.
    """
    conversion = conversions.find(ours, theirs, dates=dates)
    coarse = None if dates else find(ours, theirs)
    is_better = coarse is not None and (conversion is None or conversion.exact < coarse.equal - MIN_EXACT)
    return coarse if is_better else conversion


def find(ours: np.ndarray, theirs: np.ndarray) -> Coarser | None:
    """Return what makes the numbers of linked records equally coarse, if those of one file are coarser.

    Parameters
    ----------
    ours, theirs : float64 (n,)
        The numbers of linked records, without missing values.
    """
    if len(ours) < MIN_PAIRS:
        return None
    before, found = float((ours == theirs).mean()), list[Coarser]()
    for own, other, finer in ((ours, theirs, "eif"), (theirs, ours, "puf")):
        top = _top(own, other)
        width = _width(own[own < np.inf if top is None else own < top], other)
        for one in ((width, top), (width, None), (None, top)):
            if one != (None, None):  # intervals from a number on may have their own top
                found.append(_shifted(own, other, Coarser(*one, finer)))
    best = max(found, key=lambda one: one.equal, default=None)
    if best is None or best.equal < max(MIN_EQUAL, before + MIN_EXACT):
        return None
    chance = _by_chance(best.apply(ours, "puf"), best.apply(theirs, "eif"))
    return best if best.equal - chance >= MIN_KAPPA * (1 - chance) else None


def _by_chance(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the share of the pairs of strangers that are equal."""
    values, n = np.unique(theirs, return_counts=True)
    at = np.searchsorted(values, ours).clip(max=len(values) - 1)
    return float(np.where(values[at] == ours, n[at], 0).mean()) / len(theirs)


def _top(own: np.ndarray, other: np.ndarray) -> float | None:
    """Return the largest number of a file if many have it, and most of their partners are larger."""
    top = float(own.max())
    at = own == top
    return top if at.mean() >= MIN_TOP and (other[at] > top).mean() >= MIN_ABOVE else None


def _width(own: np.ndarray, other: np.ndarray) -> float | None:
    """Return the distance at which nearly all numbers of a file are, and those of the other are not."""
    values, n = np.unique(own, return_counts=True)
    step = precision(other)
    if len(values) < MIN_INTERVALS or not step:
        return None
    gaps, times = np.unique(np.round(np.diff(values), 6), return_counts=True)
    width = float(gaps[times.argmax()])
    if width < 1.999 * step:
        return None
    places = np.round(values / width % 1, 6) % 1
    rests, at = np.unique(places, return_inverse=True)
    on = np.bincount(at, n)
    rest = rests[on.argmax()]
    of_other = float((np.abs((other / width - rest + 0.5) % 1 - 0.5) < 1e-6).mean())
    return width if on.max() >= MIN_ON * n.sum() and of_other <= MAX_ON else None


def _shifted(own: np.ndarray, other: np.ndarray, coarse: Coarser) -> Coarser:
    """Return coarser numbers with the shift of the finer ones with which most links are equal, if it is worth it."""
    step = precision(other) or 1.0
    reach = min(50, max(1, round(REACH * (coarse.width or step) / step)))
    middle = round(float(np.median(own - other)) / step)
    coarsest = coarse.apply(own, "")
    tried = []
    for shift in sorted({0, *range(middle - reach, middle + reach + 1)}, key=abs):
        one = coarse._replace(plus=shift * step)
        tried.append(one._replace(equal=float(np.isclose(coarsest, one.apply(other, coarse.side)).mean())))
    best = max(tried, key=lambda one: one.equal)
    return best if best.equal >= tried[0].equal + MIN_SHIFTED else tried[0]
