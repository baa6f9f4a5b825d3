"""Taxicab: all pairs of two sets of records, 512 EIF records at a time, one bit each (METHODS §4.2, §5).

The EIF records are scanned in tiles. For each variable and category a tile has a bit map "present, but another
category"; a missing value has the empty map. The rows of a PUF record's categories hence have, for each record of
the tile, as many bits as there are variables that are present in both and different. `bits.at_most` finds the
records with few enough of them, and how many. That is necessary for a level within the bound but not
sufficient, because it leaves out what is missing in the EIF record alone: this is added for the records that it finds.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import LANES, as_tuple, at_most, popcount, trailing_zeros, unequal
from reident.kernels.compiling import jit
from reident.kernels.costs import cost_of_missing, least_different, least_level, level_of
from reident.kernels.rows import MISSING, Rows
from reident.kernels.toplist import bound_of, offer

TILE_BYTES = 2**17
"""Approximate size of the bit maps of a tile: they are read once per PUF record and must stay in cache."""

MAX_WORDS = 64
"""Words in a row of a tile."""

DIGITS = (2, 4, 7)
"""Binary digits of the counts: a short list, since code is compiled for each."""

MAX_SINGLE = 24
"""Up to this number of EIF records are compared one by one, which is faster than with a tile."""


class Lists(NamedTuple):
    """The best pairs so far of a block of PUF records (see `toplist`); a pair matters if below the bound."""

    levels: np.ndarray  # int64 (n, keep + 1)
    eifs: np.ndarray  # int32 (n, keep + 1)
    counts: np.ndarray  # int64 (n,): more than keep + 1 where further pairs are at the last level
    bound: np.ndarray  # int64 (n,)


class Tile(NamedTuple):
    """The bit maps of a tile."""

    maps: np.ndarray  # uint64: rows of ``words`` words
    row: np.ndarray  # int32 (numbers,): the row of each category; where it has none, that of the variable
    owner: np.ndarray  # int32 (rows, 2): category and variable of each row
    absent: np.ndarray  # uint64 (64 * words,): bit set of the variables that each record misses
    words: int
    spares: np.ndarray  # uint64 (2^p, p): the ``spare`` of `bits.at_most` by number of differences allowed
    digits: tuple[int, ...]  # p zeros: code is compiled for this length


def empty_lists(n: int, keep: int, limit: int) -> Lists:
    """Allocate the lists of ``n`` records that have no pair yet."""
    return Lists(
        np.empty((n, keep + 1), np.int64),
        np.empty((n, keep + 1), np.int32),
        np.zeros(n, np.int64),
        np.full(n, limit + 1, np.int64),
    )


def empty_tile(rows: Rows, most: int) -> Tile:
    """Allocate a tile as large as the cache and the categories suggest, to count up to ``most`` differences."""
    v = rows.puf.shape[1]
    row = np.zeros(rows.base[-1], np.int32)
    row[1 : 1 + v] = np.arange(1, 1 + v)
    row[1 + v :] = 1 + np.repeat(np.arange(v), np.diff(rows.base))

    def most_rows(words: int) -> int:
        return int(min(row.size, 1 + v + v * 64 * words))

    words = MAX_WORDS
    while words > LANES and most_rows(words) * words * 8 > TILE_BYTES:
        words //= 2
    n = most_rows(words)
    p = next(digits for digits in DIGITS if 2**digits > most)
    counts = 2**p - 1 - np.arange(2**p)
    spares = np.where(counts[:, None] >> np.arange(p) & 1, np.uint64(2**64 - 1), np.uint64(0))
    maps, owner = np.empty(n * words, np.uint64), np.empty((n, 2), np.int32)
    return Tile(maps, row, owner, np.empty(64 * words, np.uint64), words, spares, (0,) * p)


@jit
def draw(tile, eif, ids, start, stop, words):
    """Draw the bit maps of the EIF records ``ids[start:stop]``; return the number of rows.

    A category that no record of the tile has gets no row: from it every record that is present differs, which is
    the row 1 + j of its variable. ``tile.row`` refers to that row unless the category has one.
    """
    maps, row, owner, absent = tile.maps, tile.row, tile.owner, tile.absent
    v = eif.shape[1]
    n = 1 + v
    maps[: n * words] = 0
    for x in range(start, stop):
        r = ids[x]
        word = (x - start) >> 6
        bit = np.uint64(1) << np.uint64((x - start) & 63)
        absent[x - start] = 0
        for j in range(v):
            g = eif[r, j]
            if g == MISSING:
                absent[x - start] |= np.uint64(1) << np.uint64(j)
                continue
            maps[(1 + j) * words + word] |= bit
            if g >= row.size:
                continue
            if row[g] == 1 + j:
                row[g] = n
                owner[n, 0], owner[n, 1] = g, j
                maps[n * words : (n + 1) * words] = 0
                n += 1
            maps[row[g] * words + word] |= bit
    for k in range(1 + v, n):
        present = (1 + owner[k, 1]) * words
        for word in range(words):
            maps[k * words + word] = maps[present + word] & ~maps[k * words + word]
    return n


@jit
def erase(tile, v, n):
    """Reset the rows of the categories of a tile."""
    for k in range(1 + v, n):
        tile.row[tile.owner[k, 0]] = 1 + tile.owner[k, 1]


@jit
def enter(i, r, h, rows, lists):
    """Enter a pair whose level ``h`` is below the bound into the list of its PUF record."""
    keep = lists.levels.shape[1] - 1
    lists.counts[i] = offer(lists.levels[i], lists.eifs[i], lists.counts[i], h, rows.position[r])
    if lists.counts[i] > keep:
        lists.bound[i] = bound_of(lists.levels[i], 0)


@jit
def consider(i, r, apart, rows, costs, lists):
    """Score a pair by the definition; enter it if it is below the bound and differs on all variables of ``apart``."""
    different = unequal(rows.puf, i, rows.eif, r, rows.puf.shape[1])
    absent = rows.puf_absent[i] | rows.eif_absent[r]
    h = least_level(costs, popcount(different & ~absent), absent)
    if h < lists.bound[i]:
        h = level_of(costs, h, i, r, different, absent)
    if h < lists.bound[i] and apart & ~different == 0:
        enter(i, r, h, rows, lists)


@jit
def _enter_matches(i, in_tile, first, counts, spare, apart, rows, costs, lists, tile):
    """Enter, as `consider` does, the pairs that `bits.at_most` counted for the tile's records from ``first`` on."""
    for lane in range(LANES):
        left = counts[0, lane]
        while left != 0:
            bit = trailing_zeros(left)
            left &= left - np.uint64(1)
            y = first + 64 * lane + bit
            if y >= in_tile.size:  # bits beyond the last record
                return
            n_different = -spare
            for digit in range(len(tile.digits)):
                n_different += np.int64(counts[1 + digit, lane] >> np.uint64(bit) & np.uint64(1)) << digit
            absent = rows.puf_absent[i] | tile.absent[y]
            h = least_level(costs, n_different, absent)
            if h < lists.bound[i]:
                r = in_tile[y]
                different = unequal(rows.puf, i, rows.eif, r, rows.puf.shape[1])
                h = level_of(costs, h, i, r, different, absent)
                if h < lists.bound[i] and apart & ~different == 0:
                    enter(i, r, h, rows, lists)


