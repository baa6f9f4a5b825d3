"""Calibration: match probabilities against the share of pairs that are true links (METHODS §4.6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reident.linkage import batches
from reident.linkage.metrics.fellegi_sunter import match_probability

if TYPE_CHECKING:
    from reident.linkage.batches import Source

EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
"""Where the classes of probabilities begin, and where the last one ends."""

COLUMNS = ["above", "up_to", "n_pairs", "n_confirmed", "probability", "confirmed_share"]


def calibrate(pairs: Source, model: pd.DataFrame) -> pd.DataFrame:
    """Compare the match probabilities of the suspected pairs with the share that is right, class by class.

    Parameters
    ----------
    pairs : pyarrow.Table or pyarrow.parquet.ParquetFile
        The suspected pairs: score (the match weight in bits) and confirmed.
    model : pandas.DataFrame
        One line with the prior.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`, one line per class that has pairs. Pairs of equal weight have equal probabilities and are
        summed up once, by their weights, so that no order of the pairs matters.
    """
    counts: dict[float, list[int]] = {}
    for batch in batches.split(pairs):
        weight, place = np.unique(batch["score"].to_numpy(), return_inverse=True)
        confirmed = batch["confirmed"].to_numpy()
        totals = (
            np.bincount(place, minlength=len(weight)),
            np.bincount(place[confirmed], minlength=len(weight)),
        )
        for one, n, right in zip(weight.tolist(), *(total.tolist() for total in totals), strict=True):
            before = counts.setdefault(one, [0, 0])
            before[0] += n
            before[1] += right
    weights = np.array(sorted(counts), np.float64)
    probability = match_probability(weights, float(model["prior"].iloc[0]))
    at = np.clip(np.searchsorted(EDGES, probability, side="right") - 1, 0, len(EDGES) - 2)
    lines = []
    for cell in np.unique(at).tolist():
        own = np.flatnonzero(at == cell)
        n, right = (sum(counts[weights[one]][part] for one in own) for part in (0, 1))
        total = math.fsum(float(probability[one]) * counts[weights[one]][0] for one in own)
        mean = round(total / n, 12)
        lines.append((EDGES[cell], EDGES[cell + 1], n, right, mean, right / n))
    return pd.DataFrame(lines, columns=COLUMNS)
