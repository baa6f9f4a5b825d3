"""The results of each metric without a linking variable: the step `leave_out` (METHODS §1.1).

A better intruder leaves out what only adds noise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from reident.linkage.attack import AttackFiles, attack
from reident.linkage.attack_settings import AttackSettings
from reident.linkage.counterfactual import recode
from reident.linkage.metrics.contract import ScoringContext, progress_of_share
from reident.linkage.settings import WHOLE

MAX_PAIRS = 10**8
"""Pairs up to which the attack runs once more for each variable; of larger studies the table has no line."""

COUNTS = ["n_puf", "n_suspected", "n_confirmed", "expected_correct", "n_single", "n_single_confirmed"]


def leave_out(settings: AttackSettings, files: AttackFiles, context: ScoringContext) -> pd.DataFrame:
    """Attack without each of the linking variables.

    Returns
    -------
    pandas.DataFrame
        With the columns that `pipeline/columns.csv` declares for ``description/without.csv``; no line for a variable
        without which the study would be refused.
    """
    tables = list(_attacks(settings, files, context)) if int(files.manifest["pairs"].sum()) <= MAX_PAIRS else []
    columns = ["variable", "metric", "n_linked", *COUNTS]
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)
    return table.assign(n_linked=len(np.unique(files.iuf["puf"].to_numpy())))[columns]


def _attacks(settings: AttackSettings, files: AttackFiles, context: ScoringContext) -> Iterator[pd.DataFrame]:
    share = 1 / len(settings.variables)
    for at, variable in enumerate(settings.variables):
        changed = recode(settings, files, {variable.name: None})
        if changed is None:
            continue
        job = context._replace(progress=progress_of_share(context.progress, at * share, share))
        rates = attack(*changed, job).rates
        yield rates.loc[rates["stratum"] == WHOLE, ["metric", *COUNTS]].assign(variable=variable.name)
