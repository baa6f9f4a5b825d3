"""One run of the attack with a set of coarser values: its rates and what is lost (METHODS §6.4).

The functions are those of the steps, on tables in memory: a variant of the study has the same rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from reident.linkage import confirmation, counterfactual, ranking, rates, scoring
from reident.linkage.counterfactual import Changes, Files, Recoded
from reident.linkage.metrics import REGISTRY
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


def _ignore(_: pa.Table) -> None:
    """Take rows that nobody reads."""


def attack(part: Suggesting, setting: Setting, changes: Changes) -> pd.DataFrame | None:
    """Return the rates of each metric for the whole study; None if a variant with these changes would be refused.

    A variable that is left out has None instead of its coarser values.
    """
    recoded: dict[str, Recoded] = {}
    for name, own in part.attacks.items():
        made = counterfactual.recode(own, REGISTRY[name], setting.files, changes, setting.threads)
        if made is None:
            return None
        recoded[name] = made
    pairs, limits, tolerances = {}, {}, {}
    for name, made in recoded.items():
        metric = REGISTRY[name]
        pairs[name], limits[name] = _pairs(part, part.attacks[name], name, setting, made)
        if not metric.weighs:
            variables = made.variables
            complete, incomplete = (
                metric.tolerance(made.options, variables, missing) for missing in (False, True)
            )
            tolerances[name] = complete, incomplete
    names = tuple(variable.name for variable in next(iter(recoded.values())).variables)
    rating = Rating(tuple(recoded), tolerances, names, part.confirming.max_pairs, part.rates)
    files = setting.files
    some = next(iter(part.attacks.values()))
    prepared = counterfactual.recoded_tables(some.variables, files.prepared, changes)
    model = next((made.weights.model for made in recoded.values() if made.weights is not None), None)
    tables = prepared, files.iuf, files.strata, files.manifest, pairs, limits
    found = rates.rate(rating, *tables, setting.clusters, model)
    return found[found["stratum"] == ranking.WHOLE].reset_index(drop=True)


def _pairs(
    part: Suggesting, own: Explaining, name: str, setting: Setting, made: Recoded
) -> tuple[pa.Table, pd.DataFrame]:
    """Return the suspected pairs of a metric and the counts at every rank limit, as the steps make them."""
    metric, files = REGISTRY[name], setting.files
    scored = Scoring(made.variables, own.scope, part.confirming.keep, made.options)
    work = scoring.Work(setting.threads, setting.functions, None, made.weights)
    batches: list[pa.Table] = []
    scoring.score_shard(
        scored,
        metric,
        made.tables,
        files.strata,
        files.manifest,
        pack(files.manifest, 1),
        work,
        batches.append,
    )
    suspected, positions = list[pa.Table](), list[pa.Table]()
    assigning = Assigning(part.confirming.max_pairs) if own.one_to_one else None
    ranking.rank(
        metric, [pa.concat_tables(batches)], files.strata["puf"], files.manifest, suspected.append, assigning
    )
    keys = {side: files.prepared[side].select(list(part.confirming.keys[side])) for side in ("puf", "eif")}
    truth = keys, files.iuf, files.strata["puf"], files.manifest
    ranked = pa.concat_tables(suspected)
    limits = confirmation.confirm(part.confirming, metric, ranked, *truth, _ignore, positions.append)
    return pa.concat_tables(positions), limits


def loss(part: Suggesting, setting: Setting, changes: Changes) -> dict[str, float]:
    """Return what is lost: :data:`LOSSES`, against the released records of the study.

    A variable that is left out is missing in all records.
    """
    own = next(iter(part.attacks.values()))
    released = setting.files.prepared["puf"]
    coarser = counterfactual.recoded_tables(own.variables, {"puf": released}, changes)["puf"]
    for name in changes:
        nothing = pa.nulls(released.num_rows, released[name].type)
        column = coarser[name] if name in coarser.column_names else nothing
        released = released.set_column(released.column_names.index(name), name, column)
    found = measure.measure(part.measuring, setting.files.prepared["puf"], released).summary.iloc[0]
    return {name: float(found[name]) for name in LOSSES}
