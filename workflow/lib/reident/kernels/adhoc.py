"""Adhoc: the best pairs by the sum of the scores that the study defines for each variable (METHODS §4.4, §5).

The search minimises the cost of a pair: the largest possible sum less the sum of its scores. `adhoc_query` says what
the rules cost, exactly and in bytes, `adhoc_search` why no pair is lost. This module brings both files into their form.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Unpack

import numpy as np

from reident.kernels import coding, search, strata
from reident.kernels.adhoc_index import Index, order_of, plant
from reident.kernels.adhoc_profiles import ABSENT, byte_of, profile_tables
from reident.kernels.adhoc_query import Model, empty_query, load, variable_cost
from reident.kernels.adhoc_rules import (
    BANDS,
    EXACT,
    Bands,
    Definition,
    Exact,
    Flat,
    Rule,
    Table,
    flatten,
    widths_of_strata,
)
from reident.kernels.adhoc_search import MAX_SUM, empty_buffers
from reident.kernels.adhoc_search import search as search_trees
from reident.kernels.buffers import SearchFiles, as_files
from reident.kernels.compiling import lean_jit
from reident.kernels.lanes import WIDTH
from reident.kernels.strata import Starts
from reident.kernels.toplist import MAX_RECORDS, Best, Pairs, Workers, empty_best, in_threads, list_pairs

__all__ = ["Bands", "Exact", "Rule", "Table", "nearest"]

MAX_BLOCK = 512
"""PUF records between two reports of progress."""

SAMPLE = 16 * WIDTH
"""Leaves of a tree from which the search estimates how many leaves it must visit."""

PAIRS = 2048
"""Pairs from which the variables are divided into two blocks, at most."""


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
    starts: Starts | None = None,
    widths: Mapping[int, np.ndarray] | None = None,
    **workers: Unpack[Workers],
) -> Pairs:
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
        The score of 1, 1 to 10^12: all scores are integers in units of 1/scale, 0 to 5 times it.
    widths : mapping of float64 (n_strata, b), optional
        By variable, the ``within`` of its bands in each stratum, where it depends on the stratum.
    keep, starts, **workers
        See `toplist`.

    Returns
    -------
    Pairs
        By the sum of the scores, the highest first.

    Notes
    -----
    Source: METHODS §4.4, §5; Singer and Dajani 2020.
    """
    flat, files = flatten(rules, scale), as_files(puf_codes, eif_codes, puf_values, eif_values)
    search.check(files, len(rules), scale, keep)
    _check(files, rules)
    total = int(flat.highest.sum())
    if starts is not None:
        metric = Definition(flat, widths_of_strata(flat, len(starts.puf) - 1, widths or {}))
        pairs = strata.nearest(metric, files, starts, threshold=total - above, keep=keep, **workers)
    else:
        best = empty_best(len(puf_codes), min(keep, len(eif_codes)))
        if len(puf_codes) and len(eif_codes) and total > above:
            _search(files, flat, min(total - above, total + 1), best, workers)
        pairs = list_pairs(best)
    return pairs._replace(level=total - pairs.level, next_level=total - pairs.next_level)


