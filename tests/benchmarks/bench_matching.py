"""Time matching-based risk on drawn files, as whole processes: ``python bench_matching.py``.

Each process reads the CSV files, types them, matches every record, and writes the tables of records and
of summaries. Prints one line of JSON per work: seconds of wall time with start-up, peak memory, the limits.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "results" / "benchmarks"
SIZES = (2, 9, 5, 4, 12)


class Work(NamedTuple):
    """Records, synthetic files, variables with a radius, and the limits in seconds and MB."""

    n: int
    m: int
    continuous: int
    seconds: float
    megabytes: float


WORKS = {
    "categorical": Work(1_000_000, 3, 0, 20, 2000),
    "one radius": Work(100_000, 3, 1, 20, 2000),
    "two radii": Work(100_000, 3, 2, 20, 2000),
    "three radii": Work(100_000, 3, 3, 60, 2000),
    "two radii, a million": Work(1_000_000, 1, 2, 120, 4000),
}


def study(work: Work) -> dict[str, Any]:
    """Three known and two synthesized categories; amounts are synthesized, with a radius of 20 %."""
    amounts = [f"amount{at}" for at in range(work.continuous)]
    return {
        "confidential": {"path": "confidential.csv"},
        "synthetic": [{"path": f"synthetic_{file}.csv"} for file in range(1, work.m + 1)],
        "known": ["k0", "k1", "k2"],
        "synthesized": ["s0", "s1", *amounts],
        "radius": {name: {"relative": "0.2"} for name in amounts},
    }


def draw(work: Work, folder: Path) -> None:
    """Write the files of a work, once."""
    if (folder / "confidential.csv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng([work.n, work.continuous])
    n, kind = work.n, rng.integers(0, 40, work.n)
    data = {
        name: np.where(rng.random(n) < 0.6, kind * (at + 3) % size, rng.integers(0, size, n))
        for at, (name, size) in enumerate(zip(["k0", "k1", "k2", "s0", "s1"], SIZES, strict=True))
    }
    for at in range(work.continuous):
        data[f"amount{at}"] = np.round(np.exp(9 + 0.02 * kind + 0.8 * rng.normal(size=n)))
    confidential = pd.DataFrame(data)
    for file in range(1, work.m + 1):
        copy = confidential.copy()
        for name in study(work)["synthesized"]:  # the values of others with the same k1
            copy.loc[np.argsort(data["k1"], kind="stable"), name] = data[name][
                np.lexsort((rng.random(n), data["k1"]))
            ]
        copy.to_csv(folder / f"synthetic_{file}.csv", index=False)
    confidential.to_csv(folder / "confidential.csv", index=False)


def process(name: str, folder: str) -> None:
    """What is timed: files in, tables out."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from reident.matching import prepare as intake
    from reident.matching.summary import match_files
    from reident.pipeline import parts
    from reident.sections.matching import Matching

    options, at = Matching.model_validate(study(WORKS[name])), Path(folder)
    files = [options.confidential, *options.synthetic]
    text, *copies = (
        pa.concat_tables(intake.batches(parts.matched_files(options), k - 1 if k else None, at / file.path))
        for k, file in enumerate(files)
    )
    prepared = intake.prepare(parts.matched_files(options), text, copies)
    found = match_files(parts.match_rules(options), prepared.confidential, prepared.synthetic)
    pq.write_table(found.records, at / "records.parquet")
    found.summary.to_csv(at / "summary.csv", index=False)
    cpu = round(time.process_time(), 2)
    print(
        json.dumps(
            {
                "cpu_seconds": cpu,
                "expected_match_risk": found.summary.set_index("file")["expected_match_risk"]
                .round(3)
                .to_dict(),
            }
        )
    )


def main() -> None:
    """Draw, time, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", default=",".join(WORKS))
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    from run import timed

    late = []
    for name in options.works.split(","):
        work, folder = WORKS[name], OUT / "files" / f"matching-{name.replace(' ', '-')}"
        draw(work, folder)
        command = [sys.executable, __file__, "process", name, str(folder)]
        runs = [timed(command, 10 * work.seconds, 4 * work.megabytes) for _ in range(options.runs + 1)][1:]
        line = {
            "work": name, **work._asdict(), "processors": os.cpu_count(),
            "median_seconds": round(statistics.median(run.seconds for run in runs), 2),
            "peak_mb": round(max(run.megabytes for run in runs)), "answer": runs[0].answer,
        }  # fmt: skip
        print(json.dumps(line), flush=True)
        if (
            any(run.ended for run in runs)
            or line["median_seconds"] > work.seconds
            or line["peak_mb"] > work.megabytes
        ):
            late.append(name)
    sys.exit(f"Over the limit: {', '.join(late)}." if late else 0)


if __name__ == "__main__":
    process(*sys.argv[2:]) if sys.argv[1:2] == ["process"] else main()
