"""The differences of all pairs inside strata on one variable, counted without a list of them (METHODS §4.6)."""

import numpy as np

from reident.kernels.compared import MISSING
from reident.kernels.compiling import lean_jit


@lean_jit
def _within(puf, eif, puf_starts, eif_starts, bound):
    """Count the pairs inside strata whose difference, EIF less PUF, is at most the bound; values ascend in strata."""
    total = 0
    for s in range(puf_starts.size - 1):
        r, end = eif_starts[s], eif_starts[s + 1]
        for i in range(puf_starts[s], puf_starts[s + 1]):
            while r < end and eif[r] - puf[i] <= bound:
                r += 1
            total += r - eif_starts[s]
    return total


class Differences:
    """The differences of all pairs on one variable; values are int64, see `MISSING`."""

    def __init__(self, puf: np.ndarray, eif: np.ndarray, starts: tuple[np.ndarray, np.ndarray]) -> None:
        sorted_sides = [_ascending(values, bounds) for values, bounds in zip((puf, eif), starts, strict=True)]
        (self._puf, a), (self._eif, b) = sorted_sides
        self._starts = a, b
        self.n_pairs = int(np.diff(a) @ np.diff(b))

    def at_most(self, bound: int) -> int:
        """Count the pairs whose difference, EIF less PUF, is at most the bound."""
        return int(_within(self._puf, self._eif, *self._starts, bound))

    def apart(self, share: int, of: int, least: int = 0) -> int:
        """Return the smallest distance within which a share of the pairs is, ``share / of``, if it is above `least`."""
        if not self.n_pairs:
            return least
        rank = -(-self.n_pairs * share // of)
        spread = [int(values.max()) - int(other.min()) for values, other in (
            (self._puf, self._eif), (self._eif, self._puf)
        )]  # fmt: skip
        low, high = least, max(*spread, least)
        while low < high:
            middle = (low + high) // 2
            if self.at_most(middle) - self.at_most(-middle - 1) >= rank:
                high = middle
            else:
                low = middle + 1
        return low


def _ascending(values: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of each stratum that are not missing, ascending, and where each stratum starts."""
    stratum = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    kept = values != MISSING
    values, stratum = values[kept], stratum[kept]
    order = np.lexsort([values, stratum])
    return values[order], np.searchsorted(stratum[order], np.arange(len(starts)))
