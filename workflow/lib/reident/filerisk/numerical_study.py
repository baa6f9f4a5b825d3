"""The numerical study of Elliot and Manning 2003: DIS-SUDA of samples against the population (METHODS §7).

The population is given, of several areas; each sample takes the same fraction of every area. What comes out is
shown for both definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import dis, dis_suda, suda
from reident.filerisk.parts import Sampling
from reident.filerisk.prepare import STRATUM, codes_of
from reident.filerisk.uniques import cell_sizes, n_in_pairs, n_unique

DEFINITIONS = ("elliot-manning", "user-guide")


def stratified_sample(strata: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return positions of a sample without replacement, the rounded fraction of each stratum, ascending, int64.

    Parameters
    ----------
    strata : array (N,)
        Stratum of each record.
    fraction : float
        In (0, 1].
    rng : Generator
    """
    parts = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    rows = [rng.choice(part, round(fraction * len(part)), replace=False) for part in parts]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *rows]))


class Repeated(NamedTuple):
    """The tables of the step, with the columns that `reident.pipeline.tables.risk` declares."""

    by_sample: pd.DataFrame
    by_class: pd.DataFrame
    by_tenth: pd.DataFrame


class _Sample(NamedTuple):
    line: dict[str, float]
    risk: dict[str, np.ndarray]
    reciprocal: np.ndarray
    unique: np.ndarray


def repeated_samples(
    population: np.ndarray,
    strata: np.ndarray,
    *,
    fraction: float,
    samples: int,
    rng: np.random.Generator,
    max_order: int | None = None,
    weighting: suda.Weighting = "elliot",
    wildcard: bool = False,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Repeated:
    """DIS and DIS-SUDA of many samples, beside the reciprocal of the population cell.

    Parameters
    ----------
    population : int32 (N, v)
        Codes of the key, -1 for missing.
    strata : array (N,)
    fraction : float
    samples : int
        At least 1.
    rng : Generator
        Every sample has a generator of its own, spawned from it.
    max_order : int, optional
        Largest MSU searched.
    weighting : {'elliot', 'normalised'}
    wildcard : bool
        Whether a missing value matches every value.
    threads : int
        Samples at a time; the result does not depend on it.
    progress : callable, optional

    Returns
    -------
    Repeated
    """
    reciprocals = dis_suda.population_reciprocal(population, population, wildcard=wildcard)
    inside = np.isfinite(reciprocals)

    def draw(generator: np.random.Generator) -> _Sample:
        rows = stratified_sample(strata, fraction, generator)
        complete = float(inside[rows].mean()) if len(rows) else 0.0
        cell_fraction = dis.of_cells(fraction, complete, float(inside.mean()))
        sizes = cell_sizes(population[rows], wildcard=wildcard)
        return _sample(population[rows], sizes, reciprocals[rows], cell_fraction, max_order, weighting)

    results = []
    with ThreadPoolExecutor(threads) as pool:
        for sample in pool.map(draw, rng.spawn(samples)):
            results.append(sample)
            if progress is not None:
                progress(len(results) / samples)
    lines = [{"sample": at, **result.line} for at, result in enumerate(results, start=1)]
    reciprocal = np.concatenate([result.reciprocal for result in results])
    unique = np.concatenate([result.unique for result in results])
    classes: list[pd.DataFrame] = []
    tenths: list[pd.DataFrame] = []
    for name in DEFINITIONS:
        values = np.concatenate([result.risk[name] for result in results])
        for tables, table in (
            (classes, dis_suda.calibration(values, reciprocal)),
            (tenths, dis_suda.tenths(values[unique], reciprocal[unique])),
        ):
            table.insert(0, "definition", name)
            tables.append(table.round(dis_suda.DIGITS))
    by_sample = pd.DataFrame(lines).round(dis_suda.DIGITS)
    return Repeated(by_sample, pd.concat(classes, ignore_index=True), pd.concat(tenths, ignore_index=True))


def _sample(
    codes: np.ndarray,
    sizes: np.ndarray,
    reciprocal: np.ndarray,
    fraction: float,
    max_order: int | None,
    weighting: suda.Weighting,
) -> _Sample:
    """Return one sample; ``fraction`` is that of the cells."""
    score = suda.scores(codes, max_order=max_order, weighting=weighting).score
    n_alone, n_paired, unique = n_unique(sizes), n_in_pairs(sizes), sizes == 1
    general = dis.of_file(codes, sizes, fraction)
    results = {
        "elliot-manning": dis_suda.elliot_manning(score, sizes, fraction, general),
        "user-guide": dis_suda.user_guide(score, sizes, fraction, codes.shape[1], general),
    }
    line: dict[str, float] = {
        "n": len(codes),
        "uniques": n_alone,
        "in_pairs": n_paired,
        "dis": general,
        "match_probability": dis_suda.match_probability(reciprocal[unique]),
        "mean_reciprocal": float(reciprocal[unique].mean()) if n_alone else np.nan,
    }
    for name in DEFINITIONS:
        line[f"correlation {name}"] = dis_suda.correlation(results[name].risk, reciprocal)
    return _Sample(line, {name: results[name].risk for name in DEFINITIONS}, reciprocal, unique)


def run(
    options: Sampling,
    population: pa.Table,
    *,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Repeated:
    """Run the numerical study that a study file asks for, on its prepared population."""
    return repeated_samples(
        codes_of(population, list(options.key)),
        population[STRATUM].to_numpy(),
        fraction=options.fraction,
        samples=options.samples,
        rng=np.random.default_rng(options.seed),
        max_order=options.max_order,
        weighting=options.weighting,
        wildcard=options.wildcard,
        threads=threads,
        progress=progress,
    )
