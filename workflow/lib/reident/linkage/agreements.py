"""What Winkler's metric finds if more variables must agree: the whole range of `min_agree` (METHODS §4.5, §6).

The rank filter keeps a record's best ranks. A larger `min_agree` takes away lower ranks alone, so that what
it would find is what was found with at least so many agreements: nothing is scored again.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.intake import keys
from reident.linkage.parts import Counting
from reident.linkage.ranking import WHOLE
from reident.linkage.rates import share

METRIC = "winkler"

COLUMNS = [
    "stratum", "min_agree", "n_puf", "n_pairs", "n_suspected", "n_confirmed", "n_confirmed_pairs", "suspected_rate",
    "confirmed_rate", "conditional_rate",
]  # fmt: skip


def agreements(part: Counting, confirmed: pa.Table, rates: pd.DataFrame) -> pd.DataFrame:
    """The rates of the whole study for every `min_agree` from that of the study to the number of variables.

    Parameters
    ----------
    part : Counting
    confirmed : pyarrow.Table
        The metric's suspected pairs, checked.
    rates : pandas.DataFrame
        The rates of the study.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`, the stratum always ``ALL``; rates are fractions, missing where undefined. The first line is
        that of the study itself.
    """
    own = rates[(rates["metric"] == METRIC) & (rates["stratum"] == WHOLE)]
    n_puf = int(own["n_puf"].iloc[0])
    record = keys.codes([confirmed], [part.key])[0]
    score, right = confirmed["score"].to_numpy(), confirmed["confirmed"].to_numpy()
    lines = []
    for least in range(part.min_agree, part.n_variables + 1):
        kept = score >= least
        suspected, found = len(np.unique(record[kept])), len(np.unique(record[kept & right]))
        pairs, right_pairs = int(kept.sum()), int((kept & right).sum())
        shares = share(suspected, n_puf), share(found, n_puf), share(found, suspected)
        lines.append((WHOLE, least, n_puf, pairs, suspected, found, right_pairs, *shares))
    return pd.DataFrame(lines, columns=COLUMNS)
