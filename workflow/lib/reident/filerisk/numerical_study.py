"""The numerical study of Elliot and Manning 2003: DIS-SUDA of samples against the population (METHODS §7).

The population is given, of several areas; each sample takes the same fraction of every area. What comes out is
shown for both definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import dis, dis_suda, suda
from reident.filerisk.dis_suda import DEFINITIONS, Definition
from reident.filerisk.prepare import STRATUM, codes_of
from reident.filerisk.settings import SamplingSettings
from reident.filerisk.uniques import cell_sizes, n_in_pairs, n_unique
from reident.linkage.categories import measure_each


def _stratified_sample(strata: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of a sample without replacement, the rounded fraction of each stratum, ascending; int64."""
    parts = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    rows = [rng.choice(part, round(fraction * len(part)), replace=False) for part in parts]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *rows]))


class Repeated(NamedTuple):
    """The tables of the step, with the columns that `reident.pipeline.tables` declares."""

    by_sample: pd.DataFrame
    by_class: pd.DataFrame
    by_tenth: pd.DataFrame


class _Sample(NamedTuple):
    line: dict[str, float]
    risk: dict[Definition, np.ndarray]
    reciprocal: np.ndarray
    unique: np.ndarray


def run(
    settings: SamplingSettings,
    population: pa.Table,
    *,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Repeated:
    """Draw the samples of the study, and compare DIS and DIS-SUDA with the reciprocals of the population cells.

    `threads` samples are taken at a time, each with a generator of its own.
    """
    codes, strata = codes_of(population, list(settings.key)), population[STRATUM].to_numpy()
    reciprocals = dis_suda.population_reciprocal(codes, codes, wildcard=settings.wildcard)
    inside = np.isfinite(reciprocals)

    def draw(generator: np.random.Generator) -> _Sample:
        rows = _stratified_sample(strata, settings.fraction, generator)
        complete = float(inside[rows].mean()) if len(rows) else 0.0
        cell_fraction = dis.of_cells(settings.fraction, complete, float(inside.mean()))
        return _sample(settings, codes[rows], reciprocals[rows], cell_fraction)

    generators = np.random.default_rng(settings.seed).spawn(settings.samples)
    results = measure_each(draw, generators, threads, progress)
    lines = [{"sample": at, **result.line} for at, result in enumerate(results, start=1)]
    reciprocal = np.concatenate([result.reciprocal for result in results])
    unique = np.concatenate([result.unique for result in results])
    risk = {name: np.concatenate([result.risk[name] for result in results]) for name in DEFINITIONS}
    classes = {name: dis_suda.calibration(values, reciprocal) for name, values in risk.items()}
    tenths = {name: dis_suda.tenths(values[unique], reciprocal[unique]) for name, values in risk.items()}
    tables = pd.DataFrame(lines), _joined(classes), _joined(tenths)
    return Repeated(*(table.round(dis_suda.DIGITS) for table in tables))


def _joined(tables: dict[Definition, pd.DataFrame]) -> pd.DataFrame:
    """Return the lines of each definition below one another."""
    return pd.concat(tables, names=["definition"]).reset_index("definition").reset_index(drop=True)


def _sample(settings: SamplingSettings, codes: np.ndarray, reciprocal: np.ndarray, fraction: float) -> _Sample:
    """Return one sample; ``fraction`` is that of the cells."""
    sizes = cell_sizes(codes, wildcard=settings.wildcard)
    score = suda.scores(codes, max_order=settings.max_order, weighting=settings.weighting).score
    n_alone, n_paired, unique = n_unique(sizes), n_in_pairs(sizes), sizes == 1
    general = dis.of_file(codes, sizes, fraction)
    results = dis_suda.by_definition(score, sizes, fraction, codes.shape[1], general)
    line: dict[str, float] = {
        "n": len(codes),
        "uniques": n_alone,
        "in_pairs": n_paired,
        "dis": general,
        "match_probability": dis_suda.match_probability(reciprocal[unique]),
        "mean_reciprocal": float(reciprocal[unique].mean()) if n_alone else np.nan,
    }
    risk = {name: result.risk for name, result in results.items()}
    line |= {f"correlation {name}": dis_suda.correlation(values, reciprocal) for name, values in risk.items()}
    return _Sample(line, risk, reciprocal, unique)
