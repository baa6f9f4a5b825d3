"""Weights: the best pairs by the sum of a weight for each variable and comparison level (METHODS §4.6, §5).

The search minimises the cost of a pair: the largest possible sum less the sum of its weights. It is that of taxicab
with costs by variable (`costs`).
"""

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from reident.kernels import strata
from reident.kernels.costs import ABSENT, AGREE, DIFFER, PARTIAL, Weighted
from reident.kernels.rows import Rows, number_rows
from reident.kernels.strata import Starts
from reident.kernels.taxicab import MAX_VARIABLES, best_pairs
from reident.kernels.toplist import Pairs, Workers, check, empty_best, list_pairs

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
    starts: Starts | None = None,
    **workers: Unpack[Workers],
) -> Pairs:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf, eif : int32 (n_puf, v), (n_eif, v)
        As for `taxicab.nearest`.
    weights : int64 (v, 4)
        What a variable adds to the sum of a pair: where its codes are equal, differ by one (read where it is
        ``near``), differ (more), and where it is missing in either record.
    near : sequence of bool (v,)
        Variables whose values agree partly where their codes differ by one.
    least : int
        A pair is suspected if its sum is at least this.
    keep, starts, **workers
        See `toplist`.

    Returns
    -------
    Pairs
        By the sum of the weights, the highest first.

    Notes
    -----
    Source: METHODS §4.6, §5; Fellegi and Sunter 1969.
    """
    partly = np.array(near, np.bool_)
    weights = np.asarray(weights, np.int64).copy()
    _check(puf, eif, weights, partly, keep)
    costs, most = _costs(weights, partly)
    limit = min(most - least, int(costs.max(axis=1).sum()))
    if starts is not None:
        pairs = strata.nearest_coded(puf, eif, costs, partly, starts, limit=limit, keep=keep, **workers)
    elif not len(puf) or not len(eif) or limit < 0:
        pairs = list_pairs(empty_best(len(puf), 0))
    else:
        puf, eif = np.ascontiguousarray(puf, np.int32), np.ascontiguousarray(eif, np.int32)
        rows, by_variable = _prepare(puf, eif, costs, partly)
        pairs = best_pairs(rows, by_variable, limit, keep, **workers)
    return pairs._replace(level=most - pairs.level, next_level=most - pairs.next_level)


def _costs(weights: np.ndarray, near: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the cost of each comparison level against its variable's highest weight, and the sum of these weights."""
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
    check(puf, eif, keep, MAX_VARIABLES)
    if not puf.shape[1]:
        raise ValueError("weights are added over at least one variable.")
    if weights.shape != (puf.shape[1], 4) or near.shape != (puf.shape[1],):
        raise ValueError("weights must have a row of four for each variable, and near one value.")
    if sum(int(abs(row).max()) for row in weights) * 2 >= MAX_LEVEL:
        raise ValueError("weights are so large that sums do not fit in 64 bits.")
