"""The best pairs of each PUF record by adhoc, through two trees of bytes (METHODS §4.4, §5).

The cost of a pair is the sum of its costs on two blocks of variables. Let T be the number of units at which the bytes
of a pair rule it out (see `adhoc_query`), and S₁, S₂ the sums of its bytes on each block. If a search of the first tree
covers all records with S₁ < t₁, one of the second all with S₂ < t₂, and t₁ + t₂ ≥ T, every other pair has S₁ + S₂ ≥ T
and does not matter. With about half of the cost allowed on each side, each search covers few records: a sample of the
leaves of each tree says how many leaves it must visit, and hence which t₁ and t₂ to choose. T falls while pairs are
compared, far below where it begins; t₁ and t₂ are therefore first chosen for the T that the records before this one
ended with. A search that has covered S₁ < t₁ can be repeated with a larger t₁, and leaves out what it covered before.

The result is exact whatever the choices, and each pair is compared at most once:

- a pass over tree b considers the records with a sum of its own block in [done_b, t_b), then done_b = t_b;
- a record whose sum of the other block is below done of the other tree has been considered there;
- boxes cost no more than their records, so that a box with a sum of at least t_b, or a total of at least T, has none;
- t_b may fall during a pass to T − done_other only: this ends the search.

A pair that is considered costs its exact level, in integers, by ranks (see `adhoc_query`). Leaves and rows are far
apart in memory: the processor is asked for the leaves of a group, and for the rows of several pairs, in advance.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.adhoc_query import BLOCKS, Model, Query, empty_query, level_of, load
from reident.kernels.bits import trailing_zeros
from reident.kernels.compiling import ONE, ZERO, inner_jit, lean_jit
from reident.kernels.lanes import WIDTH, add_box_steps, add_steps, between, full_lanes, prefetch
from reident.kernels.toplist import bound_of, offer, settle

MAX_SUM = 255
"""Sums of bytes saturate here; T is at most this (see `adhoc`)."""

RECENT, SPARE = 1 / 8, 1.5
"""The T that a record is expected to end with is the mean of those before it, the last with the weight `RECENT`, and
`SPARE` units more: too large a T costs less than another pass."""

FAR = 3
"""A visit to a leaf of the first tree costs as much as this many of the second, whose leaves are in the processor's
cache, since the PUF is in their order."""

MAX_PENDING = 8
"""Pairs that wait for their exact level, so that the processor reads their rows at the same time. T does not fall while
they wait."""


class Buffers(NamedTuple):
    """The buffers of a search beside its results; the next PUF record overwrites them."""

    query: Query
    levels: np.ndarray  # int64 (keep + 1,): the best levels, ascending
    rows: np.ndarray  # int32 (keep + 1,): rows of their EIF records
    state: np.ndarray  # int64 (4,): pairs in the list; the bound of their levels; T; pairs that wait
    done: np.ndarray  # int64 (BLOCKS,): see above
    counts: np.ndarray  # int64 (BLOCKS, 256): leaves of the sample by the sum of a block, cumulated
    sums: np.ndarray  # uint8 (64, 64): sums of the tree's block, of the records of each leaf of a group
    masks: np.ndarray  # uint64 (64,): which of them a pass considers
    leaves: np.ndarray  # int64 (64,): which leaves
    groups: np.ndarray  # uint8 (64,): sums of groups
    both: np.ndarray  # uint8 (64,): sums of both blocks
    zeros: np.ndarray  # uint8 (64,)
    seeds: np.ndarray  # int32 (keep + 1,)
    pending: np.ndarray  # int64 (MAX_PENDING, 2): places in the tree of pairs that wait, and their sums


def empty_buffers(model: Model, keep: int) -> Buffers:
    """Allocate the buffers of one search at a time, uninitialised."""
    return Buffers(
        empty_query(model),
        np.empty(keep + 1, np.int64),
        np.empty(keep + 1, np.int32),
        np.empty(4, np.int64),
        np.empty(BLOCKS, np.int64),
        np.empty((BLOCKS, MAX_SUM + 1), np.int64),
        full_lanes(1, WIDTH, 0)[0],
        np.empty(WIDTH, np.uint64),
        np.empty(WIDTH, np.int64),
        full_lanes(1, 1, 0)[0, 0],
        full_lanes(1, 1, 0)[0, 0],
        full_lanes(1, 1, 0)[0, 0],
        np.empty(keep + 1, np.int32),
        np.empty((MAX_PENDING, 2), np.int64),
    )


_N, _BOUND, _LIMIT, _PENDING = 0, 1, 2, 3
"""Places in `Buffers.state`."""


@inner_jit
def _set_bound(model, buffers, bound):
    """Set the bound of levels, and T: the least number of units that rules a pair out."""
    rest = bound - buffers.query.base[0]
    buffers.state[_BOUND] = bound
    buffers.state[_LIMIT] = -(-rest // model.unit) if rest > 0 else 0


@inner_jit
def _consider(model, rows, buffers, at):
    """Compare a pair, and enter it in the list if its level is below the bound."""
    bound = buffers.state[_BOUND]
    level = level_of(model, buffers.query, rows[at], bound)
    if level < bound:
        buffers.state[_N] = offer(buffers.levels, buffers.rows, buffers.state[_N], level, at)
        if buffers.state[_N] >= buffers.levels.size:
            _set_bound(model, buffers, min(bound, bound_of(buffers.levels, 0)))


@inner_jit
def _consider_pending(model, index, tree, buffers):
    """Compare the pairs that wait, after asking for the rows of all of them."""
    state, pending = buffers.state, buffers.pending
    v = index.rows.shape[1]
    for x in range(state[_PENDING]):
        place = pending[x, 0]
        at = tree.at[place // WIDTH, place % WIDTH]
        pending[x, 0] = at
        prefetch(index.rows, np.int64(at) * v)
        prefetch(index.rows, np.int64(at) * v + v - 1)
    for x in range(state[_PENDING]):
        if pending[x, 1] < state[_LIMIT]:
            _consider(model, index.rows, buffers, pending[x, 0])
    state[_PENDING] = 0


@inner_jit
def _prefetch_columns(tree, leaf, first, last):
    """Ask for some columns of a leaf."""
    at = leaf * tree.bytes.shape[1]
    for k in range(first, last):
        prefetch(tree.bytes, (at + k) * WIDTH)


@inner_jit
def _visit_group(model, index, tree, b, group, goal, buffers):
    """Compare the pairs of a group of leaves that matter and that no pass has considered.

    First the boxes rule out leaves, then the sums of the block rule out records, then those of both blocks.
    """
    query, other, sums, both, state = buffers.query, 1 - b, buffers.sums, buffers.both, buffers.state
    v, first = tree.bytes.shape[1], tree.first[group]
    at, low, extent = group * v * WIDTH, tree.leaf_low, tree.leaf_extent
    add_box_steps(low, extent, at, query.steps[b], query.n_steps[b], query.start[b], buffers.zeros, both)
    mask = between(both, np.int64(0), goal - 1)
    mask &= ~np.uint64(0) >> np.uint64(WIDTH - (tree.first[group + 1] - first))
    if mask:
        add_box_steps(low, extent, at, query.steps[other], query.n_steps[other], query.start[other], both, both)
        mask &= between(both, np.int64(0), max(state[_LIMIT] - 1, 0))
    most = max(min(goal, state[_LIMIT]) - 1, 0)
    begin, end = (model.cut, v) if b else (0, model.cut)
    n_leaves = 0
    while mask:
        leaf = first + trailing_zeros(mask)
        mask &= mask - np.uint64(1)
        buffers.leaves[n_leaves] = leaf
        n_leaves += 1
        _prefetch_columns(tree, leaf, begin, end)
    begin, end = (0, model.cut) if b else (model.cut, v)
    n = 0
    for a in range(n_leaves):
        leaf = buffers.leaves[a]
        add_steps(
            tree.bytes, leaf * v * WIDTH, query.steps[b], query.n_steps[b], query.start[b], buffers.zeros, sums[n]
        )
        buffers.masks[n] = between(sums[n], buffers.done[b], most) & tree.present[leaf]
        buffers.leaves[n] = leaf
        if buffers.masks[n]:
            _prefetch_columns(tree, leaf, begin, end)
            n += 1
    for a in range(n):
        leaf, mask = buffers.leaves[a], buffers.masks[a]
        at = leaf * v * WIDTH
        add_steps(tree.bytes, at, query.steps[other], query.n_steps[other], query.start[other], sums[a], both)
        mask &= between(both, np.int64(0), max(state[_LIMIT] - 1, 0))
        while mask:
            s = trailing_zeros(mask)
            mask &= mask - np.uint64(1)
            total = np.int64(both[s])
            if total < state[_LIMIT] and total - np.int64(sums[a, s]) >= buffers.done[other]:
                prefetch(tree.at, leaf * WIDTH + s)
                buffers.pending[state[_PENDING], 0] = leaf * WIDTH + s
                buffers.pending[state[_PENDING], 1] = total
                state[_PENDING] += 1
                if state[_PENDING] == MAX_PENDING:
                    _consider_pending(model, index, tree, buffers)


@lean_jit
def _search_tree(model, index, tree, b, goal, buffers):
    """Consider all pairs whose bytes of block b add up to less than ``goal``, as far as they matter."""
    query, done, state = buffers.query, buffers.done, buffers.state
    v, n_groups = tree.group_low.shape[1], tree.first.size - 1
    for block in range(len(tree.group_low)):
        if goal <= done[b]:  # T has fallen to what is done
            break
        at = block * v * WIDTH
        low, extent = tree.group_low, tree.group_extent
        add_box_steps(low, extent, at, query.steps[b], query.n_steps[b], query.start[b], buffers.zeros, buffers.groups)
        mask = between(buffers.groups, np.int64(0), goal - 1)
        mask &= ~np.uint64(0) >> np.uint64(WIDTH - min(WIDTH, n_groups - block * WIDTH))
        while mask:
            c = trailing_zeros(mask)
            mask &= mask - np.uint64(1)
            goal = min(goal, state[_LIMIT] - done[1 - b])
            if np.int64(buffers.groups[c]) < goal:
                _visit_group(model, index, tree, b, block * WIDTH + c, goal, buffers)
    _consider_pending(model, index, tree, buffers)
    done[b] = max(goal, done[b])


@inner_jit
def _count_leaves(tree, b, buffers):
    """Count the leaves of the sample by the sum of their box on block b, cumulated: how many have at most that."""
    query, counts, v = buffers.query, buffers.counts[b], tree.sample_low.shape[1]
    counts[:] = 0
    for block in range(len(tree.sample_low)):
        at, low, extent = block * v * WIDTH, tree.sample_low, tree.sample_extent
        add_box_steps(low, extent, at, query.steps[b], query.n_steps[b], query.start[b], buffers.zeros, buffers.both)
        for s in range(WIDTH):
            counts[buffers.both[s]] += 1
    for y in range(MAX_SUM):
        counts[y + 1] += counts[y]


@lean_jit
def _count_sample(index, buffers):
    """Count the leaves of both samples."""
    _count_leaves(index.one, ZERO, buffers)
    _count_leaves(index.two, ONE, buffers)


@lean_jit
def _split(limit, buffers):
    """Return the t of both trees with the least to visit for a sample, of sum ``limit`` and not below the done part."""
    done, counts = buffers.done, buffers.counts
    least, goal = np.int64(2**62), done[0]
    for one in range(done[0], limit - done[1] + 1):
        two = limit - one
        cost = FAR * counts[0, one - 1] if one > done[0] else 0
        cost += counts[1, two - 1] if two > done[1] else 0
        cost = (cost << 16) + one * one + two * two  # where the sample says nothing, halves
        if cost < least:
            least, goal = cost, one
    return goal, limit - goal


@inner_jit
def _start(model, index, row, threshold, n_seeds, buffers):
    """Make a PUF record the query.

    The seeds are the EIF records of the best pairs of a similar record. If there are keep + 1 of them, the worst of
    their levels bounds the levels that matter.
    """
    load(model, row, buffers.query)
    bound = threshold
    if n_seeds == buffers.seeds.size:
        worst = np.int64(0)
        for a in range(n_seeds):
            worst = max(worst, level_of(model, buffers.query, index.rows[buffers.seeds[a]], threshold))
        bound = min(threshold, worst + 1)
    buffers.state[_N] = 0
    buffers.state[_PENDING] = 0
    buffers.done[:] = 0
    _set_bound(model, buffers, bound)


@lean_jit
def search(begin, end, order, model, index, puf_rows, threshold, buffers, best):
    """Write the pairs of the PUF records ``order[begin:end]`` that cost less than ``threshold`` into ``best``.

    Similar records are next to one another in the order. ``puf_rows``, int32 (n_puf, v), are codes and ranks, -1 for
    missing.
    """
    done, state, seeds = buffers.done, buffers.state, buffers.seeds
    n_seeds, expected = ZERO, float(MAX_SUM)
    for a in range(begin, end):
        i = order[a]
        _start(model, index, puf_rows[i], threshold, n_seeds, buffers)
        if state[_LIMIT] > 0:
            _count_sample(index, buffers)
        limit = max(min(np.int64(expected + SPARE), state[_LIMIT]), 1)
        while done[0] + done[1] < state[_LIMIT]:
            one, two = _split(limit, buffers)
            first = one > done[0]
            if first and two > done[1]:
                first = buffers.counts[0, one - 1] <= buffers.counts[1, two - 1]
            if first:
                _search_tree(model, index, index.one, ZERO, one, buffers)
            else:
                _search_tree(model, index, index.two, ONE, two, buffers)
            limit = state[_LIMIT]
        expected += (state[_LIMIT] - expected) * (RECENT if a > begin else 1.0)
        n_seeds = min(state[_N], seeds.size)
        for x in range(n_seeds):
            seeds[x] = buffers.rows[x]
            buffers.rows[x] = index.eif[buffers.rows[x]]
        settle(buffers.levels, buffers.rows, state[_N], best, i)
