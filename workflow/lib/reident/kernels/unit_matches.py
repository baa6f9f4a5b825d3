"""Units that match where members miss values: some order of the members makes each of them match (METHODS §7.8)."""

from __future__ import annotations

import numpy as np

from reident.kernels.compiling import jit, lean_jit


@lean_jit
def _fits(profiles, a, i, b, j, within):
    """Return whether member i of a matches member j of b; ``within``: whether j has no value that i misses."""
    for k in range(profiles.shape[2]):
        own, other = profiles[a, i, k], profiles[b, j, k]
        if own != other and other >= 0 and (within or own >= 0):
            return False
    return True


@lean_jit
def _partner(i, fits, partner, seen):
    """Give member i a partner, if need be by giving those before it others."""
    for j in range(len(seen)):
        if fits[i, j] and not seen[j]:
            seen[j] = True
            if partner[j] < 0 or _partner(partner[j], fits, partner, seen):
                partner[j] = i
                return True
    return False


@lean_jit
def _units_match(profiles, a, b, within, fits, partner, seen):
    """Return whether each member of a can be given a different member of b that matches it."""
    size = profiles.shape[1]
    for i in range(size):
        alone = True
        for j in range(size):
            fits[i, j] = _fits(profiles, a, i, b, j, within)
            alone &= not fits[i, j]
        if alone:
            return False
    partner[:] = -1
    for i in range(size):
        seen[:] = False
        if not _partner(i, fits, partner, seen):
            return False
    return True


@jit
def unit_matches(profiles, times, incomplete, within):
    """Return for each profile how many units match it, its own included.

    Parameters
    ----------
    profiles : int32 (p, size, v)
        Different profiles of one size; -1 for missing. Those with a member that misses a value come first.
    times : int64 (p,)
        How many units have it.
    incomplete : int
        How many profiles have a member that misses a value: only these match others.
    within : bool
        Whether the other unit's members must have no value that those of the unit miss.
    """
    n, size = len(profiles), profiles.shape[1]
    result = times.copy()
    fits = np.zeros((size, size), np.bool_)
    partner, seen = np.empty(size, np.int64), np.zeros(size, np.bool_)
    for a in range(incomplete):
        for b in range(n):
            # Whoever matches a complete unit for sure may be equal to it, but not the other way round.
            if a != b and (b < incomplete or not within) and _units_match(profiles, a, b, within, fits, partner, seen):
                result[a] += times[b]
                if b >= incomplete:
                    result[b] += times[a]
            elif b >= incomplete and within and _units_match(profiles, b, a, True, fits, partner, seen):
                result[b] += times[a]
    return result
