"""The numerical study of Elliot and Manning 2003: DIS-SUDA of samples against the population (METHODS §7).

The population is given, of several areas; each sample takes the same fraction of every area. What comes out is
shown for both definitions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident.filerisk import dis, dis_suda, suda
from reident.filerisk.uniques import cell_sizes, n_in_pairs, n_unique


def stratified_sample(strata: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Positions of a sample without replacement, the rounded fraction of each stratum, ascending, int64.

    Parameters
    ----------
    strata : array (N,)
        Stratum of each record.
    fraction : float
        In (0, 1].
    rng : Generator
    """
    parts = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    taken = [rng.choice(part, round(fraction * len(part)), replace=False) for part in parts]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *taken]))


def repeated_samples(
    population: np.ndarray,
    strata: np.ndarray,
    *,
    fraction: float,
    samples: int,
    rng: np.random.Generator,
    max_order: int | None = None,
    threads: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """DIS and DIS-SUDA of many samples, beside the reciprocal of the population cell.

    Parameters
    ----------
    population : int32 (N, v)
        Codes of the key, -1 for missing.
    strata : array (N,)
    fraction : float
    samples : int
    rng : Generator
    max_order : int, optional
        Largest MSU searched.
    threads : int

    Returns
    -------
    by_sample : DataFrame
        ``sample`` (1, 2, …), ``n``, ``uniques``, ``in_pairs``, ``dis``, ``mean_reciprocal`` (of the uniques, which
        ``dis`` estimates) and, for each definition, ``correlation`` with the reciprocal over all records.
    by_class : DataFrame
        ``definition``, then as `dis_suda.calibration`, over the records of all samples.
    """
    definitions = ("elliot-manning", "user-guide")
    of_population = dis_suda.population_reciprocal(population, population)
    rows: list[dict[str, float]] = []
    values: dict[str, list[np.ndarray]] = {name: [np.zeros(0)] for name in definitions}
    reciprocals = [np.zeros(0)]
    for sample in range(1, samples + 1):
        taken = stratified_sample(strata, fraction, rng)
        codes, reciprocal = population[taken], of_population[taken]
        sizes = cell_sizes(codes)
        score = suda.scores(codes, max_order=max_order, threads=threads).score
        n_alone, n_paired = n_unique(sizes), n_in_pairs(sizes)
        row: dict[str, float] = {"sample": sample, "n": len(taken), "uniques": n_alone, "in_pairs": n_paired}
        row["dis"] = dis.general(n_alone, n_paired, fraction)
        unique = reciprocal[sizes == 1]
        row["mean_reciprocal"] = float(unique.mean()) if len(unique) else np.nan
        reciprocals.append(reciprocal)
        for name, result in zip(
            definitions,
            (
                dis_suda.elliot_manning(score, sizes, fraction),
                dis_suda.user_guide(score, sizes, fraction, codes.shape[1]),
            ),
            strict=True,
        ):
            row[f"correlation {name}"] = dis_suda.correlation(result.values, reciprocal)
            values[name].append(result.values)
        rows.append(row)
    classes = []
    for name in definitions:
        table = dis_suda.calibration(np.concatenate(values[name]), np.concatenate(reciprocals))
        table.insert(0, "definition", name)
        classes.append(table)
    return pd.DataFrame(rows), pd.concat(classes, ignore_index=True)
