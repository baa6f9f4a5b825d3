"""Weights: the best pairs by the sum of a weight for each variable and comparison level (METHODS §4.6, §5).

The search minimises the cost of a pair: the largest possible sum less the sum of its weights. It is that of taxicab
with costs by variable (`costs`).
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from reident.kernels import strata
from reident.kernels.costs import ABSENT, AGREE, DIFFER, PARTIAL, Weighted
from reident.kernels.rows import Rows, number_rows
from reident.kernels.strata import Starts
from reident.kernels.taxicab import best_pairs
from reident.kernels.toplist import MAX_RECORDS

MAX_VARIABLES = 64
"""Variables of a record: bit sets of variables are one word."""

MAX_LEVEL = 2**62
"""Sums of weights stay below this number."""


def nearest(
    puf: np.ndarray,
    eif: np.ndarray,
    weights: np.ndarray,
    *,
    near: Sequence[bool],
    least: int,
    keep: int,
    threads: int = 1,
    method: Literal["auto", "pairs", "join"] = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf, eif : int32 (n_puf, v), (n_eif, v)
        Categories, equal in both files where the code is equal, -1 for missing; v is 1 to 64.
    weights : int64 (v, 4)
        What a variable adds to the sum of a pair: where its codes are equal, differ by one (read where it is
        ``near``), differ (more), and where it is missing in either record.
    near : sequence of bool (v,)
        Variables whose values agree partly where their codes differ by one.
    least : int
        A pair is suspected if its sum is at least this.
    keep : int
        The largest cumulative number of pairs of a rank that is returned, at least 1.
    threads, method, progress
        As for `taxicab.nearest`; the result does not depend on them.

    Returns
    -------
    puf, eif : int64 (m,)
        Positions, sorted by puf, sum (highest first), eif.
    total : int64 (m,)
        The sum of the weights.
    crowded : bool (n_puf,)
        Records whose best sum alone has more than ``keep`` pairs; they have no pair in the result.

    Raises
    ------
    ValueError
        If shapes disagree or an argument is out of its range.

    Notes
    -----
    If a file has no record, the result has no pair. Source: METHODS §4.6, §5; Fellegi and Sunter 1969.
    """
    partly = np.array(near, np.bool_)
    weights = np.asarray(weights, np.int64).copy()
    _check(puf, eif, weights, partly, keep)
    costs, most = _costs(weights, partly)
    limit = min(most - least, int(costs.max(axis=1).sum()))
    if not len(puf) or not len(eif) or limit < 0:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, nothing, np.zeros(len(puf), np.bool_)
    puf, eif = np.ascontiguousarray(puf, np.int32), np.ascontiguousarray(eif, np.int32)
    rows, by_variable = _prepare(puf, eif, costs, partly)
    puf_at, eif_at, level, crowded = best_pairs(rows, by_variable, limit, keep, threads, method, progress)
    return puf_at, eif_at, most - level, crowded


def nearest_in_strata(
    puf: np.ndarray,
    eif: np.ndarray,
    weights: np.ndarray,
    starts: Starts,
    *,
    near: Sequence[bool],
    least: int,
    keep: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what `nearest` does of each of many small strata, whose records lie one after another.

    Parameters
    ----------
    puf, eif, weights
        As for `nearest`.
    starts : Starts
    near, least, keep, threads, progress
        As for `nearest`.

    Returns
    -------
    puf, eif, total, crowded
        As of `nearest`; positions in the files.
    """
    partly = np.array(near, np.bool_)
    weights = np.asarray(weights, np.int64).copy()
    _check(puf, eif, weights, partly, keep)
    costs, most = _costs(weights, partly)
    limit = min(most - least, int(costs.max(axis=1).sum()))
    puf_at, eif_at, level, crowded = strata.nearest_coded(
        puf, eif, costs, partly, starts, limit=limit, keep=keep, threads=threads, progress=progress
    )
    return puf_at, eif_at, most - level, crowded


def _costs(weights: np.ndarray, near: np.ndarray) -> tuple[np.ndarray, int]:
    """Return what each level lacks to the highest weight of its variable, and the sum of the highest weights."""
    weights[~near, PARTIAL] = weights[~near, DIFFER]
    highest = weights.max(axis=1)
    return highest[:, None] - weights, int(highest.sum())


def _prepare(puf: np.ndarray, eif: np.ndarray, costs: np.ndarray, near: np.ndarray) -> tuple[Rows, Weighted]:
    """Number the categories of the variables of the search, and bring the costs into its order.

    Variables on which agreement is not the cheapest, or others are as cheap, are no help in the search.
    """
    cheapest = np.minimum(costs[:, PARTIAL], costs[:, DIFFER])
    searched = (costs[:, AGREE] == 0) & (cheapest > 0)
    closer = np.flatnonzero(near | ~searched)
    if searched.any():
        rows = number_rows(np.ascontiguousarray(puf[:, searched]), np.ascontiguousarray(eif[:, searched]))
        order = np.flatnonzero(searched)[rows.variable]
        different, missing = cheapest[order], costs[order, ABSENT]
        settled = ~near[order]
    else:  # a variable that all records agree on
        rows = number_rows(np.zeros((len(puf), 1), np.int32), np.zeros((len(eif), 1), np.int32))
        different, missing, settled = np.ones(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.bool_)
    lowest = np.append(np.minimum.accumulate(different[::-1])[::-1], 1)
    bits = np.uint64(sum(1 << int(j) for j in np.flatnonzero(settled)))
    by_variable = Weighted(
        np.ascontiguousarray(different),
        np.ascontiguousarray(missing),
        lowest,
        bits,
        np.ascontiguousarray(puf[:, closer]),
        np.ascontiguousarray(eif[rows.position][:, closer]),
        np.ascontiguousarray(costs[closer]),
    )
    return rows, by_variable


def _check(puf: np.ndarray, eif: np.ndarray, weights: np.ndarray, near: np.ndarray, keep: int) -> None:
    """Refuse arguments that are out of range or disagree in shape."""
    if puf.ndim != 2 or eif.ndim != 2 or puf.shape[1] != eif.shape[1]:
        raise ValueError("puf and eif must be matrices with the same columns.")
    if not 1 <= puf.shape[1] <= MAX_VARIABLES:
        raise ValueError(f"weights are added over 1 to {MAX_VARIABLES} variables, not {puf.shape[1]}.")
    if weights.shape != (puf.shape[1], 4) or near.shape != (puf.shape[1],):
        raise ValueError("weights must have a row of four for each variable, and near one value.")
    if max(len(puf), len(eif)) > MAX_RECORDS:
        raise ValueError(f"a file has more than {MAX_RECORDS} records.")
    if keep < 1:
        raise ValueError("keep must be at least 1.")
    if sum(int(abs(row).max()) for row in weights) * 2 >= MAX_LEVEL:
        raise ValueError("weights are so large that sums do not fit in 64 bits.")
