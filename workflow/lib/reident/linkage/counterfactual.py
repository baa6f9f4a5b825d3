"""The attack on the same records with coarser values: what a study with these values would suspect (METHODS §6.3).

Nothing is estimated: bins, standard deviations, weights and scores are computed anew by the functions of the study.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.intake.coarsening import coarsen
from reident.linkage import weights
from reident.linkage.assignment import assign_scores
from reident.linkage.bins import bin_files
from reident.linkage.metrics.contract import Setting
from reident.linkage.pairing import Comparison
from reident.linkage.parts import Cutting, Explaining, OrderedVariable
from reident.linkage.ranking import ranks
from reident.linkage.recodings import compared

if TYPE_CHECKING:
    from reident.linkage.metrics.contract import Estimates, Metric
    from reident.sections.base import Section
    from reident.sections.coarsening import Coarsening

Changes = Mapping[str, "Coarsening | None"]
"""By linking variable, its coarser values, or None if it is left out."""


class Files(NamedTuple):
    """The tables of a study: by side its files and the stratum of each record; its strata and links."""

    prepared: Mapping[str, pa.Table]
    binned: Mapping[str, pa.Table]
    strata: Mapping[str, pa.Table]
    manifest: pd.DataFrame
    iuf: pa.Table


class Pairs(NamedTuple):
    """Suspected pairs by row number."""

    puf: np.ndarray
    eif: np.ndarray


class Recoded(NamedTuple):
    """What a metric compares after changes.

    The options are without what is about variables that are left out; the tables ``puf`` and ``eif`` are as the metric
    reads them.
    """

    variables: tuple[OrderedVariable, ...]
    options: Section
    tables: Mapping[str, pa.Table]
    weights: Estimates | None


NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64))


def recode(
    part: Explaining, metric: Metric, files: Files, changes: Changes, threads: int = 1
) -> Recoded | None:
    """Return what a metric compares after changes; None if no pair can be suspected by it any more."""
    variables = compared(part.variables, changes)
    options = fitting(part.options, [variable.name for variable in variables])
    if not variables or not _fits(metric, options, variables):
        return None
    tables = recoded_tables(part.variables, files.prepared, changes)
    if metric.reads == "binned":
        tables = _binned(part, variables, files, tables, changes)
    estimates = None
    if part.weighing is not None:
        names = [variable.name for variable in variables]
        near = tuple(name for name in part.weighing.partial if name in names)
        weighing = dataclasses.replace(part.weighing, variables=variables, partial=near)
        links = files.iuf if weighing.informed else None
        estimates = weights.estimate(weighing, tables, files.strata, files.manifest, links, threads)
    return Recoded(variables, options, tables, estimates)


def recoded_tables(
    variables: Sequence[OrderedVariable], prepared: Mapping[str, pa.Table], changes: Changes
) -> dict[str, pa.Table]:
    """Return the linking variables of both files after changes."""
    remaining = [variable for variable in variables if changes.get(variable.name, "") is not None]
    return {
        side: pa.table({variable.name: _column(table, variable, changes) for variable in remaining})
        for side, table in prepared.items()
    }


def _column(table: pa.Table, variable: OrderedVariable, changes: Changes) -> pa.Array | pa.ChunkedArray:
    column, coarsening = table[variable.name], changes.get(variable.name)
    return column if coarsening is None else coarsen(column, coarsening, integer_coded=variable.integer_coded)


def _binned(
    part: Explaining,
    variables: Sequence[OrderedVariable],
    files: Files,
    tables: Mapping[str, pa.Table],
    changes: Changes,
) -> dict[str, pa.Table]:
    """Return the binned tables: the bins of unchanged variables are those of the study."""
    changed = tuple(variable for variable in variables if variable.name in changes)
    anew = bin_files(Cutting(changed, part.binning), tables, files.strata, files.manifest)
    return {
        side: pa.table(
            {
                variable.name: (table if variable in changed else files.binned[side])[variable.name]
                for variable in variables
            }
        )
        for side, table in anew.files.items()
    }


def fitting(options: Section, names: Sequence[str]) -> Section:
    """Return the options of a metric without what is about other variables than the named ones."""
    update: dict[str, Any] = {}
    if isinstance(scores := getattr(options, "scores", None), Mapping):
        update["scores"] = {name: score for name, score in scores.items() if name in names}
    if isinstance(partial := getattr(options, "partial", None), tuple):
        update["partial"] = tuple(name for name in partial if name in names)
    return options.model_copy(update=update) if update else options


def _fits(metric: Metric, options: Section, variables: tuple[OrderedVariable, ...]) -> bool:
    """Return whether a study with these variables would be accepted; if not, its metric could suspect no pair."""
    try:
        metric.check(options, variables)
    except ValueError:
        return False
    return True


def suspected(
    part: Explaining,
    metric: Metric,
    files: Files,
    recoded: Recoded | None,
    records: np.ndarray,
    setting: Setting,
) -> Pairs:
    """Return the suspected pairs within the rank limit of some PUF records, bool (n_puf,).

    The pairs of other records are scored only where these depend on them. What the metric compares is
    `recoded`, see :func:`recode`. Of the setting, threads and functions count.
    """
    if recoded is None or not records.any():
        return NO_PAIRS
    scope = part.binning.scope
    comparison = Comparison(recoded.variables, recoded.tables, files.strata, len(files.manifest), scope)
    setting = Setting(
        part.max_pairs, setting.threads, comparison.any_missing, setting.functions, None, recoded.weights
    )
    results = [(*NO_PAIRS, np.empty(0))]
    for stratum in range(len(files.manifest)):
        rows = comparison.rows("puf", stratum)
        chosen = np.full(len(rows), True) if part.one_to_one else records[rows]
        held = comparison.rows("eif", stratum)
        if not chosen.any() or not len(held):
            continue
        pairing = comparison.pairing(stratum)
        if metric.splits:
            rows = rows[chosen]
            pairing = pairing._replace(puf=pairing.puf.take(np.flatnonzero(chosen)))
        scored = metric.score(pairing, recoded.options, setting)
        results.append((rows[scored.puf], held[scored.eif], scored.score))
    puf, eif, score = (np.concatenate(arrays) for arrays in zip(*results, strict=True))
    if metric.ranked:
        puf, eif = _within(part, puf, eif, score)
    of_records = records[puf]
    return Pairs(puf[of_records], eif[of_records])


def _within(
    part: Explaining, puf: np.ndarray, eif: np.ndarray, score: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs within the rank limit, and of these the assigned ones if pairs are assigned one to one."""
    # Records of a stratum follow one another, and no record is in two strata.
    within = ranks(puf, score).max_pairs <= part.max_pairs
    puf, eif, score = puf[within], eif[within], score[within]
    if part.one_to_one:
        chosen = assign_scores(puf, eif, score)
        puf, eif = puf[chosen], eif[chosen]
    return puf, eif
