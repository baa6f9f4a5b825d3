"""Taxicab, all pairs: differences counted for 512 EIF records at a time, one bit each (METHODS §4.2, §5).

The EIF comes in tiles. Per variable and category a tile has a bit map "present, but another category"; a
missing value has the map without a bit. The rows of a PUF record's categories therefore hold, record by
record of the tile, as many bits as variables are present in both and different, and `bits.at_most` finds
the records with few enough of them. That is necessary for a level within the bound, not sufficient, because
what is missing in the EIF record alone is not counted: the pairs that it finds are scored by the definition.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba.np.unsafe.ndarray import to_fixed_tuple

from reident.kernels.bits import LANES, at_most, trailing_zeros
from reident.kernels.compiling import jit
from reident.kernels.toplist import Best, offer, settle

TILE_BYTES = 2**17
"""About what the bit maps of a tile may take: they are read once per PUF record and have to stay in cache."""

MISSING = 0
"""The row of a missing value."""

UNSHARED = -1
"""The row of an EIF record's category that no PUF record has."""


class Rows(NamedTuple):
    """The categories of both files numbered through all variables, as rows of a bit map.

    Row 0 is the missing value, row 1 + j a category of variable j that only PUF records have, the others are
    categories that both files have. The EIF is sorted by its number of missing values.
    """

    puf: np.ndarray  # int32 (n_puf, v)
    eif: np.ndarray  # int32 (n_eif, v)
    position: np.ndarray  # int32 (n_eif,): where the record stands in the EIF
    puf_missing: np.ndarray  # int32 (n_puf,)
    eif_missing: np.ndarray  # int32 (n_eif,), ascending
    n: int


def number_rows(puf: np.ndarray, eif: np.ndarray) -> Rows:
    """Number the categories of both files through all variables."""
    v = puf.shape[1]
    puf_rows, eif_rows = np.empty(puf.shape, np.int32), np.empty(eif.shape, np.int32)
    n = 1 + v
    for j in range(v):
        shared = np.intersect1d(np.unique(puf[:, j]), np.unique(eif[:, j]))
        shared = shared[shared >= 0]
        for codes, rows, alone in ((puf[:, j], puf_rows, 1 + j), (eif[:, j], eif_rows, UNSHARED)):
            place = np.searchsorted(shared, codes)
            found = shared[np.minimum(place, shared.size - 1)] == codes if shared.size else False
            rows[:, j] = np.where(codes < 0, MISSING, np.where(found, n + place, alone))
        n += shared.size
    eif_missing = (eif_rows == MISSING).sum(axis=1, dtype=np.int32)
    order = np.argsort(eif_missing, kind="stable")
    return Rows(
        puf_rows,
        eif_rows[order],
        order.astype(np.int32),
        (puf_rows == MISSING).sum(axis=1, dtype=np.int32),
        eif_missing[order],
        n,
    )


@jit
def _draw_tile(eif, start, end, words, rows, place, drawn):
    """Draw the bit maps of the EIF records [start, end); returns the number of rows.

    ``place[g]`` is where row g begins. Rows of categories that no record of the tile has are not drawn:
    for them every record that is present differs, as in the row 1 + j, where ``place`` points by default.
    """
    v = eif.shape[1]
    n = 1 + v
    rows[: n * words] = 0
    for r in range(start, end):
        word = (r - start) >> 6
        bit = np.uint64(1) << np.uint64((r - start) & 63)
        for j in range(v):
            g = eif[r, j]
            if g == MISSING:
                continue
            rows[(1 + j) * words + word] |= bit
            if g < 0:
                continue
            if place[g] == (1 + j) * words:
                place[g] = n * words
                drawn[n, 0], drawn[n, 1] = g, j
                rows[n * words : (n + 1) * words] = 0
                n += 1
            rows[place[g] + word] |= bit
    for row in range(1 + v, n):
        present = (1 + drawn[row, 1]) * words
        for word in range(words):
            rows[row * words + word] = rows[present + word] & ~rows[row * words + word]
    return n


