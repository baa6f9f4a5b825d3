"""Whether the confidential file and the holdout may be random parts of one file: relabelled records (METHODS §8.1).

The synthetic files take no part. A relabelling draws anew which records are confidential, and all else stays as it is,
so that the probability holds whatever ties, missing values and outliers the files have.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from reident.intake.severity import INVALIDATES, StudyWarning, named
from reident.language.messages import Fields

if TYPE_CHECKING:
    from scipy import sparse

    from reident.matching.settings import ClosestSettings

MAX_NEIGHBOURS = 11
"""The most distinct records whose values are near to those of a record, which are often one of them."""

N_PARTS = 10
"""The parts with equally many values at whose ends numbers are cut."""

MIN_DRAWS = 999
"""Relabellings; more where the level is so high that these could not tell."""

NEIGHBOURS, VARIABLE = "neighbours", "variable"
"""What is compared."""

_CELLS = 2**22
"""Numbers drawn at a time."""

_DECIMALS = 9
"""Statistics that are equal to these decimals are equal: they differ by the rounding of their sums."""

_SEED = 8


class Files(NamedTuple):
    """The distinct records of both files together.

    Attributes
    ----------
    codes : int32 (k, v)
        Categories, -1 where missing.
    numbers : float64 (k, v)
        Numbers, NaN where missing.
    times : int64 (2, k)
        How many confidential records, and records of the holdout, are equal to each.
    near : int64 (2, m)
        The pairs of a distinct record and one that is near to it, which may be itself.
    """

    codes: np.ndarray
    numbers: np.ndarray
    times: np.ndarray
    near: np.ndarray


def compare(settings: ClosestSettings, files: Files) -> pd.DataFrame:
    """Compare the confidential file with the holdout: their nearest neighbours, and the values of each variable.

    Returns
    -------
    pandas.DataFrame
        The columns of `matching/premise.csv`, see :mod:`reident.pipeline.tables`.

    Notes
    -----
    Source: METHODS §8.1; Schilling 1986 and Henze 1988 (nearest neighbours), Westfall and Young 1993 (the largest of
    several statistics).
    """
    times = files.times.sum(axis=0)
    near = _matrix(files.near[0], files.near[1], (len(times), len(times)))
    groups = [own[own @ times < times.sum()] for own in _groups(settings, files)]
    pieces = (_statistics(files.times, near, groups, labels) for labels in _labels(files.times, settings.level))
    statistics = np.concatenate(list(pieces), axis=1)
    lines, scores = [], np.zeros_like(statistics)
    for at, values in enumerate(statistics):
        mean = math.fsum(values) / len(values)
        deviation = math.sqrt(math.fsum((values - mean) ** 2) / len(values))
        if deviation > 10**-_DECIMALS:
            scores[at] = np.round((values - mean) / deviation, _DECIMALS)
        lines.append({"statistic": values[0], "expected": mean, "deviation": deviation})
    # The first relabelling is that of the files; the same rule makes the scores of all.
    largest = scores.max(axis=0)
    probability = (largest[None] >= scores[:, :1]).mean(axis=1)
    names = {"comparison": [NEIGHBOURS, *[VARIABLE] * len(groups)], "variable": ["", *settings.variables]}
    more = {"probability": probability, "differs": probability <= 1 - settings.level + 10**-_DECIMALS}
    return pd.DataFrame(names | {name: [line[name] for line in lines] for name in lines[0]} | more)


def _matrix(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """Return a matrix that is 1 at these places."""
    from scipy import sparse  # noqa: PLC0415 - a step without a holdout does not wait for it

    return sparse.csr_array((np.ones(len(row), np.int64), (row, column)), shape)


def _groups(settings: ClosestSettings, files: Files) -> Iterator[sparse.csr_array]:
    """Yield the groups of each variable, a row of the distinct records in each: categories, or numbers up to cuts."""
    times, every = files.times.sum(axis=0), np.arange(files.times.shape[1])
    for at, name in enumerate(settings.variables):
        if name not in settings.numeric:
            kinds, codes = np.unique(files.codes[:, at], return_inverse=True)
            yield _matrix(codes, every, (len(kinds), len(every)))
            continue
        values = files.numbers[:, at]
        given = np.repeat(values, times)
        given, shares = given[~np.isnan(given)], np.arange(1, N_PARTS + 1) / N_PARTS
        cuts = np.unique(np.quantile(given, shares, method="inverted_cdf")) if len(given) else given
        row, column = np.nonzero(values[None] <= cuts[:, None])  # a missing value is up to none
        yield _matrix(row, column, (len(cuts), len(every)))


def _labels(times: np.ndarray, level: float) -> Iterator[np.ndarray]:
    """Yield how many records of each kind are confidential: first in the files, then in all or many relabellings."""
    rng, sizes, n_confidential = np.random.default_rng(_SEED), times.sum(axis=0), int(times[0].sum())
    n_draws = max(MIN_DRAWS, math.ceil(20 / (1 - level)) - 1)
    if math.comb(int(sizes.sum()), n_confidential) <= n_draws + 1:
        yield _all_labels(times)
        return
    block = max(1, _CELLS // len(sizes))
    yield times[0][:, None]
    for start in range(0, n_draws, block):
        n = min(block, n_draws - start)
        yield np.ascontiguousarray(rng.multivariate_hypergeometric(sizes, n_confidential, n, method="count").T)


def _all_labels(times: np.ndarray) -> np.ndarray:
    """Return every labelling as a column, that of the files first."""
    kinds = np.repeat(np.arange(times.shape[1]), times.sum(axis=0))
    chosen = np.array(list(itertools.combinations(kinds, int(times[0].sum()))))
    labels = np.zeros((times.shape[1], len(chosen)), np.int64)
    np.add.at(labels, (chosen, np.arange(len(chosen))[:, None]), 1)
    own = int(np.flatnonzero((labels == times[0][:, None]).all(axis=0))[0])
    labels[:, [0, own]] = labels[:, [own, 0]]
    return labels


def _statistics(
    times: np.ndarray, near: sparse.csr_array, groups: list[sparse.csr_array], labels: np.ndarray
) -> np.ndarray:
    """Return the statistics of relabellings, a row for the neighbours and one for each variable."""
    n_confidential, n_holdout = times.sum(axis=1).tolist()
    n, rows = n_confidential + n_holdout, [_share_of_own(times.sum(axis=0), near, labels)]
    for members in groups:
        sizes = members @ times.sum(axis=0)
        excess = members @ labels - (sizes * n_confidential / n)[:, None]
        variances = sizes * (n - sizes) * (n_confidential * n_holdout / (n**2 * (n - 1)))
        rows.append((excess**2 / variances[:, None]).sum(axis=0))
    return np.round(np.stack(rows), _DECIMALS)


def _share_of_own(times: np.ndarray, near: sparse.csr_array, labels: np.ndarray) -> np.ndarray:
    """Return the mean share of the neighbours of a record that are of its own file, for each relabelling.

    Of the t records of a kind x are confidential, and A of the a records of all kinds that are near to it. Let s be 1
    if its own kind is near to it, else 0. Then x (A − s) + (t − x) (a − A − s) neighbours are of the same file. All
    sums are of integers, and do not depend on their order.
    """
    same_kind, around = near.diagonal(), near @ times
    sizes = around - same_kind
    whole = (1 << 60) // int(times.sum())
    part = np.where(sizes > 0, whole // np.maximum(sizes, 1), 0)
    weights = near.multiply(part[:, None]).tocsr()
    twice = 2 * np.einsum("ij,ij->j", labels, weights @ labels)
    once = (part * around + weights.T @ times) @ labels
    n_compared = max(int(times[sizes > 0].sum()), 1)
    return (twice - once + int((part * times * sizes).sum())) / (whole * n_compared)


def warnings(lines: pd.DataFrame) -> list[StudyWarning]:
    """Return the warning that the confidential file and the holdout differ, from the table of :func:`compare`."""
    differing = lines[lines["differs"].astype(bool)]
    if differing.empty:
        return []
    names = differing.loc[differing["comparison"] == VARIABLE, "variable"]
    fields: Fields = {"probability": float(lines["probability"].min())}
    if names.empty:
        return [StudyWarning(INVALIDATES, "holdout_differs_jointly", fields)]
    return [StudyWarning(INVALIDATES, "holdout_differs", {**fields, "names": named(names)})]
