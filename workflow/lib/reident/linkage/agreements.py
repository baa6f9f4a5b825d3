"""What Winkler's metric finds if more variables must agree: the whole range of `min_agree` (METHODS §4.5, §6).

The rank filter keeps a record's best ranks. A larger `min_agree` takes away lower ranks alone, so that what
it would find is what was found with at least so many agreements: nothing is scored again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from reident.intake import keys
from reident.linkage.ranking import WHOLE
from reident.linkage.rates import share

if TYPE_CHECKING:
    import pyarrow as pa

    from reident.linkage.metrics.winkler import Options
    from reident.study.model import Study

METRIC = "winkler"

COLUMNS = [
    "stratum", "min_agree", "n_puf", "n_pairs", "n_suspected", "n_confirmed", "n_confirmed_pairs", "suspected_rate",
    "confirmed_rate", "conditional_rate",
]  # fmt: skip


def agreements(study: Study, confirmed: pa.Table, rates: pd.DataFrame) -> pd.DataFrame:
    """The rates of the whole study for every `min_agree` from that of the study to the number of variables.

    Parameters
    ----------
    study : Study
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
    n_puf, first = int(own["n_puf"].iloc[0]), cast("Options", study.chosen[METRIC]).min_agree
    record = keys.codes([confirmed], [study.keys["puf"]])[0]
    score, right = confirmed["score"].to_numpy(), confirmed["confirmed"].to_numpy()
    lines = []
    for least in range(first, len(study.linking_variables) + 1):
        kept = score >= least
        suspected, found = len(np.unique(record[kept])), len(np.unique(record[kept & right]))
        pairs, right_pairs = int(kept.sum()), int((kept & right).sum())
        shares = share(suspected, n_puf), share(found, n_puf), share(found, suspected)
        lines.append((WHOLE, least, n_puf, pairs, suspected, found, right_pairs, *shares))
    return pd.DataFrame(lines, columns=COLUMNS)
