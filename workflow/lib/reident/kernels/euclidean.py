"""Euclidean: the nearest pairs by the root of the sum of squared variable scores (METHODS §4.3, §5).

A variable scores 0 or 1 (categorical), tanh(x/2) with x the smaller of 6 and the difference in PUF standard
deviations (numeric), and α where it is missing in either record. The *cost* of a pair is Σs², the sum of the squares.

The search (see `search`) bounds costs in single precision, with tanh((a − b)/2) = |eᵃ − eᵇ| / (eᵃ + eᵇ) for values
a, b in standard deviations from the centre of the variable. Values are cut off 40 deviations from the centre, which
keeps eᵃ in range. That never increases a difference, so that lower bounds stay valid. Upper bounds stay valid
for a PUF record all of whose values are within 33 deviations: a value that is cut off differs from them by more
than 6 deviations, where the score no longer grows. Other records have no upper bound.

How far single precision can be off
-----------------------------------
Let u = 2⁻²⁴, so that a rounded result differs from the exact one by at most u times the exact one, and by at most
h(k) = 2^(⌈log₂ k⌉ − 1)·u if it is below k: half a unit in the last place. Terms in u² are below 10⁻⁶ of those in u.

1. x = eᵃ and y = eᵇ are computed in double precision and rounded: their ratio is off by at most 2u, relatively (double
   precision adds less than 10⁻⁶·u, since |a| ≤ 40). The derivative of τ = tanh((a − b)/2) by the logarithm of
   that ratio is (1 − τ²)/2, so this changes τ by at most (1 − τ²)·u.
2. x − y and x + y are rounded, each by at most u relatively: τ changes by at most 2τ·u.
3. The quotient is rounded, by at most u/2 since τ is below 1. With 1 and 2, τ² changes by at most
   2τ·(1 − τ² + 2τ + ½)·u.
4. The square is rounded, by at most u/2. The sum of all four grows with τ: it is 5.48·u at τ = tanh 3, where the
   score is cut off, and 5.5·u at τ = 1. The largest square, tanh² 3, is a constant rounded by at most u/2. Hence
   each square is off by at most 5.5·u.
5. Squares are below 0.991 and hence a sum of k of them below k, roundings included (k ≤ 512): adding the k-th is off by
   at most h(k). The first is added to 0, or in boxes to a negative number: this costs nothing, or h(1).
6. Fixed costs are multiples of 2⁻¹² and sums of up to 512 of them are exact. A lower bound is
   fixed + (Σ − error), rounded twice, first below n and then below v. An upper bound is (fixed + Σ) + error or
   Σ + (fixed + error), rounded twice below v; if a sum is not below v, all its terms are fixed costs, and exact. That
   is at most 2·h(v); in boxes h(1) + h(v), which is not more.

Hence error = u·(5.5·n + Σ_{k=2…n} h(k)/u + 2·h(v)/u) is enough for n numeric of v variables. What 5.5 exceeds 5.48 by
covers the terms in u² and the rounding of the error itself. A test constructs records that come within 10 % of the
error, or within 25 % with few variables, where some of the roundings in 6 exclude one another. With a smaller
error a lower bound could be above the cost, and pairs would be lost.
"""

import math
from typing import Literal, NamedTuple, Unpack

import numpy as np

from reident.kernels import coding, search, steps, strata
from reident.kernels.bits import popcount, trailing_zeros
from reident.kernels.boxes import GRAIN, WIDTH, Costs, Index, build
from reident.kernels.buffers import BATCH, Files, Puf, as_files
from reident.kernels.compiling import inner_jit
from reident.kernels.strata import Starts
from reident.kernels.toplist import Pairs, Workers, empty_best, list_pairs

MAX_ALPHA = 3
"""Up to this score the roundings of a score in double precision are below a tenth of a level, see `_limit_of`."""

UNIT = 2.0**-24
"""The relative rounding error of single precision."""

SQUARE_ERROR = 5.5
"""Units by which the square of a numeric score can be off in single precision."""

_FARTHEST = np.float32(math.tanh(3.0) ** 2)
"""The square of the highest score of a numeric variable."""

_CUT = 40.0
"""Standard deviations from the centre at which values are cut off."""

