"""One run of the attack with a set of coarser values: its rates and its loss (METHODS §6.4).

A variant of the study with these values has the same rates.
"""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from reident.linkage import attack, counterfactual
from reident.linkage.attack import AttackFiles
from reident.linkage.counterfactual import Changes
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.settings import WHOLE
from reident.suggestion.settings import SuggestionSettings
from reident.utility import measure

LOSSES = ("values_changed", "pmse", "loss")


def rates(
    settings: SuggestionSettings, files: AttackFiles, changes: Changes, context: ScoringContext
) -> pd.DataFrame | None:
    """Return the rates of each metric for the whole study; None if a variant with these changes would be refused.

    A variable that is left out has None instead of its coarser values.
    """
    recoded = counterfactual.recode(settings.attack, files, changes)
    if recoded is None:
        return None
    lines = attack.attack(*recoded, context).rates
    return lines[lines["stratum"] == WHOLE].reset_index(drop=True)


def loss(settings: SuggestionSettings, files: AttackFiles, changes: Changes) -> dict[str, float]:
    """Return the losses: :data:`LOSSES`, against the released records of the study.

    A variable that is left out is missing in all records.
    """
    original = released = files.prepared["puf"]
    coarser = counterfactual.recoded_tables(settings.attack.variables, {"puf": released}, changes)["puf"]
    for name in changes:
        nothing = pa.nulls(released.num_rows, released[name].type)
        column = coarser[name] if name in coarser.column_names else nothing
        released = released.set_column(released.column_names.index(name), name, column)
    summary = measure.measure(settings.measuring, original, released).summary.iloc[0]
    return {name: float(summary[name]) for name in LOSSES}
