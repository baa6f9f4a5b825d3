"""The bounds that the search of euclidean and adhoc works with, for every pair."""

import numba
import numpy as np
from reident.kernels import search


@numba.njit
def bounds(metric, scratch, files, index, puf, buffers, low, high, box):
    """Bounds of every pair: of the record by itself, with all of its leaf, and of the boxes it is in."""
    one, zero = np.uint64(1), np.uint64(0)
    fixed, varying, some_low, some_high = buffers.fixed[0], buffers.varying[0], buffers.low, buffers.high
    for i in range(len(puf.codes)):
        search._enter(buffers.queries, 0, puf, index.leaves.row, i)
        search.load(metric, scratch, files, buffers.queries, 0, i)
        buffers.queries.limit[0] = np.inf
        for group in range(index.first.size - 1):
            search.box_costs(metric, scratch, buffers.queries, 0, index.groups, group // 64, fixed, varying)
            outer = fixed[group % 64] + varying[group % 64]
            search.box_costs(metric, scratch, buffers.queries, 0, index.inner, group, fixed, varying)
            for leaf in range(index.first[group], index.first[group + 1]):
                inner = fixed[leaf - index.first[group]] + varying[leaf - index.first[group]]
                present = index.leaves.present[leaf]
                for together in range(2):
                    for s in range(64):
                        mask = one << np.uint64(s) if together == 0 else present
                        if (present >> np.uint64(s)) & one != zero:
                            search.leaf_costs(
                                metric,
                                scratch,
                                buffers.queries,
                                0,
                                index.leaves,
                                leaf,
                                mask,
                                some_low,
                                some_high,
                            )
                            r = index.leaves.eif[leaf, s]
                            low[together, i, r], high[together, i, r] = some_low[s], some_high[s]
                            box[0, i, r], box[1, i, r] = outer, inner