def _search(files: SearchFiles, flat: Flat, threshold: int, best: Best, workers: Workers) -> None:
    """Write the pairs that cost less than ``threshold`` and that the rank filter keeps into ``best``."""
    threads = workers.get("threads", 1)
    model, puf_rows, eif_rows, coordinates = _prepare(files, flat, threshold)
    order, model, index = _build(model, puf_rows, eif_rows, coordinates, threads)

    def find_pairs(begin: int, end: int) -> None:
        buffers = empty_buffers(model, best.eif.shape[1])
        search_trees(begin, end, order, model, index, puf_rows, threshold, buffers, best)

    n = len(puf_rows)
    block = min(-(-n // (8 * max(1, threads) * WIDTH)) * WIDTH, MAX_BLOCK)
    in_threads(find_pairs, n, block=block, **workers)


Coordinates = tuple[np.ndarray, np.ndarray]
"""Those of the numeric variables in the PUF and in the EIF, float32 (numeric, n)."""


def _prepare(files: SearchFiles, rules: Flat, threshold: int) -> tuple[Model, np.ndarray, np.ndarray, Coordinates]:
    """Bring the rules and both files into the form of the search."""
    coded, numeric = np.flatnonzero(rules.kind != BANDS), np.flatnonzero(rules.kind == BANDS)
    variable = np.concatenate([coded, numeric])
    n_puf, n_eif = len(files.puf_codes), len(files.eif_codes)
    codes = coding.code_variables(
        [(files.puf_codes[:, j], files.eif_codes[:, j]) for j in coded], list(rules.kind[coded] == EXACT), n_puf, n_eif
    )
    puf_rows, eif_rows = (np.empty((n, variable.size), np.int32) for n in (n_puf, n_eif))
    puf_rows[:, : coded.size], eif_rows[:, : coded.size] = codes.puf, codes.eif.T
    coordinates = (np.empty((numeric.size, n_puf), np.float32), np.empty((numeric.size, n_eif), np.float32))
    distinct, buckets = [np.zeros(0)], [np.zeros(0, np.uint8)]
    for m, j in enumerate(numeric):
        k, columns = coded.size + m, (files.puf_values[:, j], files.eif_values[:, j])
        puf_rows[:, k], eif_rows[:, k], values = coding.rank_values(*columns)
        for side, column in zip(coordinates, columns, strict=True):
            side[m] = _coordinates(column, columns[1], rules, int(j))
        distinct.append(values)
        buckets.append(_buckets(eif_rows[:, k], len(values)))
    unit = _unit(rules, threshold)
    model = Model(
        rules=rules,
        variable=variable,
        kind=rules.kind[variable],
        highest=rules.highest[variable],
        n_coded=coded.size,
        cut=variable.size,
        unit=unit,
        distinct=np.concatenate(distinct),
        bucket=np.concatenate(buckets),
        first=np.cumsum([0, *map(len, distinct[1:])]),
        profiles=profile_tables(rules, coded, unit, codes.puf, codes.eif),
    )
    return model, puf_rows, eif_rows, coordinates


def _unit(rules: Flat, threshold: int) -> int:
    """Return the unit of costs in bytes: all costs are multiples of it, unless a byte is too small for that."""
    costs = np.concatenate([rules.table, rules.cost, rules.beyond, rules.highest])
    return max(int(np.gcd.reduce(costs)), -(-threshold // MAX_SUM), 1)


def _buckets(ranks: np.ndarray, n: int) -> np.ndarray:
    """Return the bucket of each of n distinct values: the value itself if there are few, or equal shares of the EIF."""
    if n <= ABSENT:
        return np.arange(n, dtype=np.uint8)
    counts = np.bincount(ranks[ranks >= 0], minlength=n)
    before = np.cumsum(counts) - counts
    return (before * ABSENT // max(int(counts.sum()), 1)).clip(max=ABSENT - 1).astype(np.uint8)


def _bytes(model: Model, rows: np.ndarray) -> np.ndarray:
    """Return the byte of each value: uint8 (n, v)."""
    of_record = np.empty(rows.shape, np.uint8)
    for k in range(rows.shape[1]):
        column = rows[:, k]
        if k < model.n_coded:
            width = int(model.rules.width[model.variable[k]])  # 0 for exact agreement
            of_record[:, k] = np.where(column < 0, ABSENT, byte_of(column.astype(np.int64), width))
        else:
            m = k - model.n_coded
            table = np.append(model.bucket[model.first[m] : model.first[m + 1]], np.uint8(ABSENT))
            of_record[:, k] = table[column]
    return of_record


def _build(
    model: Model, puf_rows: np.ndarray, eif_rows: np.ndarray, coordinates: Coordinates, threads: int
) -> tuple[np.ndarray, Model, Index]:
    """Return an order of the PUF, the model with its blocks of variables, and the trees of the EIF."""
    n_coded, v = model.n_coded, model.variable.size
    model = model._replace(cut=_cut(model, puf_rows, eif_rows))
    weights = (model.highest / max(model.rules.scale, 1)).astype(np.float32)
    first, second = slice(0, model.cut), slice(model.cut, v)
    tasks = [(puf_rows, coordinates[0], second), (eif_rows, coordinates[1], first), (eif_rows, coordinates[1], second)]

    def arranged(task: tuple[np.ndarray, np.ndarray, slice]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, points, block = task
        return order_of(np.ascontiguousarray(rows[:, :n_coded].T), points, weights, block)

    if max(len(puf_rows), len(eif_rows)) > MAX_BLOCK:
        with ThreadPoolExecutor(max(1, threads)) as pool:
            arrangements = list(pool.map(arranged, tasks))
    else:  # a study may have very many small strata, each of which would cost more as a thread than as work
        arrangements = [arranged(task) for task in tasks]
    (order, *_), (order_one, *leaves_one), (order_two, *leaves_two) = arrangements
    # Rows are in the order of the first tree, so that those of a leaf are together.
    rows = eif_rows[order_one]
    of_record = _bytes(model, rows)
    place = np.empty(len(order_one), np.int32)
    place[order_one] = np.arange(len(order_one), dtype=np.int32)
    index = Index(
        rows,
        order_one,
        plant(of_record, np.arange(len(order_one), dtype=np.int32), *leaves_one, n_sample=SAMPLE),
        plant(of_record, place[order_two], *leaves_two, n_sample=SAMPLE),
    )
    return order, model, index


def _cut(model: Model, puf_rows: np.ndarray, eif_rows: np.ndarray) -> int:
    """Return the size of the first block: the variables that tell about half as much as all; only speed needs it.

    A variable tells −log of the share of its highest score that pairs of random records have on average.
    """
    rng, v = np.random.default_rng(0), model.variable.size
    n = min(PAIRS, len(puf_rows) * len(eif_rows))
    puf, eif = (rng.integers(0, len(rows), n) for rows in (puf_rows, eif_rows))
    costs = np.zeros(v)
    _sum_costs(model, empty_query(model), puf_rows[puf], eif_rows[eif], costs)
    share = 1 - costs / np.maximum(model.highest.astype(np.float64) * n, 1)
    information = np.cumsum(-np.log(np.clip(share, 1 / PAIRS, 1)))
    return max(1, int(np.argmin(np.abs(information - information[-1] / 2))) + 1) if v else 0


@lean_jit
def _sum_costs(model, query, puf_rows, eif_rows, costs):
    """Add the costs of each variable over pairs of rows."""
    for a in range(len(puf_rows)):
        load(model, puf_rows[a], query)
        for k in range(costs.size):
            if query.row[k] >= 0:
                costs[k] += variable_cost(model, query, k, eif_rows[a, k])


def _coordinates(values: np.ndarray, eif: np.ndarray, rules: Flat, j: int) -> np.ndarray:
    """Return values on a scale on which a distance of 1 is a clear difference; only the speed depends on it."""
    bands = slice(rules.start[j], rules.start[j] + rules.width[j])
    relative = not rules.within[bands].any() and rules.share[bands].any()
    width = (rules.share if relative else rules.within)[bands]
    reach = 2 * float(width[np.isfinite(width) & (width > 0)].min(initial=np.inf))
    reach = reach if np.isfinite(reach) else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        if relative:
            middle = coding.centre(np.abs(eif[eif != 0])) or 1.0
            values, reach = np.sign(values) * np.log1p(np.abs(values) / middle), float(np.log1p(reach))
        return np.clip(values / reach, -1e6, 1e6)


def _check(files: SearchFiles, rules: Sequence[Rule]) -> None:
    """Refuse codes that are outside the table of their variable, and more records than ranks can count."""
    if len(files.puf_codes) + len(files.eif_codes) > MAX_RECORDS:
        raise ValueError(f"the files have more than {MAX_RECORDS} records.")
    for j, rule in enumerate(rules):
        if isinstance(rule, Table) and any(
            codes[:, j].max(initial=-1) >= len(rule.scores) for codes in (files.puf_codes, files.eif_codes)
        ):
            raise ValueError(f"the table of variable {j} has fewer rows than there are codes.")
