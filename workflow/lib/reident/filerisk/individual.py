"""Individual risk of Benedetti and Franconi from weights, and of households (METHODS §7.2).

Of a cell with f records of the file, the number of people in the population is taken to be negative binomial with f
successes of probability p. The risk of its records is the expectation of 1 / that number.
"""

from __future__ import annotations

import math

import numpy as np

from reident.filerisk import wildcards
from reident.filerisk.uniques import cell_numbers

SERIES_FROM = 32
"""Records of a cell from which the series needs at most this number of terms, whatever p is."""
TERMS = 80
"""Terms of the series, of which the last is below 1e-17 of the first wherever the series is used."""


def risk(sizes: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return the expectation of 1 / F for cells of ``sizes`` records and an estimate of ``people``.

    Parameters
    ----------
    sizes : int64 (n,)
        f; 0 for a record in no cell.
    people : float64 (n,)
        The estimate of F, the sum of the weights in the cell.

    Returns
    -------
    float64 (n,)
        In (0, 1 / f]; NaN for a record in no cell. 1 / f where the estimate is not above f.

    Notes
    -----
    With p = f / F and q = 1 − p, E(1/F) = p·∫₀¹ y^(f−1) / (p + q·y) dy: p/q·ln(1/p) for f = 1, p/q − (p/q)²·ln(1/p) for
    f = 2. The integral obeys M_m = (1/m − p·M_{m−1}) / q, which loses no digits for p < 1/2; otherwise, and for large
    f, E(1/F) is p/f·Σ_k q^k·k!·f!/(f + k)!, of which every term is positive.
    Source: Benedetti and Franconi 1998; Polettini 2003.
    """
    inside = sizes > 0
    cells, place = np.unique(np.stack([sizes[inside], people[inside]]), axis=1, return_inverse=True)
    result = np.full(len(sizes), np.nan)
    result[inside] = risk_of_cells(cells[0], cells[1])[place.ravel()]
    return result


def risk_of_cells(sizes: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return the same for cells that each have at least one record.

    Parameters
    ----------
    sizes : int64 or float64 (cells,)
        f, at least 1.
    people : float64 (cells,)
    """
    f, p = sizes, np.minimum(1.0, sizes / np.maximum(people, sizes))
    values = np.empty(len(f))
    forward = (p < 0.5) & (f < SERIES_FROM)
    values[forward] = _recurrence(f[forward], p[forward])
    values[~forward] = _series(f[~forward], p[~forward])
    return values


def _recurrence(f: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return p·M_{f−1}, from M_0 = ln(1/p) / q."""
    q = 1 - p
    value = -np.log(p) / q
    result = value.copy()
    for m in range(1, SERIES_FROM):
        value = (1 / m - p * value) / q
        result = np.where(f == m + 1, value, result)
    return p * result


def _series(f: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return p/f·Σ_k q^k·Π_{i ≤ k} i/(f + i)."""
    q, term = 1 - p, np.ones(len(p))
    total = term.copy()
    for k in range(1, TERMS):
        term = term * q * k / (f + k)
        total += term
    return p / f * total


def matches(codes: np.ndarray, weights: np.ndarray, *, wildcard: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the records that match each record, and the sum of their weights.

    Parameters
    ----------
    weights : float64 (n,)

    Returns
    -------
    sizes : int64 (n,)
        0 for a record in no cell.
    people : float64 (n,)
        The same for every order of the records: weights are added from the smallest.
    """
    if wildcard and (codes < 0).any():
        return wildcards.counted_and_weighed(codes, weights)
    numbers = cell_numbers(codes)
    inside = np.flatnonzero(numbers >= 0)
    order = inside[np.lexsort([weights[inside], numbers[inside]])]
    n_cells = int(numbers.max(initial=-1)) + 1
    sizes = np.append(np.bincount(numbers[order], minlength=n_cells), 0)
    people = np.append(np.bincount(numbers[order], weights[order], n_cells), 0.0)
    return sizes[numbers], people[numbers]


def of_records(
    codes: np.ndarray, weights: np.ndarray, *, wildcard: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the records that match each record, the estimate of the people who do, and the individual risk.

    The last two are NaN for a record in no cell.
    """
    sizes, sums = matches(codes, weights, wildcard=wildcard)
    share = float((sizes > 0).mean())
    people = np.where(sizes > 0, sums / share if share else np.nan, np.nan)
    return sizes, people, risk(sizes, people)


def of_households(risks: np.ndarray, households: np.ndarray) -> np.ndarray:
    """Return the risk of each household, 1 − Π(1 − risk of a member); float64, in the order of their numbers.

    Parameters
    ----------
    risks : float64 (n,)
        NaN for a member without a risk, who adds nothing.
    households : int (n,)
        The household of each record, from 0.
    """
    safe = np.log1p(-np.minimum(np.nan_to_num(risks), 1.0), where=~(risks >= 1), out=np.full(len(risks), -np.inf))
    order = np.lexsort([safe, households])
    n = int(households.max(initial=-1)) + 1
    return -np.expm1(np.bincount(households[order], safe[order], n))


def total(values: np.ndarray) -> float:
    """Return the sum of the values that are defined, whatever their order."""
    return math.fsum(values[np.isfinite(values)].tolist())
