"""One-to-one assignment: each record in at most one pair, with the largest sum of weights (METHODS §4.6)."""

from __future__ import annotations

import numpy as np

MAX_TOTAL = 2**52
"""Weights are whole numbers below this, so that sums and differences of two are exact in floating point."""


def assign(puf: np.ndarray, eif: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Choose pairs so that each record is in at most one, with the largest sum of weights.

    Parameters
    ----------
    puf, eif : int (m,)
        The records of each pair, sorted by puf and then eif; no pair twice.
    weight : int64 (m,)
        A pair with a weight of 0 or less is not chosen.

    Returns
    -------
    int64
        The positions of the chosen pairs, ascending. Among several best choices it is that of SciPy's solver on
        pairs in this order, so that equal pairs give equal choices.

    Raises
    ------
    ValueError
        If a weight is so large that sums are not exact.

    Notes
    -----
    Every PUF record may also stay alone, at no weight: a column of its own, so that a full matching of the PUF records
    exists. Pairs whose two records are in no other pair need no solver.
    """
    useful = np.flatnonzero(weight > 0)
    if not len(useful):
        return useful
    highest = int(weight[useful].max())
    if highest >= MAX_TOTAL // 4:
        raise ValueError("weights are too large to be added up exactly.")
    row = np.unique(puf[useful], return_inverse=True)[1]
    column = np.unique(eif[useful], return_inverse=True)[1]
    alone = (np.bincount(row)[row] == 1) & (np.bincount(column)[column] == 1)
    rest = useful[~alone]
    if not len(rest):
        return useful
    row = np.unique(puf[rest], return_inverse=True)[1]
    column = np.unique(eif[rest], return_inverse=True)[1]
    n_rows, n_columns = int(row.max()) + 1, int(column.max()) + 1
    from scipy import sparse  # noqa: PLC0415 - most studies need no solver
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching  # noqa: PLC0415

    # A row costs `highest + 1` less the weight of its pair; all costs are above 0, since SciPy drops zeros.
    costs = np.append(highest + 1 - weight[rest], np.full(n_rows, highest + 1)).astype(np.float64)
    rows = np.append(row, np.arange(n_rows))
    columns = np.append(column, n_columns + np.arange(n_rows))
    graph = sparse.csr_matrix((costs, (rows, columns)), shape=(n_rows, n_columns + n_rows))
    matched_row, matched_column = min_weight_full_bipartite_matching(graph)
    chosen = np.full(n_rows, -1)
    chosen[matched_row] = matched_column
    return np.sort(np.append(useful[alone], rest[chosen[row] == column]))
