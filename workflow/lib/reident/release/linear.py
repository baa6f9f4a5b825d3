"""A linear relation between counts (METHODS §11)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from reident.release.cells import Cell


class ContradictionError(ValueError):
    """No counts satisfy all relations."""

    def __init__(self) -> None:
        super().__init__("the relations between the published counts contradict each other")


class Relation(NamedTuple):
    """A linear relation: low ≤ Σ coefficient · count ≤ high."""

    terms: dict[Cell, float]  # the coefficient of each cell
    # Infinite where there is no bound.
    low: float
    high: float
    name: str  # what the relation says, for the page about the audit


Terms: TypeAlias = Sequence[tuple[int | Fraction, Cell | None]]
"""Coefficients and cells; None for a cell that is not in the edition."""


def at_most(name: str, smaller: Terms, larger: Terms) -> Iterator[Relation]:
    """Yield Σ smaller ≤ Σ larger, if all of the cells exist."""
    yield from between(name, [*smaller, *((-factor, cell) for factor, cell in larger)], -math.inf, 0)


def equal(name: str, one: Terms, other: Terms) -> Iterator[Relation]:
    """Yield Σ one = Σ other, if all of the cells exist."""
    yield from between(name, [*one, *((-factor, cell) for factor, cell in other)], 0, 0)


def between(name: str, terms: Terms, low: float, high: float) -> Iterator[Relation]:
    """Yield low ≤ Σ ≤ high, if all of the cells exist; cells whose coefficients cancel out are left out."""
    sums: dict[Cell, float] = {}
    for factor, cell in terms:
        if cell is None:
            return
        sums[cell] = sums.get(cell, 0.0) + float(factor)
    sums = {cell: factor for cell, factor in sums.items() if factor}
    if sums:
        yield Relation(sums, low, high, name)
