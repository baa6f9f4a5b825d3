"""Sums over the records of each cluster, such as a household: over more records than fit into memory (METHODS §6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reident.linkage import batches
from reident.linkage.intervals import Spread
from reident.linkage.strata import lines
from reident.linkage.tally import Tally

if TYPE_CHECKING:
    from reident.linkage.batches import Source

RANGE = 2**21
"""Clusters whose sums are in memory at a time."""


class Clusters:
    """The clusters of PUF records, of which `numbers` has the number of each from 0 (``cluster``)."""

    def __init__(self, numbers: Source, strata: Source, n_strata: int) -> None:
        self.n_records = batches.size(numbers)
        self._numbers, self._strata, self._n_strata = numbers, strata, n_strata
        self._n = (
            max(int(batch["cluster"].to_numpy().max(initial=-1)) for batch in batches.split(numbers)) + 1
        )

    def _cells(self, chosen: np.ndarray | None, marked: np.ndarray | None) -> Iterator[pd.DataFrame]:
        """Yield the number of records, and of marked ones, of each cluster and line; no cluster is in two tables.

        The line is 0 for records in no stratum, otherwise 1 and the manifest line of the stratum.
        """
        for low in range(0, self._n, RANGE):
            tally, strata, start = (
                Tally(["cluster", "line"]),
                batches.SortedRows(self._strata, ["stratum"]),
                0,
            )
            for batch in batches.split(self._numbers, columns=["cluster"]):
                cluster = batch["cluster"].to_numpy()
                inside = (cluster >= low) & (cluster < low + RANGE)
                if chosen is not None:
                    inside &= chosen[start : start + len(cluster)]
                rows = np.flatnonzero(inside)
                records, start = rows + start, start + len(cluster)
                counts = {
                    "records": np.ones(len(rows)),
                    "marked": np.zeros(len(rows)) if marked is None else marked[records],
                }
                tally.add({"cluster": cluster[rows], "line": lines(strata.take(records)) + 1, **counts})
            yield tally.table()

    def spreads(self, chosen: np.ndarray | None = None, marked: np.ndarray | None = None) -> list[Spread]:
        """Return how the marked ones of the chosen records, bool (n_puf,), spread over their clusters.

        Of the whole study, where a cluster counts once, and of each stratum. By default all records are chosen.
        """
        totals = np.zeros((len(Spread._fields), 1 + self._n_strata), np.int64)
        for cells in self._cells(chosen, marked):
            whole = cells.groupby("cluster").sum().assign(line=0)
            table = pd.concat([whole, cells[cells["line"] > 0]])
            x, y = table["records"].to_numpy(), table["marked"].to_numpy()
            values_of_fields = np.ones_like(x), y > 0, x, y, x * x, x * y, y * y
            for total, values in zip(totals, values_of_fields, strict=True):
                np.add.at(total, table["line"].to_numpy(), values)
        return [Spread(*line) for line in totals.T.tolist()]