_SURE = 33.0
"""Values within this many deviations of the centre are more than six deviations from every value that is cut off."""

MAX_NEAREST = 2**23
"""EIF records whose position fits below a level of the finest scale in 64 bits."""

_REACH = 2.5
"""Standard deviations beyond which two values count as different when records are put in order."""


class Euclidean(NamedTuple):
    """The metric as the search needs it; arrays in the order of the boxes have categorical variables first."""

    numeric: np.ndarray  # bool (v,), in the order of the files
    spread: np.ndarray  # float64 (v,), in the order of the files; NaN where it is 0 or undefined
    alpha: float
    primer: bool
    scale: float  # levels per score of 1
    different: np.ndarray  # float32 (v,), in the order of the boxes
    missing: np.ndarray  # float32 (v,), in the order of the boxes
    error: np.float32  # how far a pair's cost can be off in single precision
    shortfall: np.float32  # how far a pair's fixed costs can be below their true sum
    steps: np.ndarray | None  # of whole steps, see there
    sure_from: np.float32  # eᵃ of the values that bound those with an upper bound
    sure_to: np.float32
    shift: int  # bits below the level that hold the position of the EIF record; 0 if ties are ties


class Scratch(NamedTuple):
    """Working memory for one pair, and what is known of each PUF record of a batch."""

    squares: np.ndarray  # float64 (v,)
    margin: np.ndarray  # float32 (BATCH,): a pair's cost in single precision plus this is an upper bound


@search.implements(search.load, Euclidean)
def _load(metric, scratch, _files, queries, q, _i):
    """Set the margin of a PUF record, infinite where a value that is cut off may be near one of its values."""
    scratch.margin[q] = metric.error + metric.shortfall
    for k in range(queries.values.shape[1]):
        x = queries.values[q, k]
        if x == x and not metric.sure_from <= x <= metric.sure_to:
            scratch.margin[q] = np.float32(np.inf)


class Definition(NamedTuple):
    """The metric as its definition needs it, in strata that have a spread each."""

    numeric: np.ndarray  # bool (v,)
    spread: np.ndarray  # float64 (n_strata, v); NaN where it is 0 or undefined
    alpha: float
    primer: bool
    scale: float  # levels per score of 1
    steps: np.ndarray | None  # of whole steps, see there


@search.implements(search.level_of, Euclidean)
def _level_of(metric, scratch, files, i, r, _bound):
    """Return the level of the pair (i, r) by the definition, with the position of r below it."""
    level = _level(metric, metric.spread, scratch.squares, files, i, r)
    return (level << metric.shift) + (r & ((1 << metric.shift) - 1))


@search.implements(strata.level_in, Definition)
def _level_in(metric, squares, files, s, i, r, _bound):
    """Return the level of the pair (i, r) of stratum s by the definition."""
    return _level(metric, metric.spread[s], squares, files, i, r)


@inner_jit
def _level(metric, spread, squares, files, i, r):
    """Return the level of the pair (i, r); the squares are added in ascending order."""
    v = metric.numeric.size
    for j in range(v):
        if metric.numeric[j]:
            p, e = files.puf_values[i, j], files.eif_values[r, j]
            if np.isnan(p) or np.isnan(e):
                s = metric.alpha
            elif p == e:
                s = 0.0
            else:
                s = steps.score(metric.steps, abs(p - e), spread[j])
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
    return np.int64(np.rint(score * metric.scale))


@search.implements(search.limit_of, Euclidean)
def _limit_of(metric, bound):
    """Return a float32 cost from which on a pair's level is at least ``bound``.

    A level is at least ``bound`` if the score, in levels, is above bound − 0.5. In double precision the score of 512
    variables is off by less than 270·2⁻⁵³ of it: 13 units for each square (tanh is correct to 2 units in the last
    place), 511 for the additions, half of this through the root; 3 for the root, the division and the scaling. Of
    scores up to `MAX_ALPHA` in `search.MAX_SCALE` levels this is less than 0.09 levels; the roundings of this
    function are below 0.01 levels. Hence bound − 0.4.
    """
    bound = -(-bound >> metric.shift)
    if bound <= 0:
        return np.float32(0)
    v = metric.numeric.size
    root = (bound - 0.4) / metric.scale
    least = root * v * root * v if metric.primer else root * root * v
    limit = np.float32(least)
    return limit if limit >= least else np.nextafter(limit, np.float32(np.inf))