@jit
def compare(ps, p_start, p_stop, es, e_start, e_stop, apart, least, rows, costs, lists, tile):
    """Consider the pairs of the PUF records ``ps[p_start:p_stop]`` with the EIF records ``es[e_start:e_stop]``.

    The level of a pair that differs on all variables of ``apart`` is known to be at least ``least``.
    """
    if e_stop - e_start <= MAX_SINGLE:
        for x in range(p_start, p_stop):
            for y in range(e_start, e_stop):
                consider(ps[x], es[y], apart, rows, costs, lists)
        return
    puf, v, most = rows.puf, rows.puf.shape[1], len(tile.spares) - 1
    at, counts = np.empty(v, np.int64), np.empty((1 + len(tile.digits), LANES), np.uint64)
    for start in range(e_start, e_stop, 64 * tile.words):
        stop = min(start + 64 * tile.words, e_stop)
        words = -(-(stop - start) // (64 * LANES)) * LANES
        n_rows = draw(tile, rows.eif, es, start, stop, words)
        in_tile = es[start:stop]
        for x in range(p_start, p_stop):
            i = ps[x]
            # What the PUF record misses and the differences must together be below the bound.
            budget = lists.bound[i] - 1 - cost_of_missing(costs, rows.puf_absent[i])
            if budget < 0 or lists.bound[i] <= least:
                continue
            allowed = min(budget // least_different(costs, 0), most)
            spare = as_tuple(tile.spares[allowed], tile.digits)
            for j in range(v):
                at[j] = tile.row[puf[i, j]] * words
            for word in range(0, words, LANES):
                if at_most(tile.maps, at, word, spare, counts):
                    _enter_matches(i, in_tile, 64 * word, counts, most - allowed, apart, rows, costs, lists, tile)
        erase(tile, v, n_rows)
