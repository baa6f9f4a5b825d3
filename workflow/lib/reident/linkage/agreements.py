"""The rates of Winkler's metric for every possible `min_agree` (METHODS §4.5, §6).

The rank filter keeps the best ranks of a record. A larger `min_agree` removes only lower ranks, so the rates follow
from the suspected pairs and their scores; no pair is scored again.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage.parts import Counting
from reident.linkage.ranking import WHOLE
from reident.linkage.rates import share

METRIC = "winkler"

COLUMNS = [
    "stratum", "min_agree", "n_puf", "n_pairs", "n_suspected", "n_confirmed", "n_confirmed_pairs", "suspected_rate",
    "confirmed_rate", "conditional_rate",
]  # fmt: skip


def agreements(part: Counting, pairs: pa.Table, rates: pd.DataFrame) -> pd.DataFrame:
    """Compute the rates of the whole study for every `min_agree` from the study's to the number of variables.

    Parameters
    ----------
    part : Counting
    pairs : pyarrow.Table
        The metric's suspected pairs by row number: puf, score, confirmed.
    rates : pandas.DataFrame
        The rates of the study.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`, the stratum always ``ALL``; rates are fractions in [0, 1], missing where undefined. The
        first line is that of the study itself.
    """
    line = rates[(rates["metric"] == METRIC) & (rates["stratum"] == WHOLE)]
    n_puf = int(line["n_puf"].iloc[0])
    puf, score, confirmed = (pairs[name].to_numpy() for name in ("puf", "score", "confirmed"))
    lines = []
    for min_agree in range(part.min_agree, part.n_variables + 1):
        kept = score >= min_agree
        n_suspected, n_confirmed = len(np.unique(puf[kept])), len(np.unique(puf[kept & confirmed]))
        n_pairs, n_confirmed_pairs = int(kept.sum()), int((kept & confirmed).sum())
        shares = share(n_suspected, n_puf), share(n_confirmed, n_puf), share(n_confirmed, n_suspected)
        counts = n_puf, n_pairs, n_suspected, n_confirmed, n_confirmed_pairs
        lines.append((WHOLE, min_agree, *counts, *shares))
    return pd.DataFrame(lines, columns=COLUMNS)
