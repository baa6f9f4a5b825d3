"""What jobs take: measured, fitted, and extrapolated to a study of another size (docs/CLUSTER.md).

Usage: python tests/benchmarks/cluster.py measure FOLDER …      writes cluster.jsonl beside this file
       python tests/benchmarks/cluster.py fit                   the costs of reident.pipeline.resources, with residuals
       python tests/benchmarks/cluster.py predict [records]     what a study of that size would take

Each FOLDER is the working directory of a run whose results are there: its benchmark files have the processor time and
the largest memory of every job, its ledger the sizes of what they read and made, its manifest the counts.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "lib"))

from reident.linkage.metrics import REGISTRY
from reident.pipeline import resources
from reident.pipeline.resources import Cost, Counts, Memory, Time

MEASURED = Path(__file__).with_name("cluster.jsonl")
SHORT = 1.0
"""Seconds below which the memory of a job was not sampled often enough, and its time is that of its start."""
SHARDS = {"0001", "0002"}
"""The shards of a run that are kept: the others are like them, and would outweigh other runs."""
EXPONENTS = np.arange(0, 1.01, 0.05)
STEPS = {"bin", "confirm", "describe", "prepare", "rank", "rate", "score", "stratify", "weigh"}
BY_BLOCKS = {"score", "weigh"}


class Job(NamedTuple):
    """A measured job.

    Attributes
    ----------
    kind : str
        Its step, and for scores the metric.
    run : str
        The working directory and the study.
    counts : Counts
    cpu, wall : float
        Seconds of processors and of the clock.
    memory : float
        Megabytes.
    made : float
        Megabytes of its results.
    """

    kind: str
    run: str
    counts: Counts
    cpu: float
    wall: float
    memory: float
    made: float


def jobs(study: Path, run: str) -> Iterator[Job]:
    """The jobs of a run of one study that took long enough to be measured."""
    manifest = resources.read_manifest(study / "strata/manifest.csv", study / "strata/shards.csv")
    for file in sorted(study.glob("benchmarks/*.tsv")):
        rule, *rest = file.stem.split(".")
        if rule not in STEPS or (rule == "score" and rest[1] not in SHARDS):
            continue
        entry = json.loads((study / "ledger" / f"{file.stem}.json").read_text(encoding="utf-8"))
        read = [line["size"] for name, lines in entry["inputs"].items() for line in lines if name != "study"]
        compared: tuple[resources.Block, ...] = ()
        if rule == "weigh":
            compared = tuple(manifest.strata.values())
        elif rule == "score":
            compared = manifest.compared(rest[1], splits=REGISTRY[rest[0]].splits)
        with file.open(encoding="utf-8") as stream:
            (line,) = csv.DictReader(stream, delimiter="\t")
        if float(line["s"]) >= SHORT and float(line["cpu_time"]) > 0:
            yield Job(
                f"score.{rest[0]}" if rule == "score" else rule,
                run,
                Counts(manifest.records, compared, round(sum(read) / 2**20, 3)),
                *(float(line[name]) for name in ("cpu_time", "s", "max_rss")),
                round(sum(made["size"] for made in entry["outputs"].values()) / 2**20, 3),
            )


def measured() -> dict[str, list[Job]]:
    """The measured jobs, by kind."""
    found = defaultdict(list)
    for text in MEASURED.read_text(encoding="utf-8").splitlines():
        job = Job(**json.loads(text))
        records, blocks, files = job.counts
        found[job.kind].append(job._replace(counts=Counts(records, tuple(map(tuple, blocks)), files)))
    return dict(sorted(found.items()))


def features(job: Job) -> list[float]:
    """What the first three terms of :class:`Time` and :class:`Memory` are multiplied by; 0 for one without use."""
    by_blocks = job.kind.partition(".")[0] in BY_BLOCKS
    return [1.0, job.counts.records if by_blocks else 0.0, 0.0 if by_blocks else job.counts.files]


def fit(rows: list[list[float]], values: list[float]) -> tuple[np.ndarray, float]:
    """The factors, none negative, with the least sum of squares of relative errors; and the root of that sum."""
    return nnls(np.asarray(rows) / np.asarray(values)[:, None], np.ones(len(values)))


def fitted(own: list[Job]) -> Cost:
    """The cost of a kind of jobs."""
    found = []
    for exponent in EXPONENTS if own[0].counts.blocks else [0.0]:
        rows = [
            [
                *features(job),
                sum(eif for _, eif in job.counts.blocks),
                sum(puf * eif**exponent for puf, eif in job.counts.blocks),
            ]
            for job in own
        ]
        factors, error = fit(rows, [job.cpu for job in own])
        found.append((error, Time(*factors.round(3).tolist(), round(float(exponent), 2))))
    rows = [
        [
            *features(job),
            sum(puf for puf, _ in job.counts.blocks)
            + max((eif for _, eif in job.counts.blocks), default=0.0),
        ]
        for job in own
    ]
    factors, _ = fit(rows, [job.memory for job in own])
    return Cost(min(found)[1], Memory(*factors.round(1).tolist()))


def show_fit() -> None:
    """Print the fitted costs, and how far from each job they are."""
    for kind, own in measured().items():
        cost = fitted(own)
        print(f'"{kind}": {cost!r},')
        for job in own:
            cpu = resources.seconds(cost.time, job.counts)
            memory = resources.megabytes(cost.memory, job.counts)
            print(
                f"    {job.run:24} {job.cpu:8.1f} s, fitted {cpu:8.1f} ({cpu / job.cpu - 1:+4.0%})"
                f"   {job.memory:6.0f} MB, fitted {memory:6.0f} ({memory / job.memory - 1:+4.0%})"
            )


def predict(records: int) -> None:
    """Print what scoring and weighing would take for two files of so many records each, in one stratum and in 51."""
    side = records / resources.MILLION
    for strata in (1, 51, 5000):
        print(f"{records:,} × {records:,} records in {strata:,} equal strata:")
        for kind, cost in resources.MEASURED.items():
            if kind.partition(".")[0] not in BY_BLOCKS:
                continue
            whole = Counts(2 * side, ((side / strata, side / strata),) * strata)
            one = Counts(2 * side, ((side / strata, side / strata),))
            hours = resources.seconds(cost.time, whole) / 3600
            largest = resources.seconds(cost.time, one) / 3600
            gigabytes = resources.megabytes(cost.memory, one if kind != "weigh" else whole) / 1024
            print(
                f"    {kind:22} {hours:10,.1f} processor hours; a job of one stratum {largest:10,.1f} hours, {gigabytes:8,.1f} GB"
            )


def main(command: str, *arguments: str) -> None:
    """Measure, fit or predict."""
    if command == "measure":
        found = [
            job._asdict() | {"counts": job.counts}
            for folder in map(Path, arguments)
            for study in sorted(folder.glob("results/*/strata"))
            for job in jobs(study.parent, f"{folder.name}/{study.parent.name}")
        ]
        MEASURED.write_text("".join(f"{json.dumps(job)}\n" for job in found), encoding="utf-8")
    elif command == "fit":
        show_fit()
    else:
        predict(int(arguments[0]) if arguments else 100_000_000)


if __name__ == "__main__":
    main(*sys.argv[1:])
