"""What jobs take: measured, fitted, and extrapolated to a study of another size (docs/CLUSTER.md).

Usage: python tests/benchmarks/cluster.py run ARGUMENT …         as snakemake, but measures each job twice a second
       python tests/benchmarks/cluster.py measure FOLDER …      writes cluster.jsonl beside this file
       python tests/benchmarks/cluster.py fit                   the costs of reident.pipeline.resources, with residuals
       python tests/benchmarks/cluster.py predict [RECORDS [STRATA [PAIRS_PER_SHARD]]]    a study of that size

Each FOLDER is the working directory of a run whose results are there: its benchmark files have the processor time and
the largest memory of every job, its ledger the sizes of what they read and made, its manifest the counts.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares, nnls

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "lib"))

from reident.linkage import strata as packing
from reident.linkage.metrics import REGISTRY
from reident.pipeline import resources
from reident.pipeline.resources import Cost, Counts, Memory, Time

MEASURED = Path(__file__).with_name("cluster.jsonl")
SHORT = 1.0
"""Seconds below which the memory of a job was not sampled often enough, and its time is that of its start."""
SHARDS = {"0001", "0002"}
"""The shards of a run that are kept: the others are like them, and would outweigh other runs."""
EXPONENTS = np.arange(0, 1.01, 0.05)
STEPS = {"bin", "confirm", "describe", "prepare", "rank", "rate", "score", "weigh"}
BY_BLOCKS = {"score", "weigh"}
DRAWN = "drawn tables"
"""How the runs of bench_large_tables.py end: fewer pairs than a study has, so that only their memory counts."""
NODE = 16
"""The processors of the nodes in a prediction; jobs that compare pairs have eight."""


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


def fit_logs(rows: list[list[float]], values: list[float]) -> tuple[np.ndarray, float]:
    """The same with the least sum of squares of logarithms, where jobs of one size take very different times.

    Relative errors would punish half of a time less than twice as much, and follow the shortest jobs.
    """
    found = np.zeros(len(rows[0]))
    used = np.any(rows, axis=0)
    table, wanted = np.asarray(rows)[:, used], np.log(values)
    solved = least_squares(lambda logs: np.log(table @ np.exp(logs)) - wanted, np.full(used.sum(), -2.0))
    found[used] = np.exp(solved.x)
    return found, float(np.sqrt(2 * solved.cost))


def fitted(own: list[Job]) -> Cost:
    """The cost of a kind of jobs."""
    found, timed = [], [job for job in own if not job.run.endswith(DRAWN)]
    fit_of = fit if own[0].kind.partition(".")[0] in BY_BLOCKS else fit_logs
    for exponent in EXPONENTS if own[0].counts.blocks else [0.0]:
        rows = [
            [
                *features(job),
                sum(eif for _, eif in job.counts.blocks),
                sum(puf * eif**exponent for puf, eif in job.counts.blocks),
            ]
            for job in timed
        ]
        factors, error = fit_of(rows, [job.cpu for job in timed])
        found.append((error, Time(*factors.round(3).tolist(), round(float(exponent), 2))))
    rows = [
        [
            *features(job),
            sum(puf for puf, _ in job.counts.blocks)
            + max((eif for _, eif in job.counts.blocks), default=0.0),
        ]
        for job in own
    ]
    factors, _ = fit_of(rows, [job.memory for job in own])
    return Cost(min(found)[1], Memory(*factors.round(1).tolist()))


def code(cost: Cost) -> str:
    """A cost as reident.pipeline.resources has it: without terms that are 0."""
    terms = [
        ", ".join(f"{name}={value}" for name, value in part._asdict().items() if value or name == "start")
        for part in cost
    ]
    return f"Cost(Time({terms[0]}), Memory({terms[1]}))"


def table(header: str, rows: list[list[str]]) -> str:
    """A table of Markdown, all but its first column to the right."""
    names = header.split("|")
    lines = [names, ["---", *["--:"] * (len(names) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def costs_table() -> str:
    """The costs of jobs."""
    rows = [
        [f"`{kind}`", *("" if value == 0 else f"{value:,g}" for part in cost for value in part)]
        for kind, cost in resources.MEASURED.items()
    ]
    header = "seconds: start|record|file|eif|puf|exponent|megabytes: start|record|file|block"
    return table(f"job|{header}", rows)


def jobs_table() -> str:
    """The measured jobs of scoring and weighing, and how far the fitted costs are from them."""
    rows = []
    for kind, own in measured().items():
        if kind.partition(".")[0] not in BY_BLOCKS:
            continue
        cost = resources.MEASURED[kind]
        for job in own:
            cpu, memory = (
                resources.seconds(cost.time, job.counts),
                resources.megabytes(cost.memory, job.counts),
            )
            puf, eif = (1e6 * sum(block[side] for block in job.counts.blocks) for side in (0, 1))
            rows.append(
                [
                    f"`{kind}`",
                    f"{len(job.counts.blocks)}",
                    f"{puf:,.0f}",
                    f"{eif:,.0f}",
                    f"{job.cpu:,.1f}",
                    f"{cpu / job.cpu - 1:+.0%}",
                    f"{job.memory:,.0f}",
                    f"{memory / job.memory - 1:+.0%}",
                ]
            )
    return table("job|blocks|PUF records|EIF records|processor s|fitted|MB|fitted", rows)


def show_fit() -> None:
    """Print the fitted costs as code, and the tables of docs/CLUSTER.md."""
    for kind, own in measured().items():
        print(f'    "{kind}": {code(fitted(own))},')
    print(f"\n{costs_table()}\n\n{jobs_table()}")


def shards(
    side: float, strata: int, budget: float, *, splits: bool
) -> tuple[int, tuple[resources.Block, ...]]:
    """How many scoring jobs there are, and what one compares: equal strata, packed as the workflow packs them."""
    own = side / strata
    if own**2 > packing.MAX_BUDGETS * budget:
        blocks = math.ceil(own**2 / budget) if splits else 1
        return strata * blocks, ((own / blocks, own),)
    together = max(1, min(strata, int(budget / own**2)))
    return math.ceil(strata / together), ((own, own),) * together


def prediction(records: int, strata: int, pairs_per_shard: float) -> str:
    """What the measured steps would take for two files of so many records each, in equal strata.

    What a step reads is taken to grow with the records, from the largest run that was measured.
    """
    side, found, rows = records / resources.MILLION, measured(), []
    for kind, cost in resources.MEASURED.items():
        largest = max(found[kind], key=lambda job: (job.counts.records, job.counts.files))
        files = largest.counts.files * 2 * side / largest.counts.records
        jobs, counts, threads = 1, Counts(files=files), 1
        if kind == "weigh":
            counts, threads = Counts(2 * side, ((side / strata, side / strata),) * strata), 8
        elif kind.startswith("score."):
            splits = REGISTRY[kind.removeprefix("score.")].splits
            jobs, blocks = shards(side, strata, pairs_per_shard / resources.MILLION**2, splits=splits)
            counts, threads = Counts(2 * side, blocks), 8
        hours = jobs * resources.seconds(cost.time, counts) / 3600
        one = resources.seconds(cost.time, counts, threads) / 3600
        memory = resources.megabytes(cost.memory, counts) / 1024
        node = jobs * one * threads / NODE
        rows.append(
            [f"`{kind}`", f"{jobs:,}", f"{hours:,.1f}", f"{one:,.1f}", f"{node:,.1f}", f"{memory:,.0f}"]
        )
    return table("job|jobs|processor hours of all|hours of one job|node hours of all|GB of one job", rows)


def run(arguments: tuple[str, ...]) -> None:
    """Run Snakemake, which by itself measures a job every 30 seconds once it has run for 15, and misses its end."""
    from snakemake import benchmark
    from snakemake.cli import main as snakemake

    schedule = benchmark.ScheduledPeriodicTimer._schedule

    def often(timer: benchmark.ScheduledPeriodicTimer) -> None:
        timer._interval = math.inf
        schedule(timer)

    benchmark.ScheduledPeriodicTimer._schedule = often
    snakemake(list(arguments))


def main(command: str, *arguments: str) -> None:
    """Run, measure, fit or predict."""
    if command == "run":
        run(arguments)
    elif command == "measure":
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
        given = dict(enumerate(map(float, arguments)))
        print(prediction(int(given.get(0, 1e8)), int(given.get(1, 1)), given.get(2, 1e14)))


if __name__ == "__main__":
    main(*sys.argv[1:])