@search.implements(search.box_costs, Euclidean)
def _box_costs(metric, _scratch, queries, q, boxes, b, fixed, varying):
    """Bound boxes: a code outside the set differs; the nearest value is the nearer end of the interval, or x."""
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
                t = steps.square(metric.steps, t * t)
                outside = boxes.outside[b, nc + k, c]
                varying[c] += min(
                    outside, t
                )  # t is NaN where no record has a value, and the minimum is ``outside``
    for c in range(WIDTH):
        varying[c] = varying[c] if varying[c] > 0 else np.float32(0)


@inner_jit
def _record_cost(metric, queries, q, leaves, leaf, s):
    """Return the fixed and the varying cost of a record of a leaf, or parts of them that exceed the limit."""
    nc = leaves.codes.shape[1]
    # Beyond this, leaving out further terms keeps the lower bound valid, and the upper bound is above the limit.
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
                t = steps.square(metric.steps, t * t)
                varying += min(_FARTHEST, t)
            else:
                fixed += metric.missing[nc + k]
    return fixed, varying


@inner_jit
def _all_costs(metric, queries, q, leaves, leaf, fixed, varying):
    """Write the fixed and the varying cost of every record of a leaf."""
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
                t = steps.square(metric.steps, t * t)
                t = min(_FARTHEST, t)
                absent = y != y
                fixed[s] += missing if absent else np.float32(0)
                varying[s] += np.float32(0) if absent else t


