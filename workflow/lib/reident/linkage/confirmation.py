"""Confirmation: a suspected pair is confirmed if it is a true link (METHODS §6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.keys import Index
from reident.linkage import batches
from reident.linkage.parts import Confirming
from reident.linkage.ranking import WHOLE, ranks

if TYPE_CHECKING:
    from reident.linkage.batches import Batch, Sink, Source
    from reident.linkage.metrics.contract import Metric

LIMITS = ["stratum", "max_pairs", "n_suspected", "n_confirmed", "n_ambiguous", "n_pairs", "n_confirmed_pairs"]


class Links:
    """The true links, asked batch by batch."""

    def __init__(self, part: Confirming, iuf: pa.Table) -> None:
        self._names = [*part.keys["puf"], *part.keys["eif"]]
        self._index = Index(iuf, self._names)

    def hold(self, pairs: pa.Table) -> np.ndarray:
        """Whether each pair (PUF key, EIF key) is a row of the links; bool (m,)."""
        return self._index.positions(pairs, self._names) >= 0


def confirm(
    part: Confirming,
    metric: Metric,
    suspected: Source,
    scores: Sequence[Source],
    crowded: Sequence[Source],
    iuf: pa.Table,
    strata: list[str],
    confirmed: Sink,
) -> pd.DataFrame:
    """Check the suspected pairs of a metric against the true links.

    Parameters
    ----------
    suspected : pyarrow.Table or pyarrow.parquet.ParquetFile
        The pairs that the rank filter left.
    scores, crowded : sequence of pyarrow.Table or pyarrow.parquet.ParquetFile
        What scoring kept, and the records of which it kept nothing, shard by shard.
    iuf : pyarrow.Table
        The prepared links.
    strata : list of str
        All strata, in the order of the manifest.
    confirmed
        Takes the suspected pairs with `confirmed`.

    Returns
    -------
    pandas.DataFrame
        :data:`LIMITS`: counts at every rank limit from 1 to `keep`, of the whole study (``ALL``) first;
        unicity has no limits.
    """
    links = Links(part, iuf)
    for pairs in batches.of(suspected):
        confirmed(pairs.append_column("confirmed", pa.array(links.hold(pairs))))
    if not metric.ranked:
        return pd.DataFrame(columns=LIMITS)
    limits = _Limits(strata, part.keep)
    for batch in batches.merged(scores, part.keys["puf"]):
        limits.count(batch, links.hold(batch.pairs))
    for source in crowded:
        for records in batches.of(source):
            limits.count_crowded(records)
    return limits.table()


class _Limits:
    """Counts for every `max_pairs` from 1 to `keep`, per stratum and in total.

    Each count is kept by stratum and by the smallest limit that lets a record, or a pair, in.
    """

    def __init__(self, strata: list[str], keep: int) -> None:
        self.strata, self.keep = strata, keep
        self.records, self.hits, self.pairs, self.links = (
            np.zeros((len(strata), keep + 1), np.int64) for _ in range(4)
        )
        self.crowded = np.zeros(len(strata), np.int64)

    def count(self, batch: Batch, link: np.ndarray) -> None:
        """Count the pairs of some records, of which `link` are true links."""
        found = ranks(batch.record, batch.pairs["score"].to_numpy())
        stratum = self._stratum(batch.pairs)
        first = np.unique(found.record, return_index=True)[1]  # the best pair of each record
        linked = np.flatnonzero(link)
        best = linked[np.unique(found.record[linked], return_index=True)[1]]  # its best pair that is a link
        for counts, chosen in (
            (self.records, first),
            (self.hits, best),
            (self.pairs, slice(None)),
            (self.links, linked),
        ):
            np.add.at(counts, (stratum[chosen], found.needs[chosen]), 1)

    def count_crowded(self, records: pa.Table) -> None:
        """Count records of which nothing was kept."""
        self.crowded += np.bincount(self._stratum(records), minlength=len(self.strata))

    def _stratum(self, table: pa.Table) -> np.ndarray:
        return pc.index_in(table["stratum"], pa.array(self.strata, pa.string())).to_numpy()

    def table(self) -> pd.DataFrame:
        """The counts as :data:`LIMITS`."""
        everywhere = [slice(None), *(slice(at, at + 1) for at in range(len(self.strata)))]
        tables = []
        for name, own in zip([WHOLE, *self.strata], everywhere, strict=True):
            suspected, confirmed, pairs, links = (
                np.cumsum(counts[own].sum(axis=0)[1:])
                for counts in (self.records, self.hits, self.pairs, self.links)
            )
            candidates = self.records[own].sum() + self.crowded[own].sum()
            counts = {
                "stratum": name,
                "max_pairs": np.arange(1, self.keep + 1),
                "n_suspected": suspected,
                "n_confirmed": confirmed,
                "n_ambiguous": candidates - suspected,
                "n_pairs": pairs,
                "n_confirmed_pairs": links,
            }
            tables.append(pd.DataFrame(counts, columns=LIMITS))
        return pd.concat(tables, ignore_index=True)
