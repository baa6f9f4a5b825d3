"""The coarser values of linking variables that are tried: those of the study, or the usual ones (METHODS §6.3)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.linkage.settings import OrderedVariable
from reident.sections.coarsening import Coarsening, NamedCoarsening
from reident.sections.linkage import coarser_order

LEFT_OUT = "left out"
"""The name of leaving out a variable."""

NEIGHBOURS = "pairs of neighbours"
"""The name of putting the categories of an order together two by two."""

MULTIPLES = (2, 5, 10)
"""The usual widths of intervals, in round units."""

PERIODS = ("month", "quarter", "year")
"""The usual periods of dates."""

STEPS = 50
"""The round unit is the power of ten at or below this part of the distance of the outer tenths."""

MAX_TOP = Fraction(19, 20)
"""The usual top code is at or below this quantile."""


class Change(NamedTuple):
    """One change of a linking variable.

    The title is what reports call it, without any code of the data; the coarsening is None if the variable is left out.
    """

    variable: str
    title: str
    coarsening: Coarsening | None


def changes(
    variables: Sequence[OrderedVariable],
    recodings: Sequence[NamedCoarsening] | None,
    puf: pa.Table,
    coarsened: Sequence[str] = (),
) -> list[Change]:
    """Return the changes to try, variable by variable: leaving it out, then from fine to coarse.

    The recodings are those of the study, or the usual ones (None), for which round units are taken from the numbers of
    the prepared records. Variables that have coarser values already are only left out.
    """
    candidates = []
    for variable in variables:
        candidates.append(Change(variable.name, LEFT_OUT, None))
        if variable.name in coarsened:
            continue
        if recodings is None:
            candidates += _usual(variable, puf)
        else:
            candidates += [
                Change(recoding.variable, recoding.title, recoding.coarsening)
                for recoding in recodings
                if recoding.variable == variable.name
            ]
    return candidates


def _usual(variable: OrderedVariable, puf: pa.Table) -> Iterator[Change]:
    if variable.type == "date":
        for period in PERIODS:
            coarsening = Coarsening.model_validate({"to": period})
            yield Change(variable.name, coarsening.label, coarsening)
    elif variable.is_numeric:
        for coarsening in _of_numbers(puf[variable.name].drop_null().to_numpy()):
            yield Change(variable.name, coarsening.label, coarsening)
    elif len(variable.order) > 2:
        pairs = {second: first for first, second in pairwise(variable.order)}
        recode = {code: pairs[code] for code in variable.order[1::2]}
        yield Change(variable.name, NEIGHBOURS, Coarsening.model_validate({"recode": recode}))


def _of_numbers(values: np.ndarray) -> Iterator[Coarsening]:
    unit = round_unit(values)
    if unit is None:
        return
    for multiple in MULTIPLES:
        yield Coarsening.model_validate({"width": unit * multiple})
    ordered = np.sort(values)
    quantile = Fraction(float(ordered[int(len(ordered) * MAX_TOP)]))
    top = quantile // unit * unit
    if ordered[0] < top < ordered[-1]:
        yield Coarsening.model_validate({"top": top})


def round_unit(values: np.ndarray) -> Fraction | None:
    """Return the power of ten in which the widths of intervals are counted; None for fewer than two distinct numbers.

    It is the largest at or below a fiftieth of the distance from the first to the last decile. For whole numbers it is
    at least the largest power of ten of which all are multiples. No value is missing.
    """
    ordered = np.sort(values)
    n = len(ordered)
    if not n or ordered[0] == ordered[-1]:
        return None
    span = ordered[9 * n // 10] - ordered[n // 10] or ordered[-1] - ordered[0]
    exponent = (Decimal(float(span)) / STEPS).adjusted()
    whole = (np.abs(ordered) < 2**53) & (ordered == np.rint(ordered))
    if whole.all():
        divisor = int(np.gcd.reduce(np.abs(ordered).astype(np.int64)))
        exponent = max(exponent, len(str(divisor)) - len(str(divisor).rstrip("0")))
    return Fraction(10) ** exponent


def compared(
    variables: Sequence[OrderedVariable], changes: Mapping[str, Coarsening | None]
) -> tuple[OrderedVariable, ...]:
    """Return the variables that are compared after changes, with the order of their coarser categories."""
    return tuple(
        dataclasses.replace(
            variable,
            order=coarser_order(variable.order, changes.get(variable.name), integer_coded=variable.integer_coded),
        )
        for variable in variables
        if changes.get(variable.name, NEIGHBOURS) is not None
    )
