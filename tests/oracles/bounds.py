"""The bounds that the searches of euclidean and adhoc work with, for every pair."""

import numba
import numpy as np
from reident.kernels import adhoc_query, search
from reident.kernels.euclidean_costs import box_costs, leaf_costs
from reident.kernels.lanes import add_box_steps, add_steps


@numba.njit
def bounds(metric, index, puf, buffers, low, high, box):
    """Bounds of every pair: of the record by itself, with all of its leaf, and of the boxes it is in."""
    one, zero = np.uint64(1), np.uint64(0)
    fixed, varying, some_low, some_high = buffers.fixed[0], buffers.varying[0], buffers.low, buffers.high
    for i in range(len(puf.codes)):
        search.enter(metric, buffers.queries, 0, puf, index.leaves.row, i)
        buffers.queries.limit[0] = np.inf
        for group in range(index.first.size - 1):
            box_costs(metric, buffers.queries, 0, index.groups, group // 64, fixed, varying)
            outer = fixed[group % 64] + varying[group % 64]
            box_costs(metric, buffers.queries, 0, index.inner, group, fixed, varying)
            for leaf in range(index.first[group], index.first[group + 1]):
                inner = fixed[leaf - index.first[group]] + varying[leaf - index.first[group]]
                present = index.leaves.present[leaf]
                for together in range(2):
                    for s in range(64):
                        mask = one << np.uint64(s) if together == 0 else present
                        if (present >> np.uint64(s)) & one != zero:
                            leaf_costs(metric, buffers.queries, 0, index.leaves, leaf, mask, some_low, some_high)
                            r = index.leaves.eif[leaf, s]
                            low[together, i, r], high[together, i, r] = some_low[s], some_high[s]
                            box[0, i, r], box[1, i, r] = outer, inner


@numba.njit
def byte_sums(model, index, puf_rows, query, level, base, sums, boxes):
    """For every pair: its level, the sums of its bytes by block in both trees, and those of its group and its leaf."""
    some, zeros = np.empty(64, np.uint8), np.zeros(64, np.uint8)
    v = puf_rows.shape[1]
    for i in range(len(puf_rows)):
        adhoc_query.load(model, puf_rows[i], query)
        base[i] = query.base[0]
        for tree_number in range(2):
            tree = index.one if tree_number == 0 else index.two
            for group in range(tree.first.size - 1):
                for leaf in range(tree.first[group], tree.first[group + 1]):
                    for b in range(2):
                        steps, n, start = query.steps[b], query.n_steps[b], query.start[b]
                        place = (group // 64) * v * 64
                        add_box_steps(tree.group_low, tree.group_extent, place, steps, n, start, zeros, some)
                        outer = some[group % 64]
                        place = group * v * 64
                        add_box_steps(tree.leaf_low, tree.leaf_extent, place, steps, n, start, zeros, some)
                        inner = some[leaf - tree.first[group]]
                        add_steps(tree.bytes, leaf * v * 64, steps, n, start, zeros, some)
                        for s in range(64):
                            if (tree.present[leaf] >> np.uint64(s)) & np.uint64(1) != np.uint64(0):
                                row = tree.at[leaf, s]
                                r = index.eif[row]
                                level[i, r] = adhoc_query.level_of(model, query, index.rows[row], 2**62)
                                sums[tree_number, i, r, b] = some[s]
                                boxes[tree_number, i, r, b, 0] = outer
                                boxes[tree_number, i, r, b, 1] = inner
