"""The risk of every record beside the thresholds that regulators use, k-map and δ-presence (METHODS §7.6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import dis_suda, individual, judged, uniques
from reident.filerisk.estimates import INDIVIDUAL, significant
from reident.filerisk.prepare import codes_of, weighted
from reident.filerisk.quantities import DIGITS
from reident.filerisk.settings import POPULATION, SAMPLE, ThresholdSettings

NAN = float("nan")


class Measured(NamedTuple):
    """The tables of the step, with the columns that `reident.pipeline.tables` declares."""

    risks: pd.DataFrame
    thresholds: pd.DataFrame
    judged: pd.DataFrame


def measure(
    settings: ThresholdSettings, file: pa.Table, population: pa.Table, categories: pd.DataFrame, *, threads: int = 1
) -> Measured:
    """Compare the risk of every record with thresholds.

    Parameters
    ----------
    settings : ThresholdSettings
    file, population : pyarrow.Table
        As :func:`reident.filerisk.prepare.prepare` makes them; without a population, a table without a row.
    categories : pandas.DataFrame
        From the same.

    Returns
    -------
    Measured
        By basis: the file alone (1/f), and the population (1/F) or, without one, the individual risk; and what the
        limits of the study are compared with where records miss a value.
    """
    names = list(settings.key)
    codes, people = codes_of(file, names), codes_of(population, names)
    if len(people):
        sizes = uniques.cell_sizes(codes, wildcard=settings.wildcard)
        reciprocal = dis_suda.population_reciprocal(codes, people, wildcard=settings.wildcard)
        inside = sizes > 0
        counts = np.rint(1 / np.nan_to_num(reciprocal[inside], nan=np.inf)).astype(np.int64)
        second, f = POPULATION, sizes[inside]
        beyond = judged.n_beyond(codes, people) if settings.wildcard else int((counts < f).sum())
        # The file is evidence of people whom the population does not have.
        counts = np.where(counts > 0, counts, f)
        risks, more = 1 / counts, _of_population(f, counts, beyond)
    else:
        _, weights = weighted(file, settings.sampling_fraction)
        sizes, _, risks = individual.of_records(codes, weights, wildcard=settings.wildcard)
        second, f, risks, more = INDIVIDUAL, sizes[sizes > 0], risks[sizes > 0], {}
    by_basis = {SAMPLE: 1 / f, second: risks}
    lines = [_line(SAMPLE, by_basis[SAMPLE], _of_cells(f, f)), _line(second, risks, more)]
    return Measured(
        _risks(lines),
        pd.DataFrame(_thresholds(settings.risks, by_basis)),
        judged.judged(settings, file, population, categories, threads=threads),
    )


def _line(basis: str, risks: np.ndarray, more: dict[str, float]) -> dict[str, Any]:
    """Return the summaries of the risks of the records in cells."""
    expected, n = individual.total(risks), len(risks)
    return {
        "basis": basis,
        "n_records": n,
        "largest": round(float(risks.max()), DIGITS) if n else NAN,
        "mean": round(expected / n, DIGITS) if n else NAN,
        "expected": significant(expected),
        **more,
    }


def _of_cells(f: np.ndarray, people: np.ndarray) -> dict[str, float]:
    """Return the smallest number of people who match a record, and the records that are unique among them."""
    return {"smallest": float(people.min()) if len(f) else NAN, "n_unique": int(((f == 1) & (people == 1)).sum())}


def _of_population(f: np.ndarray, people: np.ndarray, beyond: int) -> dict[str, float]:
    """Return k-map, δ-presence, and the records that are more numerous in the file than in its population."""
    presence, n = np.minimum(1.0, f / people), len(f)
    return {
        **_of_cells(f, people),
        "n_beyond": beyond,
        "largest_presence": round(float(presence.max()), DIGITS) if n else NAN,
        "mean_presence": round(individual.total(presence) / n, DIGITS) if n else NAN,
    }


_COUNTS = ("smallest", "n_unique", "n_beyond")


def _risks(lines: list[dict[str, Any]]) -> pd.DataFrame:
    columns = ["basis", "n_records", "n_beyond", "smallest", "n_unique", "largest", "mean", "expected"]
    table = pd.DataFrame(lines, columns=[*columns, "largest_presence", "mean_presence"])
    return table.astype(dict.fromkeys(_COUNTS, "Int64"))


def _thresholds(thresholds: Iterable[float], by_basis: dict[str, np.ndarray]) -> Iterable[dict[str, Any]]:
    for basis, risks in by_basis.items():
        for risk in thresholds:
            n = int((np.round(risks, DIGITS) > risk).sum())
            share = round(n / len(risks), DIGITS) if len(risks) else NAN
            yield {"basis": basis, "risk": risk, "n_above": n, "share_above": share}
