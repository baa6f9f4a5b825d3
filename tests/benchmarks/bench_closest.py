"""Time distances to the closest record on drawn files, as whole processes: ``python bench_closest.py``.

Each process reads the prepared tables, searches for the closest confidential record, and that of a holdout where the
work has one, for every synthetic record, and writes the tables. Prints one line of JSON per work: seconds of wall time
with start-up, peak memory, the limits, and the load of the machine before it. With ``--peers`` it also times numpy and
FAISS (if installed) on numbers alone: numpy with the same distance, FAISS with the sum of squared differences.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "results" / "benchmarks"
SIZES = (2, 5, 6, 9, 40)


class Work(NamedTuple):
    """Records of each file, of the holdout, and the limits in seconds and MB."""

    n: int
    held: int
    seconds: float
    megabytes: float


WORKS = {
    "a thousand": Work(1_000, 1_000, 120, 1000),
    "ten thousand": Work(10_000, 10_000, 15, 1000),
    "a hundred thousand": Work(100_000, 100_000, 30, 1500),
    "a million": Work(1_000_000, 0, 90, 3000),
    "a million, held out": Work(1_000_000, 1_000_000, 90, 3000),
}


def people(rng: np.random.Generator, n: int) -> pa.Table:
    """Five numbers and five categories that depend on one another; two in a hundred values are missing."""
    latent = rng.normal(size=(n, 3))
    columns: dict[str, Any] = {"v0": np.round(45 + 15 * latent[:, 0])}
    columns["v1"] = np.round(np.exp(8 + 0.6 * latent[:, 1] + 0.3 * rng.normal(size=n)))
    columns["v2"] = np.round(np.exp(6 + 0.4 * latent[:, 1] + 0.5 * rng.normal(size=n)))
    columns["v3"] = np.round(38 + 8 * latent[:, 2] + 4 * rng.normal(size=n))
    columns["v4"] = np.round(latent[:, 0] + rng.normal(size=n), 2)
    for at, size in enumerate(SIZES):
        own = latent[:, at % 3] + rng.normal(size=n)
        columns[f"v{5 + at}"] = np.digitize(own, np.linspace(-2.5, 2.5, size)).astype(str)
    row = pa.array(np.arange(n, dtype=np.int32))
    typed = {name: pa.array(values, mask=rng.random(n) < 0.02) for name, values in columns.items()}
    return pa.table({".row": row, ".file": pa.array(np.ones(n, np.int32)), **typed})


def draw(work: Work, folder: Path) -> None:
    """Write the prepared files of a work, once."""
    if (folder / "holdout.parquet").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, n) in enumerate({"confidential": work.n, "synthetic": work.n, "holdout": work.held}.items()):
        pq.write_table(people(np.random.default_rng([work.n, seed]), n), folder / f"{name}.parquet")


def process(folder: str, threads: str) -> None:
    """What is timed: prepared tables in, tables out."""
    from reident.distances import measure as closest
    from reident.matching.settings import ClosestSettings

    names = tuple(f"v{at}" for at in range(10))
    at = Path(folder)
    tables = [pq.read_table(at / f"{name}.parquet") for name in ("confidential", "synthetic", "holdout")]
    found = closest.measure(ClosestSettings(names, frozenset(names[:5]), (), 0.95), *tables, threads=int(threads))
    pq.write_table(found.records, at / "closest.parquet")
    found.closest.to_csv(at / "closest.csv", index=False)
    line = found.closest.iloc[0]
    print(
        json.dumps(
            {
                "cpu_seconds": round(time.process_time(), 2),
                "distance": round(float(line["distance_confidential"]), 6),
                "share": None if not tables[2].num_rows else round(float(line["share"]), 4),
            }
        )
    )


def peers(n: int) -> None:
    """Time the search of the nearest of n points of five complete numbers, in the library, numpy and FAISS."""
    from reident.kernels import euclidean

    rng = np.random.default_rng(n)
    own, copy = (rng.normal(size=(n, 5)) for _ in range(2))
    codes, numeric = np.full((n, 5), -1, np.int32), np.ones(5, bool)

    def library() -> np.ndarray:
        found = euclidean.two_nearest(
            codes, codes, copy, own, copy.std(axis=0, ddof=1), numeric=numeric, alpha=0.5, scale=10**12, threads=2
        )
        return found[1]

    def brute(block: int = 256) -> np.ndarray:
        nearest = np.empty(n, np.int64)
        spread = copy.std(axis=0, ddof=1)
        for start in range(0, n, block):
            apart = np.abs(copy[start : start + block, None] - own[None]) / spread
            nearest[start : start + block] = (np.tanh(np.minimum(apart, 6) / 2) ** 2).sum(axis=2).argmin(axis=1)
        return nearest

    def flat() -> np.ndarray:
        import faiss

        faiss.omp_set_num_threads(2)
        index, spread = faiss.IndexFlatL2(5), copy.std(axis=0, ddof=1)
        index.add((own / spread).astype(np.float32))
        return index.search((copy / spread).astype(np.float32), 2)[1][:, 0]

    library()
    expected = None
    for name, run in {"library": library, "numpy": brute, "faiss, L2 in single precision": flat}.items():
        start = time.perf_counter()
        try:
            found = run()
        except ImportError:
            continue
        seconds = round(time.perf_counter() - start, 2)
        expected = found if expected is None else expected
        same = round(float((found == expected).mean()), 4)
        print(json.dumps({"peer": name, "n": n, "seconds": seconds, "same nearest": same}), flush=True)


def main() -> None:
    """Draw, time, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", default=",".join(WORKS).replace(", ", "; "))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", type=int, nargs="*", default=[])
    options = parser.parse_args()
    from run import timed

    for n in options.peers:
        peers(n)
    late = []
    for name in filter(None, (name.replace("; ", ", ") for name in options.works.split(","))):
        work, folder = WORKS[name], OUT / "files" / f"closest-{name.replace(', ', '-').replace(' ', '-')}"
        draw(work, folder)
        load = round(os.getloadavg()[0], 1)
        run = timed(
            [sys.executable, __file__, "process", str(folder), str(options.threads)],
            10 * work.seconds,
            4 * work.megabytes,
        )
        line = {
            "work": name, **work._asdict(), "threads": options.threads, "load": load,
            "measured_seconds": round(run.seconds, 1), "peak_mb": round(run.megabytes), "answer": run.answer,
        }  # fmt: skip
        print(json.dumps(line), flush=True)
        if run.ended or run.seconds > work.seconds or run.megabytes > work.megabytes:
            late.append(name)
    sys.exit(f"Over the limit: {', '.join(late)}." if late else 0)


if __name__ == "__main__":
    process(*sys.argv[2:]) if sys.argv[1:2] == ["process"] else main()
