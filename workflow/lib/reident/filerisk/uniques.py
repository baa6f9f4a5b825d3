"""Cells of the key in one file: sample uniques, pairs, partition structure, k-anonymity (METHODS §7).

A record that misses a value of the key is in no cell: its cell size is 0 and it is neither unique nor in a pair.
To treat missing values as a category of their own (`missing: category`), recode them before.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident.kernels.coding import frequencies, recode


def cell_numbers(codes: np.ndarray) -> np.ndarray:
    """Number the cells of the key 0, 1, … in the order of their codes.

    Parameters
    ----------
    codes : int32 (n, v)
        Category codes, -1 for missing.

    Returns
    -------
    int64 (n,)
        Equal numbers for equal records; -1 for a record that misses a value.
    """
    n, v = codes.shape
    numbers = np.full(n, -1, np.int64)
    complete = np.flatnonzero((codes >= 0).all(axis=1))
    if not len(complete):
        return numbers
    columns = []
    for j in range(v):
        counts = frequencies(codes[:, j])
        columns.append(recode(codes[complete, j], counts > 0, int((counts > 0).sum())))
    order = np.lexsort(columns[::-1]) if v else np.arange(len(complete))
    begins = np.zeros(len(complete), bool)
    for column in columns:
        begins[1:] |= column[order[1:]] != column[order[:-1]]
    numbers[complete[order]] = np.cumsum(begins)
    return numbers


def cell_sizes(codes: np.ndarray) -> np.ndarray:
    """Return how many records of the file are in each record's cell, int64 (n,); 0 for a record that misses a value."""
    numbers = cell_numbers(codes)
    counts = np.bincount(numbers[numbers >= 0], minlength=1)
    return np.where(numbers >= 0, counts[numbers], 0)


def partition_structure(sizes: np.ndarray) -> pd.DataFrame:
    """Return the frequency of frequencies.

    Parameters
    ----------
    sizes : int64 (n,)
        As `cell_sizes` gives them.

    Returns
    -------
    DataFrame
        ``cell_size`` (1, 2, … as they occur), ``n_cells``, ``n_records``; no row if no record is in a cell.
    """
    size, records = np.unique(sizes[sizes > 0], return_counts=True)
    return pd.DataFrame({"cell_size": size, "n_cells": records // np.maximum(size, 1), "n_records": records})


def n_unique(sizes: np.ndarray) -> int:
    """U: sample uniques, the records alone in their cells."""
    return int((sizes == 1).sum())


def n_in_pairs(sizes: np.ndarray) -> int:
    """P: records, not cells, in cells of size two."""
    return int((sizes == 2).sum())


def k_anonymity_violations(sizes: np.ndarray, k: int) -> int:
    """Return records in cells of fewer than k records; those that miss a value are in no cell and not counted."""
    return int(((sizes > 0) & (sizes < k)).sum())


def special_uniques(codes: np.ndarray, sizes: np.ndarray, order: np.ndarray, searched: int) -> np.ndarray:
    """Return which sample uniques are unique on a proper subset of the key too; the other uniques are random uniques.

    Parameters
    ----------
    codes : int32 (n, v)
        Category codes, -1 for missing.
    sizes : int64 (n,)
        Cell sizes on the whole key.
    order : int (n,)
        Size of each record's smallest minimal sample unique; 0 where the search has not found one.
    searched : int
        Largest size that was searched, from 1. The result does not depend on it.

    Returns
    -------
    bool (n,)

    Notes
    -----
    A record that is alone on a set is alone on every larger set. It is therefore a special unique if it
    is alone without one of the variables, whichever it is; no larger search is needed to know that.
    """
    n_keys = codes.shape[1]
    special = (sizes == 1) & (order > 0) & (order < n_keys)
    unknown = (sizes == 1) & (order == 0)
    if searched >= n_keys - 1 or not unknown.any():
        return special
    for left_out in range(n_keys):
        special |= unknown & (cell_sizes(np.delete(codes, left_out, axis=1)) == 1)
    return special
