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


def calibrate(pairs: Source, model: pd.DataFrame) -> pd.DataFrame:
    """Compare the match probabilities of the suspected pairs with the share that is right, class by class.

    The score of a pair is its match weight in bits, and the model has one line with the prior.

    Returns
    -------
    pandas.DataFrame
        The columns of `weights/calibration.csv`, one line per class that has pairs. Pairs of equal weight have equal
        probabilities and are summed up once, by their weights, so that no order of the pairs matters.
    """
    tables = [
        batch.select(["score", "confirmed"]).to_pandas().groupby("score")["confirmed"].agg(["size", "sum"])
        for batch in batches.split(pairs)
    ]
    counts = pd.concat(tables).groupby(level=0).sum()
    probability = match_probability(counts.index.to_numpy(np.float64), float(model["prior"].iloc[0]))
    at = np.clip(np.searchsorted(EDGES, probability, side="right") - 1, 0, len(EDGES) - 2)
    lines = []
    for cell in np.unique(at).tolist():
        n_pairs, n_confirmed = (counts[name].to_numpy(np.int64)[at == cell] for name in ("size", "sum"))
        n, right = int(n_pairs.sum()), int(n_confirmed.sum())
        mean = round(math.fsum(probability[at == cell] * n_pairs) / n, 12)
        line = {"above": EDGES[cell], "up_to": EDGES[cell + 1], "n_pairs": n, "n_confirmed": right}
        lines.append(line | {"probability": mean, "confirmed_share": right / n})
    return pd.DataFrame(lines)
