"""The rates of Winkler's metric for every possible `min_agree` (METHODS §4.5, §6).

The rank filter keeps the best ranks of a record. A larger `min_agree` removes only lower ranks, so the rates follow
from the suspected pairs and their scores; no pair is scored again.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage.ranking import ranks
from reident.linkage.rates import share
from reident.linkage.settings import WHOLE, AgreementSettings

METRIC = "winkler"

FEW = 3
"""Winkler (2002): a record matches at most this number of records on a variable."""


def agreements(settings: AgreementSettings, pairs: pa.Table, rates: pd.DataFrame) -> pd.DataFrame:
    """Compute the rates of the whole study for every `min_agree` from the study's to the number of variables.

    Parameters
    ----------
    pairs : pyarrow.Table
        The metric's suspected pairs by row number, best first: puf, score, confirmed.
    rates : pandas.DataFrame
        The rates of the study.

    Returns
    -------
    pandas.DataFrame
        The columns of `agreements.csv`, the stratum always ``ALL``; rates are fractions in [0, 1], missing where
        undefined. The first line is that of the study itself; if no agreements are counted, it is the only one, without
        a `min_agree`.
    """
    line = rates[(rates["metric"] == METRIC) & (rates["stratum"] == WHOLE)]
    n_puf = int(line["n_puf"].iloc[0])
    puf, score, confirmed = (pairs[name].to_numpy() for name in ("puf", "score", "confirmed"))
    candidates = ranks(puf, score).max_pairs  # of a record, up to the rank of the pair
    lines = []
    for min_agree in settings.limits:
        kept = np.ones(len(puf), bool) if min_agree is None else score >= min_agree
        n_pairs, n_confirmed_pairs = int(kept.sum()), int((kept & confirmed).sum())
        n_suspected, n_confirmed, n_alone, n_few = (
            len(np.unique(puf[kept & chosen]))
            for chosen in (True, confirmed, confirmed & (candidates == 1), confirmed & (candidates <= FEW))
        )
        lines.append(
            {
                "stratum": WHOLE,
                "min_agree": min_agree,
                "n_puf": n_puf,
                "n_pairs": n_pairs,
                "n_suspected": n_suspected,
                "n_confirmed": n_confirmed,
                "n_confirmed_pairs": n_confirmed_pairs,
                "suspected_rate": share(n_suspected, n_puf),
                "confirmed_rate": share(n_confirmed, n_puf),
                "conditional_rate": share(n_confirmed, n_suspected),
                "n_alone": n_alone,
                "n_among_three": n_few,
                "alone_rate": share(n_alone, n_puf),
                "among_three_rate": share(n_few, n_puf),
            }
        )
    return pd.DataFrame(lines)
