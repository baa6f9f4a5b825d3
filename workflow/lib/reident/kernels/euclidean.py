"""Euclidean: the nearest pairs by the root of the sum of squared variable scores (METHODS §4.3, §5).

A variable scores 0 or 1 (categorical), tanh(x/2) with x the smaller of 6 and the difference in PUF standard
deviations (numeric), and α where it is missing in either record.

The search (see `search`) works with the cost Σs². In single precision, tanh((a − b)/2) = |eᵃ − eᵇ| / (eᵃ + eᵇ)
of the values in standard deviations from the variable's centre, cut off 40 deviations from it: that keeps eᵃ
within range, and never makes two values differ more, so that bounds from below stay so. Bounds from above do
for PUF records all of whose values are nearer to the centre than the cut by more than 6 deviations, from which
on it does not matter how far a value is; other records go without.
"""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from reident.kernels import coding, search
from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.boxes import GRAIN, WIDTH, Costs, Index, build
from reident.kernels.compiling import inner_jit
from reident.kernels.searchroom import TOGETHER, Files, Puf, as_files
from reident.kernels.toplist import empty_best, listed

SCALE = 1e12
"""Scores are rounded to 12 decimals before they are compared: a level is the rounded multiple of 10^-12."""

_FARTHEST = np.float32(math.tanh(3.0) ** 2)
"""The square of the highest score of a numeric variable."""

_CUT = 40.0
"""Standard deviations from the centre at which values are cut off."""

_SURE = 33.0
"""A value that is not this far from the centre is six deviations from every value that is cut off."""

_REACH = 2.5
"""Standard deviations beyond which two values are as good as different, where records are put in order."""


class Euclidean(NamedTuple):
    """The metric in the form of the search; categorical variables come first, in the order of the boxes."""

    numeric: np.ndarray  # bool (v,), in the order of the files
    spread: np.ndarray  # float64 (v,), in the order of the files; NaN where it is 0 or undefined
    alpha: float
    primer: bool
    different: np.ndarray  # float32 (v,)
    missing: np.ndarray  # float32 (v,)
    error: np.float32  # the most that the sum of a pair's numeric costs is off in single precision
    rounded: np.float32  # the most that a pair's fixed costs are below their true sum
    sure_from: np.float32  # eᵃ of the nearest values that might lie near one that is cut off
    sure_to: np.float32


class Desk(NamedTuple):
    """Room for one pair, and what is known of each of the PUF records that search together."""

    squares: np.ndarray  # float64 (v,)
    more: (
        np.ndarray
    )  # float32 (TOGETHER,): added to a pair's cost in single precision it is a bound from above


@search.implements(search.load, Euclidean)
def _load(metric, desk, _files, queries, q, _i):
    """Bounds from above fail a record so far out that what is cut off may have been near to it."""
    desk.more[q] = metric.error + metric.rounded
    for k in range(queries.values.shape[1]):
        x = queries.values[q, k]
        if x == x and not metric.sure_from <= x <= metric.sure_to:
            desk.more[q] = np.float32(np.inf)


@search.implements(search.level_of, Euclidean)
def _level_of(metric, desk, files, i, r, _bound):
    """The level of the pair (i, r) by the definition; the squares are summed in ascending order."""
    v, squares = metric.numeric.size, desk.squares
    for j in range(v):
        if metric.numeric[j]:
            p, e = files.puf_values[i, j], files.eif_values[r, j]
            if np.isnan(p) or np.isnan(e):
                s = metric.alpha
            elif p == e:
                s = 0.0
            else:
                x = abs(p - e) / metric.spread[j]
                s = math.tanh(min(6.0, x) / 2.0)  # in this order also 6 where the spread is NaN
        elif files.puf_codes[i, j] < 0 or files.eif_codes[r, j] < 0:
            s = metric.alpha
        else:
            s = 1.0 if files.puf_codes[i, j] != files.eif_codes[r, j] else 0.0
        square = s * s
        a = j
        while a > 0 and squares[a - 1] > square:
            squares[a] = squares[a - 1]
            a -= 1
        squares[a] = square
    total = 0.0
    for j in range(v):
        total += squares[j]
    score = math.sqrt(total) / v if metric.primer else math.sqrt(total / v)
    return np.int64(np.rint(score * 1e12))


