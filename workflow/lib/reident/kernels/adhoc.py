"""Adhoc: the best pairs by the sum of scores that the study defines for each variable (METHODS §4.4, §5).

Scans count down from the largest possible sum: the cost of a pair is that sum less its score, and low is best.
"""

from collections.abc import Callable, Sequence

import numpy as np

from reident.kernels import coding, search
from reident.kernels.adhoc_bounds import Adhoc, Desk, make_desk
from reident.kernels.adhoc_rules import (
    BANDS,
    EXACT,
    HIGHEST,
    SCALE,
    Bands,
    Exact,
    Flat,
    Rule,
    Table,
    flatten,
)
from reident.kernels.boxes import GRAIN, Costs, Index, build
from reident.kernels.searchroom import Files, Puf, as_files
from reident.kernels.toplist import empty_best, listed

__all__ = ["HIGHEST", "SCALE", "Bands", "Exact", "Rule", "Table", "nearest"]

_MOST_RANKS = 2**24
"""Float32 tells so many whole numbers apart."""


def nearest(
    puf_codes: np.ndarray,
    eif_codes: np.ndarray,
    puf_values: np.ndarray,
    eif_values: np.ndarray,
    rules: Sequence[Rule],
    *,
    above: int,
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
        A pair is suspected if the sum of its scores is larger, both in units of 10^-12.
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
        The sum of the scores in units of 10^-12.
    crowded : bool (n_puf,)
        Records whose best level alone has more than ``keep`` pairs; they have no pair in the result.

    Raises
    ------
    ValueError
        Where shapes disagree, a score is outside 0…5, a code outside its table, or ``keep`` below 1.
    """
    flat = flatten(rules)
    _check(puf_codes, eif_codes, puf_values, eif_values, rules, keep)
    total = int(flat.highest.sum())
    best = empty_best(len(puf_codes), min(keep, len(eif_codes)))
    if len(puf_codes) and len(eif_codes) and total > above:
        files = as_files(puf_codes, eif_codes, puf_values, eif_values)
        metric, index, puf = _prepared(files, flat)
        n_coded, n_bands = puf.codes.shape[1], int(flat.width[flat.kind == BANDS].max(initial=0))

        def desk() -> Desk:
            return make_desk(n_coded, len(rules) - n_coded, n_bands)

        search.run(index, puf, files, metric, desk, total - above, best, threads, progress)
    puf_at, eif_at, cost, crowded = listed(best)
    return puf_at, eif_at, total - cost, crowded


def _grained(cost: np.ndarray) -> np.ndarray:
    """Costs in float32, rounded down to the grain."""
    return ((cost * GRAIN // SCALE) / GRAIN).astype(np.float32)


def _prepared(files: Files, rules: Flat) -> tuple[Adhoc, Index, Puf]:
    """The metric and both files in the form of the search."""
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
    highest = _grained(rules.highest[variable])
    costs = Costs(highest, highest, exact, missing_differs=True)
    puf_ranks = np.empty((len(files.puf_values), numeric.size), np.float32)
    eif_ranks = np.empty((numeric.size, len(files.eif_values)), np.float32)
    places, known, share = np.empty_like(eif_ranks), [], np.ones(numeric.size, np.int64)
    for k, j in enumerate(numeric):
        puf_codes, eif_codes, values = coding.rank_values(files.puf_values[:, j], files.eif_values[:, j])
        share[k] = -(-len(values) // _MOST_RANKS) or 1
        for ranks, column in ((puf_ranks[:, k], puf_codes), (eif_ranks[k], eif_codes)):
            ranks[:] = np.where(column < 0, np.nan, column // share[k])
        places[k] = _places(files.eif_values[:, j], rules, int(j))
        known.append(values)
    # A pair whose costs are whole grains is known exactly; ranks that several values share tell nothing from above.
    all_costs = np.concatenate([rules.table, rules.cost, rules.beyond, rules.highest])
    rounded = rules.kind.size / GRAIN if (all_costs * GRAIN % SCALE).any() else 0.0
    metric = Adhoc(
        rules,
        variable,
        highest,
        _grained(rules.table),
        _grained(rules.cost),
        _grained(rules.beyond),
        np.concatenate([np.zeros(0), *known]),
        np.cumsum([0, *map(len, known)]),
        share,
        np.float32(np.inf if (share > 1).any() else rounded),
    )
    index = build(codes.eif, codes.n, eif_ranks, places, costs)
    return metric, index, Puf(codes.puf, puf_ranks, highest, HIGHEST / SCALE)


def _places(values: np.ndarray, rules: Flat, j: int) -> np.ndarray:
    """Values on a scale on which two that are 1 apart differ clearly; only the speed depends on it."""
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


def _check(puf_codes, eif_codes, puf_values, eif_values, rules, keep):
    v = len(rules)
    if any(a.ndim != 2 or a.shape[1] != v for a in (puf_codes, eif_codes, puf_values, eif_values)):
        raise ValueError(f"codes and values need {v} columns, one per rule.")
    if len(puf_codes) != len(puf_values) or len(eif_codes) != len(eif_values):
        raise ValueError("codes and values disagree in length.")
    if keep < 1:
        raise ValueError("keep must be at least 1.")
    for j, rule in enumerate(rules):
        if isinstance(rule, Table) and any(
            codes[:, j].max(initial=-1) >= len(rule.scores) for codes in (puf_codes, eif_codes)
        ):
            raise ValueError(f"the table of variable {j} has fewer rows than there are codes.")
