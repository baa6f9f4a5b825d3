"""Models of the population from which the file was drawn, beside the truth where it is known (METHODS §7.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import dis, individual, log_linear, superpopulation
from reident.filerisk.dis_suda import population_reciprocal
from reident.filerisk.estimates import (
    BENEDETTI,
    HOUSEHOLDS,
    IN_POPULATION,
    IN_SAMPLE,
    INDIVIDUAL,
    LOG_LINEAR,
    MATCHES,
    OK,
    REIDENTIFICATIONS,
    UNIQUENESS,
    WITHHELD,
    significant,
)
from reident.filerisk.prepare import HOUSEHOLD, ROW, codes_of, weighted
from reident.filerisk.quantities import DIGITS
from reident.filerisk.settings import ModellingSettings

WILDCARD, NO_CELL = "wildcard", "no_cell"
EDGES = (0.0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


class Modelled(NamedTuple):
    """The tables of the step, with the columns that `reident.pipeline.tables` declares."""

    individual: pa.Table
    population_models: pd.DataFrame
    individual_classes: pd.DataFrame


class Estimate(NamedTuple):
    """The estimate of a quantity by a model; NaN for an absent one."""

    kind: str
    model: str
    quantity: str
    estimate: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    truth: float = float("nan")
    bias: float = float("nan")
    test: float = float("nan")
    recommended: bool = False
    status: str = OK


def model(settings: ModellingSettings, file: pa.Table, population: pa.Table) -> Modelled:
    """Estimate the risk of a file in its population, a table without a row where the study has none."""
    names = list(settings.key)
    codes, people = codes_of(file, names), codes_of(population, names)
    fraction, weights = weighted(file, settings.sampling_fraction)
    sizes, sums, risks = individual.of_records(codes, weights, wildcard=settings.wildcard)
    true = population_reciprocal(codes, people, wildcard=settings.wildcard) if len(people) else None
    households = file[HOUSEHOLD].to_numpy() if settings.household else None
    cell_fraction = dis.of_cells(fraction, float((sizes > 0).mean()))
    overlapping = settings.wildcard and bool((codes < 0).any())
    linear, unique_risks = _log_linear(settings, codes, sizes, cell_fraction, overlapping=overlapping)
    lines = [*_individual(sizes, risks, households), *linear]
    lines += _uniqueness(sizes, cell_fraction, linear, overlapping=overlapping)
    if true is not None:
        truth = _truth(settings, sizes, true, people, households)
        lines = [line._replace(truth=truth[line.quantity]) for line in lines]
    record = {"matches": pa.array(sizes), "people": sums, "individual_risk": risks, "log_linear_risk": unique_risks}
    if households is not None:
        record["household_risk"] = individual.of_households(risks, households)[households]
    if true is not None:
        record["true_risk"] = true
    return Modelled(_records(settings, file, record), _table(lines), _classes(risks, households))


def _individual(sizes: np.ndarray, risks: np.ndarray, households: np.ndarray | None) -> Iterator[Estimate]:
    """Return the sums of individual risks."""
    status = OK if (sizes > 0).any() else NO_CELL
    yield Estimate(INDIVIDUAL, BENEDETTI, REIDENTIFICATIONS, individual.total(risks), status=status)
    yield Estimate(INDIVIDUAL, BENEDETTI, MATCHES, individual.total(risks[sizes == 1]), status=status)
    if households is not None:
        expected = individual.total(individual.of_households(risks, households))
        yield Estimate(INDIVIDUAL, BENEDETTI, HOUSEHOLDS, expected, status=status)


def _log_linear(
    settings: ModellingSettings, codes: np.ndarray, sizes: np.ndarray, fraction: float, *, overlapping: bool
) -> tuple[list[Estimate], np.ndarray]:
    """Return the lines of the log-linear models, and the risks of the records by the recommended one."""
    names = [name_of(margins) for margins in settings.log_linear]
    risks = np.full(len(codes), np.nan)
    if overlapping:
        return _without_cells(LOG_LINEAR, names, IN_SAMPLE, MATCHES), risks
    table = log_linear.table_of(codes, sizes)
    models = {
        name: log_linear.model(table, log_linear.margins_of(margins, settings.key), fraction, settings.seed)
        for name, margins in zip(names, settings.log_linear, strict=True)
    }
    best = _smallest_test(models)
    if best is not None:
        risks[sizes == 1] = models[best].risks
    lines = [
        Estimate(
            LOG_LINEAR, name, quantity, estimate.value, estimate.low, estimate.high, np.nan, estimate.bias,
            estimate.test, name == best, estimated.status,
        )
        for name, estimated in models.items()
        for quantity, estimate in ((IN_SAMPLE, estimated.population_uniques), (MATCHES, estimated.correct_matches))
    ]  # fmt: skip
    return lines, risks


def name_of(log_linear_model: str | tuple[tuple[str, ...], ...]) -> str:
    """Return the name of a log-linear model: the word, or its interactions."""
    if isinstance(log_linear_model, str):
        return log_linear_model
    return ", ".join(" × ".join(interaction) for interaction in log_linear_model)


def _smallest_test(models: dict[str, log_linear.Model]) -> str | None:
    """Return the sound model whose larger test is the smallest, the first of equal ones; None without a sound one."""
    sound = [name for name, estimated in models.items() if estimated.is_sound]
    return min(sound, key=lambda name: significant(models[name].largest_test), default=None)


def _uniqueness(sizes: np.ndarray, fraction: float, linear: list[Estimate], *, overlapping: bool) -> Iterator[Estimate]:
    """Return the lines of the models of population uniques, given those of the log-linear models.

    Only population uniques get a recommended value: log-linear models have that of the sample uniques.
    """
    models = {
        "pitman": superpopulation.pitman, "zayatz": superpopulation.zayatz, "snb": superpopulation.snb,
    }  # fmt: skip
    if overlapping:
        yield from _without_cells(UNIQUENESS, models, IN_SAMPLE, IN_POPULATION)
        return
    cells = _cells(sizes)
    estimates = {name: estimate(cells, fraction) for name, estimate in models.items()}
    best = superpopulation.chosen(fraction, estimates)
    if best is not None:
        statuses = {name: WITHHELD for name, model in estimates.items() if model.status == OK}
        statuses[best] = superpopulation.support(estimates[best].in_sample, _recommended(linear))
        estimates |= {name: estimates[name]._replace(status=status) for name, status in statuses.items()}
    for name, (in_sample, in_population, low, high, status) in estimates.items():
        yield Estimate(UNIQUENESS, name, IN_SAMPLE, in_sample, low, high, status=status)
        recommended = name == best and status == OK
        yield Estimate(UNIQUENESS, name, IN_POPULATION, in_population, recommended=recommended, status=status)


def _without_cells(kind: str, names: Iterable[str], *quantities: str) -> list[Estimate]:
    """Return the lines of models that need cells, where missing values match every value."""
    return [Estimate(kind, name, quantity, status=WILDCARD) for name in names for quantity in quantities]


def _recommended(linear: list[Estimate]) -> float | None:
    """Return τ₁ by the recommended log-linear model, or None without one."""
    return next((line.estimate for line in linear if line.recommended and line.quantity == IN_SAMPLE), None)


def _cells(sizes: np.ndarray) -> np.ndarray:
    """Return the size of each cell, from the size of each record's cell."""
    size, n = np.unique(sizes[sizes > 0], return_counts=True)
    return np.repeat(size, n // np.maximum(size, 1))


def _truth(
    settings: ModellingSettings, sizes: np.ndarray, true: np.ndarray, people: np.ndarray, households: np.ndarray | None
) -> dict[str, float]:
    """Return the true value of each quantity; a record without a match in the population is not re-identified."""
    unique = sizes == 1
    people_matches, _ = individual.matches(people, np.ones(len(people)), wildcard=settings.wildcard)
    truth = {
        REIDENTIFICATIONS: individual.total(true),
        MATCHES: individual.total(true[unique]),
        IN_SAMPLE: float((true[unique] == 1).sum()),
        IN_POPULATION: float((people_matches == 1).sum()),
    }
    if households is not None:
        truth[HOUSEHOLDS] = individual.total(individual.of_households(true, households))
    return truth


def _records(settings: ModellingSettings, file: pa.Table, columns: dict[str, np.ndarray | pa.Array]) -> pa.Table:
    data = {name: file[name] for name in (list(settings.id) or [ROW])}
    for name, values in columns.items():
        data[name] = values
        if isinstance(values, np.ndarray):
            data[name] = pa.array(np.round(values, DIGITS), mask=np.isnan(values))
    return pa.table(data)


def _table(lines: list[Estimate]) -> pd.DataFrame:
    table = pd.DataFrame(lines, columns=Estimate._fields)
    for name in ("estimate", "low", "high", "truth", "bias", "test"):
        table[name] = [significant(value) for value in table[name]]
    return table


def _classes(risks: np.ndarray, households: np.ndarray | None) -> pd.DataFrame:
    """Return records and households by class of risk; the first class is exactly 0."""
    units = {"records": risks[np.isfinite(risks)]}
    if households is not None:
        units["households"] = individual.of_households(risks, households)
    ends = {"above": [0.0, *EDGES[:-1]], "up_to": list(EDGES)}
    parts = []
    for unit, values in units.items():
        place = np.searchsorted(EDGES, np.round(values, DIGITS), side="left")
        place = np.minimum(place, len(EDGES) - 1)
        n = np.bincount(place, minlength=len(EDGES))
        expected = [individual.total(values[place == at]) for at in range(len(EDGES))]
        sums = [significant(value) for value in expected]
        parts.append(pd.DataFrame({"unit": unit, **ends, "n": n, "expected": sums}))
    return pd.concat(parts, ignore_index=True)
