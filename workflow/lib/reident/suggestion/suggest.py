"""Search for coarser values that meet the limits of a study: the tables of the step `try_recodings` (METHODS §6.4)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage import counterfactual
from reident.linkage.attack import AttackFiles, attack
from reident.linkage.counterfactual import Changes
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.recodings import Change, changes
from reident.linkage.settings import WHOLE
from reident.suggestion.outcome import Outcome, outcome
from reident.suggestion.search import MAX_RUNS, Chosen, Result, Search
from reident.suggestion.settings import SuggestionSettings
from reident.utility import measure
from reident.why import explanation

if TYPE_CHECKING:
    from reident.linkage.batches import Source

LOSSES = ("values_changed", "pmse", "loss")


def suggest(
    settings: SuggestionSettings,
    files: AttackFiles,
    positions: Mapping[str, Source],
    folder: Path,
    context: ScoringContext,
    progress: Callable[[float], None],
) -> Outcome:
    """Search for sets of coarser values with which the attack meets the limits.

    Parameters
    ----------
    positions : mapping of Source
        By metric, the suspected pairs by row number.
    folder : Path
        The folder that keeps what came of each set, so that an interrupted search goes on from there.
    progress : callable
        Takes the share of the work that is done.
    """
    tried = changes_by_variable(settings, files)
    n_sets = 0

    def run(chosen: Chosen) -> Result | None:
        nonlocal n_sets
        coarsenings = {variable: tried[variable][place].coarsening for variable, place in chosen}
        file = folder / f"{_name(chosen)}.json"
        result = _load(file) if file.is_file() else None
        if result is None and (rates := _rates(settings, files, coarsenings, context)) is not None:
            result = Result(rates, _loss(settings, files, coarsenings))
            _keep(file, result)
        n_sets += 1
        progress(min(n_sets / (MAX_RUNS + 1), 1.0))
        return result

    search = Search(tried, _prevented(settings, files, positions, tried, context), settings.decision, run)
    return outcome(search.search(), tried, settings.decision)


def _rates(
    settings: SuggestionSettings, files: AttackFiles, changes: Changes, context: ScoringContext
) -> pd.DataFrame | None:
    """Return the rates of each metric with changes, None for a variable that is left out; None if they are refused."""
    recoded = counterfactual.recode(settings.attack, files, changes)
    if recoded is None:
        return None
    lines = attack(*recoded, context).rates
    return lines[lines["stratum"] == WHOLE].reset_index(drop=True)


def _loss(settings: SuggestionSettings, files: AttackFiles, changes: Changes) -> dict[str, float]:
    """Return the losses against the released records of the study; a variable that is left out is missing in all."""
    original = released = files.prepared["puf"]
    coarser = counterfactual.recoded_tables(settings.attack.variables, {"puf": released}, changes)["puf"]
    for name in changes:
        nothing = pa.nulls(released.num_rows, released[name].type)
        column = coarser[name] if name in coarser.column_names else nothing
        released = released.set_column(released.column_names.index(name), name, column)
    summary = measure.measure(settings.measuring, original, released).summary.iloc[0]
    return {name: float(summary[name]) for name in LOSSES}


def changes_by_variable(settings: SuggestionSettings, files: AttackFiles) -> dict[str, list[Change]]:
    """Return the changes of each variable from fine to coarse; leaving it out is the last."""
    variables = settings.attack.variables
    groups: dict[str, list[Change]] = {variable.name: [] for variable in variables}
    for change in changes(variables, settings.recodings, files.prepared["puf"], settings.coarsened):
        groups[change.variable].append(change)
    return {name: [*coarser, left_out] for name, (left_out, *coarser) in groups.items()}


def _prevented(
    settings: SuggestionSettings,
    files: AttackFiles,
    positions: Mapping[str, Source],
    tried: Mapping[str, list[Change]],
    context: ScoringContext,
) -> dict[tuple[str, int], float]:
    """Return the share of confirmed records that each change alone prevents, added up over the metrics with limits."""
    total: dict[tuple[str, int], float] = {}
    every = [change for candidates in tried.values() for change in candidates]
    for name in settings.attack.metrics:
        if not settings.decision.given("metrics", name):
            continue
        lines = explanation.prevented(settings.attack.search(name), name, files, positions[name], every, context)
        shares = {
            (str(line.variable), str(line.recoding)): float(np.nan_to_num(line.prevented_rate))
            for line in lines.itertuples()
        }
        for variable, candidates in tried.items():
            for place, change in enumerate(candidates):
                key = variable, place
                total[key] = total.get(key, 0.0) + shares.get((variable, change.title), 0.0)
    return total


def _name(chosen: Chosen) -> str:
    """Return the name of the file of a set."""
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()[:16]


def _keep(file: Path, result: Result) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {"rates": result.rates.to_csv(index=False), "losses": result.losses}
    temporary = file.with_suffix(".part")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(file)


def _load(file: Path) -> Result | None:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        rates = pd.read_csv(StringIO(content["rates"]))
        return Result(rates, {name: float(value) for name, value in content["losses"].items()})
    except (OSError, ValueError, KeyError, TypeError):
        return None
