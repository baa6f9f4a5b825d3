"""Unicity: two records that are sample uniques of their own files, in the same cell (METHODS §4.1)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field, model_validator

from reident.errors import InputError
from reident.linkage.metrics.contract import Measure, Metric, Scored, ScoringContext, job_arguments
from reident.linkage.metrics.unit_pairs import sides
from reident.sections.base import Section

if TYPE_CHECKING:
    from reident.kernels.unicity import Sets
    from reident.linkage.metrics.contract import Variables
    from reident.linkage.pairing import Pairing
    from reident.linkage.unit_pairing import UnitPairing

Interactions = Literal["auto", "all", "full", "jointly_observed"]
OF_PAIR = 45
"""Bytes that a pair needs at most while pairs are gathered and sorted."""

MAX_VARIABLES = 23
"""The largest v for which all 2^v − 1 sets are tried; with `max_order` v is not limited (METHODS §4.1)."""


class Options(Section):
    """Pairs of records that are each unique in their own file, in the same cell of a set of linking variables."""

    interactions: Interactions = Field(
        "auto",
        description="The sets of linking variables that are searched for uniques. `auto`: `all` if any "
        "linking value is missing, otherwise `full`. Source: "
        "METHODS §4.1.",
    )
    max_order: int | None = Field(
        None,
        ge=1,
        description="With `auto` or `all`: search all sets of at most this number of variables, whether values are "
        "missing or not. If absent: no limit, for at most 23 linking variables. Source: METHODS §4.1.",
    )

    @model_validator(mode="after")
    def _order_goes_with_all(self) -> Options:
        if self.max_order is not None and self.interactions in ("full", "jointly_observed"):
            raise ValueError(
                f"`.max_order` must not be given with `interactions: {self.interactions}`. Remove one of the two."
            )
        return self


def check(options: Options, variables: Variables) -> None:
    """Refuse to search all sets of more than :data:`MAX_VARIABLES` linking variables."""
    v = len(variables)
    if v > MAX_VARIABLES and options.interactions in ("auto", "all") and options.max_order is None:
        raise ValueError(
            f"`.metrics.unicity` must have a `max_order`, or `interactions: full` or `jointly_observed`, for more than "
            f"{MAX_VARIABLES} linking variables: it would search 2^{v} sets. Add one of these."
        )


def sets_in_force(options: Options, any_missing: bool) -> Sets:
    """Return the sets that are searched in these files: ``all``, ``full`` or ``jointly_observed``."""
    if options.max_order is not None:
        return "all"
    if options.interactions != "auto":
        return options.interactions
    return "all" if any_missing else "full"


def score(pairing: Pairing, options: Options, context: ScoringContext) -> Scored:
    """Pairs of shared sample uniques of binned records; the score is the smallest order.

    Raises
    ------
    InputError
        If the stratum has too many records for sets of this size.
    """
    from reident.kernels import unicity  # compiled code: loaded only where pairs are scored

    sets, strata = sets_in_force(options, context.any_missing), pairing.starts
    bounds = [0, len(pairing.eif.codes)] if strata is None else strata[1]
    if sets == "all":
        _check_size(int(np.diff(bounds).max(initial=0)), len(pairing.variables), options.max_order)
        if strata is None:
            _check_memory(pairing.puf.codes, pairing.eif.codes, options.max_order, memory())
    search = unicity.shared_uniques if strata is None else unicity.shared_uniques_in_strata
    puf, eif, order, variables = search(
        pairing.puf.codes, pairing.eif.codes, sets=sets, max_order=options.max_order, **job_arguments(pairing, context)
    )
    return Scored(puf, eif, order.astype(np.float64), np.zeros(len(pairing.puf.codes), bool), variables)


def measure(pairing: UnitPairing, _: Options) -> Measure:
    """Return how members of units are told apart: by the number of variables on which they are not equal."""
    from reident.kernels.unit_costs import of_categories
    from reident.kernels.units import LINEAR

    own, of_members = (
        of_categories(len(places), pairing.n_strata, 1, 1) for places in (pairing.own, pairing.of_members)
    )
    return Measure(own, of_members, LINEAR, 1, len(pairing.variables), len(pairing.of_members))


def score_units(pairing: UnitPairing, options: Options, context: ScoringContext) -> Scored:
    """Pairs of binned units that alone have a profile in both files; the score is the smallest order."""
    from reident.kernels.profiles import shared_units

    v = len(pairing.variables)
    orders = range(1, min(options.max_order or v, v) + 1)
    if sets_in_force(options, context.any_missing) != "all":
        orders = range(v, v + 1)
    puf, eif, order, variables = shared_units(
        *sides(pairing), pairing.own, orders, threads=context.threads, progress=context.progress
    )
    nothing = np.zeros(len(pairing.puf.start) - 1, bool)
    return Scored(puf, eif, order.astype(np.float64), nothing, variables)


def _check_size(n_eif: int, v: int, max_order: int | None) -> None:
    from reident.kernels.unicity import max_records

    largest = min(max_order or v, v)
    if n_eif > (most := max_records(v, largest)):
        raise InputError(
            f"unicity tries sets of up to {largest} of {v} linking variables on at most {most:,} records of the "
            f"external intruder file in a stratum, which has {n_eif:,}; use a smaller `max_order`, fewer linking "
            "variables, finer strata, or `interactions: jointly_observed`."
        )


def memory() -> float:
    """Return the bytes of memory that the process may use at most: those of the machine, or of its control group."""
    of_machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(of_machine, float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    except (OSError, ValueError):
        return of_machine


def _check_memory(puf: np.ndarray, eif: np.ndarray, max_order: int | None, available: float) -> None:
    """Refuse a search whose pairs, by a forecast, need more memory than there is."""
    from reident.kernels.unicity import forecast

    if len(puf) * len(eif) * OF_PAIR <= available:
        return
    needed = (pairs := forecast(puf, eif, max_order)) * OF_PAIR
    if needed > available:
        about = float(f"{pairs:.2g}")
        raise InputError(
            f"unicity finds about {about:,.0f} pairs in a stratum, which need {needed / 1e9:,.0f} GB of memory, of "
            f"which there are {available / 1e9:,.0f}; use a smaller `max_order`, fewer linking variables, finer "
            "strata, or `interactions: jointly_observed`."
        )


def tolerance(options: Options, variables: Variables, any_missing: bool) -> int:
    """Return how many variables may differ: one variable can make both records unique, if sets of one are searched."""
    return len(variables) - 1 if sets_in_force(options, any_missing) == "all" else 0


def check_units(options: Options, whole: bool) -> None:
    """Refuse options that units do not have; `whole` is whether a unit is compared with all of its members."""
    if not whole:
        raise ValueError(
            "`.metrics.unicity` must not be given with `members: some`: a unit is unique by all of its members. Remove "
            "one of the two."
        )
    if options.interactions == "jointly_observed":
        raise ValueError(
            "`.metrics.unicity.interactions` must not be `jointly_observed` with `units`. Choose another value."
        )


METRIC = Metric(
    "unicity", "Unicity", Options, "binned", ranked=False, score=score, tolerance=tolerance, check=check,
    splits=False, score_small=score, score_units=score_units, measure=measure, low_is_best=lambda _: True,
    look=("#0b3d62", "o"),
    is_standard=True,
    depends_on_size=lambda options: options.max_order is not None,
    check_units=check_units,
)  # fmt: skip
