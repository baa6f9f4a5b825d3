"""Sums over the records of each cluster, such as a household: over more records than fit into memory (METHODS §6)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reident.linkage import batches
from reident.linkage.intervals import Spread
from reident.linkage.strata import stratum_of_records

if TYPE_CHECKING:
    from reident.linkage.batches import Source

RANGE = 2**21
"""Clusters whose sums are in memory at a time."""


class Clusters:
    """The clusters of PUF records: `numbers` has the number of each from 0 (``cluster``)."""

    def __init__(self, numbers: Source, strata: Source, n_strata: int) -> None:
        self.n_records = batches.size(numbers)
        self._numbers, self._strata, self._n_strata = numbers, strata, n_strata
        self._n = max(int(batch["cluster"].to_numpy().max(initial=-1)) for batch in batches.split(numbers)) + 1

    def cells(self, chosen: np.ndarray | None = None, marked: np.ndarray | None = None) -> Iterator[pd.DataFrame]:
        """Yield the records of each cluster and stratum: no cluster is in two tables.

        Parameters
        ----------
        chosen, marked : bool (n_puf,), optional
            The records that count, by default all; records that are counted apart, too.

        Yields
        ------
        pandas.DataFrame
            cluster; line (0 for records in no stratum, otherwise 1 and the manifest line of the stratum); records and
            marked: numbers of records. Sorted by cluster and line; int64.
        """
        n_lines = 1 + self._n_strata
        for low in range(0, self._n, RANGE):
            tally, strata, start = _Numbers(), batches.SortedRows(self._strata, ["stratum"]), 0
            for batch in batches.split(self._numbers, columns=["cluster"]):
                cluster = batch["cluster"].to_numpy() - low
                inside = (cluster >= 0) & (cluster < RANGE)
                if chosen is not None:
                    inside &= chosen[start : start + len(cluster)]
                rows = np.flatnonzero(inside)
                cell = cluster[rows] * n_lines + stratum_of_records(strata.take(rows + start)) + 1
                tally.add(2 * cell + (0 if marked is None else marked[rows + start]))
                start += len(cluster)
            number, times = tally.counted()
            first = np.flatnonzero(batches.is_new(number // 2))
            counts = [
                np.add.reduceat(amounts, first) if len(first) else amounts for amounts in (times, times * (number % 2))
            ]
            cluster, line = np.divmod(number[first] // 2, n_lines)
            columns = {"cluster": cluster + low, "line": line, "records": counts[0], "marked": counts[1]}
            yield pd.DataFrame(columns)

    def spreads(self, chosen: np.ndarray | None = None, marked: np.ndarray | None = None) -> list[Spread]:
        """Return how the marked ones of the chosen records spread over their clusters; parameters as of :meth:`cells`.

        Of the whole study, where a cluster counts once, and of each stratum.
        """
        columns = ["line", "records", "marked"]
        tallies = [pd.DataFrame({name: np.empty(0, np.int64) for name in [*columns, "times"]})]
        for cells in self.cells(chosen, marked):
            whole = cells.groupby("cluster", as_index=False)[["records", "marked"]].sum().assign(line=0)
            tallies += [
                table.groupby(columns, as_index=False).size().rename(columns={"size": "times"})
                for table in (whole, cells[cells["line"] > 0])
            ]
        tally = pd.concat(tallies).groupby(columns, as_index=False)["times"].sum()  # sorted
        ends = np.searchsorted(tally["line"], np.arange(2 + self._n_strata))
        kinds = tally[["records", "marked", "times"]].to_numpy(np.int64)
        return [Spread(tuple(map(tuple, kinds[start:end].tolist()))) for start, end in itertools.pairwise(ends)]


class _Numbers:
    """Different whole numbers, each with the number of times that it has come."""

    def __init__(self) -> None:
        self._tally = np.empty(0, np.int64), np.empty(0, np.int64)
        self._waiting: list[np.ndarray] = []

    def add(self, numbers: np.ndarray) -> None:
        """Take further numbers; int64 (n,)."""
        self._waiting.append(numbers)
        if sum(map(len, self._waiting)) > max(4 * batches.ROWS, len(self._tally[0])):
            self.counted()

    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the different numbers, ascending, and how often each has come; int64 (m,)."""
        new = np.concatenate([np.empty(0, np.int64), *self._waiting])
        self._waiting = []
        numbers = np.concatenate([self._tally[0], new])
        times = np.concatenate([self._tally[1], np.ones(len(new), np.int64)])
        order = np.argsort(numbers, kind="stable")
        first = np.flatnonzero(batches.is_new(numbers[order]))
        self._tally = numbers[order[first]], np.add.reduceat(times[order], first) if len(first) else times
        return self._tally