@jit
def _level(puf, i, eif, r, different, missing):
    """The level of a pair by the definition."""
    n_different = n_missing = 0
    for j in range(puf.shape[1]):
        absent = (puf[i, j] == MISSING) | (eif[r, j] == MISSING)
        n_missing += absent
        n_different += (puf[i, j] != eif[r, j]) & ~absent
    return different * n_different + missing * n_missing


@cache
def _scan_of(v: int, n_digits: int) -> Any:
    """Make the scan for ``v`` variables and at most ``2**n_digits − 1`` differences."""

    @jit
    def scan(rows, owner, first, end, words, n_drawn, different, missing, limit, keep, best):
        """All pairs of the PUF records [first, end)."""
        puf, eif = rows.puf, rows.eif
        n_eif, n_puf = len(eif), end - first
        levels, eifs = np.empty((n_puf, keep + 1), np.int64), np.empty((n_puf, keep + 1), np.int32)
        counts, bounds = np.zeros(n_puf, np.int64), np.full(n_puf, limit + 1)
        maps = np.empty(n_drawn * words, np.uint64)
        place, drawn = owner * words, np.empty((n_drawn, 2), np.int32)
        rooms = np.zeros((2**n_digits, n_digits), np.uint64)
        for allowed in range(2**n_digits):
            for digit in range(n_digits):
                if (2**n_digits - 1 - allowed) >> digit & 1:
                    rooms[allowed, digit] = ~np.uint64(0)
        at, found = np.empty(v, np.int64), np.empty(LANES, np.uint64)

        for start in range(0, n_eif, 64 * words):
            stop = min(start + 64 * words, n_eif)
            n_rows = _draw_tile(eif, start, stop, words, maps, place, drawn)
            for i in range(n_puf):
                # A level within the bound leaves room for so many differences beside the values that are
                # missing in the PUF record or, if more, in the record of the tile that misses the fewest.
                least = max(rows.puf_missing[first + i], rows.eif_missing[start])
                spare = bounds[i] - 1 - missing * least
                if spare < 0:
                    continue
                room = to_fixed_tuple(rooms[min(spare // different, 2**n_digits - 1)], n_digits)
                for j in range(v):
                    at[j] = place[puf[first + i, j]]
                rows_at = to_fixed_tuple(at, v)
                for word in range(0, words, LANES):
                    if not at_most(maps, rows_at, word, room, found):
                        continue
                    for lane in range(LANES):
                        left = found[lane]
                        while left != 0:
                            r = start + 64 * (word + lane) + trailing_zeros(left)
                            left &= left - np.uint64(1)
                            if r >= stop:
                                break
                            level = _level(puf, first + i, eif, r, different, missing)
                            if level < bounds[i]:
                                counts[i] = offer(levels[i], eifs[i], counts[i], level, rows.position[r])
                                if counts[i] == keep + 1:
                                    bounds[i] = levels[i, keep]
            for row in range(1 + v, n_rows):
                place[drawn[row, 0]] = (1 + drawn[row, 1]) * words
        for i in range(n_puf):
            settle(levels[i], eifs[i], counts[i], best, first + i)

    return scan


def scanner(
    rows: Rows, *, different: int, missing: int, limit: int, keep: int, best: Best
) -> Callable[[int, int], None]:
    """Return a function that finds the best pairs of the PUF records [first, end) among all EIF records.

    It fills in their rows of ``best``; any number of threads may call it for ranges that do not overlap.
    """
    v = rows.puf.shape[1]
    scan = _scan_of(v, max(1, min(limit // different, v).bit_length()))
    owner = np.zeros(rows.n, np.int64)  # the row that stands in for a row that a tile has not
    owner[1 : 1 + v] = np.arange(1, 1 + v)
    for codes in (rows.eif,):
        for j in range(v):
            shared = codes[:, j][codes[:, j] > v]
            owner[shared] = 1 + j
    words = 64
    while words > LANES and min(rows.n, 1 + v + v * 64 * words) * words * 8 > TILE_BYTES:
        words //= 2
    n_drawn = min(rows.n, 1 + v + v * 64 * words)

    def work(first: int, end: int) -> None:
        scan(rows, owner, first, end, words, n_drawn, different, missing, limit, keep, best)

    return work
