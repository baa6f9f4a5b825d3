"""The comparison levels of Fellegi–Sunter: of categories and bins, and of numbers by their difference (METHODS §4.6).

Numbers are compared as whole ones: at twelve digits, or on the scale of asinh where amounts are skewed. A level is an
interval of differences, EIF less PUF, or two of them; the codes of categories are numbers too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from reident.linkage.settings import OrderedVariable
from reident.sections.codes import Coding, normaliser

if TYPE_CHECKING:
    from reident.kernels.compared import Intervals
    from reident.kernels.differences import Differences
    from reident.linkage.pairing import Pairing
    from reident.linkage.settings import Variable

LEVELS = AGREE, PARTIAL, DIFFER, MISSING = ("agree", "partial", "differ", "missing")
"""The comparison levels of categories, in the order of the columns of the kernel that compares these alone."""

LOWER, HIGHER = "lower_", "higher_"
"""How the levels of a difference begin, by its sign; their numbers ascend with its size."""

SHARES, OF = (25, 60, 120, 250, 500, 1000, 2000, 4000), 10_000
"""The shares of all pairs at whose distances differences are cut."""

SKEWED = 8
"""Amounts are skewed if the largest size is more than this many times the median size."""

UNIT = 50
"""The unit of the scale of asinh is the size that one in so many amounts does not exceed."""

DIGITS, DECIMALS = 12, 9
"""Digits of numbers as they are, and decimals on the scale of asinh."""

ABSENT = np.iinfo(np.int64).min
"""The whole number of a missing value."""


class Scale(NamedTuple):
    """The scale of the numbers of a variable: `unit` is that of asinh, NaN for numbers as they are."""

    unit: float
    decimals: int

    def whole(self, values: np.ndarray) -> np.ndarray:
        """Return numbers as whole ones on the scale; int64."""
        on_scale = values if math.isnan(self.unit) else np.arcsinh(values / self.unit)
        factor = 10.0 ** abs(self.decimals)
        scaled = np.nan_to_num(on_scale * factor if self.decimals >= 0 else on_scale / factor)
        return np.where(np.isnan(values), ABSENT, np.rint(scaled).astype(np.int64))

    def number(self, whole: int) -> float:
        """Return a whole number as a value on the scale."""
        return float(f"{whole}e{-self.decimals}")


class Levels(NamedTuple):
    """The levels of a variable.

    Attributes
    ----------
    ends : list of int
        The last difference in each interval but the last.
    names : list of str
        The level of each interval.
    scale : Scale or None
        None for categories.
    """

    ends: list[int]
    names: list[str]
    scale: Scale | None = None

    @property
    def distinct(self) -> list[str]:
        """The names, each once, in the order of the table."""
        return self.names if self.scale is not None else [name for name in LEVELS if name in self.names]

    def bounds(self, name: str) -> tuple[float, float]:
        """Return the distances on the scale between which a level is, NaN where it has no end."""
        scale, at = self.scale, self.names.index(name)
        if scale is None or name == AGREE:
            return math.nan, math.nan
        low = -math.inf if not at else self.ends[at - 1]
        high = math.inf if at == len(self.ends) else self.ends[at]
        above, up_to = (low, high) if name.startswith(HIGHER) else (-high - 1, -low - 1)
        return scale.number(int(above)), math.nan if math.isinf(up_to) else scale.number(int(up_to))


def of_categories(*, near: bool) -> Levels:
    """Return the levels of categories, or of bins, whose codes differ by one where they are neighbours."""
    if near:
        return Levels([-2, -1, 0, 1], [DIFFER, PARTIAL, AGREE, PARTIAL, DIFFER])
    return Levels([-1, 0], [DIFFER, AGREE, DIFFER])


def of_cuts(scale: Scale, cuts: Sequence[int]) -> Levels:
    """Return the levels of differences that are cut at ascending distances above 0, each sign apart."""
    numbers = range(1, len(cuts) + 2)
    ends = [*(-cut - 1 for cut in cuts[::-1]), -1, 0, *cuts]
    lower, higher = ([f"{name}{k}" for k in numbers] for name in (LOWER, HIGHER))
    return Levels(ends, [*lower[::-1], AGREE, *higher], scale)


def of_table(lines: pd.DataFrame) -> Levels:
    """Return the levels of a variable from its lines of `weights/levels.csv`."""
    # Lists: a study reads its table for each stratum and each variable that is left out.
    names, units, decimals, limits = (lines[name].tolist() for name in ("level", "unit", "decimals", "up_to"))
    if all(map(pd.isna, decimals)):
        return of_categories(near=PARTIAL in names)
    scale = Scale(float(units[0]), int(decimals[0]))
    cuts = [limit for name, limit in zip(names, limits, strict=True) if name.startswith(HIGHER) and limit == limit]
    return of_cuts(scale, [int(Decimal(repr(cut)).scaleb(scale.decimals)) for cut in cuts])


def scale_of(values: np.ndarray, *, skewed: bool = True) -> Scale:
    """Return the scale of a variable from the numbers of both files, that of asinh only if it may be ``skewed``."""
    sizes = np.sort(np.abs(values[~np.isnan(values) & (values != 0)]))
    if not len(sizes):
        return Scale(math.nan, 0)
    if skewed and sizes[-1] > SKEWED * sizes[-(-len(sizes) // 2) - 1]:
        return Scale(float(sizes[-(-len(sizes) // UNIT) - 1]), DECIMALS)
    return Scale(math.nan, DIGITS - 1 - math.floor(math.log10(sizes[-1])))


def levels_of(pairing: Pairing, rules: Rules) -> list[Levels]:
    """Return the levels of each variable of strata that lie one after another."""
    from reident.kernels.differences import Differences  # compiled code: loaded only where pairs are compared

    found = []
    for at, variable in enumerate(pairing.variables):
        columns = [numbers[:, at] for _, numbers in (pairing.puf, pairing.eif)]
        if not rules.by_difference(variable):
            found.append(of_categories(near=variable.name in rules.partial))
        elif variable.name in rules.bands:
            scale = scale_of(np.concatenate(columns), skewed=False)
            limits = scale.whole(np.array(rules.bands[variable.name], np.float64))
            found.append(of_cuts(scale, sorted({*limits.tolist()} - {0})))
        else:
            scale = scale_of(np.concatenate(columns))
            puf, eif = map(scale.whole, columns)
            found.append(of_cuts(scale, _cuts(Differences(puf, eif, starts_of(pairing)))))
    return found


class Rules(NamedTuple):
    """The comparison levels of variables: one more with `partial`, for numbers by differences or `bands`."""

    partial: Sequence[str]
    differences: bool
    bands: Mapping[str, Sequence[float]]

    def by_difference(self, variable: Variable) -> bool:
        """Return whether a variable is compared by the difference of its numbers."""
        return self.differences and variable.is_numeric


def _cuts(differences: Differences) -> list[int]:
    """Return the distances above 0 within which the shares of the pairs are."""
    cuts = [0]
    for share in SHARES:
        cuts.append(differences.apart(share, OF, cuts[-1]))
    return sorted({*cuts} - {0})


def starts_of(pairing: Pairing) -> tuple[np.ndarray, np.ndarray]:
    """Return where the strata of a pairing start in both files."""
    if pairing.starts is not None:
        return pairing.starts
    return np.array([0, len(pairing.puf.codes)]), np.array([0, len(pairing.eif.codes)])


def whole_values(pairing: Pairing, found: Sequence[Levels]) -> tuple[np.ndarray, np.ndarray]:
    """Return the records of both files as the whole numbers of which the levels are differences; int64 (n, v)."""
    both = zip(pairing.variables, found, strict=True)
    codes = placed(pairing, [variable.name for variable, levels in both if PARTIAL in levels.names])
    puf, eif = (np.where(side < 0, ABSENT, side.astype(np.int64)) for side in codes)
    for at, levels in enumerate(found):
        if levels.scale is not None:
            for whole, (_, numbers) in ((puf, pairing.puf), (eif, pairing.eif)):
                whole[:, at] = levels.scale.whole(numbers[:, at])
    return puf, eif


def placed(pairing: Pairing, partial: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of both files, -1 where missing; in `partial`, codes of neighbours differ by one."""
    puf, eif = pairing.puf.codes.copy(), pairing.eif.codes.copy()
    for at, (variable, labels) in enumerate(zip(pairing.variables, pairing.labels, strict=True)):
        if variable.name in partial and labels is not None:
            place = places(variable, labels)
            for codes in (puf[:, at], eif[:, at]):  # views
                codes[:] = np.where(codes < 0, -1, place[codes])
    return puf, eif