@search.implements(search.limit_of, Euclidean)
def _limit_of(metric, bound):
    """The least float32 Σs² that surely has a level of at least ``bound``.

    A level is at least ``bound`` from a score of (bound − 0.5)·10^-12 on; 0.1 is room for the roundings of a
    score in double precision, which are below 10^-3 levels.
    """
    if bound <= 0:
        return np.float32(0)
    v = metric.numeric.size
    root = (bound - 0.4) / 1e12
    least = root * v * root * v if metric.primer else root * root * v
    limit = np.float32(least)
    return limit if limit >= least else np.nextafter(limit, np.float32(np.inf))


@search.implements(search.box_costs, Euclidean)
def _box_costs(metric, _desk, queries, q, boxes, b, fixed, varying):
    """A code outside the set differs; the nearest value is the nearer end of the interval, or the value itself."""
    nc = boxes.sets.shape[1]
    for c in range(WIDTH):
        fixed[c] = queries.base[q]
        varying[c] = -metric.error
    for k in range(nc):
        code = queries.codes[q, k]
        if code >= 0:
            bit = np.uint64(1) << np.uint64(code & 63)
            for c in range(WIDTH):
                outside = (boxes.sets[b, k, c] & bit) == np.uint64(0)
                fixed[c] += boxes.outside[b, k, c] if outside else np.float32(0)
    for k in range(boxes.low.shape[1]):
        x = queries.values[q, k]
        if x == x:
            for c in range(WIDTH):
                low, high = boxes.low[b, k, c], boxes.high[b, k, c]
                y = max(x, low)
                y = high if x > high else y
                t = abs(x - y) / (x + y)
                t *= t
                outside = boxes.outside[b, nc + k, c]
                varying[c] += min(outside, t)  # also where no record has a value: t is NaN
    for c in range(WIDTH):
        varying[c] = varying[c] if varying[c] > 0 else np.float32(0)


@inner_jit
def _record_cost(metric, queries, q, leaves, leaf, s):
    """The fixed and the varying cost of a record of a leaf, or parts of them that are beyond the limit."""
    nc = leaves.codes.shape[1]
    enough = queries.limit[q] + metric.error
    fixed, varying = queries.base[q], np.float32(0)
    for k in range(nc):
        code = queries.codes[q, k]
        if code >= 0:
            other = leaves.codes[leaf, k, s]
            if other < 0:
                fixed += metric.missing[k]
            elif other != code:
                fixed += metric.different[k]
    for k in range(leaves.values.shape[1]):
        if fixed + varying > enough:
            break
        x = queries.values[q, k]
        if x == x:
            y = leaves.values[leaf, k, s]
            if y == y:
                t = abs(x - y) / (x + y)
                t *= t
                varying += min(_FARTHEST, t)
            else:
                fixed += metric.missing[nc + k]
    return fixed, varying


@inner_jit
def _all_costs(metric, queries, q, leaves, leaf, fixed, varying):
    """The fixed and the varying cost of every record of a leaf."""
    nc = leaves.codes.shape[1]
    for s in range(WIDTH):
        fixed[s] = queries.base[q]
        varying[s] = np.float32(0)
    for k in range(nc):
        code = queries.codes[q, k]
        if code >= 0:
            different, missing = metric.different[k], metric.missing[k]
            for s in range(WIDTH):
                other = leaves.codes[leaf, k, s]
                cost = different if other != code else np.float32(0)
                fixed[s] += missing if other < 0 else cost
    for k in range(leaves.values.shape[1]):
        x = queries.values[q, k]
        if x == x:
            missing = metric.missing[nc + k]
            for s in range(WIDTH):
                y = leaves.values[leaf, k, s]
                t = abs(x - y) / (x + y)
                t *= t
                t = min(_FARTHEST, t)
                gone = y != y
                fixed[s] += missing if gone else np.float32(0)
                varying[s] += np.float32(0) if gone else t


