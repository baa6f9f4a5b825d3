"""What a job asks of a scheduler: memory and time, from the counts of the manifest and the sizes of files.

The costs are fitted to measured jobs (docs/CLUSTER.md); ``tests/benchmarks/cluster.py`` measures and fits them again.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from reident.linkage.metrics import REGISTRY, adhoc
from reident.study.model import Study

MILLION = 1_000_000
MEASURED_VARIABLES = 13
"""The linking variables of the study that was measured: with more of them, a record costs more in proportion."""
MEMORY_MARGIN = 1.5
TIME_MARGIN = 3.0
"""How much more than measured a job asks for: other data, other processors, a file system under load."""
SNAKEMAKE = 500
"""Megabytes that the two processes of Snakemake take on a node beside the step."""
MIN_MINUTES = 30
"""What the shortest jobs ask for; most of it is the time that a busy file system takes."""


class Time(NamedTuple):
    """Seconds of one processor.

    Attributes
    ----------
    start : float
        For every job.
    record : float
        For a million records of both files.
    file : float
        For a megabyte of input files.
    eif : float
        For a million EIF records of each block of the job.
    puf : float
        For a million PUF records that are compared with a million EIF records.
    exponent : float
        How `puf` grows with the EIF records of the block.
    """

    start: float
    record: float = 0.0
    file: float = 0.0
    eif: float = 0.0
    puf: float = 0.0
    exponent: float = 0.0


class Memory(NamedTuple):
    """Megabytes.

    Attributes
    ----------
    start : float
        For every job.
    record : float
        For a million records of both files.
    file : float
        For a megabyte of input files.
    block : float
        For a million records that a job compares: the PUF records of all blocks, the EIF records of the largest.
    """

    start: float
    record: float = 0.0
    file: float = 0.0
    block: float = 0.0


class Cost(NamedTuple):
    """What a job takes."""

    time: Time
    memory: Memory


MEASURED: dict[str, Cost] = {
    "bin": Cost(Time(start=0.0, file=0.11), Memory(start=422.8, file=0.1)),
    "confirm": Cost(Time(start=0.133, file=0.045), Memory(start=389.1, file=0.2)),
    "describe": Cost(Time(start=0.225, file=0.052), Memory(start=321.4, file=0.5)),
    "prepare": Cost(Time(start=0.275, file=0.063), Memory(start=258.9, file=1.3)),
    "rank": Cost(Time(start=0.122, file=0.028), Memory(start=345.2, file=0.1)),
    "rate": Cost(Time(start=0.184, file=0.01), Memory(start=321.4)),
    "score.adhoc": Cost(
        Time(start=1.049, record=5.018, puf=165.179, exponent=0.35),
        Memory(start=272.9, record=279.8, block=540.0),
    ),
    "score.euclidean": Cost(
        Time(start=0.668, record=0.123, eif=10.341, puf=265.796, exponent=0.35),
        Memory(start=322.6, record=336.5, block=452.1),
    ),
    "score.fellegi_sunter": Cost(
        Time(start=1.947, record=2.134, puf=70.854, exponent=0.65),
        Memory(start=319.4, record=29.9, block=494.8),
    ),
    "score.taxicab": Cost(
        Time(start=0.526, eif=10.38, puf=22.7, exponent=0.65), Memory(start=268.0, record=201.1, block=381.2)
    ),
    "score.unicity": Cost(
        Time(start=0.794, record=0.845, eif=0.603, puf=105.032, exponent=0.2),
        Memory(start=213.6, record=221.5, block=2262.1),
    ),
    "score.winkler": Cost(
        Time(start=1.546, puf=18601.728, exponent=1.0), Memory(start=284.6, record=122.4, block=854.8)
    ),
    "weigh": Cost(
        Time(start=2.85, puf=179.239, exponent=0.2), Memory(start=447.0, record=157.2, block=353.8)
    ),
}
"""The costs of steps, and of scores by metric, that are fitted to measured jobs."""

SMALL_ASSIGNED, ASSIGNED = 3.5, Memory(start=500, file=0.55)
"""What a one-to-one assignment takes more, for a megabyte of pairs, and at most (docs/CLUSTER.md)."""

CLUSTERED = 900.0
"""Megabytes that the rates take more with clusters, at most: as many as the input files have (docs/CLUSTER.md)."""

ASSUMED: dict[str, tuple[float, float]] = {
    "prepare_attribution": (1000, 12),
    "assess_attribution": (1500, 100),
    "compare_variants": (1000, 0),
    "populate": (2000, 0),
    "prepare_filerisk": (1000, 12),
    "assess_file": (1500, 100),
    "model_population": (2500, 100),
    "assess_scenarios": (1500, 100),
    "sample_population": (1500, 100),
    "thin": (2000, 40),
    "extrapolate": (1000, 0),
    "synthesize": (2000, 0),
    "prepare_matching": (1000, 12),
    "match": (1000, 40),
    "simulate_amounts": (2000, 0),
    "microaggregate": (1000, 40),
    "agreements": (1000, 12),
    "compare_protection": (1000, 0),
    "release": (1000, 100),
    "edition": (2000, 0),
    "report": (2000, 0),
    "export_confirmed": (1000, 40),
    "calibrate": (1000, 0),
    "resolve": (500, 0),
    "stratify": (1000, 20),
    "checklist": (500, 0),
    "simulate": (2000, 0),
    "try_recodings": (2000, 60),
    "measure_utility": (1000, 24),
    "judge": (1000, 0),
    "explain": (1500, 24),
    "export_why": (1000, 40),
}
"""Megabytes of the other steps: for every job, and for a megabyte of input files."""

ASSUMED_MINUTES = {"thin": 60, "explain": 60}
"""What the other steps ask for that compare pairs more than once; the rest ask for `MIN_MINUTES`."""


class Counts(NamedTuple):
    """The counts of a job.

    Attributes
    ----------
    records : float
        The records of both files in all strata, in millions.
    blocks : tuple of (float, float)
        The PUF and the EIF records of each block that the job compares, in millions.
    files : float
        The input files, in megabytes.
    """

    records: float = 0.0
    blocks: tuple[tuple[float, float], ...] = ()
    files: float = 0.0


def seconds(time: Time, counts: Counts, threads: int = 1, variables: int = MEASURED_VARIABLES) -> float:
    """Return how long a job is expected to take; of several threads, half do the work of one each.

    Parameters
    ----------
    time : Time
    counts : Counts
    threads : int
        The processors of the job.
    variables : int
        The number of linking variables.

    Returns
    -------
    float
        Seconds.
    """
    scale = variables / MEASURED_VARIABLES
    alone = time.start + time.file * counts.files + scale * time.record * counts.records
    compared = sum(time.eif * eif + time.puf * puf * eif**time.exponent for puf, eif in counts.blocks)
    return alone + scale * compared / max(1.0, threads / 2)


def megabytes(memory: Memory, counts: Counts, variables: int = MEASURED_VARIABLES) -> float:
    """Return how much memory a job is expected to take, in megabytes; parameters as of :func:`seconds`."""
    scale = variables / MEASURED_VARIABLES
    puf = sum(block[0] for block in counts.blocks)
    eif = max((block[1] for block in counts.blocks), default=0.0)
    records = memory.record * counts.records + memory.block * (puf + eif)
    return memory.start + memory.file * counts.files + scale * records


Block = tuple[float, float]
"""The PUF and the EIF records of a block that a job compares, in millions."""


class Manifest(NamedTuple):
    """The counts of the strata and of the shards.

    Attributes
    ----------
    strata : mapping of Block
        By stratum.
    shards : mapping
        By shard: the stratum of each of its blocks, whether the block is the first of its stratum, and its records.
    """

    strata: Mapping[str, Block]
    shards: Mapping[str, list[tuple[str, bool, Block]]]

    @property
    def records(self) -> float:
        """The records of both files in all strata, in millions."""
        return sum(map(sum, self.strata.values()))

    def compared(self, shard: str, *, splits: bool) -> tuple[Block, ...]:
        """Return the blocks that a scoring job compares.

        A metric that does not split strata compares a whole stratum with its first block, and nothing with the others.
        """
        own = self.shards[shard]
        if splits:
            return tuple(block for _, _, block in own)
        return tuple(self.strata[stratum] for stratum, first, _ in own if first)


def read_manifest(manifest: Path, shards: Path | None = None) -> Manifest:
    """Return the counts of the manifest, and those of the shard table where it is given.

    Raises
    ------
    FileNotFoundError
        If a table is not made yet; Snakemake asks again once it is.
    """
    strata = {stratum: (puf, eif) for stratum, puf, eif in _lines(manifest, "stratum")}
    if shards is None:
        return Manifest(strata, {})
    blocks: dict[str, list[tuple[str, bool, Block]]] = {}
    for stratum, puf, eif, shard, start in _lines(shards, "stratum", "shard", "start"):
        blocks.setdefault(shard, []).append((stratum, start == "0", (puf, eif)))
    return Manifest(strata, blocks)


def _lines(table: Path, key: str, *others: str) -> Iterator[Any]:
    """Yield a key, the numbers of records in millions, and other columns of each line; tables may have many lines."""
    with table.open(encoding="utf-8", newline="") as stream:
        lines = csv.reader(stream)
        header = next(lines)
        first, puf, eif, *rest = (header.index(name) for name in (key, "n_puf", "n_eif", *others))
        for line in lines:
            yield line[first], int(line[puf]) / MILLION, int(line[eif]) / MILLION, *(line[at] for at in rest)


@lru_cache(maxsize=16)
def _read_again(files: tuple[Path, ...], _: tuple[tuple[int, int], ...]) -> Manifest:
    """Return the counts of tables as long as they have the same time stamps and sizes."""
    return read_manifest(*files)


def _manifest(*files: Path) -> Manifest:
    stats = [file.stat() for file in files]
    return _read_again(files, tuple((found.st_mtime_ns, found.st_size) for found in stats))


class Requests:
    """What the jobs of a run ask for, as the rules do: functions of a job's wildcards, inputs and attempt.

    Parameters
    ----------
    study : callable
        ``study(wildcards)`` gives the study of a job.
    """

    def __init__(self, study: Callable[[Any], Study]) -> None:
        self._study = study

    def memory(self, rule: str) -> Callable[..., int]:
        """Give the megabytes of a rule's jobs; each further attempt asks for that much more."""

        def ask(wildcards: Any, input: Any, attempt: int) -> int:  # noqa: A002 - Snakemake's names
            if (cost := cost_of(rule, wildcards)) is None:
                base, file = ASSUMED[rule]
                return math.ceil(base + (file * input.size_mb if file else 0)) * attempt
            counts = self._counts(rule, wildcards, input)
            expected = megabytes(cost.memory, counts, self._variables(wildcards))
            expected += self._held(rule, wildcards, counts)
            return (SNAKEMAKE + math.ceil(MEMORY_MARGIN * expected)) * attempt

        return ask

    def minutes(self, rule: str) -> Callable[..., int]:
        """Give the minutes of a rule's jobs; each further attempt asks for twice as many."""

        def ask(wildcards: Any, input: Any, threads: int, attempt: int) -> int:  # noqa: A002 - as above
            minutes = ASSUMED_MINUTES.get(rule, MIN_MINUTES)
            if (cost := cost_of(rule, wildcards)) is not None:
                counts = self._counts(rule, wildcards, input)
                expected = seconds(cost.time, counts, threads, self._variables(wildcards))
                minutes = max(minutes, math.ceil(TIME_MARGIN * expected / 60))
            return minutes * 2 ** (attempt - 1)

        return ask

    def _variables(self, wildcards: Any) -> int:
        return max(len(self._study(wildcards).linking_variables), 1)

    def _held(self, rule: str, wildcards: Any, counts: Counts) -> float:
        """Return the megabytes of what no fitted job held: functions of adhoc, pairs to be assigned, clusters."""
        study: Any = self._study(wildcards)
        if rule == "rate" and study.rates.cluster:
            return min(counts.files, CLUSTERED)
        if rule == "rank" and getattr(study.chosen.get(wildcards.metric), "one_to_one", False):
            return min(SMALL_ASSIGNED * counts.files, megabytes(ASSIGNED, counts))
        if rule == "score" and wildcards.metric == "adhoc":
            blocks = ((round(puf * MILLION), round(eif * MILLION)) for puf, eif in counts.blocks)
            return adhoc.table_bytes(study.chosen["adhoc"], blocks) / MILLION
        return 0

    @staticmethod
    def _counts(rule: str, wildcards: Any, files: Any) -> Counts:
        """Return the counts of a job; Snakemake asks again where a table, or the size of an input, is not known yet."""
        if rule not in {"score", "weigh"}:
            return Counts(files=files.size_mb)
        if rule == "weigh":
            counts = _manifest(Path(files.manifest))
            return Counts(counts.records, tuple(counts.strata.values()))
        counts = _manifest(Path(files.manifest), Path(files.shards))
        splits = REGISTRY[wildcards.metric].splits
        return Counts(counts.records, counts.compared(wildcards.shard, splits=splits))


def cost_of(rule: str, wildcards: Any) -> Cost | None:
    """Return the measured cost of a rule's job; None where no job of it was measured at scale."""
    return MEASURED.get(f"score.{wildcards.metric}" if rule == "score" else rule)
