"""Draw a study of very many small strata: two files with the same number of records in each, the links, the study file.

Usage: python tests/benchmarks/bench_strata.py FOLDER [strata] [records of a stratum in each file]
Then:  snakemake --config study=FOLDER/study.yaml

Half of the people of a stratum are in both files, which both err a little; 5 % of the values are missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import draw
import numpy as np
import pandas as pd

CATEGORIES = {"sex": 2, "education": 5, "occupation": 9, "origin": 25}
AMOUNTS = {"age": (40, 18), "rooms": (4, 2), "income": (30_000, 20_000)}
MISSING, CHANGED = 0.05, 0.03


def tables(n_strata: int, records: int) -> dict[str, pd.DataFrame]:
    """Return the files and the file of their links, as text; an empty value is missing."""
    rng = np.random.default_rng([n_strata, records])
    shared = records // 2
    people = 2 * records - shared
    n = n_strata * people
    area = np.repeat(np.arange(n_strata), people)
    values = {name: rng.integers(0, size, n) for name, size in CATEGORIES.items()}
    for name, (mean, spread) in AMOUNTS.items():
        values[name] = np.maximum(0, np.rint(mean + spread * rng.standard_normal(n))).astype(int)
    place = np.arange(n) % people
    held = {"puf": np.flatnonzero(place < records), "eif": np.flatnonzero((place < shared) | (place >= records))}
    files = {side: _file(rng, side, area[rows], {k: v[rows] for k, v in values.items()}) for side, rows in held.items()}
    _, puf, eif = np.intersect1d(held["puf"], held["eif"], return_indices=True)
    return files | {
        "iuf": pd.DataFrame({"puf": files["puf"]["id"].to_numpy()[puf], "eif": files["eif"]["id"].to_numpy()[eif]})
    }


def _file(rng: np.random.Generator, side: str, area: np.ndarray, values: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return the records of one file, with keys in random order, some values changed and some missing."""
    n = len(area)
    keys = np.char.add(side, np.char.zfill(rng.permutation(n).astype(str), 7))
    columns = {"id": keys, "area": np.char.add("a", np.char.zfill(area.astype(str), 6))}
    for name, own in values.items():
        other = own[rng.permutation(n)]
        text = np.where(rng.random(n) < CHANGED, other, own).astype(str)
        columns[name] = np.where(rng.random(n) < MISSING, "", text)
    return pd.DataFrame(columns)


def study() -> str:
    """Return the study file: all four metrics of the Primer."""
    kinds = dict.fromkeys(CATEGORIES, "categorical") | dict.fromkeys(AMOUNTS, "numeric")
    return draw.study("strata", "Many strata", "area", kinds)


def main() -> None:
    """Write puf.csv, eif.csv, iuf.csv and study.yaml to a folder."""
    folder, (n_strata, records) = (
        Path(sys.argv[1]),
        (int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((2, 100_000), (3, 10))),
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables(n_strata, records).items():
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "study.yaml").write_text(study(), encoding="utf-8")


if __name__ == "__main__":
    main()
