"""The EIF as adhoc searches it: trees of boxes of bytes, one for each block of variables (METHODS §4.4).

Each tree has all records in an order in which neighbours are similar first on the variables of its block. A leaf
has up to 64 records, a group up to 64 leaves; the box of a leaf or a group is the interval of the bytes of each
variable, without those of missing values. A box costs no more than any of its records: a present value is one of the
bytes of the box, and a missing value costs the most that any value does. If all values are missing, the box has their
byte.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.adhoc_profiles import ABSENT
from reident.kernels.boxes import Costs, arrange
from reident.kernels.compiling import lean_jit
from reident.kernels.lanes import WIDTH, full_lanes

_MINOR = 2.0**-10
"""The weight of the variables of the other block in the order of a tree."""


class Tree(NamedTuple):
    """One order of the EIF; the columns of 64 bytes of all variables follow one another (see `lanes`)."""

    at: np.ndarray  # int32 (leaves, 64): row of the record; -1 beyond the last one
    present: np.ndarray  # uint64 (leaves,): which of the 64 positions have a record
    bytes: np.ndarray  # uint8 (leaves, v, 64)
    first: np.ndarray  # int64 (groups + 1,): the first leaf of each group
    leaf_low: np.ndarray  # uint8 (groups, v, 64): boxes of the leaves of a group
    leaf_extent: np.ndarray  # uint8 (groups, v, 64)
    group_low: np.ndarray  # uint8 (blocks of 64 groups, v, 64)
    group_extent: np.ndarray  # uint8 (blocks of 64 groups, v, 64)
    sample_low: np.ndarray  # uint8 (blocks of 64 leaves, v, 64): boxes of some leaves, at equal distances
    sample_extent: np.ndarray  # uint8 (blocks of 64 leaves, v, 64)


class Index(NamedTuple):
    """The EIF."""

    rows: np.ndarray  # int32 (n_eif, v): codes and ranks, -1 for missing, in the order of the first tree
    eif: np.ndarray  # int32 (n_eif,): position in the EIF of each row
    one: Tree
    two: Tree


def order_of(
    codes: np.ndarray, coordinates: np.ndarray, weights: np.ndarray, block: slice
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the order of records, leaves and groups of `boxes.arrange`, similar on a block of variables first.

    ``weights``, float32 (v,), are what the variables cost.
    """
    costs = weights * np.float32(_MINOR)
    costs[block] = weights[block]
    return arrange(codes, coordinates, Costs(costs, costs))


@lean_jit
def _fill(of_record, order, leaf, first, tree):
    """Write the bytes and boxes of a tree."""
    v = tree.bytes.shape[1]
    for group in range(first.size - 1):
        b, g = group // WIDTH, group % WIDTH
        for c in range(first[group + 1] - first[group]):
            at = first[group] + c
            for s in range(leaf[at + 1] - leaf[at]):
                tree.at[at, s] = order[leaf[at] + s]
                tree.present[at] |= np.uint64(1) << np.uint64(s)
                for k in range(v):
                    y = of_record[order[leaf[at] + s], k]
                    tree.bytes[at, k, s] = y
                    if y != ABSENT:
                        tree.leaf_low[group, k, c] = min(tree.leaf_low[group, k, c], y)
                        tree.leaf_extent[group, k, c] = max(tree.leaf_extent[group, k, c], y)
            for k in range(v):
                low, high = tree.leaf_low[group, k, c], tree.leaf_extent[group, k, c]
                if low != ABSENT:
                    tree.group_low[b, k, g] = min(tree.group_low[b, k, g], low)
                    tree.group_extent[b, k, g] = max(tree.group_extent[b, k, g], high)


def _as_extent(low: np.ndarray, high: np.ndarray) -> None:
    """Turn the highest bytes of boxes into extents; a box without a value has the byte of missing values."""
    high[low == ABSENT] = ABSENT
    high -= low


def _draw(boxes: np.ndarray, first: np.ndarray, size: int) -> np.ndarray:
    """Return the sides of at most ``size`` boxes of leaves, at equal distances, in blocks of 64."""
    n = int(first[-1])
    leaf = np.arange(min(size, n)) * n // max(min(size, n), 1)
    group = np.searchsorted(first, leaf, side="right") - 1
    at = np.arange(leaf.size)
    drawn = full_lanes(-(-leaf.size // WIDTH), boxes.shape[1], ABSENT)
    drawn[at // WIDTH, :, at % WIDTH] = boxes[group, :, leaf - first[group]]
    return drawn


def plant(of_record: np.ndarray, order: np.ndarray, leaf: np.ndarray, first: np.ndarray, *, n_sample: int) -> Tree:
    """Return the tree of an order of rows, from their bytes, uint8 (n, v); at most ``n_sample`` leaves are a sample."""
    n, v, n_groups = leaf.size - 1, of_record.shape[1], first.size - 1
    n_blocks = -(-n_groups // WIDTH)
    low, low_of_groups = (full_lanes(blocks, v, ABSENT) for blocks in (n_groups, n_blocks))
    extent, extent_of_groups = (full_lanes(blocks, v, 0) for blocks in (n_groups, n_blocks))
    tree = Tree(
        at=np.full((n, WIDTH), -1, np.int32),
        present=np.zeros(n, np.uint64),
        bytes=full_lanes(n, v, ABSENT),
        first=first,
        leaf_low=low,
        leaf_extent=extent,
        group_low=low_of_groups,
        group_extent=extent_of_groups,
        sample_low=low,
        sample_extent=extent,
    )
    _fill(of_record, order, leaf, first, tree)
    _as_extent(tree.leaf_low, tree.leaf_extent)
    _as_extent(tree.group_low, tree.group_extent)
    return tree._replace(
        sample_low=_draw(tree.leaf_low, first, n_sample), sample_extent=_draw(tree.leaf_extent, first, n_sample)
    )
