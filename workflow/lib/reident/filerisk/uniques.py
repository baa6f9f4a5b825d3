"""Cells of the key in one file: sample uniques, pairs, partition structure, k-anonymity (METHODS §7).

A record that misses a value of the key is in no cell: its cell size is 0 and it is neither unique nor in a pair.
To treat missing values as a category of their own (`missing: category`), recode them before. Where a missing value
matches every value (`missing: wildcard`) there are no cells, and the size of a record is the number of its matches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reident.filerisk import wildcards
from reident.kernels.coding import frequencies, recode


def cell_numbers(codes: np.ndarray) -> np.ndarray:
    """Number the cells of the key 0, 1, … in the order of their codes.

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
    words = [np.zeros(len(complete), np.int64)]
    largest = 1
    for j in range(v):
        counts = frequencies(codes[:, j])
        levels = int((counts > 0).sum())
        if (
            largest := largest * levels
        ) > wildcards.MAX_WORD:  # a word holds as many columns as fit: few words are soon sorted
            words.append(np.zeros(len(complete), np.int64))
            largest = levels
        words[-1] = words[-1] * levels + recode(codes[complete, j], counts > 0, levels)
    order = np.lexsort(words[::-1])
    begins = np.zeros(len(complete), bool)
    for word in words:
        begins[1:] |= word[order[1:]] != word[order[:-1]]
    numbers[complete[order]] = np.cumsum(begins)
    return numbers


def cell_sizes(codes: np.ndarray, *, wildcard: bool = False) -> np.ndarray:
    """Return how many records of the file match each record, itself included, int64 (n,).

    Without ``wildcard`` these are the records of its cell, and none for a record that misses a value.
    """
    if wildcard and (codes < 0).any():
        return wildcards.matches(codes, codes)
    numbers = cell_numbers(codes)
    counts = np.bincount(numbers[numbers >= 0], minlength=1)
    return np.where(numbers >= 0, counts[numbers], 0)


def without_category(codes: np.ndarray, names: Sequence[str], categories: pd.DataFrame) -> np.ndarray:
    """Return the codes of the variables of these names with -1 for missing values, also where these are a category."""
    result, lines = codes.copy(), categories[categories["missing"] & categories["variable"].isin(names)]
    for variable, code in zip(lines["variable"], lines["code"], strict=True):
        column = result[:, list(names).index(variable)]
        column[column == code] = -1
    return result


def conventions(codes: np.ndarray, bounds: Sequence[int]) -> pd.DataFrame:
    """Count the records that violate k-anonymity under each convention for missing values.

    Parameters
    ----------
    bounds : sequence of int
        The values of k.

    Returns
    -------
    DataFrame
        ``convention`` (`excluded`, `category`, `wildcard`), ``n_records`` that are counted, ``below_{k}``. Under
        `excluded` a record that misses a value is in no cell; under `category` it has a cell with those that miss the
        same; under `wildcard` it matches every record that is equal where both have a value. No record has a larger
        count under `category` than under `wildcard`.
    """
    category = np.where(codes < 0, codes.max(initial=-1) + 1, codes)
    sizes = {
        "excluded": cell_sizes(codes),
        "category": cell_sizes(category),
        "wildcard": cell_sizes(codes, wildcard=True),
    }
    lines = {
        name: [int((cells > 0).sum()), *(k_anonymity_violations(cells, k) for k in bounds)]
        for name, cells in sizes.items()
    }
    columns = ["n_records", *(f"below_{k}" for k in bounds)]
    return pd.DataFrame.from_dict(lines, "index", columns=columns).rename_axis("convention").reset_index()


def partition_structure(sizes: np.ndarray) -> pd.DataFrame:
    """Return the frequency of frequencies.

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
