"""Euclidean: the nearest pairs by the root of the sum of squared variable scores (METHODS §4.3, §5).

The search minimises the cost of a pair, the sum of the squares; `euclidean_costs` has its definition and its bounds.
"""

import math
from typing import Literal, Unpack

import numpy as np

from reident.kernels import coding, search, strata, ties
from reident.kernels.boxes import GRAIN, Costs, Index, build
from reident.kernels.buffers import Puf, SearchFiles, as_files
from reident.kernels.euclidean_costs import FARTHEST, MAX_ALPHA, Definition, Euclidean, float32_error, step_squares
from reident.kernels.strata import Starts
from reident.kernels.ties import Weighing
from reident.kernels.toplist import Pairs, Workers, empty_best, list_pairs

_CUT = 40.0
"""Standard deviations from the centre at which values are cut off."""

_SURE = 33.0
"""Values within this many deviations of the centre are more than six deviations from every value that is cut off."""

MAX_NEAREST = 2**23
"""EIF records whose position fits below a level of the finest scale in 64 bits."""

_REACH = 2.5
"""Standard deviations beyond which two values count as different when records are put in order."""


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
    whole_steps : bool
        Whether differences in standard deviations are rounded down.
    keep, starts, **workers
        See `toplist`.

    Returns
    -------
    Pairs
        The lowest level first.

    Notes
    -----
    Source: METHODS §4.3, §5; Singer and Dajani 2020.
    """
    files = as_files(puf_codes, eif_codes, puf_values, eif_values)
    v = len(numeric)
    search.check(files, v, scale, keep)
    _check(spread, v, alpha)
    stepped = step_squares() if whole_steps else None
    definition = np.asarray(numeric, np.bool_), _usable(spread), float(alpha), norm == "primer"
    if starts is not None:
        exact = Definition(*definition, float(scale), stepped)
        return strata.nearest(exact, files, starts, threshold=threshold if v else 0, keep=keep, **workers)
    best = empty_best(len(puf_codes), min(keep, len(eif_codes)))
    if len(puf_codes) and len(eif_codes) and v and threshold > 0:
        metric, index, puf = _prepare(files, *definition, scale)
        if whole_steps:  # without an upper bound, see `euclidean_costs`
            metric = metric._replace(steps=stepped, shortfall=np.float32(np.inf))
        search.run(index, puf, files, metric, threshold, best, **workers)
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

    The parameters are those of :func:`nearest`; each file has a record, the EIF at most :data:`MAX_NEAREST`, there is a
    variable, and ``alpha`` is at most 1.

    Returns
    -------
    levels : int64 (n_puf, 2)
        0 to ``scale``; -1 for the second one if the EIF has one record.
    eif : int64 (n_puf,)
        Of several nearest records, the first.

    Notes
    -----
    Levels are made different by the position of the EIF record, so that nothing ties. Pairs of one level differ in
    cost by at most 2·10⁻¹²·√(cost·v) at the finest scale. The limit that upper bounds give is a unit in the last
    place above the largest of them, 2⁻²⁴ of it or more, which is at least the error of some 2⁻²⁴·v; both together
    exceed that difference, so that all records of the best level are compared. Source: METHODS §4.3, §8.1.
    """
    files, v = as_files(puf_codes, eif_codes, puf_values, eif_values), len(numeric)
    search.check(files, v, scale, keep=2)
    _check(spread, v, alpha)
    if not (len(puf_codes) and 0 < len(eif_codes) <= MAX_NEAREST and v and alpha <= 1):
        raise ValueError(f"both files need a record, the EIF at most {MAX_NEAREST:,}, variables, and α up to 1.")
    shift = (len(eif_codes) - 1).bit_length()
    metric, index, puf = _prepare(files, np.asarray(numeric, np.bool_), _usable(spread), float(alpha), False, scale)
    best = empty_best(len(puf_codes), min(2, len(eif_codes)))
    search.run(index, puf, files, metric._replace(shift=shift), (scale + 1) << shift, best, **workers)
    levels = np.full((len(puf_codes), 2), -1, np.int64)
    levels[:, : best.level.shape[1]] = best.level >> shift
    return levels, best.eif[:, 0].astype(np.int64)


def weigh_nearest(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    spread: np.ndarray,
    *,
    numeric: np.ndarray,
    alpha: float,
    scale: int,
    times: np.ndarray,
    weighing: Weighing,
    sums: np.ndarray,
    **workers: Unpack[Workers],
) -> np.ndarray:
    """Add the shares of all nearest EIF records to ``sums``, by the norm `rms`; see `ties.weigh`.

    The other parameters are those of :func:`two_nearest`, which gives the levels of the nearest records.
    """
    files, v = as_files(puf_codes, eif_codes, puf_values, eif_values), len(numeric)
    search.check(files, v, scale, keep=1)
    _check(spread, v, alpha)
    metric, index, puf = _prepare(files, np.asarray(numeric, np.bool_), _usable(spread), float(alpha), False, scale)
    return ties.weigh(index, puf, files, metric, times, weighing, sums, **workers)


def _usable(spread: np.ndarray) -> np.ndarray:
    """Return standard deviations, NaN where they are 0 or undefined."""
    return np.where(np.isfinite(spread) & (np.asarray(spread) > 0), spread, np.nan).astype(np.float64)


def _prepare(
    files: SearchFiles, numeric: np.ndarray, spread: np.ndarray, alpha: float, primer: bool, scale: int
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
    different[coded_at.size :] = FARTHEST
    missing = math.floor(min(alpha * alpha, 1.0) * GRAIN) / GRAIN
    costs = Costs(different.astype(np.float32), np.full(v, missing, np.float32))
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
    return (metric, index, Puf(codes.puf, puf_values, costs.missing, float(different[: coded_at.size].min(initial=1))))


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
