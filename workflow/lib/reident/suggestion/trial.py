"""One run of the attack with a set of coarser values: its rates and what is lost (METHODS §6.4).

The functions are those of the steps, on tables in memory: a variant of the study has the same rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from reident.linkage import confirmation, counterfactual, ranking, rates, scoring
from reident.linkage.counterfactual import Changes, Files, Recoded
from reident.linkage.metrics import REGISTRY, contract
from reident.linkage.parts import Assigning, Explaining, Rating, Scoring
from reident.linkage.strata import pack
from reident.suggestion.parts import Suggesting
from reident.utility import measure

LOSSES = ("values_changed", "pmse", "loss")


class Setting(NamedTuple):
    """What a trial has beside its part.

    Attributes
    ----------
    files : Files
        The prepared and binned tables, strata, manifest and links of the study.
    functions : sequence of Path
        The files of the study's scoring functions.
    """

    files: Files
    clusters: pa.Table | None = None
    functions: Sequence[Path] = ()
    threads: int = 1


def attack(part: Suggesting, setting: Setting, changes: Changes) -> pd.DataFrame | None:
    """Return the rates of each metric for the whole study; None if a variant with these changes would be refused.

    A variable that is left out has None instead of its coarser values.
    """
    recoded: dict[str, Recoded] = {}
    for name, attack_part in part.attacks.items():
        recoding = counterfactual.recode(attack_part, REGISTRY[name], setting.files, changes, setting.threads)
        if recoding is None:
            return None
        recoded[name] = recoding
    pairs, limits, tolerances = {}, {}, {}
    for name, recoding in recoded.items():
        metric = REGISTRY[name]
        pairs[name], limits[name] = _pairs(part, part.attacks[name], name, setting, recoding)
        if not metric.weighs:
            tolerance = partial(metric.tolerance, recoding.options, recoding.variables)
            tolerances[name] = tolerance(False), tolerance(True)
    names = tuple(variable.name for variable in next(iter(recoded.values())).variables)
    rating = Rating(tuple(recoded), tolerances, names, part.confirming.max_pairs, part.rates)
    files = setting.files
    attack_part = next(iter(part.attacks.values()))
    prepared = counterfactual.recoded_tables(attack_part.variables, files.prepared, changes)
    model = next(
        (recoding.weights.model for recoding in recoded.values() if recoding.weights is not None), None
    )
    tables = prepared, files.iuf, files.strata, files.manifest, pairs, limits
    lines = rates.rate(rating, *tables, setting.clusters, model)
    return lines[lines["stratum"] == ranking.WHOLE].reset_index(drop=True)


def _pairs(
    part: Suggesting, attack_part: Explaining, name: str, setting: Setting, recoding: Recoded
) -> tuple[pa.Table, pd.DataFrame]:
    """Return the suspected pairs of a metric and the counts at every rank limit, as the steps make them."""
    metric, files = REGISTRY[name], setting.files
    scored = Scoring(recoding.variables, attack_part.binning.scope, part.confirming.keep, recoding.options)
    job = contract.Setting(threads=setting.threads, functions=setting.functions, weights=recoding.weights)
    batches: list[pa.Table] = []
    scoring.score_shard(
        scored,
        metric,
        recoding.tables,
        files.strata,
        files.manifest,
        pack(files.manifest, 1),
        job,
        batches.append,
    )
    suspected, positions = list[pa.Table](), list[pa.Table]()
    assigning = Assigning(part.confirming.max_pairs) if attack_part.one_to_one else None
    ranking.rank(
        metric, [pa.concat_tables(batches)], files.strata["puf"], files.manifest, suspected.append, assigning
    )
    keys = {side: files.prepared[side].select(list(part.confirming.keys[side])) for side in ("puf", "eif")}
    truth = keys, files.iuf, files.strata["puf"], files.manifest
    ranked = pa.concat_tables(suspected)
    limits = confirmation.confirm(part.confirming, metric, ranked, *truth, lambda _: None, positions.append)
    return pa.concat_tables(positions), limits


def loss(part: Suggesting, setting: Setting, changes: Changes) -> dict[str, float]:
    """Return what is lost: :data:`LOSSES`, against the released records of the study.

    A variable that is left out is missing in all records.
    """
    attack_part = next(iter(part.attacks.values()))
    released = setting.files.prepared["puf"]
    coarser = counterfactual.recoded_tables(attack_part.variables, {"puf": released}, changes)["puf"]
    for name in changes:
        nothing = pa.nulls(released.num_rows, released[name].type)
        column = coarser[name] if name in coarser.column_names else nothing
        released = released.set_column(released.column_names.index(name), name, column)
    summary = measure.measure(part.measuring, setting.files.prepared["puf"], released).summary.iloc[0]
    return {name: float(summary[name]) for name in LOSSES}
