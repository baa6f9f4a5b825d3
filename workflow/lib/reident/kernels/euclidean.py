"""Euclidean: the nearest pairs by the root of the sum of squared variable scores (METHODS §4.3, §5).

A variable scores 0 or 1 (categorical), tanh(x/2) with x the smaller of 6 and the difference in PUF standard
deviations (numeric), and α where it is missing in either record.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from reident.kernels.compiling import jit
from reident.kernels.toplist import empty_best, in_threads, listed, offer, settle

SCALE = 1e12
"""Scores are rounded to 12 decimals before they are compared: a level is the rounded multiple of 10^-12."""


@jit
def exact_level(i, r, pc, ec, pv, ev, numeric, spread, alpha, primer, squares):
    """The level of the pair (i, r) by the definition; the squares are summed in ascending order."""
    v = pc.shape[1]
    for j in range(v):
        if numeric[j]:
            p, e = pv[i, j], ev[r, j]
            if p != p or e != e:
                s = alpha
            elif p == e:
                s = 0.0
            else:
                x = abs(p - e) / spread[j]
                # not min: 6 also where the spread is 0 or NaN, and x with it
                s = math.tanh((x if x < 6.0 else 6.0) / 2.0)  # noqa: FURB136
        elif pc[i, j] < 0 or ec[r, j] < 0:
            s = alpha
        else:
            s = 1.0 if pc[i, j] != ec[r, j] else 0.0
        square = s * s
        a = j
        while a > 0 and squares[a - 1] > square:
            squares[a] = squares[a - 1]
            a -= 1
        squares[a] = square
    total = 0.0
    for j in range(v):
        total += squares[j]
    score = math.sqrt(total) / v if primer else math.sqrt(total / v)
    return np.int64(np.rint(score * 1e12))


@jit
def _scan(first, end, pc, ec, pv, ev, numeric, spread, alpha, primer, threshold, keep, best):
    """All pairs of the PUF records [first, end), abandoning a pair once its sum of squares is too large."""
    n, v = ec.shape
    levels, eifs, squares = np.empty(keep + 1, np.int64), np.empty(keep + 1, np.int32), np.empty(v)
    missing = alpha * alpha
    for i in range(first, end):
        count, bound = 0, threshold
        for r in range(n):
            root = (bound - 0.4) / 1e12
            limit = root * v * root * v if primer else root * root * v
            q = 0.0
            for j in range(v):
                if not numeric[j]:
                    if pc[i, j] < 0 or ec[r, j] < 0:
                        q += missing
                    elif pc[i, j] != ec[r, j]:
                        q += 1.0
            if q >= limit:
                continue
            level = exact_level(i, r, pc, ec, pv, ev, numeric, spread, alpha, primer, squares)
            if level < bound:
                count = offer(levels, eifs, count, level, r)
                if count == keep + 1:
                    bound = levels[keep]
        settle(levels, eifs, count, best, i)


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
    n_puf, v = puf_codes.shape
    best = empty_best(n_puf, keep)
    if n_puf and len(eif_codes) and v:
        primer = norm == "primer"
        threshold = int(np.rint((alpha / 2 if primer else alpha / math.sqrt(2)) * SCALE))
        arrays = (
            np.ascontiguousarray(puf_codes, np.int32),
            np.ascontiguousarray(eif_codes, np.int32),
            np.ascontiguousarray(puf_values, np.float64),
            np.ascontiguousarray(eif_values, np.float64),
            np.ascontiguousarray(numeric, np.bool_),
            np.ascontiguousarray(spread, np.float64),
        )

        def work(first: int, end: int) -> None:
            _scan(first, end, *arrays, float(alpha), primer, threshold, keep, best)

        in_threads(work, n_puf, block=256, threads=threads, progress=progress)
    return listed(best)


def _check(puf_codes, eif_codes, puf_values, eif_values, spread, numeric, alpha, keep):
    v = len(numeric)
    if any(a.ndim != 2 or a.shape[1] != v for a in (puf_codes, eif_codes, puf_values, eif_values)):
        raise ValueError(f"codes and values need {v} columns, one per variable.")
    if len(puf_codes) != len(puf_values) or len(eif_codes) != len(eif_values) or len(spread) != v:
        raise ValueError("codes, values and spread disagree in length.")
    if not (alpha >= 0 and math.isfinite(alpha)) or keep < 1 or bool(np.any(np.asarray(spread) < 0)):
        raise ValueError("alpha must be finite and at least 0, keep at least 1, no spread negative.")
