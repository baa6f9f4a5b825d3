"""Several keys at once: the risk of a file for named intruders and for every set of key variables (METHODS §7.5)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import cells_of_sets, dis, individual
from reident.filerisk.cells_of_sets import Cells, KeySetFiles
from reident.filerisk.diversity import Diverse, measure_diversity
from reident.filerisk.estimates import significant
from reident.filerisk.quantities import DIGITS
from reident.filerisk.settings import ScenarioSettings
from reident.linkage.categories import measure_each, set_name

NAN = float("nan")


class Assessed(NamedTuple):
    """The tables of the step, with the columns that `reident.pipeline.tables` declares."""

    scenarios: pd.DataFrame
    diversity: pd.DataFrame
    set_variables: pd.DataFrame


class Risk(NamedTuple):
    """The risk of the file for an intruder who knows one set of key variables: a line of `scenarios`; NaN for empty."""

    n_records: int
    n_compared: int
    smallest: float
    n_unique: int
    unique_share: float
    below_3: int
    below_5: int
    expected_matches: float
    global_risk: float
    households: float
    dis: float
    dis_low: float
    dis_high: float
    true_uniques: float
    true_matches: float
    true_risk: float
    true_households: float


class _Measured(NamedTuple):
    """The measurements for one set."""

    risk: Risk
    diverse: dict[str, Diverse]


FRONT = ["scenario", "keys", "size"]


def assess(
    settings: ScenarioSettings,
    file: pa.Table,
    population: pa.Table,
    *,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Assessed:
    """Measure the risk of a file for every scenario and every set of key variables."""
    lines = [*settings.scenarios, *(("", keys) for keys in settings.sets)]
    # A scenario that is one of the sets is measured as this set, which comes last.
    distinct = {frozenset(keys): keys for _, keys in lines}
    files = cells_of_sets.files_of(settings, file, population, (n for _, keys in lines for n in keys))
    several, lock = set(settings.sets), threading.Lock()
    # By variable, which records are unique on a set with it.
    unique = {name: np.zeros(file.num_rows, bool) for keys in settings.sets for name in keys}

    def run(keys: tuple[str, ...]) -> _Measured:
        cells = cells_of_sets.cells_of(files, keys)
        diverse = {name: measure_diversity(cells, target) for name, target in files.targets.items() if name not in keys}
        measured = _Measured(_risk(files, cells), diverse)
        if keys in several:
            uniques = cells.unique()
            with lock:
                for name in keys:
                    unique[name] |= uniques
        return measured

    results_of_sets = measure_each(run, list(distinct.values()), threads, progress)
    measurements = dict(zip(distinct, results_of_sets, strict=True))
    results = [measurements[frozenset(keys)] for _, keys in lines]
    return Assessed(
        _scenarios(lines, results),
        _diversity(lines, results),
        pd.DataFrame(_contributions(settings, measurements, unique)),
    )


def _risk(files: KeySetFiles, cells: Cells) -> Risk:
    """Return the risk for one set of key variables."""
    n, compared, unique = files.n, int(cells.members.sum()), cells.sizes == 1
    share = compared / n
    cell_fraction = dis.of_cells(files.fraction, share)
    risks = individual.risk_of_cells(cells.sizes, cells.people / share) if compared else np.empty(0)
    n_unique = _count(cells.members, unique)
    pairs = _count(cells.complete, unique), _count(cells.complete, cells.sizes == 2), cell_fraction
    return Risk(
        n,
        compared,
        float(cells.sizes.min()) if compared else NAN,
        n_unique,
        round(n_unique / compared, DIGITS) if compared else NAN,
        _count(cells.members, cells.sizes < 3),
        _count(cells.members, cells.sizes < 5),
        significant(cells_of_sets.shared(cells.members, cells.sizes)),
        significant(_total(cells.members * risks)),
        _households(files, cells, risks),
        *(round(value, DIGITS) for value in (dis.general(*pairs), *dis.interval(*pairs, cells.n_pairs))),
        *_truth(files, cells, unique),
    )


def _truth(files: KeySetFiles, cells: Cells, unique: np.ndarray) -> Iterator[float]:
    """Yield the truth by the population; a record that nobody in it matches has its risk in the file."""
    if cells.population is None:
        yield from (NAN, NAN, NAN, NAN)
        return
    people = np.where(cells.population > 0, cells.population, cells.sizes)
    yield float(_count(cells.members, unique & (people == 1)))
    yield significant(cells_of_sets.shared(cells.members[unique], people[unique]))
    yield significant(cells_of_sets.shared(cells.members, people))
    yield _households(files, cells, 1 / people)


def _households(files: KeySetFiles, cells: Cells, risks: np.ndarray) -> float:
    """Return the expected households with at least one re-identified record; records in no cell add nothing."""
    if files.households is None:
        return NAN
    record_risks = np.append(risks, 0.0)[cells.numbers]
    return significant(_total(individual.of_households(record_risks, files.households)))


def _count(records: np.ndarray, chosen: np.ndarray) -> int:
    """Return how many records the chosen cells have."""
    return int(records[chosen].sum())


def _total(values: np.ndarray) -> float:
    """Return a sum that does not depend on the order of the values."""
    return float(np.sort(values).sum())


def _scenarios(lines: Sequence[tuple[str, tuple[str, ...]]], results: Sequence[_Measured]) -> pd.DataFrame:
    rows = [
        (name, set_name(keys), len(keys), *measured.risk) for (name, keys), measured in zip(lines, results, strict=True)
    ]
    return pd.DataFrame(rows, columns=[*FRONT, *Risk._fields])


def _diversity(lines: Sequence[tuple[str, tuple[str, ...]]], results: Sequence[_Measured]) -> pd.DataFrame:
    rows = [
        (name, set_name(keys), len(keys), target, *diverse)
        for (name, keys), measured in zip(lines, results, strict=True)
        for target, diverse in measured.diverse.items()
    ]
    return pd.DataFrame(rows, columns=[*FRONT, "target", *Diverse._fields])


def _contributions(
    settings: ScenarioSettings, measurements: dict[frozenset[str], _Measured], unique: dict[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Yield for each variable its effect on the sets with it."""
    shares = {keys: result.risk.unique_share for keys, result in measurements.items()}
    shares[frozenset()] = float(any(result.risk.n_records == 1 for result in measurements.values()))
    for name, records in unique.items():
        sets = [frozenset(keys) for keys in settings.sets if name in keys]
        with_variable = [shares[keys] for keys in sets]
        added = [shares[keys] - shares[keys - {name}] for keys in sets]
        yield {
            "variable": name,
            "n_sets": len(sets),
            "n_with_unique": sum(measurements[keys].risk.n_unique > 0 for keys in sets),
            "n_unique": int(records.sum()),
            "unique_share": _mean(with_variable),
            "added_share": _mean(added),
        }


def _mean(values: Sequence[float]) -> float:
    """Return the mean of the values that are defined; NaN without one."""
    defined = np.array(values)[np.isfinite(values)]
    return round(_total(defined) / len(defined), DIGITS) if len(defined) else NAN
