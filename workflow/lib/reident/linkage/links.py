"""The true links by row number: in memory, or read in step with records in ascending order (METHODS §6)."""

from __future__ import annotations

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
        self._table = next(self._tables)

    def hold(self, pairs: pa.Table) -> np.ndarray:
        """Return whether each pair is a true link; bool (m,).

        No pair has a PUF record before those of the call before; the pairs are in the order of their PUF records.
        """
        puf, eif = pairs["puf"].to_numpy(), pairs["eif"].to_numpy()
        return among(numbers(*self.take(puf)), numbers(puf, eif))

    def take(self, puf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the links of PUF records in ascending order, none before those of the call before; int32 (k,) each."""
        pieces = [self._table.slice(0, 0)]
        while len(puf):
            links = self._table["puf"].to_numpy()
            pieces.append(self._table.filter(pa.array(among(puf, links))))
            following = next(self._tables, None) if len(links) and links[-1] < puf[-1] else None
            if following is None:
                break
            self._table = following
        table = pa.concat_tables(pieces)
        return table["puf"].to_numpy(), table["eif"].to_numpy()


def numbers(puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
    """Return one number for each pair; pairs are in the order of their numbers."""
    return puf.astype(np.int64) << 32 | eif


def among(links: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return whether each number is one of `links`, which ascend."""
    if not len(links):
        return np.zeros(len(number), bool)
    place = np.searchsorted(links, number)
    return links[np.minimum(place, len(links) - 1)] == number
