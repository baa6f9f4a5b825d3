"""The true links by row number: in memory, or read in step with records in ascending order (METHODS §6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from reident.linkage import batches

if TYPE_CHECKING:
    from reident.linkage.batches import Source


class Links:
    """The true links, in memory."""

    def __init__(self, iuf: pa.Table) -> None:
        self._links = numbers(iuf["puf"].to_numpy(), iuf["eif"].to_numpy())

    def hold(self, pairs: pa.Table) -> np.ndarray:
        """Return whether each pair is a true link; bool (m,)."""
        return among(self._links, numbers(pairs["puf"].to_numpy(), pairs["eif"].to_numpy()))


class SortedLinks:
    """The true links, read once from the prepared links, in step with PUF records in ascending order."""

    def __init__(self, iuf: Source) -> None:
        self._tables = batches.merge([iuf])
        self._at_end = False
        self._read()

    def hold(self, pairs: pa.Table) -> np.ndarray:
        """Return whether each pair is a true link; bool (m,).

        No pair has a PUF record before those of the call before; the pairs are in the order of their PUF records.
        """
        puf, eif = pairs["puf"].to_numpy(), pairs["eif"].to_numpy()
        held = np.zeros(len(puf), bool)
        for rows, *links in self.of(puf):
            held[rows] = among(numbers(*links), numbers(puf[rows], eif[rows]))
        return held

    def of(self, puf: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield the links of PUF records in ascending order, none before those of the call before, piece by piece.

        Yields
        ------
        rows : slice
            Positions in `puf`; all of them come once, and a piece has all links of its records.
        puf, eif : int32 (k,), int32 (k,)
            The links of the records from the first to the last one in `rows`.
        """
        start = 0
        while start < len(puf):
            stop = len(puf) if self._at_end else int(np.searchsorted(puf, self._last, side="right"))
            if stop > start:
                low = np.searchsorted(self._puf, puf[start])
                high = np.searchsorted(self._puf, puf[stop - 1], side="right")
                yield slice(start, stop), self._puf[low:high], self._eif[low:high]
            start = max(start, stop)
            if start < len(puf):
                self._read()

    def _read(self) -> None:
        """Read the links of the next records, or note that there are none."""
        table = next(self._tables, None)
        if table is None:
            self._at_end = True
            return
        self._puf, self._eif = (table[side].to_numpy() for side in ("puf", "eif"))
        self._last = int(self._puf[-1]) if len(self._puf) else -1


def numbers(puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
    """Return one number for each pair; pairs are in the order of their numbers."""
    return puf.astype(np.int64) << 32 | eif


def among(links: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return whether each number is one of `links`, which ascend."""
    if not len(links):
        return np.zeros(len(number), bool)
    place = np.searchsorted(links, number)
    return links[np.minimum(place, len(links) - 1)] == number
