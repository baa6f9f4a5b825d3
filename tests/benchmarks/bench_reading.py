"""Time the reading of the same records in each format: records of 15 columns a second, on Linux.

Usage: PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_reading.py FOLDER [records] [format ...]

The files are written to FOLDER unless they are there. Each file is read in a process of its own, three times; the
medians of the processor time and of the peak memory are printed.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from making.formats import ENDINGS, write
from reident import reading
from reident.sections.files import SourceFile

RECORDS = 500_000
TEXTS = {"region": 51, "occupation": 430, "origin": 25, "status": 6}
CODES = {"sex": 2, "education": 5, "age": 100, "month": 12}
COLUMNS = ["key", *TEXTS, "flag", *CODES, "income", "rent", "hours", "savings", "weight"]
RUNS = 3


def records(n: int) -> pd.DataFrame:
    """Return a key, five columns of text, four of codes and five of amounts, as text; 5 % of the values are missing."""
    rng = np.random.default_rng(n)
    columns = {"key": np.char.add("P", np.char.zfill(rng.permutation(n).astype(str), 8))}
    for name, size in TEXTS.items():
        columns[name] = np.char.add(name[:3], rng.integers(0, size, n).astype(str))
    columns["flag"] = np.array(["yes", "no", "é"])[rng.integers(0, 3, n)]
    for name, size in CODES.items():
        columns[name] = rng.integers(1, size + 1, n).astype(str)
    columns["income"] = np.rint(np.exp(rng.normal(10, 1, n))).astype(int).astype(str)
    columns["rent"] = np.round(np.exp(rng.normal(6, 1, n)), 2).astype(str)
    columns["hours"] = (rng.integers(0, 161, n) / 2).astype(str)
    columns["savings"] = rng.normal(0, 5e4, n).round(2).astype(str)
    columns["weight"] = rng.gamma(4, 25, n).astype(str)
    missing = {name: rng.random(n) < 0.05 for name in columns if name != "key"}
    return pd.DataFrame({name: np.where(missing.get(name, False), "", own) for name, own in columns.items()})


def description(folder: Path, kind: str, n: int) -> Path:
    """Write a file of a format and what the study file says of it, unless it is there; return where that is."""
    about = folder / f"{n}.{kind}.json"
    if not about.exists():
        path = folder / f"{n}.{kind}.{ENDINGS[kind]}"
        written = write(records(n), kind, path)
        about.write_text(json.dumps({"path": path.name, **written}))
    return about


def measure(about: Path) -> None:
    """Read a file once, and print the processor seconds and the megabytes that this takes."""
    source = SourceFile(**json.loads(about.read_text()))
    begin = time.process_time()
    for batch in reading.batches(about.parent / source.path, source, COLUMNS, ["key"]):
        assert batch.num_columns == len(COLUMNS)
    used = time.process_time() - begin
    peak = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    print(used, int(peak.split()[1]) / 1e3)


def main() -> None:
    """Measure every format, or those that are named."""
    if len(sys.argv) == 2 and sys.argv[1].endswith(".json"):
        measure(Path(sys.argv[1]))
        return
    folder, n = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else RECORDS
    folder.mkdir(parents=True, exist_ok=True)
    for kind in sys.argv[3:] or ENDINGS:
        about = description(folder, kind, n)
        command = [sys.executable, __file__, str(about)]
        runs = [subprocess.run(command, capture_output=True, check=True).stdout.split() for _ in range(RUNS)]
        seconds, megabytes = (statistics.median(map(float, column)) for column in zip(*runs, strict=True))
        print(f"{kind:12} {n / seconds:12,.0f} records/s {seconds:8.2f} s {megabytes:8,.0f} MB", flush=True)


if __name__ == "__main__":
    main()
