"""Rates of clusters, such as households: at least one member suspected, at least one confirmed (METHODS §6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reident.linkage import batches
from reident.linkage.cluster_sums import Clusters
from reident.linkage.intervals import Spread
from reident.linkage.rates import conditional_rates, rates_of
from reident.linkage.settings import WHOLE, RatingSettings

if TYPE_CHECKING:
    from reident.linkage.batches import Source


def rate(
    settings: RatingSettings, numbers: Source, strata: Source, manifest: pd.DataFrame, pairs: Mapping[str, Source]
) -> pd.DataFrame:
    """Compute the rates of clusters by metric, for the whole study (``ALL``) and each stratum.

    Parameters
    ----------
    numbers : Source
        The number of the cluster of each PUF record, ``cluster``; no row in a study without cluster columns.

    Returns
    -------
    pandas.DataFrame
        The columns of `clusters.csv`; no line without clusters. A cluster with records in several strata counts in each
        of them, with its records there, and once in ``ALL``.
    """
    n_puf = batches.size(numbers)
    if not n_puf:
        return pd.DataFrame()
    clusters = Clusters(numbers, strata, len(manifest))
    n_clusters = _counts(clusters.spreads(), "clusters")
    tables = []
    for metric, source in pairs.items():
        suspected, confirmed = (np.zeros(n_puf, bool) for _ in range(2))
        for batch in batches.split(source):
            puf = batch["puf"].to_numpy()
            suspected[puf] = True
            confirmed[puf[batch["confirmed"].to_numpy()]] = True
        spreads = clusters.spreads(suspected, confirmed)
        counts = _counts(spreads, "clusters"), _counts(spreads, "hit")
        # Clusters are independent trials in every study.
        table = rates_of(n_clusters, *counts) | conditional_rates(settings.rates, *counts)
        names = {"metric": metric, "stratum": [WHOLE, *manifest["stratum"]], "n_clusters": n_clusters}
        tables.append(pd.DataFrame(names | table))
    return pd.concat(tables, ignore_index=True)


def _counts(spreads: Sequence[Spread], field: str) -> np.ndarray:
    return np.array([getattr(spread, field) for spread in spreads], np.int64)
