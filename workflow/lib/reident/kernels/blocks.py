"""The best pairs of each PUF record by scores that a function computes, block by block (METHODS §4.4, §5)."""

from collections.abc import Callable

import numpy as np

from reident.kernels.compiling import lean_jit
from reident.kernels.toplist import Best, Pairs, bound_of, empty_best, list_pairs, offer, settle_all


@lean_jit
def _offer_block(scores, start, threshold, levels, eifs, counts):
    """Offer the pairs of a block, whose EIF records begin at ``start``, to the lists of its PUF records."""
    keep, least = levels.shape[1] - 1, -(2**62)
    for i in range(len(scores)):
        bound = bound_of(levels[i], least) if counts[i] > keep else threshold
        for r in range(scores.shape[1]):
            level = -scores[i, r]
            if level < bound:
                counts[i] = offer(levels[i], eifs[i], counts[i], level, start + r)
                if counts[i] > keep:
                    bound = bound_of(levels[i], least)


def nearest_blocks(
    score_block: Callable[[slice, slice], np.ndarray],
    n_puf: int,
    n_eif: int,
    *,
    above: int,
    keep: int,
    block: int = 1024,
    progress: Callable[[float], None] | None = None,
) -> Pairs:
    """Return the same as `adhoc.nearest` for sums of scores that a function computes, block by block.

    Parameters
    ----------
    score_block : callable
        ``score_block(puf_slice, eif_slice)`` returns the sums of the scores of all pairs of the two slices,
        int64 (PUF records, EIF records).
    n_puf, n_eif : int
    above, keep, progress
        As for `adhoc.nearest`.
    block : int
        The largest number of records of either side in a block.
    """
    keep = min(keep, n_eif)
    best = empty_best(n_puf, keep)
    for first in range(0, n_puf, block):
        rows = slice(first, min(first + block, n_puf))
        n_rows = rows.stop - rows.start
        levels, eifs = np.empty((n_rows, keep + 1), np.int64), np.empty((n_rows, keep + 1), np.int32)
        counts = np.zeros(n_rows, np.int64)
        for start in range(0, n_eif, block):
            columns = slice(start, min(start + block, n_eif))
            scores = score_block(rows, columns)
            if scores.dtype != np.int64 or scores.shape != (n_rows, columns.stop - start):
                raise ValueError("score_block must return an int64 matrix with a row for each PUF record of its slice.")
            _offer_block(np.ascontiguousarray(scores), start, -above, levels, eifs, counts)
            if progress is not None:
                progress((first * n_eif + columns.stop * n_rows) / (n_puf * n_eif))
        of_rows = Best(*(array[rows] for array in best))
        settle_all(levels, eifs, counts, of_rows)
    pairs = list_pairs(best)
    return pairs._replace(level=-pairs.level, next_level=-pairs.next_level)
