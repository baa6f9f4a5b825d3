"""SUDA scores: minimal sample uniques weighed by their size, and the contributions to them (METHODS §7).

A record is in no set with a variable that it misses, also where a missing value matches every value elsewhere.
Sources: Elliot, Manning and Ford 2002 (`elliot`); sdcMicro's first implementation (`normalised`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import comb, prod
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from reident.kernels.suda import MinimalUniques, minimal_uniques

Weighting = Literal["elliot", "normalised"]


class Suda(NamedTuple):
    """SUDA scores of a file.

    Attributes
    ----------
    score : float64 (n,)
        Sum of the weights of a record's MSUs; 0 without any.
    msus : MinimalUniques
        MSUs counted by record, size, variable and level, with each record's first smallest one.
    weights : float64 (max_order + 1,)
        By size; that of size 0 is 0.
    """

    score: np.ndarray
    msus: MinimalUniques
    weights: np.ndarray


def size_weights(n_keys: int, largest: int, weighting: Weighting) -> np.ndarray:
    """Weight of an MSU by its size k = 0 … ``largest``.

    `elliot`: ∏_{i=k}^{M} (ATT − i), where M is ``largest`` or ATT − 1, whichever is less; an MSU of all
    ATT variables weighs 1. `normalised`: (2^{ATT−k} − 1)·k!·(ATT − k)! / ATT!, which is 0 for all variables.

    Raises
    ------
    ValueError
        If ``largest`` is not in 1 … ``n_keys``, or the weighting is unknown.
    """
    if not 1 <= largest <= n_keys:
        raise ValueError(f"largest size {largest} of {n_keys} key variables")
    sizes = range(1, largest + 1)
    if weighting == "elliot":
        end = min(largest, n_keys - 1)
        return np.array([0.0, *(float(prod(n_keys - i for i in range(k, end + 1))) for k in sizes)])
    if weighting == "normalised":
        return np.array([0.0, *((2 ** (n_keys - k) - 1) / comb(n_keys, k) for k in sizes)])
    raise ValueError(f"weighting {weighting}: it is `elliot` or `normalised`")


def scores(
    codes: np.ndarray,
    *,
    weighting: Weighting = "elliot",
    max_order: int | None = None,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Suda:
    """SUDA scores of all records.

    Parameters
    ----------
    codes : int32 (n, v)
        Category codes of the key, -1 for missing; v from 1 to 57, or to 60 with a ``max_order`` of at most 7.
    weighting : {'elliot', 'normalised'}
    max_order : int, optional
        Largest MSU searched. By default all are, with the weights of M = ATT − 1.

    Raises
    ------
    ValueError
        As `size_weights` and `kernels.suda.minimal_uniques`.
    """
    largest = codes.shape[1] if max_order is None else min(max_order, codes.shape[1])
    weights = size_weights(codes.shape[1], largest, weighting)
    msus = minimal_uniques(codes, max_order=max_order, threads=threads, progress=progress)
    return Suda(_weighed(msus.counts, weights), msus, weights)


def _weighed(counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ over sizes, from the smallest: always in this order, which a product of matrices would not promise."""
    score = np.zeros(len(counts))
    for size in range(1, len(weights)):
        score += counts[:, size] * weights[size]
    return score


def largest_searched(suda: Suda) -> int:
    """Return the size of the largest MSU that the search looked for, at least 1."""
    return suda.msus.counts.shape[1] - 1


def total_score(suda: Suda) -> float:
    """Return the sum of all scores, whatever the order of records."""
    return float(_weighed(suda.msus.counts.sum(axis=0, dtype=np.int64)[None, :], suda.weights)[0])


def by_size(suda: Suda) -> pd.DataFrame:
    """MSUs by size: ``size``, ``n_msu``, ``n_records`` with at least one, ``weight``."""
    counts = suda.msus.counts[:, 1:]
    return pd.DataFrame(
        {
            "size": np.arange(1, counts.shape[1] + 1),
            "n_msu": counts.sum(axis=0, dtype=np.int64),
            "n_records": (counts > 0).sum(axis=0),
            "weight": suda.weights[1:],
        }
    )


def by_variable(suda: Suda, names: list[str]) -> pd.DataFrame:
    """Return each variable's contribution: the share of the total score carried by the MSUs that contain it.

    Returns
    -------
    DataFrame
        ``variable``, ``n_msu``, ``contribution`` in [0, 1], NaN if the total score is 0. Shares add up to more
        than 1, since an MSU counts for each of its variables.
    """
    counts = ((name, levels.sum(axis=0)) for name, levels in zip(names, suda.msus.by_level, strict=True))
    return _contributions(suda, ["variable"], counts)


def _contributions(suda: Suda, columns: list[str], lines: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Return the number and the share of the total score of the MSUs of each line, which ends with them by size."""
    total = total_score(suda)
    rows = [
        (*names, int(n.sum()), float(_weighed(n[None, :], suda.weights)[0]) / total if total > 0 else np.nan)
        for *names, n in lines
    ]
    return pd.DataFrame(rows, columns=[*columns, "n_msu", "contribution"])


def by_level(suda: Suda, names: list[str], labels: list[list[str]]) -> pd.DataFrame:
    """Return each level's contribution: as `by_variable`, of the records with that level; levels in the order of codes.

    Parameters
    ----------
    names : list of str
        Variables of the key.
    labels : list of list of str
        For each variable its labels, by code.

    Returns
    -------
    DataFrame
        ``variable``, ``level``, ``n_msu``, ``contribution``; a variable's levels add up to its own.
    """
    counts = (
        (name, label, n)
        for name, variable_labels, levels in zip(names, labels, suda.msus.by_level, strict=True)
        for label, n in zip(variable_labels, levels, strict=False)
    )
    return _contributions(suda, ["variable", "level"], counts)


def in_words(variables: np.ndarray, names: list[str]) -> list[str]:
    """Return sets of variables, uint64 (n,), as ``age × tenure``; an empty set is an empty text."""
    sets, at = np.unique(variables, return_inverse=True)
    words = [" × ".join(name for j, name in enumerate(names) if int(members) >> j & 1) for members in sets]
    return [words[i] for i in at]
