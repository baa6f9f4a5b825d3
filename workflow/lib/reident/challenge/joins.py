"""Joins on exact values of one variable or of two: claims without any metric (METHODS §6.10).

A pair is claimed if no other record of either file has these values in its stratum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.intake import keys
from reident.kernels.joins import Grouped, group, single_pairs
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

    def __init__(self, files: AttackFiles, names: Sequence[str], threads: int = 1) -> None:
        self._strata = [stratum_of_records(files.strata[side]).astype(np.int64) for side in SIDES]
        self._links, self._threads = Links(files.iuf), threads
        self._codes = {name: _codes([files.prepared[side][name] for side in SIDES]) for name in names}
        self._grouped: tuple[str | None, tuple[Grouped, Grouped]] = None, _groups(self._strata)

    def claims(self, names: Sequence[str]) -> pa.Table:
        """Return the claims of the join on some variables: puf, eif, score, confirmed, by row number of the PUF."""
        *others, name = names
        puf, eif = single_pairs(*self._groups(others), self._codes[name], self._threads)
        pairs = pa.table({"puf": puf, "eif": eif, "score": np.ones(len(puf), np.int16)})
        return pairs.append_column("confirmed", pa.array(self._links.hold(pairs)))

    def _groups(self, names: Sequence[str]) -> tuple[Grouped, Grouped]:
        """Return the records of both files by stratum, and by a variable where one is given; the last is kept."""
        name = names[0] if names else None
        if self._grouped[0] != name:
            cells = self._strata if name is None else _cells(self._strata, self._codes[name])
            self._grouped = name, _groups(cells)
        return self._grouped[1]


def _groups(cells: list[np.ndarray]) -> tuple[Grouped, Grouped]:
    n_cells = 1 + max(int(column.max(initial=-1)) for column in cells)
    ours, theirs = (group(column, n_cells) for column in cells)
    return ours, theirs


def _codes(columns: list[pa.ChunkedArray]) -> tuple[np.ndarray, np.ndarray]:
    """Return codes of the values of a variable, equal where these are, -1 where one is missing; int32 (n,) each."""
    if is_of_members(columns[0]):
        codes = profile_codes(columns)[0]
    elif not pa.types.is_floating(columns[0].type):
        codes = keys.text_codes(columns)[0]
    else:
        numbers = np.concatenate([column.to_numpy() for column in columns])
        _, numbered = np.unique(numbers, return_inverse=True)
        codes = np.split(np.where(np.isnan(numbers), -1, numbered), [len(columns[0])])
    ours, theirs = (column.astype(np.int32) for column in codes)
    return ours, theirs


def _cells(cells: list[np.ndarray], codes: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
    """Return the cells of records by one more variable, numbered from 0 in both files alike; -1 for none."""
    width = 1 + max(int(column.max(initial=-1)) for column in codes)
    joined = [
        np.where((cell < 0) | (code < 0), -1, cell * width + code) for cell, code in zip(cells, codes, strict=True)
    ]
    dense, _ = pd.factorize(np.concatenate(joined))
    numbered = np.split(dense.astype(np.int64), [len(joined[0])])
    return [np.where(cell < 0, -1, number) for cell, number in zip(joined, numbered, strict=True)]
