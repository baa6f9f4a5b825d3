"""The attack on the same records with coarser values, as a study with these values would make it (METHODS §6.3).

Nothing is estimated: bins, standard deviations, weights and scores are computed anew by the functions of the study.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from reident.intake.coarsening import coarsen
from reident.intake.grouping import N_MEMBERS
from reident.linkage.attack import AttackFiles, compare, suspect
from reident.linkage.attack_settings import SearchSettings
from reident.linkage.bins import bin_files
from reident.linkage.metrics import REGISTRY
from reident.linkage.ranking import within
from reident.linkage.recodings import compared
from reident.linkage.settings import BinningSettings, OrderedVariable

if TYPE_CHECKING:
    from reident.linkage.metrics.contract import ScoringContext
    from reident.sections.base import Section
    from reident.sections.coarsening import Coarsening

Changes = Mapping[str, "Coarsening | None"]
"""By linking variable, its coarser values, or None if it is left out."""

SettingsT = TypeVar("SettingsT", bound=SearchSettings)


class Pairs(NamedTuple):
    """Suspected pairs by row number."""

    puf: np.ndarray
    eif: np.ndarray


NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64))


def recode(settings: SettingsT, files: AttackFiles, changes: Changes) -> tuple[SettingsT, AttackFiles] | None:
    """Return the settings and the files of an attack after changes; None if a study with these would be refused.

    The bins of unchanged variables are those of `files`, if it has any.
    """
    variables = compared(settings.variables, changes)
    names = [variable.name for variable in variables]
    metrics = {name: fitting(options, names) for name, options in settings.metrics.items()}
    if not variables or not all(_fits(name, options, variables) for name, options in metrics.items()):
        return None
    prepared = recoded_tables(settings.variables, files.prepared, changes)
    recoded = files._replace(prepared=prepared)
    if files.binned is not None and "binned" in settings.tables.values():
        changed = tuple(variable for variable in variables if variable.name in changes)
        anew = bin_files(BinningSettings(changed, settings.binning), prepared, files.strata, files.manifest).files
        binned = {
            side: pa.table({name: (anew[side] if name in changes else table)[name] for name in [*names, *sizes]})
            for side, table in files.binned.items()
            for sizes in [{N_MEMBERS} & set(table.column_names)]
        }
        recoded = recoded._replace(binned=binned)
    return dataclasses.replace(settings, variables=variables, metrics=metrics), recoded


def recoded_tables(
    variables: Sequence[OrderedVariable], prepared: Mapping[str, pa.Table], changes: Changes
) -> dict[str, pa.Table]:
    """Return prepared tables after changes, without the variables that are left out."""
    return {side: _recoded(table, variables, changes) for side, table in prepared.items()}


def _recoded(table: pa.Table, variables: Sequence[OrderedVariable], changes: Changes) -> pa.Table:
    for variable in variables:
        if variable.name not in changes:
            continue
        at, coarsening = table.column_names.index(variable.name), changes[variable.name]
        if coarsening is None:
            table = table.remove_column(at)
        else:
            column = coarsen(table[variable.name], coarsening, integer_coded=variable.integer_coded)
            table = table.set_column(at, variable.name, column)
    return table


def fitting(options: Section, names: Sequence[str]) -> Section:
    """Return the options of a metric without those about other variables than the named ones."""
    update: dict[str, Any] = {}
    if isinstance(scores := getattr(options, "scores", None), Mapping):
        update["scores"] = {name: score for name, score in scores.items() if name in names}
    if isinstance(partial := getattr(options, "partial", None), tuple):
        update["partial"] = tuple(name for name in partial if name in names)
    if isinstance(bands := getattr(options, "bands", None), Mapping):
        update["bands"] = {name: limits for name, limits in bands.items() if name in names}
    return options.model_copy(update=update) if update else options


def _fits(metric: str, options: Section, variables: tuple[OrderedVariable, ...]) -> bool:
    """Return whether a study with these variables would be accepted; if not, its metric could suspect no pair."""
    try:
        REGISTRY[metric].check(options, variables)
    except ValueError:
        return False
    return True


def suspected(
    settings: SearchSettings, files: AttackFiles, metric: str, records: np.ndarray, context: ScoringContext
) -> Pairs:
    """Return the suspected pairs within the rank limit of some PUF records, bool (n_puf,).

    The pairs of other records are scored only where these depend on them.
    """
    compared, job = compare(settings, files, context.threads), context._replace(progress=None)
    found = suspect(settings, metric, files, compared, job, records)
    pairs = pa.concat_tables(rows.filter(within(rows, settings.max_pairs)) for rows in found)
    puf, eif = (pairs[side].to_numpy().astype(np.int64) for side in Pairs._fields)
    return Pairs(puf[records[puf]], eif[records[puf]])
