"""Ranges of records sorted by the category of a variable, which is a run of equal numbers (METHODS §4.2, §4.6).

Categories are numbered as in `rows`: 0 is a missing value, the numbers below the first of a variable and `UNSHARED` are
categories that the other file does not have.
"""

import numpy as np

from reident.kernels.compiling import jit
from reident.kernels.rows import UNSHARED


@jit
def group(ids, start, stop, table, j, base, scratch):
    """Sort the records ``ids[start:stop]`` by their category of variable j, missing first."""
    n = stop - start
    if n <= 32:
        for x in range(start + 1, stop):
            record = ids[x]
            g = table[record, j]
            y = x
            while y > start and table[ids[y - 1], j] > g:
                ids[y] = ids[y - 1]
                y -= 1
            ids[y] = record
        return
    n_keys = base[j + 1] - base[j] + 3
    keys, keys_out, out = scratch[0, :n], scratch[1, :n], scratch[2, :n]
    for x in range(n):
        g = table[ids[start + x], j]
        if g >= base[j]:
            keys[x] = n_keys - 1 if g == UNSHARED else g - base[j] + 2
        else:
            keys[x] = min(g, 1)
    counts = np.zeros(257, np.int64)
    shift = 0
    while True:  # the digits of base 256, lowest first, each pass stable
        for key in range(257):
            counts[key] = 0
        for x in range(n):
            counts[((keys[x] >> shift) & 255) + 1] += 1
        for key in range(1, 256):
            counts[key] += counts[key - 1]
        for x in range(n):
            key = (keys[x] >> shift) & 255
            out[counts[key]] = ids[start + x]
            keys_out[counts[key]] = keys[x]
            counts[key] += 1
        for x in range(n):
            ids[start + x] = out[x]
        shift += 8
        if n_keys >> shift == 0:
            return
        keys, keys_out = keys_out, keys


@jit
def count_missing(ids, start, stop, table, j):
    """Count the records at the front of a sorted set that miss variable j."""
    x = start
    while x < stop and table[ids[x], j] == 0:
        x += 1
    return x - start


@jit
def run_end(ids, start, stop, table, j):
    """Return the end of the run of records with the category of the first."""
    g = table[ids[start], j]
    x = start + 1
    while x < stop and table[ids[x], j] == g:
        x += 1
    return x
