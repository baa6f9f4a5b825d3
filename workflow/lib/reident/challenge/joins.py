"""Joins on exact values of one variable or of two: claims without any metric (METHODS §6.10).

A pair is claimed if no other record of either file has these values in its stratum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from reident.intake import keys
from reident.linkage.batches import is_of_members
from reident.linkage.links import Links
from reident.linkage.strata import stratum_of_records
from reident.linkage.unit_pairing import profile_codes

if TYPE_CHECKING:
    from reident.linkage.attack import AttackFiles

SIDES = ("puf", "eif")


def sets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the sets of variables that are joined on, those of one variable first."""
    yield from ((name,) for name in names)
    yield from combinations(names, 2)


class Joins:
    """The values of the linking variables of both files as codes, and the true links."""

    def __init__(self, files: AttackFiles, names: Sequence[str]) -> None:
        strata = [stratum_of_records(files.strata[side]).astype(np.int64) for side in SIDES]
        self._strata, self._links = strata, Links(files.iuf)
        self._codes = {name: _codes([files.prepared[side][name] for side in SIDES]) for name in names}

    def claims(self, names: Sequence[str]) -> pa.Table:
        """Return the claims of the join on some variables: puf, eif, score, confirmed, by row number of the PUF."""
        cells = self._strata
        for name in names:
            cells = _cells(cells, self._codes[name])
        puf_rows, eif_rows = (_single(column) for column in cells)
        _, puf_at, eif_at = np.intersect1d(
            cells[0][puf_rows], cells[1][eif_rows], assume_unique=True, return_indices=True
        )
        puf, eif = puf_rows[puf_at], eif_rows[eif_at]
        order = np.argsort(puf)
        columns = {"puf": puf[order].astype(np.int32), "eif": eif[order].astype(np.int32)}
        pairs = pa.table({**columns, "score": np.ones(len(order), np.int16)})
        return pairs.append_column("confirmed", pa.array(self._links.hold(pairs)))


def _codes(columns: list[pa.ChunkedArray]) -> list[np.ndarray]:
    """Return codes of the values of a variable, equal where these are, -1 where one is missing; int64 (n,) each."""
    if is_of_members(columns[0]):
        return profile_codes(columns)[0]
    if not pa.types.is_floating(columns[0].type):
        return keys.text_codes(columns)[0]
    numbers = np.concatenate([column.to_numpy() for column in columns])
    _, codes = np.unique(numbers, return_inverse=True)
    return np.split(np.where(np.isnan(numbers), -1, codes).astype(np.int64), [len(columns[0])])


def _cells(cells: list[np.ndarray], codes: list[np.ndarray]) -> list[np.ndarray]:
    """Return the cells of records by one more variable, numbered from 0 in both files alike; -1 for none."""
    width = 1 + max(int(column.max(initial=-1)) for column in codes)
    joined = [
        np.where((cell < 0) | (code < 0), -1, cell * width + code) for cell, code in zip(cells, codes, strict=True)
    ]
    _, dense = np.unique(np.concatenate(joined), return_inverse=True)
    numbered = np.split(dense.astype(np.int64), [len(joined[0])])
    return [np.where(cell < 0, -1, number) for cell, number in zip(joined, numbered, strict=True)]


def _single(cells: np.ndarray) -> np.ndarray:
    """Return the rows that are alone in their cells."""
    rows = np.flatnonzero(cells >= 0)
    counts = np.bincount(cells[rows])
    return rows[counts[cells[rows]] == 1]
