"""Columns of codes and values, counted and numbered anew for the searches (METHODS §4.1–4.4, §7).

A code is an integer of at least 0; a negative one is a missing value.
"""

from typing import NamedTuple

import numpy as np


class Codes(NamedTuple):
    """The coded variables of both files, in the layout of the boxes."""

    puf: np.ndarray  # int32 (n_puf, variables); -1 for missing
    eif: np.ndarray  # int32 (variables, n_eif)
    n: np.ndarray  # int64 (variables,): number of codes in both files


def frequencies(column: np.ndarray, n_codes: int = 0) -> np.ndarray:
    """Count how often each code 0, 1, … occurs; at least ``n_codes`` counts, missing values left out."""
    return np.bincount(column[column >= 0], minlength=n_codes)


def entropy(counts: np.ndarray) -> float:
    """Return the Shannon entropy of a frequency table in nats; 0 for an empty one."""
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(shares * np.log(shares)).sum())


def translate(column: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Look up codes in a table whose last entry serves missing values and codes beyond the table."""
    return table[np.minimum(np.maximum(column, -1), len(table) - 1)]


def recode(column: np.ndarray, mask: np.ndarray, absent: int) -> np.ndarray:
    """Number the codes of a mask 0, 1, … in their order; all other codes, and missing values, become ``absent``.

    The mask is by code; codes beyond it are not in it. The result is uint8 where ``absent`` is below 256, otherwise
    int32.
    """
    table = np.full(len(mask) + 1, absent, np.uint8 if absent < 256 else np.int32)
    table[:-1][mask] = np.arange(mask.sum())
    return translate(column, table)


def compact(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return both files' codes of a variable, -1 for missing, and their number: few enough for a table by code.

    Codes keep their order. They are numbered anew only where the largest is far above the number of records.
    """
    n_codes = int(max(puf.max(initial=-1), eif.max(initial=-1))) + 1
    puf, eif = np.maximum(puf, -1), np.maximum(eif, -1)
    if n_codes <= 4 * (puf.size + eif.size) + 1024:
        return puf, eif, n_codes
    codes, both = np.unique(np.concatenate([puf, eif]), return_inverse=True)
    both -= int(codes[0] < 0)
    return both[: puf.size], both[puf.size :], int(both.max()) + 1


def rank_by_frequency(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Number both files' codes of a variable 0, 1, …, the most frequent in the EIF first; and count them.

    Boxes tell 64 codes apart, by the remainder of the code; this order separates the most frequent codes.
    """
    puf, eif, n_codes = compact(puf, eif)
    rank = np.full(n_codes + 1, -1, np.int32)
    rank[np.argsort(-frequencies(eif, n_codes), kind="stable")] = np.arange(n_codes)
    return translate(puf, rank), translate(eif, rank), n_codes


def rank_values(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rank a numeric variable among the distinct values of both files, -1 for missing; and return these values."""
    both = np.concatenate([puf, eif])
    present = ~np.isnan(both)
    ranks = np.full(both.size, -1, np.int64)
    values, ranks[present] = np.unique(both[present], return_inverse=True)
    return ranks[: puf.size], ranks[puf.size :], values


def centre(values: np.ndarray) -> float:
    """Return the median of the finite values of a variable; 0 if it has none."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else 0.0


def code_variables(columns: list[tuple[np.ndarray, np.ndarray]], renumber: list[bool], n_puf: int, n_eif: int) -> Codes:
    """Lay out several variables, given as pairs of a PUF and an EIF column.

    Variables to ``renumber`` are numbered by frequency; the others keep their codes.
    """
    codes = Codes(
        np.empty((n_puf, len(columns)), np.int32),
        np.empty((len(columns), n_eif), np.int32),
        np.zeros(len(columns), np.int64),
    )
    for k, (puf, eif) in enumerate(columns):
        if renumber[k]:
            codes.puf[:, k], codes.eif[k], codes.n[k] = rank_by_frequency(puf, eif)
        else:
            codes.puf[:, k], codes.eif[k] = np.maximum(puf, -1), np.maximum(eif, -1)
            codes.n[k] = max(codes.puf[:, k].max(), codes.eif[k].max()) + 1
    return codes