@search.implements(search.leaf_costs, Euclidean)
def _leaf_costs(metric, scratch, queries, q, leaves, leaf, mask, low, high):
    """Bound the records of ``mask``, one by one where they are few; return those below the limit."""
    limit = queries.limit[q]
    zero, margin = np.float32(0), scratch.margin[q]
    below = np.uint64(0)
    if popcount(mask) <= search.MAX_SINGLE:
        while mask:
            s = trailing_zeros(mask)
            mask &= mask - np.uint64(1)
            fixed, varying = _record_cost(metric, queries, q, leaves, leaf, s)
            low[s] = fixed + max(varying - metric.error, zero)
            high[s] = fixed + varying + margin
            if low[s] < limit:
                below |= np.uint64(1) << np.uint64(s)
        return below
    _all_costs(metric, queries, q, leaves, leaf, low, high)
    n_below = 0
    for s in range(WIDTH):
        varying = high[s] - metric.error
        high[s] += low[s] + margin
        low[s] += max(zero, varying)
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
    threshold: int,
    scale: int,
    keep: int,
    starts: Starts | None = None,
    whole_steps: bool = False,
    **workers: Unpack[Workers],
) -> Pairs:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf_codes, eif_codes : int32 (n, v)
        Categories, equal in both files where the code is equal; -1 for missing and in numeric columns.
    puf_values, eif_values : float64 (n, v)
        Values of the numeric variables; NaN for missing and in categorical columns.
    spread : float64 (v,), or (n_strata, v) with ``starts``
        Standard deviation of each numeric variable; 0 or NaN: unequal values count as 6 deviations apart.
    numeric : bool (v,)
        Which variables are numeric.
    alpha : float
        The score of a variable that is missing in either record, 0 to 3.
    norm : {'primer', 'rms'}
        The score of a pair is √(Σs²)/v, or √(Σs²/v).
    threshold : int
        A pair is suspected if its level is below this. The level of a pair is its score times ``scale``, rounded to an
        integer.
    scale : int
        1 to 10^12.
    keep : int
        The largest cumulative number of pairs of a rank, at least 1.
    starts : Starts, optional
        Where small strata begin whose records lie one after another; only the pairs of a stratum are compared.
    whole_steps : bool
        Whether differences in standard deviations are rounded down.
    **workers : Workers

    Returns
    -------
    Pairs
        The lowest level first.

    Raises
    ------
    ValueError
        If shapes disagree or an argument is out of its range.

    Notes
    -----
    If a file has no record, or there are no variables, the result has no pair. Source: METHODS §4.3, §5; Singer
    and Dajani 2020.
    """
    files = as_files(puf_codes, eif_codes, puf_values, eif_values)
    v = len(numeric)
    search.check(files, v, scale, keep)
    _check(spread, v, alpha)
    stepped = steps.whole_steps(UNIT) if whole_steps else None
    definition = np.asarray(numeric, np.bool_), _usable(spread), float(alpha), norm == "primer"
    if starts is not None:
        exact = Definition(*definition, float(scale), stepped)
        return strata.nearest(
            exact, lambda: np.empty(v), files, starts, threshold=threshold if v else 0, keep=keep, **workers
        )
    best = empty_best(len(puf_codes), min(keep, len(eif_codes)))
    if len(puf_codes) and len(eif_codes) and v and threshold > 0:
        metric, index, puf = _prepare(files, *definition, scale)
        if whole_steps:  # without an upper bound, see `steps`
            metric = metric._replace(steps=stepped, shortfall=np.float32(np.inf))

        def make_scratch() -> Scratch:
            return _empty_scratch(v)

        search.run(index, puf, files, metric, make_scratch, threshold, best, **workers)
    return list_pairs(best)


def two_nearest(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    spread: np.ndarray,
    *,
    numeric: np.ndarray,
    alpha: float,
    scale: int,
    **workers: Unpack[Workers],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the two lowest levels of each PUF record by the norm `rms`, and its nearest EIF record.

    Parameters
    ----------
    puf_codes, eif_codes, puf_values, eif_values, spread, numeric, scale, **workers
        As for :func:`nearest`; at least one record in each file, at most :data:`MAX_NEAREST` in the EIF, and at least
        one variable.
    alpha : float
        The score of a variable that is missing in either record, 0 to 1.

    Returns
    -------
    levels : int64 (n_puf, 2)
        0 to ``scale``; -1 for the second one if the EIF has one record.
    eif : int64 (n_puf,)
        Of several nearest records, the first.

    Raises
    ------
    ValueError
        If shapes disagree or an argument is out of its range.

    Notes
    -----
    Levels are made different by the position of the EIF record, so that nothing ties. Pairs of one level differ in
    cost by at most 2·10⁻¹²·√(cost·v) at the finest scale. The limit that upper bounds give is a unit in the last place
    above the largest of them, 2⁻²⁴ of it or more, which is at least the error of some 2⁻²⁴·v; both together exceed that
    difference, so that all records of the best level are compared. Source: METHODS §4.3, §8.1.
    """
    files, v = as_files(puf_codes, eif_codes, puf_values, eif_values), len(numeric)
    search.check(files, v, scale, keep=2)
    _check(spread, v, alpha)
    if not (len(puf_codes) and 0 < len(eif_codes) <= MAX_NEAREST and v and alpha <= 1):
        raise ValueError(
            f"both files need a record, the EIF at most {MAX_NEAREST:,}, variables, and α up to 1."
        )
    shift = (len(eif_codes) - 1).bit_length()
    metric, index, puf = _prepare(
        files, np.asarray(numeric, np.bool_), _usable(spread), float(alpha), False, scale
    )
    best = empty_best(len(puf_codes), min(2, len(eif_codes)))
    search.run(
        index,
        puf,
        files,
        metric._replace(shift=shift),
        lambda: _empty_scratch(v),
        (scale + 1) << shift,
        best,
        **workers,
    )
    levels = np.full((len(puf_codes), 2), -1, np.int64)
    levels[:, : best.level.shape[1]] = best.level >> shift
    return levels, best.eif[:, 0].astype(np.int64)


def _usable(spread: np.ndarray) -> np.ndarray:
    """Return standard deviations, NaN where they are 0 or undefined."""
    return np.where(np.isfinite(spread) & (np.asarray(spread) > 0), spread, np.nan).astype(np.float64)


def float32_error(n: int, v: int) -> float:
    """Return how far the cost of a pair can be off in single precision, with n numeric of v variables."""
    if n == 0:
        return 0.0
    return UNIT * (SQUARE_ERROR * n + sum(_half_unit(k) for k in range(2, n + 1)) + 2 * _half_unit(v))


