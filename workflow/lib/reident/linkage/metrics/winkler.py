"""Winkler: how many variables of a record agree with a micro-aggregated one, or how closely m do (METHODS §4.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Discriminator, Field, Tag

from reident.linkage.metrics.contract import OF_GROUPS, Metric, Scored, ScoringContext, job_arguments, scored
from reident.sections.base import Section
from reident.sections.exact import ULPS

if TYPE_CHECKING:
    from reident.linkage.metrics.contract import Variables
    from reident.linkage.pairing import Pairing, Records


class Nearest(Section):
    """Agreement of a masked value with its nearest values."""

    nearest: int = Field(
        ge=1,
        description="The number of nearest values of the external intruder file that agree with a masked "
        "value. Source: METHODS §4.5.",
    )


class Closest(Section):
    """The closest records, without a rule for agreement."""

    closest: int = Field(
        ge=1,
        description="The number of linking variables on which a record is closest, at most all of them. "
        "Source: METHODS §4.5.",
    )


def _form(value: Any) -> str:
    """Tell the forms of a rule apart by its key."""
    if isinstance(value, Closest) or (isinstance(value, dict) and "closest" in value):
        return "closest"
    return "nearest" if isinstance(value, Nearest | dict) else "word"


class Options(Section):
    """The number of linking variables that agree, for micro-aggregated files."""

    agreement: Annotated[
        Annotated[Literal["half_gap", "printed", "midpoint"], Tag("word")]
        | Annotated[Nearest, Tag("nearest")]
        | Annotated[Closest, Tag("closest")],
        Discriminator(_form),
    ] = Field(
        "half_gap",
        description="The rule for agreement of a value with a masked value: `half_gap`, `printed`, "
        "`midpoint`, `{nearest: g}` or, in place of a rule, `{closest: m}`. Source: METHODS "
        "§4.5.",
    )
    min_agree: int = Field(
        1,
        ge=1,
        description="The smallest number of agreeing variables with which a pair is suspected; at most the number of "
        "linking variables. Not with `closest`. Source: METHODS §4.5.",
    )


def check(options: Options, variables: Variables) -> None:
    """Refuse to require more agreements, or more close variables, than there are variables."""
    if isinstance(options.agreement, Closest):
        if options.agreement.closest > len(variables):
            raise ValueError(
                f"`.metrics.winkler.agreement.closest` must be at most the number of linking variables "
                f"({len(variables)}), but is {options.agreement.closest}. Reduce it."
            )
        if options.min_agree > 1:
            raise ValueError(
                "`.metrics.winkler.min_agree` must not be given with `closest`, which counts no agreements. Remove "
                "one of the two."
            )
    if options.min_agree > len(variables):
        raise ValueError(
            f"`.metrics.winkler.min_agree` must be at most the number of linking variables ({len(variables)}), but is "
            f"{options.min_agree}. Reduce it."
        )


class Ranges(NamedTuple):
    """The closed range of the EIF values that agree with each distinct masked value, ascending; float64 (m,)."""

    puf_values: np.ndarray
    low: np.ndarray
    high: np.ndarray


@np.errstate(over="ignore")  # an end beyond all numbers is none
def ranges(puf_values: np.ndarray, eif_values: np.ndarray, agreement: str | Nearest) -> Ranges:
    """Return the values that agree with each masked value of one variable; NaN is missing.

    Only `nearest` looks at the values of the EIF. For the smallest and largest masked values, `half_gap` and `printed`
    take the gap to their only neighbour, and the range of `midpoint` is open. Everything agrees with a single masked
    value, or if there are at most g values.
    """
    from reident.kernels.neighbours import farthest  # compiled code: loaded only where pairs are scored

    distinct = np.unique(puf_values[~np.isnan(puf_values)])
    if isinstance(agreement, Nearest):
        below = above = farthest(distinct, np.sort(eif_values[~np.isnan(eif_values)]), agreement.nearest)
    else:
        half = distinct[1:] / 2 - distinct[:-1] / 2
        below, above = np.append(np.inf, half)[: len(distinct)], np.append(half, np.inf)[: len(distinct)]
        if agreement != "midpoint":
            below = above = np.minimum(2 * below if agreement == "printed" else below, above)
    slack = [ULPS * np.abs(distinct) + 2 * ULPS * reach for reach in (below, above)]
    return Ranges(distinct, distinct - below - slack[0], distinct + above + slack[1])


def score(pairing: Pairing, options: Options, context: ScoringContext) -> Scored:
    """Return the suspected pairs of a pairing of prepared records.

    The score is the number of agreements, most first, or the m-th smallest rank distance, the smallest first.
    """
    from reident.kernels import closest, winkler  # compiled code: loaded only where pairs are scored

    numeric = np.array([labels is None for labels in pairing.labels], np.bool_)
    puf_values, eif_values = _numbers(pairing.puf, numeric), _numbers(pairing.eif, numeric)
    arguments = {"keep": context.keep, **job_arguments(pairing, context)}
    agreement = options.agreement
    if isinstance(agreement, Closest):
        among = eif_values if pairing.scope.eif is pairing.eif.values else pairing.scope.eif
        m = agreement.closest
        pairs = closest.closest(puf_values, eif_values, among, numeric=numeric, m=m, slack=ULPS, **arguments)
    else:
        low, high = puf_values.copy(), puf_values.copy()  # a category agrees with itself
        for at in np.flatnonzero(numeric):
            bounds = ranges(pairing.scope.puf[:, at], pairing.scope.eif[:, at], agreement)
            present = ~np.isnan(puf_values[:, at])
            place = np.searchsorted(bounds.puf_values, puf_values[present, at])
            low[present, at], high[present, at] = bounds.low[place], bounds.high[place]
        pairs = winkler.most_agreements(low, high, eif_values, min_agree=options.min_agree, **arguments)
    return scored(pairs, lambda level: level.astype(np.float64))


def _numbers(records: Records, numeric: np.ndarray) -> np.ndarray:
    """Return values, and categories as numbers, NaN where missing."""
    codes = np.where(records.codes < 0, np.nan, records.codes.astype(np.float64))
    return np.where(numeric, records.values, codes)


def tolerance(options: Options, variables: Variables, _: bool) -> int:
    """Return the number of variables that may differ: all but those that must agree.

    For `closest`, all but the categories that must be equal, since every number has a rank distance.
    """
    if isinstance(options.agreement, Closest):
        numeric = sum(variable.is_numeric for variable in variables)
        return len(variables) - max(options.agreement.closest - numeric, 0)
    return len(variables) - options.min_agree


def _measure(agreement: Any) -> tuple[str, int]:
    """Return what tells whether numbers agree in another attack too: the nearest of more values are more."""
    if isinstance(agreement, Closest):
        return "", 0
    return ("nearest", agreement.nearest) if isinstance(agreement, Nearest) else (agreement, 1)


METRIC = Metric(
    "winkler",
    "Winkler",
    Options,
    "prepared",
    ranked=True,
    score=score,
    tolerance=tolerance,
    check=check,
    low_is_best=lambda options: isinstance(options.agreement, Closest),
    look=("#7a6a00", "v"),
    pair_cost=OF_GROUPS,
    depends_on_size=lambda options: isinstance(options.agreement, Nearest),
)
