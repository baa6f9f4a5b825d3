"""Measure the memory of `bin`, `rank`, `confirm` and `rate` on tables of many records, on Linux.

`assign` ranks pairs that are assigned one to one, and `clusters` is `rate` with clustered intervals and the rates of
clusters.

Usage: .venv/bin/python tests/benchmarks/bench_large_tables.py FOLDER [records] [pairs of a record]

The tables have the shape of those of a study (tests/benchmarks/national.py) with as many records in each file, 51
strata, 13 linking variables, links of half of the records, and clusters of two or three. Pairs to be assigned are
between records of the same thousand. Each step runs in a process of its own, in which a table is read as the adapter
reads it; the processor time and the peak memory are printed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from reident.ledger.stored import Sink
from reident.linkage import bins, clusters, confirmation, ranking, rates
from reident.linkage import step as linkage_step
from reident.linkage.settings import AssignmentSettings
from reident.study.model import Study

RECORDS, PAIRS = 10_000_000, 2
STRATA, SHARDS, PIECE = 51, 8, 1 << 20
CATEGORICAL, NUMERIC = 8, 5
VARIABLES = [
    *({"name": f"c{at}", "type": "categorical"} for at in range(CATEGORICAL)),
    *({"name": f"x{at}", "type": "numeric"} for at in range(NUMERIC)),
]
BLOCK = 1000
"""Pairs to be assigned are between records of the same block of so many."""

STEPS = ("bin", "rank", "assign", "confirm", "rate", "clusters")
SIDES = ("puf", "eif")


def study(**rates: str) -> Study:
    """Return a study of one metric."""
    return Study.model_validate(
        {
            "id": "large",
            "files": {
                "puf": {"path": "puf.csv", "id": "puf_id"},
                "eif": {"path": "eif.csv", "id": "eif_id"},
                "iuf": {"path": "iuf.csv", "puf_id": "p", "eif_id": "e"},
            },
            "strata": ["state"],
            "linking_variables": VARIABLES,
            "metrics": {"taxicab": {}},
            "rates": rates,
        }
    )


def draw(folder: Path, n: int, pairs: int) -> None:
    """Write the tables that the steps read."""
    rng = np.random.default_rng([n, pairs])
    shares = rng.dirichlet(np.full(STRATA, 1.2))
    stratum = {side: rng.choice(STRATA, n, p=shares).astype(np.int32) for side in SIDES}
    for side in SIDES:
        stratum[side][:STRATA] = np.arange(STRATA)  # none is empty, however few the records are
        pq.write_table(pa.table({"stratum": stratum[side]}), folder / f"strata_{side}.parquet")
        _write_prepared(rng, folder / f"{side}.parquet", side, n)
    counts = {side: np.bincount(stratum[side], minlength=STRATA) for side in SIDES}
    links = np.sort(rng.permutation(n)[: n // 2]).astype(np.int32)
    pq.write_table(
        pa.table({"puf": links, "eif": rng.permutation(n)[: n // 2].astype(np.int32)}), folder / "iuf.parquet"
    )
    manifest = {"stratum": [f"s{at + 1:04d}" for at in range(STRATA)], "n_puf": counts["puf"], "n_eif": counts["eif"]}
    pd.DataFrame(manifest | {"n_links": counts["puf"] // 2}).to_csv(folder / "manifest.csv", index=False)
    cluster = rng.integers(0, max(2 * n // 5, 1), n)
    pq.write_table(pa.table({"cluster": cluster}), folder / "clusters.parquet")
    for shard in range(SHARDS):
        schema = _pairs(rng, links[:0], pairs).schema
        with (
            pq.ParquetWriter(folder / f"pairs_{shard}.parquet", schema) as writer,
            pq.ParquetWriter(folder / f"local_{shard}.parquet", schema) as local,
        ):
            records = np.flatnonzero(stratum["puf"] % SHARDS == shard).astype(np.int32)
            for start in range(0, len(records), PIECE):
                drawn = _pairs(rng, records[start : start + PIECE], pairs, n)
                writer.write_table(drawn)
                puf, eif = (drawn[name].to_numpy() for name in ("puf", "eif"))
                near = (puf // BLOCK * BLOCK + eif % BLOCK).astype(np.int32)
                local.write_table(drawn.set_column(1, "eif", pa.array(near)))


def _write_prepared(rng: np.random.Generator, path: Path, side: str, n: int) -> None:
    writer = None
    for start in range(0, n, PIECE):
        size = min(PIECE, n - start)
        numbers = pa.array(np.arange(start, start + size)).cast(pa.string())
        columns = {f"{side}_id": pa.compute.utf8_lpad(numbers, 9, "0")}
        for at in range(CATEGORICAL):
            columns[f"c{at}"] = pa.array(rng.integers(0, 9, size)).cast(pa.string())
        for at in range(NUMERIC):
            columns[f"x{at}"] = pa.array(np.rint(np.exp(rng.normal(10, 1, size))))
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _pairs(rng: np.random.Generator, records: np.ndarray, pairs: int, n: int = 1) -> pa.Table:
    """Return the pairs of records, best first."""
    score = np.sort(rng.integers(1, 4, (len(records), pairs)), axis=1).astype(np.float64)
    eif = rng.integers(0, n, len(records) * pairs).astype(np.int32)
    return pa.table({"puf": np.repeat(records, pairs), "eif": eif, "score": score.ravel()})


def run(folder: Path, step: str) -> None:
    """Run a step, and print the seconds and the megabytes that it took."""
    begin = time.process_time()
    of = study(interval="clustered", cluster="c0") if step == "clusters" else study()
    manifest = pd.read_csv(folder / "manifest.csv")
    strata = {side: _open(folder / f"strata_{side}.parquet") for side in SIDES}
    files = {side: _open(folder / f"{side}.parquet") for side in SIDES}
    if step == "bin":
        settings = linkage_step.cutting(of)
        cuts = bins.cut(settings, files, strata, manifest)
        for side in SIDES:
            _sink(folder, f"binned_{side}", cuts.binned(side, files[side], strata[side]))
        cuts.cutpoints()
    elif step in ("rank", "assign"):
        name, assigning = ("pairs", None) if step == "rank" else ("local", AssignmentSettings(PAIRS))
        shards = [_open(folder / f"{name}_{shard}.parquet") for shard in range(SHARDS)]
        suspected = Sink(folder / "suspected.parquet")
        ranking.rank(shards, strata["puf"], manifest, suspected, assigning)
        made = suspected.close().path
        made.replace(folder / "suspected.parquet") if assigning is None else made.unlink()
    elif step == "confirm":
        settings = linkage_step.confirming(of)
        suspected, iuf = (_open(folder / f"{name}.parquet") for name in ("suspected", "iuf"))
        sinks = [Sink(folder / f"{name}.parquet") for name in ("confirmed", "positions")]
        tables = suspected, files, iuf, strata["puf"], manifest, *sinks
        limits = confirmation.confirm(settings, *tables, folder)
        limits.to_csv(folder / "limits.csv", index=False)
        for sink, name in zip(sinks, ("confirmed", "positions"), strict=True):
            sink.close().path.replace(folder / f"{name}.parquet")
    else:
        pairs = {"taxicab": _open(folder / "positions.parquet")}
        limits = {"taxicab": pd.read_csv(folder / "limits.csv", usecols=rates.LIMITS)}
        iuf, numbers = (_open(folder / f"{name}.parquet") for name in ("iuf", "clusters"))
        rates.rate(linkage_step.rating(of), files, iuf, strata, manifest, pairs, limits, numbers)
        if step == "clusters":
            clusters.rate(linkage_step.rating(of), numbers, strata["puf"], manifest, pairs)
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(f"{step:8} {time.process_time() - begin:8.1f} s {int(peak.split()[1]) / 1e3:8,.0f} MB", flush=True)


def _open(path: Path) -> pq.ParquetFile:
    """Open a table as steps do, see `reident.ledger.running`."""
    return pq.ParquetFile(path, pre_buffer=False)


def _sink(folder: Path, name: str, tables: Iterable[pa.Table]) -> None:
    sink = Sink(folder / f"{name}.parquet")
    for table in tables:
        sink(table)
    sink.close().path.unlink()


def main() -> None:
    """Draw the tables unless they are there, and run each step."""
    if sys.argv[2:] and sys.argv[2] in STEPS:
        run(Path(sys.argv[1]), sys.argv[2])
        return
    folder, (n, pairs) = (
        Path(sys.argv[1]),
        (int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((2, RECORDS), (3, PAIRS))),
    )
    if not (folder / "manifest.csv").exists():
        folder.mkdir(parents=True, exist_ok=True)
        draw(folder, n, pairs)
    for step in STEPS:
        subprocess.run([sys.executable, __file__, str(folder), step], check=True)


if __name__ == "__main__":
    main()
