"""Adhoc: the best pairs by the sum of the scores that the study defines for each variable (METHODS §4.4, §5).

The search minimises the cost of a pair: the largest possible sum less the sum of its scores.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from reident.kernels import coding, search, strata
from reident.kernels.adhoc_bounds import Adhoc, Definition, Scratch, empty_scratch
from reident.kernels.adhoc_rules import BANDS, EXACT, MAX_SCORE, Bands, Exact, Flat, Rule, Table, flatten
from reident.kernels.boxes import GRAIN, Costs, Index, build
from reident.kernels.buffers import Files, Puf, as_files
from reident.kernels.strata import Starts
from reident.kernels.toplist import empty_best, list_pairs

__all__ = ["Bands", "Exact", "Rule", "Table", "nearest", "nearest_in_strata"]

_MAX_RANKS = 2**24
"""Up to this number single precision represents whole numbers exactly."""


def nearest(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    rules: Sequence[Rule],
    *,
    above: int,
    scale: int,
    keep: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the suspected pairs of each PUF record at the ranks with at most ``keep`` pairs in all.

    Parameters
    ----------
    puf_codes, eif_codes : int32 (n, v)
        Categories, equal in both files where the code is equal, -1 for missing; read where the rule of the
        variable is `Exact` or `Table`.
    puf_values, eif_values : float64 (n, v)
        Values, NaN for missing; read where the rule is `Bands`.
    rules : sequence of Exact, Table or Bands, one per variable
    above : int
        A pair is suspected if the sum of its scores is larger.
    scale : int
        The score of 1, 1 to 10^12: all scores are integers in units of 1/scale.
    keep : int
        The largest cumulative number of pairs of a rank that is returned, at least 1.
    threads : int
        The result does not depend on it.
    progress : callable, optional
        Called now and then with the fraction done.

    Returns
    -------
    puf, eif : int64 (m,)
        Positions, sorted by puf, level (highest first), eif.
    level : int64 (m,)
        The sum of the scores.
    crowded : bool (n_puf,)
        Records whose best level alone has more than ``keep`` pairs; they have no pair in the result.

    Raises
    ------
    ValueError
        If shapes disagree, a score is outside 0 … 5, a code outside its table, or another argument out of its range.

    Notes
    -----
    If a file has no record, the result has no pair. Source: METHODS §4.4, §5; Singer and Dajani 2020.
    """
    flat, files = flatten(rules, scale), as_files(puf_codes, eif_codes, puf_values, eif_values)
    search.check(files, len(rules), scale, keep)
    _check(files, rules)
    total = int(flat.highest.sum())
    best = empty_best(len(puf_codes), min(keep, len(eif_codes)))
    if len(puf_codes) and len(eif_codes) and total > above:
        metric, index, puf = _prepare(files, flat)
        n_coded, n_bands = puf.codes.shape[1], int(flat.width[flat.kind == BANDS].max(initial=0))

        def make_scratch() -> Scratch:
            return empty_scratch(n_coded, len(rules) - n_coded, n_bands)

        search.run(index, puf, files, metric, make_scratch, total - above, best, threads, progress)
    puf_at, eif_at, cost, crowded = list_pairs(best)
    return puf_at, eif_at, total - cost, crowded