@search.implements(search.leaf_costs, Euclidean)
def _leaf_costs(metric, desk, queries, q, leaves, leaf, mask, low, high):
    """Bounds of the records of ``mask``, and which of them are below the limit."""
    limit = queries.limit[q]
    few = popcount(mask) <= search.FEW
    none = np.float32(0)
    more = desk.more[q]
    below = np.uint64(0)
    if few:
        while mask:
            s = trailing_zeros(mask)
            mask &= mask - np.uint64(1)
            fixed, varying = _record_cost(metric, queries, q, leaves, leaf, s)
            low[s] = fixed + max(varying - metric.error, none)
            high[s] = fixed + varying + more
            if low[s] < limit:
                below |= np.uint64(1) << np.uint64(s)
        return below
    _all_costs(metric, queries, q, leaves, leaf, low, high)
    n_below = 0
    for s in range(WIDTH):
        varying = high[s] - metric.error
        high[s] += low[s] + more
        low[s] += max(none, varying)
        n_below += np.int32(low[s] < limit)
    if n_below == 0:
        return below
    while mask:
        s = trailing_zeros(mask)
        mask &= mask - np.uint64(1)
        if low[s] < limit:
            below |= np.uint64(1) << np.uint64(s)
    return below


def nearest(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    spread: np.ndarray,
    *,
    numeric: np.ndarray,
    alpha: float,
    norm: Literal["primer", "rms"],
    keep: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf_codes, eif_codes : int32 (n, v)
        Categories, equal in both files where the code is equal; -1 for missing and in numeric columns.
    puf_values, eif_values : float64 (n, v)
        Values of the numeric variables; NaN for missing and in categorical columns.
    spread : float64 (v,)
        Standard deviation of each numeric variable; 0 or NaN: unequal values count as 6 deviations apart.
    numeric : bool (v,)
        Which variables are numeric.
    alpha : float
        The score of a variable that is missing in either record, at least 0.
    norm : {'primer', 'rms'}
        √(Σs²)/v with threshold α/2, or √(Σs²/v) with threshold α/√2.
    keep : int
        The largest cumulative number of pairs of a rank that is returned, at least 1.
    threads : int
        The result does not depend on it.
    progress : callable, optional
        Called now and then with the fraction done.

    Returns
    -------
    puf, eif : int64 (m,)
        Positions, sorted by puf, level, eif.
    level : int64 (m,)
        The score in units of 10^-12, below that of the threshold.
    crowded : bool (n_puf,)
        Records whose best level alone has more than ``keep`` pairs; they have no pair in the result.

    Raises
    ------
    ValueError
        Where shapes disagree, or ``alpha``, ``keep`` or a spread is negative or ``alpha`` infinite.
    """
    _check(puf_codes, eif_codes, puf_values, eif_values, spread, numeric, alpha, keep)
    files = as_files(puf_codes, eif_codes, puf_values, eif_values)
    primer = norm == "primer"
    threshold = int(np.rint((alpha / 2 if primer else alpha / math.sqrt(2)) * SCALE))
    best = empty_best(len(puf_codes), min(keep, len(eif_codes)))
    if len(puf_codes) and len(eif_codes) and len(numeric) and threshold > 0:
        usable = np.where(np.isfinite(spread) & (np.asarray(spread) > 0), spread, np.nan).astype(np.float64)
        metric, index, puf = _prepared(files, np.asarray(numeric, np.bool_), usable, float(alpha), primer)
        search.run(
            index, puf, files, metric, lambda: _make_desk(len(numeric)), threshold, best, threads, progress
        )
    return listed(best)


def _prepared(
    files: Files, numeric: np.ndarray, spread: np.ndarray, alpha: float, primer: bool
) -> tuple[Euclidean, Index, Puf]:
    """The metric and both files in the form of the search."""
    measured = np.flatnonzero(numeric & ~np.isnan(spread))
    coded = np.flatnonzero(
        ~numeric | np.isnan(spread)
    )  # without a spread a value is equal or not, as a code is
    codes = coding.code_variables(
        [
            coding.rank_values(files.puf_values[:, j], files.eif_values[:, j])[:2]
            if numeric[j]
            else (files.puf_codes[:, j], files.eif_codes[:, j])
            for j in coded
        ],
        [True] * coded.size,
        len(files.puf_codes),
        len(files.eif_codes),
    )
    puf_values = np.empty((len(files.puf_values), measured.size), np.float32)
    eif_values = np.empty((measured.size, len(files.eif_values)), np.float32)
    places = np.empty_like(eif_values)
    for k, j in enumerate(measured):
        middle = coding.centre(files.puf_values[:, j])
        puf_values[:, k] = np.exp(_deviations(files.puf_values[:, j], middle, spread[j]))
        deviations = _deviations(files.eif_values[:, j], middle, spread[j])
        eif_values[k] = np.exp(deviations)
        places[k] = deviations / _REACH
    different = np.ones(numeric.size)
    different[: coded.size][numeric[coded]] = math.floor(math.tanh(3.0) ** 2 * GRAIN) / GRAIN
    different[coded.size :] = _FARTHEST
    missing = math.floor(min(alpha * alpha, 1.0) * GRAIN) / GRAIN
    n = measured.size
    costs = Costs(
        different.astype(np.float32),
        np.full(numeric.size, missing, np.float32),
        np.ones(coded.size, np.bool_),
        missing_differs=False,
    )
    # Of a square, float32 is off by less than 6·10^-7; adding n of them up, by less than n·6·10^-8 each time;
    # adding the fixed costs of at most 512 variables, by less than 4·10^-5. Twice that is beyond doubt.
    error = np.float32(8e-5 + 1.2e-6 * n + 1.2e-7 * n * n)
    # Fixed costs are rounded down to the grain, and a missing value that costs more than 1 is taken to cost 1.
    exact = missing == alpha * alpha and not numeric[coded].any()
    rounded = np.float32(0 if exact else numeric.size * (1 / GRAIN + max(alpha * alpha - 1, 0)))
    sure = np.exp([-_SURE, _SURE]).astype(np.float32)
    metric = Euclidean(numeric, spread, alpha, primer, costs.different, costs.missing, error, rounded, *sure)
    index = build(codes.eif, codes.n, eif_values, places, costs)
    return (
        metric,
        index,
        Puf(codes.puf, puf_values, costs.missing, float(different[: coded.size].min(initial=1))),
    )


def _make_desk(v: int) -> Desk:
    return Desk(np.empty(v), np.empty(TOGETHER, np.float32))


def _deviations(values: np.ndarray, middle: float, spread: float) -> np.ndarray:
    """Standard deviations from the middle, cut off."""
    with np.errstate(over="ignore"):  # a quotient beyond all numbers is infinite, and is cut off
        return np.clip((values - middle) / spread, -_CUT, _CUT)


def _check(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    spread: np.ndarray,
    numeric: np.ndarray,
    alpha: float,
    keep: int,
) -> None:
    """Refuse arrays that do not belong together."""
    v = len(numeric)
    if v > search.MOST_VARIABLES:
        raise ValueError(f"the search takes at most {search.MOST_VARIABLES} variables.")
    if any(a.ndim != 2 or a.shape[1] != v for a in (puf_codes, eif_codes, puf_values, eif_values)):
        raise ValueError(f"codes and values need {v} columns, one per variable.")
    if len(puf_codes) != len(puf_values) or len(eif_codes) != len(eif_values) or len(spread) != v:
        raise ValueError("codes, values and spread disagree in length.")
    if not (alpha >= 0 and math.isfinite(alpha)) or keep < 1 or bool(np.any(np.asarray(spread) < 0)):
        raise ValueError("alpha must be finite and at least 0, keep at least 1, no spread negative.")