def _half_unit(k: int) -> float:
    """Half a unit in the last place of the float32 numbers just below k, in units."""
    return 2.0 ** ((k - 1).bit_length() - 1)


def _prepare(
    files: Files, numeric: np.ndarray, spread: np.ndarray, alpha: float, primer: bool, scale: int
) -> tuple[Euclidean, Index, Puf]:
    """Bring the metric and both files into the form of the search."""
    v, numeric_at = numeric.size, np.flatnonzero(numeric & ~np.isnan(spread))
    # Without a spread two values are equal or not, as two codes are.
    coded_at = np.flatnonzero(~numeric | np.isnan(spread))
    codes = coding.code_variables(
        [
            coding.rank_values(files.puf_values[:, j], files.eif_values[:, j])[:2]
            if numeric[j]
            else (files.puf_codes[:, j], files.eif_codes[:, j])
            for j in coded_at
        ],
        [True] * coded_at.size,
        len(files.puf_codes),
        len(files.eif_codes),
    )
    puf_values = np.empty((len(files.puf_values), numeric_at.size), np.float32)
    eif_values = np.empty((numeric_at.size, len(files.eif_values)), np.float32)
    coordinates = np.empty_like(eif_values)
    for k, j in enumerate(numeric_at):
        middle = coding.centre(files.puf_values[:, j])
        puf_values[:, k] = np.exp(_deviations(files.puf_values[:, j], middle, spread[j]))
        deviations = _deviations(files.eif_values[:, j], middle, spread[j])
        eif_values[k] = np.exp(deviations)
        coordinates[k] = deviations / _REACH
    different = np.ones(v)
    different[: coded_at.size][numeric[coded_at]] = math.floor(math.tanh(3.0) ** 2 * GRAIN) / GRAIN
    different[coded_at.size :] = _FARTHEST
    missing = math.floor(min(alpha * alpha, 1.0) * GRAIN) / GRAIN
    costs = Costs(
        different.astype(np.float32),
        np.full(v, missing, np.float32),
        np.ones(coded_at.size, np.bool_),
    )
    # Fixed costs are rounded down to the grain, and a missing value that costs more than 1 counts as 1. The factor
    # covers the roundings of the larger sums that this makes: 2⁻¹²·2⁻¹⁰ is 4 units for each variable.
    exact = missing == alpha * alpha and not numeric[coded_at].any()
    shortfall = 0.0 if exact else v * (1 / GRAIN + max(alpha * alpha - 1, 0)) * (1 + 2**-10)
    metric = Euclidean(
        numeric=numeric,
        spread=spread,
        alpha=alpha,
        primer=primer,
        scale=float(scale),
        different=costs.different,
        missing=costs.missing,
        error=np.float32(float32_error(numeric_at.size, v)),
        shortfall=np.float32(shortfall),
        steps=None,
        sure_from=np.float32(math.exp(-_SURE)),
        sure_to=np.float32(math.exp(_SURE)),
        shift=0,
    )
    index = build(codes.eif, codes.n, eif_values, coordinates, costs)
    return (
        metric,
        index,
        Puf(codes.puf, puf_values, costs.missing, float(different[: coded_at.size].min(initial=1))),
    )


def _empty_scratch(v: int) -> Scratch:
    """Allocate the scratch memory of one search at a time, uninitialised."""
    return Scratch(np.empty(v), np.empty(BATCH, np.float32))


def _deviations(values: np.ndarray, middle: float, spread: float) -> np.ndarray:
    """Return standard deviations from the middle, cut off."""
    with np.errstate(over="ignore"):  # an infinite quotient is cut off too
        return np.clip((values - middle) / spread, -_CUT, _CUT)


def _check(spread: np.ndarray, v: int, alpha: float) -> None:
    """Refuse a spread or an α that is out of range."""
    if spread.shape[-1] != v or bool(np.any(np.asarray(spread) < 0)):
        raise ValueError(f"spread must have {v} columns, one for each variable, and none may be negative.")
    if not 0 <= alpha <= MAX_ALPHA:
        raise ValueError(f"alpha must be 0 to {MAX_ALPHA}, not {alpha}.")
