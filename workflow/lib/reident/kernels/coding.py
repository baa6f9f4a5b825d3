"""Variables in the form that boxes need (METHODS §4.3, §4.4)."""

from typing import NamedTuple

import numpy as np


class Codes(NamedTuple):
    """The categorical variables of both files."""

    puf: np.ndarray  # int32 (n_puf, variables); -1 for missing
    eif: np.ndarray  # int32 (variables, n_eif)
    n: np.ndarray  # int64 (variables,): number of codes in both files


def by_frequency(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Codes 0, 1, … of both files' categories, the most frequent in the EIF first; -1 stays. And their number.

    Boxes tell 64 codes apart, by their remainder; so numbered, those met most often are told apart best.
    """
    top = int(max(puf.max(initial=-1), eif.max(initial=-1)))
    if top > 4 * (puf.size + eif.size):  # sparse: number the codes that occur
        found, both = np.unique(np.concatenate([puf, eif]), return_inverse=True)
        both -= int(found[0] < 0)
        puf, eif, top = both[: puf.size], both[puf.size :], int(both.max())
    counts = np.bincount(eif[eif >= 0], minlength=top + 1)
    rank = np.full(top + 2, -1, np.int32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(top + 1)
    return rank[puf], rank[eif], top + 1


def of_values(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranks of a numeric variable's values among the distinct ones of both files, -1 for missing; and these."""
    both = np.concatenate([puf, eif])
    present = ~np.isnan(both)
    ranks = np.full(both.size, -1, np.int64)
    values, ranks[present] = np.unique(both[present], return_inverse=True)
    return ranks[: puf.size], ranks[puf.size :], values


def centre(values: np.ndarray) -> float:
    """The middle of the finite values of a variable; 0 if there is none."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else 0.0


def coded(columns: list[tuple[np.ndarray, np.ndarray]], ranked: list[bool], n_puf: int, n_eif: int) -> Codes:
    """Number the codes of several variables, given as pairs of a PUF and an EIF column.

    Variables that are not ``ranked`` keep their codes.
    """
    codes = Codes(
        np.empty((n_puf, len(columns)), np.int32),
        np.empty((len(columns), n_eif), np.int32),
        np.zeros(len(columns), np.int64),
    )
    for k, (puf, eif) in enumerate(columns):
        if ranked[k]:
            codes.puf[:, k], codes.eif[k], codes.n[k] = by_frequency(puf, eif)
        else:
            codes.puf[:, k], codes.eif[k] = np.maximum(puf, -1), np.maximum(eif, -1)
            codes.n[k] = max(codes.puf[:, k].max(), codes.eif[k].max()) + 1
    return codes