def nearest_in_strata(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    rules: Sequence[Rule],
    widths: Mapping[int, np.ndarray],
    starts: Starts,
    *,
    above: int,
    scale: int,
    keep: int,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what `nearest` does of each of many small strata.

    Parameters
    ----------
    puf_codes, eif_codes, puf_values, eif_values
        As for `nearest`, the records of the strata one after another.
    rules : sequence of Exact, Table or Bands, one per variable
    widths : mapping of float64 (n_strata, b)
        By variable, the ``within`` of its bands in each stratum, where it depends on the stratum.
    starts : Starts
    above, scale, keep, threads, progress
        As for `nearest`.

    Returns
    -------
    puf, eif, level, crowded
        As of `nearest`; positions in the files.
    """
    flat, files = flatten(rules, scale), as_files(puf_codes, eif_codes, puf_values, eif_values)
    search.check(files, len(rules), scale, keep)
    _check(files, rules)
    within = np.tile(flat.within, (len(starts.puf) - 1, 1))
    for at, own in widths.items():
        within[:, flat.start[at] : flat.start[at] + flat.width[at]] = own
    total = int(flat.highest.sum())
    puf, eif, cost, crowded = strata.nearest(
        Definition(flat, within),
        lambda: None,
        files,
        starts,
        threshold=total - above,
        keep=keep,
        threads=threads,
        progress=progress,
    )
    return puf, eif, total - cost, crowded


def _round_down(cost: np.ndarray, scale: int) -> np.ndarray:
    """Return costs in float32 and units of 1, rounded down to the grain."""
    return ((cost * GRAIN // scale) / GRAIN).astype(np.float32)


def _prepare(files: Files, rules: Flat) -> tuple[Adhoc, Index, Puf]:
    """Bring the metric and both files into the form of the search."""
    coded, numeric = np.flatnonzero(rules.kind != BANDS), np.flatnonzero(rules.kind == BANDS)
    variable = np.concatenate([coded, numeric])
    exact = rules.kind[coded] == EXACT
    codes = coding.code_variables(
        [(files.puf_codes[:, j], files.eif_codes[:, j]) for j in coded],
        list(exact),
        len(files.puf_codes),
        len(files.eif_codes),
    )
    codes.n[~exact] = rules.width[coded[~exact]]
    highest = _round_down(rules.highest[variable], rules.scale)
    costs = Costs(highest, highest, exact, missing_differs=True)
    puf_ranks = np.empty((len(files.puf_values), numeric.size), np.float32)
    eif_ranks = np.empty((numeric.size, len(files.eif_values)), np.float32)
    coordinates, distinct, share = np.empty_like(eif_ranks), [], np.ones(numeric.size, np.int64)
    for k, j in enumerate(numeric):
        puf_codes, eif_codes, values = coding.rank_values(files.puf_values[:, j], files.eif_values[:, j])
        share[k] = -(-len(values) // _MAX_RANKS) or 1
        for ranks, column in ((puf_ranks[:, k], puf_codes), (eif_ranks[k], eif_codes)):
            ranks[:] = np.where(column < 0, np.nan, column // share[k])
        coordinates[k] = _coordinates(files.eif_values[:, j], rules, int(j))
        distinct.append(values)
    # If all costs are whole grains, a lower bound is the cost itself. If several values share a rank, a record has no
    # upper bound.
    all_costs = np.concatenate([rules.table, rules.cost, rules.beyond, rules.highest])
    shortfall = rules.kind.size / GRAIN if (all_costs * GRAIN % rules.scale).any() else 0.0
    metric = Adhoc(
        rules=rules,
        variable=variable,
        scale=float(rules.scale),
        highest=highest,
        table=_round_down(rules.table, rules.scale),
        cost=_round_down(rules.cost, rules.scale),
        beyond=_round_down(rules.beyond, rules.scale),
        distinct=np.concatenate([np.zeros(0), *distinct]),
        first=np.cumsum([0, *map(len, distinct)]),
        share=share,
        shortfall=np.float32(np.inf if (share > 1).any() else shortfall),
    )
    index = build(codes.eif, codes.n, eif_ranks, coordinates, costs)
    return metric, index, Puf(codes.puf, puf_ranks, highest, float(MAX_SCORE))


def _coordinates(values: np.ndarray, rules: Flat, j: int) -> np.ndarray:
    """Return values on a scale on which a distance of 1 is a clear difference; only the speed depends on it."""
    bands = slice(rules.start[j], rules.start[j] + rules.width[j])
    relative = not rules.within[bands].any() and rules.share[bands].any()
    width = (rules.share if relative else rules.within)[bands]
    reach = 2 * float(width[np.isfinite(width) & (width > 0)].min(initial=np.inf))
    reach = reach if np.isfinite(reach) else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        if relative:
            middle = coding.centre(np.abs(values[values != 0])) or 1.0
            values, reach = np.sign(values) * np.log1p(np.abs(values) / middle), float(np.log1p(reach))
        return np.clip(values / reach, -1e6, 1e6)


def _check(files: Files, rules: Sequence[Rule]) -> None:
    """Refuse codes that are outside the table of their variable."""
    for j, rule in enumerate(rules):
        if isinstance(rule, Table) and any(
            codes[:, j].max(initial=-1) >= len(rule.scores) for codes in (files.puf_codes, files.eif_codes)
        ):
            raise ValueError(f"the table of variable {j} has fewer rows than there are codes.")
