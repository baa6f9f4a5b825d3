"""Oracle of the one-to-one assignment: all choices of pairs, and SciPy's solver on all pairs at once (METHODS §4.6)."""

from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import min_weight_full_bipartite_matching


def best_total(pairs):
    """The largest sum of weights of any choice of pairs (puf, eif, weight) without a common record."""
    best = 0
    for size in range(1, len(pairs) + 1):
        for chosen in combinations(pairs, size):
            pufs, eifs, weights = zip(*chosen, strict=True)
            if len(set(pufs)) == len(set(eifs)) == size:
                best = max(best, sum(weights))
    return best


def solved(pairs):
    """The positions of the pairs that SciPy chooses; the pairs are sorted, and weights of 0 or less do not count.

    Every PUF record may stay alone, by a column of its own. A row costs the highest weight and one, less the weight
    of its pair.
    """
    useful = [at for at, (_, _, weight) in enumerate(pairs) if weight > 0]
    if not useful:
        return []
    row, column = (np.unique([pairs[at][side] for at in useful], return_inverse=True)[1] for side in (0, 1))
    weight = np.array([pairs[at][2] for at in useful])
    n, width = row.max() + 1, column.max() + 1
    dear = int(weight.max()) + 1
    costs = np.append(dear - weight, np.full(n, dear)).astype(float)
    places = np.append(row, np.arange(n)), np.append(column, width + np.arange(n))
    matched = min_weight_full_bipartite_matching(sparse.csr_matrix((costs, places), shape=(n, width + n)))[1]
    return [at for at, own, other in zip(useful, row, column, strict=True) if matched[own] == other]
