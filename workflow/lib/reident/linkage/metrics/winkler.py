"""Winkler: the number of variables on which a record agrees with a micro-aggregated one (METHODS §4.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from pydantic import Field

from reident.linkage.metrics.contract import Metric, Scored, Setting
from reident.sections.base import Section
from reident.sections.exact import ULPS

if TYPE_CHECKING:
    from reident.linkage.pairing import Pairing
    from reident.sections.linkage import LinkingVariable


class Nearest(Section):
    """Agreement of a masked value with its nearest values."""

    nearest: int = Field(
        ge=1,
        description="The number of values of the external intruder file that agree with a masked value: the nearest "
        "values, and all values as near as the last of these. Source: METHODS §4.5.",
    )


class Options(Section):
    """The number of linking variables that agree, for micro-aggregated files."""

    agreement: Literal["half_gap", "midpoint"] | Nearest = Field(
        "half_gap",
        description="The rule for agreement of a value with a masked value. `half_gap`: it is within half the "
        "distance to the nearer of the next masked values below and above. `midpoint`: no other masked value is "
        "nearer. `{nearest: g}`: it is among the g nearest values. Categories agree if they are equal. Source: "
        "METHODS §4.5.",
    )
    min_agree: int = Field(
        1,
        ge=1,
        description="The smallest number of agreeing variables with which a pair is suspected; at most the number of "
        "linking variables. Source: METHODS §4.5.",
    )


def check(options: Options, variables: tuple[LinkingVariable, ...]) -> None:
    """Refuse to require more agreements than there are variables."""
    if options.min_agree > len(variables):
        raise ValueError(
            f"`.metrics.winkler.min_agree` must be at most the number of linking variables ({len(variables)}), but is "
            f"{options.min_agree}. Reduce it."
        )


class Ranges(NamedTuple):
    """The closed range of the EIF values that agree with each distinct masked value.

    Attributes
    ----------
    masked : float64 (m,)
        The distinct masked values, ascending.
    low, high : float64 (m,)
        The ends of the range of each.
    """

    masked: np.ndarray
    low: np.ndarray
    high: np.ndarray


@np.errstate(over="ignore")  # an end beyond all numbers is none
def ranges(masked: np.ndarray, held: np.ndarray, agreement: str | Nearest) -> Ranges:
    """Return the values that agree with each masked value of one variable.

    Parameters
    ----------
    masked : float64 (n_puf,)
        The variable in the public use file; NaN is missing.
    held : float64 (n_eif,)
        The variable in the external intruder file; only `nearest` looks at it.
    agreement : {'half_gap', 'midpoint'} or Nearest

    Returns
    -------
    Ranges
        For the smallest and largest masked values, `half_gap` takes the gap to their only neighbour, and the
        range of `midpoint` is open. Everything agrees with a single masked value, or if there are at most g values.
    """
    distinct = np.unique(masked[~np.isnan(masked)])
    if isinstance(agreement, Nearest):
        below = above = farthest(distinct, np.sort(held[~np.isnan(held)]), agreement.nearest)
    else:
        half = distinct[1:] / 2 - distinct[:-1] / 2
        below, above = np.append(np.inf, half)[: len(distinct)], np.append(half, np.inf)[: len(distinct)]
        if agreement == "half_gap":
            below = above = np.minimum(below, above)
    slack = [ULPS * np.abs(distinct) + 2 * ULPS * reach for reach in (below, above)]
    return Ranges(distinct, distinct - below - slack[0], distinct + above + slack[1])


def farthest(masked: np.ndarray, held: np.ndarray, g: int) -> np.ndarray:
    """Return each value's distance to the g-th nearest of the ascending `held`; infinite if there are fewer."""
    n = len(held)
    if n <= g:
        return np.full(len(masked), np.inf)
    place = np.searchsorted(held, masked)
    first, last = np.clip(place - g, 0, n - g), np.minimum(place, n - g)
    while (first < last).any():  # the first of the g nearest, halving where it may be
        middle = (first + last) // 2
        later = masked - held[middle] > held[np.minimum(middle + g, n - 1)] - masked
        later &= first < last
        first, last = np.where(later, middle + 1, first), np.where(later, last, middle)
    return np.maximum(np.abs(masked - held[first]), np.abs(held[first + g - 1] - masked))


def score(pairing: Pairing, options: Options, setting: Setting) -> Scored:
    """Return the suspected pairs of a pairing of prepared records; the score is the number of agreements."""
    from reident.kernels import winkler  # compiled code: loaded only where pairs are scored

    low, high = (np.full(pairing.puf.codes.shape, np.nan) for _ in range(2))
    held = np.full(pairing.eif.codes.shape, np.nan)
    for at, labels in enumerate(pairing.labels):
        if labels is not None:  # a category agrees with itself
            code, held[:, at] = (_numbers(own.codes[:, at]) for own in (pairing.puf, pairing.eif))
            low[:, at] = high[:, at] = code
            continue
        value, held[:, at] = pairing.puf.values[:, at], pairing.eif.values[:, at]
        found = ranges(pairing.scope.puf[:, at], pairing.scope.eif[:, at], options.agreement)
        known = ~np.isnan(value)
        place = np.searchsorted(found.masked, value[known])
        low[known, at], high[known, at] = found.low[place], found.high[place]
    puf, eif, agreements, crowded = winkler.most_agreements(
        low,
        high,
        held,
        min_agree=options.min_agree,
        keep=setting.keep,
        threads=setting.threads,
        progress=setting.progress,
    )
    return Scored(puf, eif, agreements.astype(np.float64), crowded)


def _numbers(codes: np.ndarray) -> np.ndarray:
    """Return categories as numbers, NaN where missing."""
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


METRIC = Metric("winkler", "Winkler", Options, "prepared", ranked=True, best="high", score=score, check=check)