def places(variable: Variable, labels: list[str]) -> np.ndarray:
    """Return the place of each category in the order of the variable; others are neighbours of none."""
    order = variable.order if isinstance(variable, OrderedVariable) else ()
    normal = normaliser(Coding("categorical", integer_coded=variable.integer_coded))
    place = {normal(category): at for at, category in enumerate(order)}
    others = [2 * (len(order) + at) + 1 for at in range(len(labels))]
    return np.array([place.get(label, other) for label, other in zip(labels, others, strict=True)] or [0], np.int64)


def intervals_of(found: Sequence[Levels]) -> Intervals:
    """Return the intervals of the kernel, with the levels of each variable numbered in the order of the table."""
    from reident.kernels.compared import Intervals  # compiled code: loaded only where pairs are compared

    ends = np.array([end for levels in found for end in levels.ends], np.int64)
    first = np.append(0, np.cumsum([len(levels.ends) for levels in found])).astype(np.int64)
    level = [levels.distinct.index(name) for levels in found for name in levels.names]
    return Intervals(ends, first, np.array(level, np.int64), np.diff(begins(found)))


def begins(found: Sequence[Levels]) -> list[int]:
    """Return where the levels of each variable begin, and in the end their number."""
    return [0, *accumulate(len(levels.distinct) for levels in found)]
